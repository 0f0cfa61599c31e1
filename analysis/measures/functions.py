"""How long does each function take, and how much of its time is execution?

Source: ALGORITHMS, "Function statistics". Statistics are over records (blocks) grouped by function id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8, MISSING, Capture
from analysis.measures.needs import has_receive, require_records
from analysis.results import Cells, Column, Table, to_us

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    Column("func_id", "index", "Function id of the record; -1 where deps.json names none."),
    Column("name", "text", "Name from the name map, else func_<id>; 'unresolved' for -1."),
    Column("count", "count", "Records (executed blocks)."),
    Column("total_us", "us", "Sum of execution (end - start, setup excluded)."),
    Column("share", "share", "Part of the execution of all records."),
    Column("min_us", "us", "Shortest execution."),
    Column("mean_us", "us", "Mean execution."),
    Column("p50_us", "us", "Median execution, interpolated linearly."),
    Column("p95_us", "us", "95th percentile of execution, interpolated linearly."),
    Column("max_us", "us", "Longest execution."),
    Column("std_us", "us", "Standard deviation of execution (divides by n)."),
    Column("latency_us", "us", "Mean of finish - dispatch; empty without AICPU stamps."),
    Column("exec_share", "share", "Total execution / total latency."),
    Column("head_us", "us", "Mean of start - dispatch."),
    Column("tail_us", "us", "Mean of finish - end."),
    Column("propagation_us", "us", "Mean of receive - dispatch; empty without receive stamps."),
    Column("setup_us", "us", "Mean of start - receive; empty without receive stamps."),
    Column("total_ticks", "ticks", "Sum of execution in ticks."),
    Column("min_ticks", "ticks", "Shortest execution in ticks."),
    Column("max_ticks", "ticks", "Longest execution in ticks."),
)
QUANTILES = (("p50_us", 0.5), ("p95_us", 0.95))
STAMP_COLUMNS = ("latency_us", "exec_share", "head_us", "tail_us", "propagation_us", "setup_us")


@dataclass(frozen=True, slots=True)
class FunctionStatistics:
    """One row per function id, ascending; ``total`` is the closing TOTAL row (one row, same columns)."""

    table: Table
    total: Table
    test_time_ticks: int
    test_time_us: float

    def frame(self) -> pd.DataFrame:
        """The functions as a frame, without TOTAL."""
        return self.table.frame()

    def to_json(self) -> list[dict[str, Any]]:
        """One object per function; TOTAL is left out, it is no function."""
        return self.table.to_records()


def function_statistics(capture: Capture) -> FunctionStatistics:
    """Duration statistics per function.

    Raises:
        NotAvailable: the capture has no task record.
    """
    records = capture.records
    require_records(capture, "Function statistics need")
    func_ids, group = np.unique(records.func_id, return_inverse=True)
    everything = np.zeros(len(records), dtype=np.int64)
    names = [capture.meta.func_name(int(func_id)) for func_id in func_ids]
    total_id = np.array([MISSING], dtype=np.int64)
    test_time = elapsed_test_ticks(capture)
    return FunctionStatistics(
        table=_statistics(capture, func_ids.astype(np.int64), names, group.astype(np.int64)),
        total=_statistics(capture, total_id, ["TOTAL"], everything),
        test_time_ticks=test_time,
        test_time_us=capture.meta.us(test_time),
    )


def elapsed_test_ticks(capture: Capture) -> int:
    """Earliest dispatch to latest finish; without AICPU stamps earliest receive to latest end.

    Raises:
        NotAvailable: the capture has no task record.
    """
    records = capture.records
    require_records(capture, "Test time needs")
    dispatched = records.dispatch_ticks[records.dispatch_ticks != MISSING]
    finished = records.finish_ticks[records.finish_ticks != MISSING]
    if capture.meta.level >= 2 and len(dispatched) and len(finished):
        return int(finished.max()) - int(dispatched.min())
    return int(records.end_ticks.max()) - int(records.receive_ticks.min())


def _statistics(capture: Capture, func_ids: I8, names: list[str], group: I8) -> Table:
    """Statistics of the records per ``group`` (0 .. len(func_ids) - 1, none empty)."""
    records = capture.records
    length = records.end_ticks - records.start_ticks
    order = np.lexsort((length, group))
    sorted_ticks = length[order]
    bounds = np.searchsorted(group[order], np.arange(len(func_ids) + 1))
    count = np.diff(bounds)
    total = np.add.reduceat(sorted_ticks, bounds[:-1])
    mean = total / count
    deviation = sorted_ticks - np.repeat(mean, count)
    variance = np.add.reduceat(deviation * deviation, bounds[:-1]) / count
    shortest, longest = sorted_ticks[bounds[:-1]], sorted_ticks[bounds[1:] - 1]
    busy = int(total.sum())
    per_us = capture.meta.ticks_per_us
    data: dict[str, Cells] = {
        "func_id": func_ids,
        "name": names,
        "count": count,
        "total_us": to_us(capture, total),
        "share": total / busy if busy > 0 else np.full(len(total), np.nan),
        "min_us": to_us(capture, shortest),
        "mean_us": mean / per_us,
        "max_us": to_us(capture, longest),
        "std_us": np.sqrt(variance) / per_us,
        "total_ticks": total,
        "min_ticks": shortest,
        "max_ticks": longest,
    }
    for name, q in QUANTILES:
        data[name] = _quantile(sorted_ticks, bounds, q) / per_us
    data.update(_stamp_means(capture, length, group, len(func_ids)))
    return Table(COLUMNS, data)


def _quantile(sorted_ticks: I8, bounds: NDArray[Any], q: float) -> NDArray[np.float64]:
    """Linearly interpolated quantile of each sorted group."""
    position = (np.diff(bounds) - 1) * q
    low = np.floor(position).astype(np.int64)
    high = np.ceil(position).astype(np.int64)
    below, above = sorted_ticks[bounds[:-1] + low], sorted_ticks[bounds[:-1] + high]
    return np.asarray(below + (above - below) * (position - low), dtype=np.float64)


def _stamp_means(capture: Capture, length: I8, group: I8, groups: int) -> dict[str, Cells]:
    """Means that need dispatch and finish, over the records that have both; nan for groups without any."""
    records = capture.records
    stamped = (records.dispatch_ticks != MISSING) & (records.finish_ticks != MISSING)
    received = has_receive(capture)
    if capture.meta.level < 2 or not stamped.any():
        found: dict[str, Cells] = {name: np.full(groups, np.nan) for name in STAMP_COLUMNS}
        if received:  # AICore stamps are enough for setup
            setup = np.bincount(group, weights=records.start_ticks - records.receive_ticks, minlength=groups)
            found["setup_us"] = setup / np.bincount(group, minlength=groups) / capture.meta.ticks_per_us
        return found
    where = group[stamped]
    receive, start, end = records.receive_ticks[stamped], records.start_ticks[stamped], records.end_ticks[stamped]
    dispatch, finish = records.dispatch_ticks[stamped], records.finish_ticks[stamped]
    count = np.bincount(where, minlength=groups).astype(np.float64)
    count[count == 0] = np.nan

    def total(ticks: I8) -> NDArray[np.float64]:
        return np.bincount(where, weights=ticks, minlength=groups).astype(np.float64)

    def mean_us(ticks: I8) -> NDArray[np.float64]:
        return total(ticks) / count / capture.meta.ticks_per_us

    latency = total(finish - dispatch)
    latency[latency == 0] = np.nan
    unknown = np.full(groups, np.nan)
    return {
        "latency_us": mean_us(finish - dispatch),
        "exec_share": total(length[stamped]) / latency,
        "head_us": mean_us(start - dispatch),
        "tail_us": mean_us(finish - end),
        "propagation_us": mean_us(receive - dispatch) if received else unknown,
        "setup_us": mean_us(start - receive) if received else unknown,
    }
