"""Who feeds a task and who uses it: breadth-first search on the capture's own edge index.

Source of the definition: ALGORITHMS, "Dependency neighbourhood". Depth 0 is nothing, depth n is every task within n
edges, depth -1 is everything reachable; predecessors and successors are searched separately.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.capture import I4, I8, Bool, Capture

NARROW = 16
"""Up to this many tasks a search step runs in plain Python: array calls cost more than the step itself."""


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Edges both ways in CSR form, perhaps only some of the capture's edges.

    ``out_task[out_offsets[t]:out_offsets[t+1]]`` are the successors of task ``t`` and ``out_edge`` the matching indexes
    into ``capture.edges``; ``in_*`` the same for predecessors.
    """

    out_offsets: I8
    out_task: I4
    out_edge: I4
    in_offsets: I8
    in_task: I4
    in_edge: I4


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The tasks around one task, and how many of them are shown.

    ``pred_distance`` and ``succ_distance`` have one entry per task of the capture: edges between it and ``task``, 0
    for the task itself, -1 when it is not reached. ``shown`` lists the dense task indexes kept under the node cap,
    ``task`` included, ascending.
    """

    task: int
    depth: int
    pred_distance: I4
    succ_distance: I4
    n_predecessors: int
    n_successors: int
    n_total: int
    """Distinct tasks in the neighbourhood, ``task`` included."""
    shown: I4

    @property
    def n_hidden(self) -> int:
        """How many tasks of the neighbourhood the cap left out."""
        return self.n_total - len(self.shown)

    def frame(self, capture: Capture) -> pd.DataFrame:
        """Every reached task: ``side`` (feeds, uses), ``distance`` in edges, ``task_id`` (text), ``label``, ``name``."""
        columns = ["side", "distance", "task_id", "label", "name"]
        rows = []
        for side, distance in (("feeds", self.pred_distance), ("uses", self.succ_distance)):
            for task in _nearest_first(distance).tolist():
                task_id = int(capture.tasks.task_id[task])
                rows.append(
                    (side, int(distance[task]), str(task_id), capture.meta.task_label(task_id), capture.task_name(task))
                )
        return pd.DataFrame(rows, columns=columns)


def adjacency(capture: Capture, keep: Bool | None = None) -> Adjacency:
    """Which tasks are one edge away, over the edges where ``keep`` is true (all of them without it)?

    Costs one pass over the edges.
    """
    edges = capture.edges
    if keep is None:
        every = np.arange(len(edges), dtype=np.int32)
        return Adjacency(
            edges.out_offsets, edges.succ, every, edges.in_offsets, edges.pred[edges.in_order], edges.in_order
        )
    out_edge = np.flatnonzero(keep).astype(np.int32)
    kept_in = keep[edges.in_order]
    in_edge = edges.in_order[kept_in]
    return Adjacency(
        _running(keep)[edges.out_offsets],
        edges.succ[out_edge],
        out_edge,
        _running(kept_in)[edges.in_offsets],
        edges.pred[in_edge],
        in_edge,
    )


def distances(offsets: I8, targets: I4, start: int, depth: int) -> I4:
    """How many edges are between ``start`` and each task, following ``targets`` at most ``depth`` edges (-1: all)?

    Returns one entry per task, -1 where not reached. Costs what is reached, not what the capture holds.
    """
    distance = np.full(len(offsets) - 1, -1, dtype=np.int32)
    distance[start] = 0
    frontier = np.array([start], dtype=np.int64)
    level = 0
    while len(frontier) and (depth < 0 or level < depth):
        level += 1
        if len(frontier) <= NARROW:
            reached = _narrow_step(offsets, targets, frontier.tolist(), distance, level)
            frontier = np.array(reached, dtype=np.int64)
            continue
        found = gather(offsets, targets, frontier)
        frontier = np.unique(found[distance[found] < 0]).astype(np.int64)
        distance[frontier] = level
    return distance


def gather(offsets: I8, targets: I4, rows: I8) -> I4:
    """The concatenated CSR slices of ``rows``, in their order."""
    starts = offsets[rows]
    counts = offsets[rows + 1] - starts
    total = int(counts.sum())
    if total == 0:
        return targets[:0]
    before = np.cumsum(counts) - counts
    return targets[np.repeat(starts - before, counts) + np.arange(total)]


def neighbourhood(
    capture: Capture,
    task: int,
    depth: int,
    *,
    max_nodes: int,
    around: Adjacency | None = None,
) -> Neighbourhood:
    """Which tasks are within ``depth`` edges of ``task`` (dense index), before it and after it?

    Totals are always exact; at most ``max_nodes`` tasks are listed in ``shown``, the nearest first and equal distances
    by id. ``around`` restricts the search to another set of edges (see :func:`adjacency`).
    """
    links = adjacency(capture) if around is None else around
    pred = distances(links.in_offsets, links.in_task, task, depth)
    succ = distances(links.out_offsets, links.out_task, task, depth)
    reached = np.flatnonzero((pred >= 0) | (succ >= 0))
    nearest = np.minimum(np.where(pred[reached] < 0, len(pred), pred[reached]), _or_far(succ[reached]))
    order = np.argsort(nearest, kind="stable")[:max_nodes]
    return Neighbourhood(
        task=task,
        depth=depth,
        pred_distance=pred,
        succ_distance=succ,
        n_predecessors=int((pred > 0).sum()),
        n_successors=int((succ > 0).sum()),
        n_total=len(reached),
        shown=np.sort(reached[order]).astype(np.int32),
    )


def _or_far(distance: I4) -> I4:
    return np.where(distance < 0, np.iinfo(np.int32).max, distance).astype(np.int32)


def _nearest_first(distance: I4) -> I8:
    reached = np.flatnonzero(distance > 0)
    return reached[np.argsort(distance[reached], kind="stable")]


def _running(keep: Bool) -> I8:
    return np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))


def _narrow_step(offsets: I8, targets: I4, frontier: list[int], distance: I4, level: int) -> list[int]:
    reached: list[int] = []
    for task in frontier:
        for other in targets[int(offsets[task]) : int(offsets[task + 1])].tolist():
            if distance[other] < 0:
                distance[other] = level
                reached.append(other)
    return reached
