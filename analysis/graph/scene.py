"""What is drawn of the dependency graph, and exactly how much is not.

A scene is a set of nodes (tasks, or groups that stand for many) and the lines between them. Every edge of the file is
accounted for once: drawn on its own, bundled into a line with a count, inside a group, left out by the edge mode, or
not drawn because an end is not in the scene or the element cap was reached. ``EdgeCount`` holds the sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.capture import I4, I8, Bool, Capture
from analysis.graph.neighbourhood import Adjacency, neighbourhood
from analysis.graph.summary import FIRST_GROUPS, Group, Partition, summarise

MAX_ELEMENTS = 3_000
"""Nodes and lines a browser is given at once: Cytoscape draws 1,000 nodes and 2,000 edges in about a second."""
WHOLE_ELEMENTS = 2_000
"""A page starts with the whole graph up to here: near :data:`MAX_ELEMENTS` panning is no longer fluid."""
MAX_NODES = 1_500
"""Nodes of a scene, so that lines have room under :data:`MAX_ELEMENTS`."""
MAX_PATH = 900
"""Tasks of a path scene, which also draws a step for each of them."""


@dataclass(frozen=True, slots=True)
class EdgeCount:
    """Where each unique edge of the file went; the parts sum to ``total``."""

    total: int
    drawn: int
    """One line each."""
    bundled: int
    """In lines that stand for several edges, or that end at a group."""
    inside: int
    """Both ends inside one group."""
    left_out: int
    """Not part of the edge mode."""
    outside: int
    """An end is not in the scene."""
    over_cap: int
    """Would pass the element cap."""

    @property
    def not_drawn(self) -> int:
        """Edges that no line stands for."""
        return self.inside + self.left_out + self.outside + self.over_cap

    @property
    def visible(self) -> int:
        """Edges that a line stands for."""
        return self.drawn + self.bundled


@dataclass(frozen=True, slots=True)
class Scene:
    """Nodes and lines to draw.

    Node ``i`` is the task ``task[i]`` (dense index), or the group ``groups[i - len(tasks)]`` where ``task[i]`` is -1:
    tasks come first. Line ``j`` leads from node ``line_pred[j]`` to ``line_succ[j]`` and stands for ``line_count[j]``
    edges; ``line_edge[j]`` is the edge index when it is one edge between two tasks, else -1. ``frame_*`` are the lines
    of the full mode, which the layout uses so that nodes keep their place when the mode changes.
    """

    scope: str
    task: I4
    groups: tuple[Group, ...]
    group_hidden: I4
    """Members of each group that are not drawn one by one."""
    line_pred: I4
    line_succ: I4
    line_count: I8
    line_edge: I4
    frame_pred: I4
    frame_succ: I4
    edges: EdgeCount
    nodes_total: int
    """Tasks of the graph."""
    notes: tuple[str, ...]
    steps: tuple[str, ...] = ()
    """Of a path: why node ``i + 1`` came after node ``i``; "" where the source gives no reason."""

    @property
    def n_nodes(self) -> int:
        """Nodes of the scene."""
        return len(self.task)

    @property
    def n_tasks(self) -> int:
        """Tasks drawn one by one."""
        return len(self.task) - len(self.groups)

    @property
    def n_represented(self) -> int:
        """Tasks that a node stands for."""
        return self.n_tasks + int(self.group_hidden.sum())

    @property
    def n_elements(self) -> int:
        """Nodes, lines and steps: what the browser receives."""
        return len(self.task) + len(self.line_pred) + len(self.steps)


def fits_whole(capture: Capture) -> bool:
    """Can every task and edge of the capture be drawn one by one, and still be moved about fluidly?"""
    n_nodes = int(capture.tasks.in_graph.sum())
    return n_nodes <= MAX_NODES and n_nodes + len(capture.edges) <= WHOLE_ELEMENTS


def whole_scene(capture: Capture, keep: Bool | None = None) -> Scene:
    """Every task of the graph as a node, as far as :data:`MAX_NODES` allows (the lowest ids first)."""
    tasks = np.flatnonzero(capture.tasks.in_graph).astype(np.int32)
    notes = () if len(tasks) <= MAX_NODES else (f"The first {MAX_NODES:,} of {len(tasks):,} tasks by id are drawn.",)
    return build_scene(capture, "all", tasks[:MAX_NODES], keep=keep, notes=notes)


def path_scene(
    capture: Capture, tasks: I4, reasons: tuple[str | None, ...], keep: Bool | None = None, max_nodes: int = MAX_PATH
) -> Scene:
    """The tasks of a path in its order, the edges between them, and a step from each task to the next.

    ``reasons`` says what each task waited for (None: unknown); it labels the step that leads to it. A step is not an
    edge of the file, though there may be an edge between the same two.
    """
    shown = tasks[:max_nodes].astype(np.int32)
    text = f"The first {max_nodes:,} of {len(tasks):,} tasks of the path are drawn."
    notes = (text,) if len(tasks) > max_nodes else ()
    steps = tuple(reason or "" for reason in reasons[1 : len(shown)])
    return build_scene(capture, "path", shown, keep=keep, notes=notes, steps=steps)


def around_scene(
    capture: Capture, task: int, depth: int, around: Adjacency, keep: Bool | None = None, max_nodes: int = 600
) -> Scene:
    """One task and its neighbourhood: predecessors and successors within ``depth`` edges (-1: all)."""
    found = neighbourhood(capture, task, depth, max_nodes=max_nodes, around=around)
    text = f"{len(found.shown):,} of {found.n_total:,} tasks of the neighbourhood are drawn, the nearest first."
    return build_scene(capture, "around", found.shown, keep=keep, notes=(text,) if found.n_hidden else ())


def summary_scene(
    capture: Capture,
    parts: Partition,
    opened: tuple[str, ...] = (),
    extra: I4 | None = None,
    keep: Bool | None = None,
    max_groups: int = FIRST_GROUPS,
) -> Scene:
    """Groups for the whole graph, with ``opened`` groups divided and the ``extra`` tasks drawn one by one."""
    apart = np.zeros(0, np.int32) if extra is None else extra[capture.tasks.in_graph[extra]]
    summary = summarise(
        capture, parts, opened, max_groups=max_groups, max_tasks=MAX_NODES - 2 * max_groups - len(apart)
    )
    notes = [
        f"{group.name} (depth {group.level_lo}–{group.level_hi}, {group.n_tasks:,} tasks) stays closed: "
        f"at most {MAX_NODES:,} nodes are drawn. Close another group first."
        for group in summary.refused
    ]
    if summary.unknown:
        notes.append(f"The link opens groups that do not exist here: {', '.join(summary.unknown)}.")
    tasks = np.union1d(summary.tasks, apart).astype(np.int32)
    return build_scene(capture, "summary", tasks, summary.closed, parts, keep=keep, notes=tuple(notes))


def build_scene(
    capture: Capture,
    scope: str,
    tasks: I4,
    groups: tuple[Group, ...] = (),
    parts: Partition | None = None,
    *,
    keep: Bool | None = None,
    notes: tuple[str, ...] = (),
    steps: tuple[str, ...] = (),
) -> Scene:
    """Nodes and lines for the given tasks and groups, with every edge of the file accounted for.

    Lines beyond :data:`MAX_ELEMENTS` are left out and counted, those that stand for the fewest edges first.
    """
    node_of, left, hidden = _assign(capture, tasks, groups, parts)
    n_tasks = len(tasks)
    task = np.concatenate((tasks, np.full(len(left), -1))).astype(np.int32)
    edges = capture.edges
    pred, succ = node_of[edges.pred], node_of[edges.succ]
    in_mode = np.ones(len(edges), dtype=bool) if keep is None else np.asarray(keep, dtype=bool)
    both = (pred >= 0) & (succ >= 0)
    within = both & (pred == succ) & (pred >= n_tasks)
    frame = _lines(pred, succ, both & ~within, n_tasks)
    frame_pred, frame_succ = frame[:2]
    in_lines = frame if keep is None else _lines(pred, succ, both & ~within & in_mode, n_tasks)
    line_pred, line_succ, count, edge = in_lines

    room = max(0, MAX_ELEMENTS - len(task) - len(steps))
    over = 0
    if len(line_pred) > room:
        kept = np.sort(np.argsort(-count, kind="stable")[:room])
        over = int(count.sum() - count[kept].sum())
        line_pred, line_succ, count, edge = line_pred[kept], line_succ[kept], count[kept], edge[kept]
        notes = (*notes, f"{over:,} edges have no line: at most {MAX_ELEMENTS:,} elements are drawn at once.")
    single = int((edge >= 0).sum())
    totals = EdgeCount(
        total=len(edges),
        drawn=single,
        bundled=int(count.sum()) - single,
        inside=int((within & in_mode).sum()),
        left_out=int((~in_mode).sum()),
        outside=int((in_mode & ~both).sum()),
        over_cap=over,
    )
    return Scene(
        scope,
        task,
        left,
        hidden,
        line_pred,
        line_succ,
        count,
        edge,
        frame_pred,
        frame_succ,
        totals,
        int(capture.tasks.in_graph.sum()),
        notes,
        steps,
    )


def _assign(
    capture: Capture, tasks: I4, groups: tuple[Group, ...], parts: Partition | None
) -> tuple[I4, tuple[Group, ...], I4]:
    """Node of each task of the capture (-1: none), the groups that keep hidden members, and how many each."""
    node_of = np.full(len(capture.tasks), -1, dtype=np.int32)
    node_of[tasks] = np.arange(len(tasks))
    order = tasks if parts is None else parts.order
    left: list[Group] = []
    hidden: list[int] = []
    for group in groups:
        members = order[group.first : group.last]
        free = members[node_of[members] < 0]
        if len(free):
            node_of[free] = len(tasks) + len(left)
            left.append(group)
            hidden.append(len(free))
    return node_of, tuple(left), np.array(hidden, dtype=np.int32)


def _lines(pred: I4, succ: I4, chosen: Bool, n_tasks: int) -> tuple[I4, I4, I8, I4]:
    """Unique (pred, succ) node pairs of the chosen edges, edges per pair, and the edge where it is one task pair."""
    at = np.flatnonzero(chosen)
    width = int(max(pred.max(initial=0), succ.max(initial=0))) + 1
    pair, first, count = np.unique(pred[at].astype(np.int64) * width + succ[at], return_index=True, return_counts=True)
    line_pred, line_succ = (pair // width).astype(np.int32), (pair % width).astype(np.int32)
    is_edge = (line_pred < n_tasks) & (line_succ < n_tasks)
    return line_pred, line_succ, count.astype(np.int64), np.where(is_edge, at[first], -1).astype(np.int32)
