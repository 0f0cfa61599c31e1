"""Step curves: how many of something at each moment.

A curve is right-open: ``values[i]`` holds on ``[times[i], times[i + 1])`` and is 0 before the first and after the last
time. Curves are exact (one step per change); :meth:`StepCurve.means` reduces one to the pixels of a picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8


@dataclass(frozen=True, slots=True)
class StepCurve:
    """``times`` strictly ascending ticks, ``values`` of equal length; the last value is 0 for a finite curve."""

    times: I8
    values: I8

    def at(self, ticks: NDArray[Any]) -> I8:
        """Value at each of ``ticks``."""
        if not len(self.times):
            return np.zeros(len(ticks), dtype=np.int64)
        index = np.searchsorted(self.times, ticks, side="right") - 1
        return np.where(index >= 0, self.values[np.maximum(index, 0)], 0)

    def integral(self, t0: int, t1: int) -> int:
        """Exact area under the curve inside ``[t0, t1)``, in value times ticks."""
        return int(self.areas(np.array([t0], dtype=np.int64), np.array([t1], dtype=np.int64))[0])

    def areas(self, starts: NDArray[Any], ends: NDArray[Any]) -> I8:
        """Exact area inside each ``[start, end)``; negative where an interval is reversed."""
        return self._area_to(ends) - self._area_to(starts)

    def means(self, t0: int, t1: int, buckets: int) -> NDArray[np.float64]:
        """Mean value in each of ``buckets`` equal parts of ``[t0, t1)``; for pictures, never for sums."""
        bounds = np.linspace(t0, t1, buckets + 1)
        whole = np.floor(bounds).astype(np.int64)
        area = self._area_to(whole) + (bounds - whole) * self.at(whole)
        width = (t1 - t0) / buckets
        return np.diff(area) / width if width > 0 else np.zeros(buckets)

    def _area_to(self, ticks: NDArray[Any]) -> I8:
        """Area left of each tick."""
        if not len(self.times):
            return np.zeros(len(ticks), dtype=np.int64)
        area = np.concatenate([[0], np.cumsum(self.values[:-1] * np.diff(self.times))])
        index = np.searchsorted(self.times, ticks, side="right") - 1
        safe = np.maximum(index, 0)
        return np.where(index >= 0, area[safe] + self.values[safe] * (ticks - self.times[safe]), 0)


def count_steps(starts: NDArray[Any], ends: NDArray[Any]) -> StepCurve:
    """How many of the intervals ``[start, end)`` hold at each moment; empty and reversed intervals count nowhere."""
    keep = ends > starts
    opens, closes = np.sort(starts[keep]), np.sort(ends[keep])
    times = distinct(np.concatenate([opens, closes]))
    values = np.searchsorted(opens, times, side="right") - np.searchsorted(closes, times, side="right")
    return compact(StepCurve(times.astype(np.int64), values.astype(np.int64)))


def compact(curve: StepCurve) -> StepCurve:
    """The same curve without steps that change nothing."""
    if not len(curve.times):
        return curve
    changed = np.concatenate([[curve.values[0] != 0], curve.values[1:] != curve.values[:-1]])
    return StepCurve(curve.times[changed], curve.values[changed])


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Different values, ascending. Sorting beats the hash table of ``np.unique`` on long columns of time stamps."""
    ordered = np.sort(values, kind="stable")
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def merged_times(curves: list[StepCurve]) -> I8:
    """Every moment at which one of the curves changes, ascending."""
    if not curves:
        return np.zeros(0, dtype=np.int64)
    return distinct(np.concatenate([curve.times for curve in curves]))


def union_length(starts: NDArray[Any], ends: NDArray[Any]) -> int:
    """Total length covered by intervals sorted by start; what overlaps counts once."""
    if not len(starts):
        return 0
    covered = np.concatenate([[starts[0]], np.maximum.accumulate(ends)[:-1]])
    return int(np.maximum(ends - np.maximum(starts, covered), 0).sum())
