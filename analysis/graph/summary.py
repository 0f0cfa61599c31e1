"""A graph of any size as a few groups: functions × depth, opened step by step.

Depth is the longest-path layer over the full graph, so groups stay the same in every edge mode. Tasks are sorted by
(class, depth, id); every group is one range of that order, and opening a group cuts its range.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.capture import I4, Capture, TaskKind
from analysis.graph.layers import longest_path_layers
from analysis.graph.neighbourhood import gather

FIRST_GROUPS = 72
"""Groups a first picture aims at: what one screen shows readably."""
FIRST_BANDS = 10
"""Ranges of depth a first picture aims at: more would make it too long to read when fitted."""
OPEN_TASKS = 150
"""A group of at most this many tasks opens into its tasks, a larger one into smaller groups."""
PIECES = 12
"""Groups a large group opens into."""


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks of one class (function, or kind where there is no function) in a range of depths.

    The members are ``Partition.order[first:last]``. ``part`` is the range of ordinals inside a single depth when such a
    group was cut, else None.
    """

    key: str
    name: str
    func_id: int
    kind: TaskKind
    level_lo: int
    level_hi: int
    first: int
    last: int
    part: tuple[int, int] | None = None

    @property
    def n_tasks(self) -> int:
        """How many tasks the group stands for."""
        return self.last - self.first


@dataclass(frozen=True, slots=True)
class Partition:
    """All tasks of the dependency graph, sorted by (class, depth, id).

    ``order`` holds dense task indexes; ``level`` the depth of every task of the capture (-1 outside the graph);
    ``code`` the class of each entry of ``order``.
    """

    order: I4
    code: I4
    level: I4

    @property
    def n_levels(self) -> int:
        """How many depths the graph has."""
        return int(self.level.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True)
class Summary:
    """Groups and single tasks that together are every task of the graph, each exactly once.

    ``closed`` are the groups drawn as one node, ``tasks`` the dense indexes of the tasks drawn one by one (ascending).
    ``refused`` are groups that stay closed because the node cap would be passed, ``unknown`` keys that name no group.
    """

    partition: Partition
    band: int
    """Depths per group in the first cut."""
    closed: tuple[Group, ...]
    opened: tuple[Group, ...]
    tasks: I4
    refused: tuple[Group, ...]
    unknown: tuple[str, ...]

    def frame(self, capture: Capture) -> pd.DataFrame:
        """The closed groups: ``key``, ``name``, ``kind``, ``depth_from``, ``depth_to``, ``tasks``, ``exec_us``."""
        rows = [
            (g.key, g.name, g.kind.name, g.level_lo, g.level_hi, g.n_tasks, group_exec_us(capture, self.partition, g))
            for g in self.closed
        ]
        return pd.DataFrame(rows, columns=["key", "name", "kind", "depth_from", "depth_to", "tasks", "exec_us"])


def levels(capture: Capture) -> I4:
    """The depth of every task: edges of the longest path that ends at it, -1 for tasks outside the graph."""
    found = longest_path_layers(len(capture.tasks), capture.edges.pred, capture.edges.succ).layer
    return np.where(capture.tasks.in_graph, found, np.int32(-1)).astype(np.int32)


def backward_edges(capture: Capture, level: I4) -> int:
    """How many edges do not lead to a greater depth: self edges, and those turned round to open a cycle."""
    return int((level[capture.edges.pred] >= level[capture.edges.succ]).sum())


def partition(capture: Capture, level: I4) -> Partition:
    """Sort the graph's tasks for grouping; ``level`` comes from :func:`levels`."""
    tasks = capture.tasks
    code = np.where(tasks.func_id >= 0, tasks.func_id, -1 - tasks.kind.astype(np.int32)).astype(np.int32)
    nodes = np.flatnonzero(tasks.in_graph)
    order = nodes[np.lexsort((nodes, level[nodes], code[nodes]))].astype(np.int32)
    return Partition(order, code[order], level)


