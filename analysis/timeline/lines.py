"""Which lines connect a task to the tasks around it on the timeline?

ALGORITHMS "SPMD and MIX" and "Dependency neighbourhood": one line per (function, task) on either side (a MIX task has two
functions), from the earliest visible block on each side, never block by block; predecessors and successors separately; a line is a violation when end(pred) > start(succ).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.capture import I4, I8, MISSING, Bool, Capture
from analysis.graph.neighbourhood import distances
from analysis.timeline.query import LodIndex

PRED, SUCC = 0, 1


@dataclass(frozen=True, slots=True)
class Lines:
    """Dependency lines; row i leads from item ``from_item[i]`` (its end) to ``to_item[i]`` (its start).

    ``n_total`` counts all lines of the neighbourhood, ``n_hidden`` the edges whose task has no visible item here; when
    more than the cap remain, the nearest are kept.
    """

    from_item: I4
    to_item: I4
    side: I4
    violation: Bool
    distance: I4
    n_total: int
    n_hidden: int
    n_predecessors: int
    n_successors: int


def dependency_lines(
    capture: Capture, index: LodIndex, task: int, depth: int, sides: str, hidden_tracks: Bool, max_lines: int
) -> Lines:
    """Lines around ``task`` (dense index) up to ``depth`` edges away, -1 for all.

    Args:
        capture: the launch.
        index: the view the lines are drawn in.
        task: dense index.
        depth: 0 none, n steps, -1 everything reachable.
        sides: ``both``, ``pred``, ``succ`` or ``none``.
        hidden_tracks: mask over tracks that are not shown.
        max_lines: cap; ``n_total`` stays exact.
    """
    edges = capture.edges
    found: list[tuple[I8, I4, int]] = []
    reached = [0, 0]
    for side, wanted, offsets, target in (
        (PRED, ("both", "pred"), edges.in_offsets, edges.pred[edges.in_order]),
        (SUCC, ("both", "succ"), edges.out_offsets, edges.succ),
    ):
        if sides not in wanted or depth == 0 or not len(edges):
            continue
        distance = distances(offsets, target, task, depth)
        reached[side] = int((distance > 0).sum())
        near = distance[edges.succ if side == PRED else edges.pred]
        inside = (near >= 0) & ((near < depth) | (depth < 0)) & (edges.pred != edges.succ)
        at = np.flatnonzero(inside)
        found.append((at, near[at], side))
    at = np.concatenate([row[0] for row in found]) if found else np.empty(0, dtype=np.int64)
    near = np.concatenate([row[1] for row in found]) if found else np.empty(0, dtype=np.int32)
    side_of = np.concatenate([np.full(len(row[0]), row[2]) for row in found]) if found else np.empty(0, dtype=np.int64)
    order = np.argsort(near, kind="stable")
    at, near, side_of = at[order], near[order], side_of[order]
    pred, succ = edges.pred[at], edges.succ[at]
    anchor, first = _anchors(index, np.unique(np.concatenate([pred, succ])), len(capture.tasks), hidden_tracks)
    per_edge = np.diff(first)[pred] * np.diff(first)[succ]
    line = np.repeat(np.arange(len(at)), per_edge)
    inside_edge = np.arange(len(line)) - np.repeat(np.cumsum(per_edge) - per_edge, per_edge)
    line, inside_edge = line[:max_lines], inside_edge[:max_lines]
    width = np.diff(first)[succ[line]]
    start, end = capture.tasks.start_ticks, capture.tasks.end_ticks
    timed = (end[pred] != MISSING) & (start[succ] != MISSING)
    bad = timed & (end[pred] > start[succ])
    return Lines(
        from_item=anchor[first[pred[line]] + inside_edge // np.maximum(width, 1)],
        to_item=anchor[first[succ[line]] + inside_edge % np.maximum(width, 1)],
        side=side_of[line].astype(np.int32),
        violation=bad[line],
        distance=near[line],
        n_total=int(np.maximum(per_edge, 1).sum()),
        n_hidden=int((per_edge == 0).sum()),
        n_predecessors=reached[PRED],
        n_successors=reached[SUCC],
    )


def _anchors(index: LodIndex, tasks: I4, n_tasks: int, hidden_tracks: Bool) -> tuple[I4, I8]:
    """Earliest visible item of each (task, function), equal starts by track: (items by task, where each task's begin)."""
    order = index.task_order
    owner = index.task[order]
    usable = np.isin(owner, tasks) & (owner >= 0)
    if hidden_tracks.any():
        usable &= ~hidden_tracks[index.track_of(order)]
    at = order[usable]
    key = index.task[at].astype(np.int64) * max(len(index.class_kind), 1) + index.cls[at]
    by_function = np.argsort(key, kind="stable")
    key, at = key[by_function], at[by_function]
    anchor = at[np.append(True, key[1:] != key[:-1])] if len(at) else at
    offsets = np.zeros(n_tasks + 1, dtype=np.int64)
    np.cumsum(np.bincount(index.task[anchor], minlength=n_tasks), out=offsets[1:])
    return anchor.astype(np.int32), offsets
