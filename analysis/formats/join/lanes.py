"""Sub-rows: bars of one lane that overlap are drawn one below the other."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I2, I8, MISSING, Bool
from analysis.formats.join.sorting import WORTH_ROWS, order_of

MAX_ROWS = 32_767
_PEEL_ROWS = 32
_MAX_LANES = 4096


def sub_rows(lane: NDArray[Any], start: I8, end: I8) -> I2:
    """First free sub-row for each bar, in (start, end, index) order within its lane.

    Bars that only touch share a row; bars without a stamp (:data:`~analysis.capture.MISSING`) lie in row 0 and block
    nothing. A bar that ends before it starts counts as its start alone.
    """
    rows = np.zeros(len(start), np.int16)
    if not len(start) or _plain(lane, start, end):
        return rows
    if len(start) >= WORTH_ROWS and compiled_rows(lane, start, end, rows):
        return rows
    timed = np.flatnonzero((start != MISSING) & (end != MISSING))
    if not len(timed):
        return rows
    order = _order(lane, start, end, timed)
    lanes, starts = lane[order], start[order]
    ends = np.maximum(end[order], starts)
    if not _crowded(lanes, starts, ends).any():
        return rows
    clusters = _clusters(lanes, starts, ends)
    paired, settled = _paired(clusters, starts, ends)
    rows[order] = paired
    if settled.all():
        return rows
    rest = ~settled
    order, lanes, starts, ends = order[rest], clusters[rest], starts[rest], ends[rest]
    for row in range(_PEEL_ROWS):
        chosen = _first_fit(lanes, starts, ends)
        rows[order[chosen]] = row
        rest = np.ones(len(order), np.bool_)
        rest[chosen] = False
        order, lanes, starts, ends = order[rest], lanes[rest], starts[rest], ends[rest]
        if not len(order):
            return rows
    rows[order] = _heap_rows(lanes, starts, ends, _PEEL_ROWS)
    return rows


def compiled_rows(lane: NDArray[Any], start: I8, end: I8, rows: I2) -> bool:
    """Fill ``rows`` by the compiled loop; False (and ``rows`` as it was) where lanes are too many or too crowded."""
    from analysis.formats.join import lane_kernel as kernel

    lowest = int(lane.min())
    lanes = int(lane.max()) - lowest + 1
    if lanes > _MAX_LANES:
        return False
    lane = lane.astype(np.int64)
    order = np.zeros(0, np.int64)
    for _ in range(2):
        free_at = np.full((lanes, _PEEL_ROWS), MISSING, np.int64)
        last = np.full((lanes, 2), MISSING, np.int64)
        state = kernel.first_fit(lane, start, end, order, lowest, free_at, last, rows)
        if state == kernel.FITTED:
            return True
        found = order_of(lane, start, end) if state == kernel.UNORDERED else None
        rows[:] = 0
        if found is None:
            return False
        order = found
    return False


def _plain(lane: NDArray[Any], start: I8, end: I8) -> bool:
    """Whether the bars lie one after the other as they come, lane by lane: nothing to do."""
    return bool(
        (lane[1:] >= lane[:-1]).all()
        and (end >= start).all()
        and int(start.min()) != MISSING
        and not _crowded(lane, start, end).any()
    )


def _order(lane: NDArray[Any], start: I8, end: I8, timed: NDArray[np.int64]) -> NDArray[np.int64]:
    """``timed`` in (lane, start, end, index) order.

    Tables come sorted by start within a stream, so bringing equal lanes together mostly does it (for 16-bit lanes in
    linear time).
    """
    order = timed[np.argsort(lane[timed], kind="stable")]
    lanes, starts, ends = lane[order], start[order], end[order]
    same = lanes[1:] == lanes[:-1]
    later = (starts[1:] > starts[:-1]) | ((starts[1:] == starts[:-1]) & (ends[1:] >= ends[:-1]))
    return order if (later | ~same).all() else timed[np.lexsort((end[timed], start[timed], lane[timed]))]


def _crowded(lanes: NDArray[Any], starts: I8, ends: I8) -> NDArray[np.bool_]:
    """Neighbours in one lane that overlap (enough to know whether any overlap exists at all)."""
    crowded: NDArray[np.bool_] = (lanes[1:] == lanes[:-1]) & (starts[1:] < ends[:-1])
    return crowded


def _clusters(lanes: NDArray[Any], starts: I8, ends: I8) -> NDArray[np.int64]:
    """Number of the cluster of each bar: bars of one lane that hang together by overlaps. Every row is free between
    two clusters. Lanes are kept whole where stamps are too far apart to be packed into one number."""
    lane = np.cumsum(np.concatenate(([0], lanes[1:] != lanes[:-1])))
    low, high = int(starts.min()), int(ends.max())
    if (high - low + 1) * (int(lane[-1]) + 1) >= 1 << 62:
        return lane
    shift = lane * (high - low + 1) - low
    reach = np.maximum.accumulate(ends + shift)
    cluster: NDArray[np.int64] = np.cumsum(np.concatenate(([0], (starts + shift)[1:] >= reach[:-1])))
    return cluster


def _paired(clusters: NDArray[np.int64], starts: I8, ends: I8) -> tuple[I2, Bool]:
    """(sub-row, whether it is right) for clusters where a bar overlaps at most the one before it: they alternate.

    That is the usual case (two tasks in flight per core); all bars of any other cluster come back as not right.
    """
    fresh = np.concatenate(([True], clusters[1:] != clusters[:-1]))
    # Ends in order, and ends[i - 2] <= starts[i]: then only the predecessor can overlap.
    odd = np.zeros(len(clusters), np.bool_)
    odd[1:] = ~fresh[1:] & (ends[1:] < ends[:-1])
    odd[2:] |= ~fresh[2:] & ~fresh[1:-1] & (ends[:-2] > starts[2:])
    breaks = np.concatenate(([True], ~_crowded(clusters, starts, ends)))
    position = np.arange(len(clusters), dtype=np.int64)
    since = position - np.maximum.accumulate(np.where(breaks, position, 0))
    bad = np.zeros(int(clusters[-1]) + 1, np.bool_)
    bad[clusters[odd]] = True
    return (since % 2).astype(np.int16), ~bad[clusters]


def _first_fit(lanes: NDArray[Any], starts: I8, ends: I8) -> NDArray[np.int64]:
    """Indexes of the bars that fit into one row: in each lane, always the next that starts at or after the last end."""
    first = np.flatnonzero(np.concatenate(([True], lanes[1:] != lanes[:-1])))
    last = np.append(first[1:], len(lanes))
    follower = np.empty(len(lanes), np.int64)
    low, span = int(starts.min()), int(ends.max()) - int(starts.min()) + 1
    if span * (int(lanes[-1]) + 1) < 1 << 62:
        shift = lanes.astype(np.int64) * span - low
        follower[:] = np.searchsorted(starts + shift, ends + shift, side="left")
    else:
        for begin, stop in zip(first.tolist(), last.tolist(), strict=True):
            follower[begin:stop] = np.searchsorted(starts[begin:stop], ends[begin:stop], side="left") + begin
    # A bar of no length is its own neighbour at that stamp: step past it.
    follower = np.maximum(follower, np.arange(1, len(lanes) + 1))
    jump = follower.tolist()
    chosen: list[int] = []
    for begin, stop in zip(first.tolist(), last.tolist(), strict=True):
        at_bar = begin
        while at_bar < stop:
            chosen.append(at_bar)
            at_bar = jump[at_bar]
    return np.array(chosen, np.int64)


def _heap_rows(lanes: NDArray[Any], starts: I8, ends: I8, first_row: int) -> I2:
    """Lowest free row at or above ``first_row``, for lanes so crowded that peeling rows would not end soon."""
    out = np.zeros(len(lanes), np.int16)
    lane: Any = None
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    used = first_row
    for at, (name, start, end) in enumerate(zip(lanes.tolist(), starts.tolist(), ends.tolist(), strict=True)):
        if name != lane:
            lane, busy, free, used = name, [], [], first_row
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            row = heapq.heappop(free)
        else:
            row, used = used, used + 1
        heapq.heappush(busy, (end, row))
        out[at] = min(row, MAX_ROWS)
    return out
