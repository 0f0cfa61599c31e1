"""How are the durations of one function spread, and how did they develop over the run?

Source: VIEWS, "Function performance": a histogram of the function's durations and its records over time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8, Capture
from analysis.errors import NotFoundError
from analysis.results import to_us

MAX_BINS = 60
MIN_BINS = 5


@dataclass(frozen=True, slots=True)
class FunctionRecords:
    """Records of one function.

    ``counts`` (n,) and ``bounds_us`` (n + 1,) are the histogram over *all* ``n_total`` records; the points are at most
    ``max_points`` of them (``exact`` when all): then the longest of each equal slice of the start order.
    """

    func_id: int
    name: str
    n_total: int
    counts: I8
    bounds_us: NDArray[np.float64]
    start_us: NDArray[np.float64]
    duration_us: NDArray[np.float64]
    task_ids: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether every record is a point."""
        return len(self.start_us) == self.n_total


def function_records(capture: Capture, func_id: int, *, max_points: int) -> FunctionRecords:
    """Histogram and points of function ``func_id`` (-1 for records without a function), in start order.

    Raises:
        NotFoundError: no record has this function.
    """
    records = capture.records
    rows = np.flatnonzero(records.func_id == func_id)
    if not len(rows):
        raise NotFoundError(f"no record of this capture has function {func_id}")
    rows = rows[np.argsort(records.start_ticks[rows], kind="stable")]
    duration = records.end_ticks[rows] - records.start_ticks[rows]
    counts, bounds = np.histogram(to_us(capture, duration), bins=bin_count(duration))
    keep = longest_of_slices(duration, max_points)
    return FunctionRecords(
        func_id=func_id,
        name=capture.meta.func_name(func_id),
        n_total=len(rows),
        counts=counts.astype(np.int64),
        bounds_us=bounds,
        start_us=to_us(capture, records.start_ticks[rows[keep]]),
        duration_us=to_us(capture, duration[keep]),
        task_ids=tuple(str(i) for i in capture.tasks.task_id[records.task[rows[keep]]].tolist()),
    )


def longest_function(capture: Capture) -> int:
    """The function with the longest total execution, the smallest id among equals; -1 without records."""
    records = capture.records
    if not len(records):
        return -1
    ids, group = np.unique(records.func_id, return_inverse=True)
    total = np.zeros(len(ids), dtype=np.int64)
    np.add.at(total, group, records.end_ticks - records.start_ticks)
    return int(ids[int(np.argmax(total))])


def bin_count(values: I8) -> int:
    """Parts of a histogram: the square root of the count within 5 and 60; 1 when all values are equal."""
    if int(values.min()) == int(values.max()):
        return 1
    return int(min(MAX_BINS, max(MIN_BINS, int(np.sqrt(len(values))))))


def longest_of_slices(values: I8, max_points: int) -> I8:
    """Ascending indexes of at most ``max_points`` values: all, or the largest of each equal slice."""
    if len(values) <= max_points:
        return np.arange(len(values), dtype=np.int64)
    bounds = np.linspace(0, len(values), max_points + 1).astype(np.int64)
    return np.array([lo + int(np.argmax(values[lo:hi])) for lo, hi in pairwise(bounds.tolist())])
