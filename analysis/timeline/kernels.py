"""Compiled loops of the timeline: what is in each cell, which records are wide enough to be bars.

Everything here works on plain arrays sorted by (track, start); a *track* is one sub-row of one lane. A *cell* of level
``L`` is ``2**L`` ticks wide and aligned to multiples of that, so cell ``c`` is ``[c << L, (c + 1) << L)``. A record of
length zero touches the cell it starts in and adds no busy time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

NO_CLASS = 65535
"""Class of a cell that nothing touches."""

_RING = 4
"""A record shorter than two cells touches at most three neighbouring cells."""


def _compiled(function: F) -> F:
    """Compile on first call, through numba's on-disk cache where one can be written."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no writable cache directory: compile in every process
        return cast(F, numba.njit(nogil=True)(function))


@_compiled
def _lower(values: NDArray[Any], low: int, high: int, key: int) -> int:
    """First position in ``values[low:high]`` whose value is >= key."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@_compiled
def raster(
    offsets: NDArray[Any],
    start: NDArray[Any],
    end: NDArray[Any],
    cls: NDArray[Any],
    tracks: NDArray[Any],
    cell0: int,
    level: int,
    limit_ticks: int,
    n_classes: int,
    out_cls: NDArray[Any],
    out_busy: NDArray[Any],
    out_count: NDArray[Any],
) -> None:
    """Rasterise the records shorter than ``limit_ticks`` (at most two cells) of ``tracks`` into the given cells.

    Outputs have shape (len(tracks), cells): dominant class (most busy ticks; equal: smaller class), busy ticks, and
    the number of records that touch the cell.
    """
    cells = out_cls.shape[1]
    acc = np.full((_RING, n_classes), -1, dtype=np.int64)
    seen = np.zeros((_RING, n_classes), dtype=np.int32)
    n_seen = np.zeros(_RING, dtype=np.int64)
    begin_tick = cell0 << level
    end_tick = (cell0 + cells) << level
    for at in range(len(tracks)):
        low, high = offsets[tracks[at]], offsets[tracks[at] + 1]
        flushed = 0
        pending = 0
        for i in range(_lower(start, low, high, begin_tick - limit_ticks), high):
            s, e = start[i], end[i]
            if s >= end_tick:
                break
            if e - s >= limit_ticks:
                continue
            first = (s >> level) - cell0
            last = (max(e, s + 1) - 1 >> level) - cell0
            while flushed < min(first, pending):
                _flush(flushed, at, acc, seen, n_seen, out_cls)
                flushed += 1
            flushed = max(flushed, first)
            for c in range(max(first, 0), min(last, cells - 1) + 1):
                cell_start = (cell0 + c) << level
                busy = min(e, cell_start + (1 << level)) - max(s, cell_start)
                out_busy[at, c] += busy
                out_count[at, c] += 1
                slot = c % _RING
                k = cls[i]
                if acc[slot, k] < 0:
                    acc[slot, k] = 0
                    seen[slot, n_seen[slot]] = k
                    n_seen[slot] += 1
                acc[slot, k] += busy
                pending = max(pending, c + 1)
        while flushed < pending:
            _flush(flushed, at, acc, seen, n_seen, out_cls)
            flushed += 1


@_compiled
def _flush(
    cell: int, at: int, acc: NDArray[Any], seen: NDArray[Any], n_seen: NDArray[Any], out_cls: NDArray[Any]
) -> None:
    slot = cell % _RING
    best, most = NO_CLASS, -1
    for j in range(n_seen[slot]):
        k = seen[slot, j]
        if acc[slot, k] > most or (acc[slot, k] == most and k < best):
            best, most = k, acc[slot, k]
        acc[slot, k] = -1
    n_seen[slot] = 0
    if best != NO_CLASS:
        out_cls[at, cell] = best


@_compiled
def wide_items(
    wide_order: NDArray[Any],
    wide_offsets: NDArray[Any],
    start: NDArray[Any],
    end: NDArray[Any],
    tracks: NDArray[Any],
    n_tracks: int,
    size_class: int,
    n_size_classes: int,
    t0: int,
    t1: int,
    out: NDArray[Any],
) -> int:
    """Items of at least ``size_class`` that touch ``[t0, t1)``; fills ``out`` as far as it reaches, returns the number.

    Size class ``k`` holds lengths with ``k`` significant bits: ``[2**(k-1), 2**k)``, class 0 the length zero.
    ``wide_order`` lists item indexes by (class, track, start); an item of class k that reaches ``t0`` starts after
    ``t0 - 2**k``, so a long item that begins far before the window is found without scanning.
    """
    found = 0
    for k in range(size_class, n_size_classes):
        for at in range(len(tracks)):
            base = k * n_tracks + tracks[at]
            low, high = wide_offsets[base], wide_offsets[base + 1]
            left, right = low, high
            key = t0 - (1 << k)
            while left < right:
                middle = (left + right) >> 1
                if start[wide_order[middle]] < key:
                    left = middle + 1
                else:
                    right = middle
            for j in range(left, high):
                i = wide_order[j]
                if start[i] >= t1:
                    break
                if max(end[i], start[i] + 1) > t0:
                    if found < len(out):
                        out[found] = i
                    found += 1
    return found


@_compiled
def count_touching(
    offsets: NDArray[Any], start: NDArray[Any], ends_sorted: NDArray[Any], tracks: NDArray[Any], t0: int, t1: int
) -> int:
    """Number of items of ``tracks`` that touch ``[t0, t1)``; ``ends_sorted`` ascends within each track."""
    total = 0
    for at in range(len(tracks)):
        low, high = offsets[tracks[at]], offsets[tracks[at] + 1]
        total += _lower(start, low, high, t1) - _lower(ends_sorted, low, high, t0 + 1)
    return total


@_compiled
def busy_profile(start: NDArray[Any], end: NDArray[Any], t0: int, bin_ticks: float, out: NDArray[Any]) -> None:
    """Add every item's busy ticks to the bins of ``out`` (float64) it overlaps."""
    bins = len(out)
    for i in range(len(start)):
        first = max(0, int((start[i] - t0) / bin_ticks))
        last = min(bins - 1, int((end[i] - t0) / bin_ticks))
        for b in range(first, last + 1):
            low = t0 + b * bin_ticks
            overlap = min(float(end[i]), low + bin_ticks) - max(float(start[i]), low)
            if overlap > 0:
                out[b] += overlap
