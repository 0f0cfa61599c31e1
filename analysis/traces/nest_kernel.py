"""Compiled loops over the spans of lanes: which end belongs to which begin, what holds what, sub-rows and self time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.jit import compiled

MAX_ROWS = 512
"""Sub-rows of one lane; spans that would need more are drawn on the last row."""
_SEARCHED = 64


@compiled
def pair(group: NDArray[Any], begins: NDArray[Any], name: NDArray[Any], partner: NDArray[Any]) -> None:
    """Partner of each begin and end, -1 without; events sorted by (group, time, file order).

    An end closes the innermost open begin; an end with a name closes the innermost begin of that name among the 64
    innermost, and begins inside of that one stay open. An end whose name none of them has is left without.
    """
    stack = np.empty(len(group) + 1, np.int64)
    top = 0
    for i in range(len(group)):
        if i == 0 or group[i] != group[i - 1]:
            top = 0
        partner[i] = -1
        if begins[i]:
            stack[top] = i
            top += 1
        elif top:
            at = top - 1
            if name[i] >= 0:
                lowest = max(0, top - _SEARCHED)
                while at >= lowest and name[stack[at]] != name[i]:
                    at -= 1
                if at < lowest:
                    at = -1
            if at >= 0:
                partner[i] = stack[at]
                partner[stack[at]] = i
                top = at


@compiled
def nest(
    lane: NDArray[Any], start: NDArray[Any], end: NDArray[Any], parent: NDArray[Any], depth: NDArray[Any],
    row: NDArray[Any], self_ns: NDArray[Any],
) -> int:  # fmt: skip
    """Fill parent, depth, row and self time of spans sorted by (lane, start, -end, file order); returns crossing spans.

    The parent of a span is the last one before it in that order with ``start <= its start < end`` and ``its end <= end``.
    Self time is the length without what children cover. A row is free for a span once the spans before it ended.
    """
    n = len(lane)
    stack = np.empty(n + 1, np.int64)
    covered = np.zeros(n, np.int64)
    row_end = np.zeros(MAX_ROWS, np.int64)
    top, rows, crossing = 0, 0, 0
    for i in range(n):
        if i == 0 or lane[i] != lane[i - 1]:
            top = rows = 0
        crosses = False
        while top and (end[stack[top - 1]] < end[i] or end[stack[top - 1]] <= start[i]):
            crosses = crosses or end[stack[top - 1]] > start[i]
            top -= 1
        crossing += crosses
        above = stack[top - 1] if top else -1
        parent[i] = above
        depth[i] = depth[above] + 1 if above >= 0 else 0
        at = min(row[above] + 1, MAX_ROWS - 1) if above >= 0 else 0
        while at < rows and row_end[at] > start[i] and at < MAX_ROWS - 1:
            at += 1
        while rows <= at:
            row_end[rows] = start[i]
            rows += 1
        row_end[at] = max(end[i], row_end[at])
        row[i] = at
        self_ns[i] = end[i] - start[i]
        covered[i] = start[i]
        if above >= 0:
            low = max(start[i], covered[above])
            if end[i] > low:
                self_ns[above] -= end[i] - low
                covered[above] = end[i]
        stack[top] = i
        top += 1
    return crossing


@compiled
def enclosing(
    lane_first: NDArray[Any], start: NDArray[Any], end: NDArray[Any], parent: NDArray[Any], lane: NDArray[Any],
    at: NDArray[Any], following: NDArray[Any], out: NDArray[Any],
) -> None:  # fmt: skip
    """Innermost span of ``lane[i]`` at the moment ``at[i]``, -1 for none.

    One that ends at that moment counts when none goes on there; with ``following`` the next one that begins counts last.
    """
    for i in range(len(lane)):
        low, high = lane_first[lane[i]], lane_first[lane[i] + 1]
        first, last = low, high
        while low < high:
            middle = (low + high) >> 1
            if start[middle] <= at[i]:
                low = middle + 1
            else:
                high = middle
        found, touching = low - 1, -1
        if found < first:
            found = -1
        while found >= 0 and end[found] <= at[i]:
            if end[found] == at[i] and touching < 0:
                touching = found
            found = parent[found]
        if found < 0:
            found = touching
        if found < 0 and following[i] and low < last:
            found = low
        out[i] = found


@compiled
def chain(key: NDArray[Any], rank: NDArray[Any], before: NDArray[Any]) -> int:
    """Which flow event each one continues, -1 for none; sorted by (key, time, rank), rank 0 s, 1 t, 2 f.

    Returns how many begins follow another begin of the same key.
    """
    again = 0
    open_at = -1
    begun = False
    for i in range(len(key)):
        before[i] = -1
        if i == 0 or key[i] != key[i - 1]:
            open_at, begun = -1, False
        if rank[i] == 0:
            again += begun
            open_at, begun = i, True
        else:
            before[i] = open_at
            if rank[i] == 1 and open_at >= 0:
                open_at = i
    return again