def summarise(
    capture: Capture, parts: Partition, opened: Iterable[str] = (), *, max_groups: int = FIRST_GROUPS, max_tasks: int
) -> Summary:
    """Which groups stand for the graph, with the groups named in ``opened`` divided?

    The first cut uses the smallest number of depths per group (a power of two) that needs at most ``max_groups``
    groups, or one group per class when that is impossible. At most ``max_tasks`` tasks are drawn one by one; a group of
    one task is that task.
    """
    wanted = list(dict.fromkeys(opened))
    known: set[str] = set()
    band, first = _first_cut(capture, parts, max_groups)
    waiting = list(reversed(first))
    closed, taken_apart, refused, tasks = [], [], [], []
    n_tasks = 0
    while waiting:
        group = waiting.pop()
        if group.key in wanted:
            known.add(group.key)
        elif group.n_tasks > 1 or n_tasks >= max_tasks:
            closed.append(group)
            continue
        if group.n_tasks > OPEN_TASKS:
            taken_apart.append(group)
            waiting.extend(reversed(_cut(parts, group)))
        elif n_tasks + group.n_tasks > max_tasks:
            refused.append(group)
            closed.append(group)
        else:
            taken_apart.append(group)
            n_tasks += group.n_tasks
            tasks.append(parts.order[group.first : group.last])
    shown = np.sort(np.concatenate(tasks)) if tasks else np.zeros(0, np.int32)
    unknown = tuple(key for key in wanted if key not in known)
    return Summary(parts, band, tuple(closed), tuple(taken_apart), shown, tuple(refused), unknown)


def group_exec_us(capture: Capture, parts: Partition, group: Group) -> float | None:
    """Execution time of the group's records together, in µs; None when none of its tasks has a record."""
    members = parts.order[group.first : group.last].astype(np.int64)
    records = capture.records
    rows = gather(capture.tasks.record_offsets, capture.tasks.record_order, members)
    if len(rows) == 0:
        return None
    return capture.meta.us(int((records.end_ticks[rows] - records.start_ticks[rows]).sum()))


def _first_cut(capture: Capture, parts: Partition, max_groups: int) -> tuple[int, list[Group]]:
    level = parts.level[parts.order]
    pairs = np.unique(np.stack((parts.code, level), axis=1), axis=0) if len(level) else np.zeros((0, 2), np.int32)
    band = 1
    while band * FIRST_BANDS < parts.n_levels:
        band *= 2
    while band < parts.n_levels and len(np.unique(_banded(pairs, band), axis=0)) > max_groups:
        band *= 2
    key = np.stack((parts.code, level // band), axis=1)
    changes = np.flatnonzero((key[1:] != key[:-1]).any(axis=1)) + 1
    cuts = [0, *changes.tolist(), len(level)] if len(level) else []
    groups = [_group(capture, parts, a, b) for a, b in pairwise(cuts)]
    return band, sorted(groups, key=lambda g: (g.level_lo, g.first))


def _banded(pairs: I4, band: int) -> I4:
    return np.stack((pairs[:, 0], pairs[:, 1] // band), axis=1)


def _group(capture: Capture, parts: Partition, first: int, last: int) -> Group:
    task = int(parts.order[first])
    code = int(parts.code[first])
    kind = TaskKind(int(capture.tasks.kind[task]))
    lo, hi = int(parts.level[parts.order[first]]), int(parts.level[parts.order[last - 1]])
    return Group(
        key=f"{f'f{code}' if code >= 0 else kind.name.lower()}.{lo}-{hi}",
        name=capture.task_name(task),
        func_id=code if code >= 0 else -1,
        kind=kind,
        level_lo=lo,
        level_hi=hi,
        first=first,
        last=last,
    )


def _cut(parts: Partition, group: Group) -> list[Group]:
    """Divide a group: by depth where it spans several, else by id into equal ranges."""
    level = parts.level[parts.order[group.first : group.last]]
    stem = group.key.split(".", 1)[0]
    if group.level_hi > group.level_lo:
        step = -(-(group.level_hi - group.level_lo + 1) // PIECES)
        bounds = np.arange(group.level_lo, group.level_hi + 1 + step, step)
        cuts = group.first + np.unique(np.searchsorted(level, bounds))
        return [_piece(parts, group, stem, int(a), int(b)) for a, b in pairwise(cuts)]
    pieces = min(PIECES, -(-group.n_tasks // OPEN_TASKS))
    even = np.linspace(group.first, group.last, pieces + 1).astype(np.int64)
    base = group.first - (group.part[0] if group.part else 0)
    return [
        Group(
            f"{stem}.{group.level_lo}-{group.level_hi}.{a - base}-{b - base - 1}",
            group.name,
            group.func_id,
            group.kind,
            group.level_lo,
            group.level_hi,
            a,
            b,
            (a - base, b - base),
        )
        for a, b in pairwise(even.tolist())
    ]


def _piece(parts: Partition, group: Group, stem: str, first: int, last: int) -> Group:
    lo, hi = int(parts.level[parts.order[first]]), int(parts.level[parts.order[last - 1]])
    return Group(f"{stem}.{lo}-{hi}", group.name, group.func_id, group.kind, lo, hi, first, last)
