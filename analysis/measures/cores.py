"""How busy is each core, and what was its longest idle time?

Source: ALGORITHMS, "Function statistics" (panel extras). The window is the makespan, [min start, max end]. Busy is the
time covered by at least one record, so utilisation never exceeds 1 even where records overlap. The utilisation of a
core type divides by all its cores in ``core_types``, used or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.capture import I8, MISSING, Capture
from analysis.measures.needs import require_records
from analysis.measures.steps import distinct, union_length
from analysis.results import Column, Table, to_us
from analysis.shown import CardText, Quantity

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    Column("core_id", "index", "Core id as in the capture."),
    Column("core_type", "text", "aic or aiv."),
    Column("thread", "index", "Scheduler thread that retired the core's tasks; empty where not captured."),
    Column("records", "count", "Records executed."),
    Column("tasks", "count", "Different tasks among them."),
    Column("busy_us", "us", "Time covered by at least one record."),
    Column("utilisation", "share", "busy / makespan."),
    Column("longest_idle_us", "us", "Longest time without a record inside the makespan."),
    Column("idle_start_us", "us", "Where that idle time begins, from capture zero."),
    Column("busy_ticks", "ticks", "Busy time in ticks."),
    Column("idle_start_ticks", "ticks", "Beginning of the longest idle time, relative to capture zero."),
    Column("idle_end_ticks", "ticks", "End of the longest idle time, relative to capture zero."),
)
TYPE_COLUMNS = (
    Column("core_type", "text", "aic or aiv."),
    Column("cores", "count", "Cores of the type in core_types."),
    Column("used_cores", "count", "Cores of the type with at least one record."),
    Column("records", "count", "Records on cores of the type."),
    Column("tasks", "count", "Tasks with a record on a core of the type (a MIX task counts for both)."),
    Column("busy_us", "us", "Busy time summed over the cores."),
    Column("utilisation", "share", "busy / (cores * makespan)."),
)


@dataclass(frozen=True, slots=True)
class CoreStatistics:
    """``table``: one row per core of ``core_types``; ``by_type``: one row per core type."""

    table: Table
    by_type: Table
    makespan_ticks: int
    makespan_us: float

    def frame(self) -> pd.DataFrame:
        """The cores as a frame."""
        return self.table.frame()

    def to_json(self) -> dict[str, Any]:
        """``{makespan_us, by_type: [...], cores: [...]}``."""
        return {
            "makespan_us": self.makespan_us,
            "by_type": self.by_type.to_records(),
            "cores": self.table.to_records(),
        }


def core_statistics(capture: Capture) -> CoreStatistics:
    """Busy time, utilisation and longest idle time of every core.

    Raises:
        NotAvailable: the capture has no task record.
    """
    require_records(capture, "Core statistics need")
    records, meta = capture.records, capture.meta
    cores = shown_cores(capture)
    n_cores = len(cores)
    window = (int(records.start_ticks.min()), int(records.end_ticks.max()))
    makespan = window[1] - window[0]
    begin, stop = (np.searchsorted(records.core_id, cores, side=side) for side in ("left", "right"))
    count = stop - begin
    tasks, busy, idle = np.zeros(n_cores, np.int64), np.zeros(n_cores, np.int64), np.zeros((n_cores, 2), np.int64)
    for core in range(n_cores):
        own = slice(begin[core], stop[core])
        starts, ends = records.start_ticks[own], records.end_ticks[own]
        tasks[core] = len(distinct(records.task[own]))
        busy[core] = union_length(starts, ends)
        idle[core] = _longest_idle(starts, ends, window)
    names = core_type_names(capture)
    types = [names[core] for core in cores.tolist()]
    threads = np.full(n_cores, MISSING, np.int64)
    if meta.core_to_thread is not None:
        known = np.array(meta.core_to_thread, dtype=np.int64)
        told = np.flatnonzero(cores < len(known))
        threads[told] = np.where(known[cores[told]] >= 0, known[cores[told]], MISSING)
    table = Table(
        COLUMNS,
        {
            "core_id": cores,
            "core_type": types,
            "thread": threads,
            "records": count,
            "tasks": tasks,
            "busy_us": to_us(capture, busy),
            "utilisation": busy / makespan if makespan > 0 else np.full(n_cores, np.nan),
            "longest_idle_us": to_us(capture, idle[:, 1] - idle[:, 0]),
            "idle_start_us": to_us(capture, idle[:, 0]),
            "busy_ticks": busy,
            "idle_start_ticks": idle[:, 0],
            "idle_end_ticks": idle[:, 1],
        },
    )
    return CoreStatistics(table, _by_type(capture, cores, types, count, busy, makespan), makespan, meta.us(makespan))


def shown_cores(capture: Capture) -> I8:
    """Cores that have a row: those of ``core_types`` and those beyond that a record names (a damaged id is one row)."""
    listed = np.arange(len(capture.meta.core_types), dtype=np.int64)
    return np.union1d(listed, capture.records.core_id.astype(np.int64))


def core_count(capture: Capture) -> int:
    """One more than the highest core id that ``core_types`` or a record names."""
    highest = int(capture.records.core_id.max()) + 1 if len(capture.records) else 0
    return max(len(capture.meta.core_types), highest)


def core_type_names(capture: Capture) -> list[str]:
    """Core type by core id; ``"?"`` where ``core_types`` does not say."""
    known = list(capture.meta.core_types)
    return known + ["?"] * (core_count(capture) - len(known))


def _longest_idle(starts: I8, ends: I8, window: tuple[int, int]) -> tuple[int, int]:
    """Longest interval of the window outside every record of one core (the earliest of equals)."""
    begins = np.concatenate([[window[0]], np.maximum.accumulate(ends)])
    stops = np.concatenate([starts, [window[1]]])
    widest = int(np.argmax(stops - begins))
    begin, stop = int(begins[widest]), int(stops[widest])
    return begin, max(begin, stop)


def _by_type(capture: Capture, cores_shown: I8, types: list[str], count: I8, busy: I8, makespan: int) -> Table:
    names = sorted(set(types))
    members = [np.flatnonzero(np.array(types) == name) for name in names]
    cores = np.array([len(m) for m in members])
    busy_ticks = np.array([busy[m].sum() for m in members], dtype=np.int64)
    of_core = np.searchsorted(np.array(names), np.array(types))
    of_record = of_core[np.searchsorted(cores_shown, capture.records.core_id)]
    return Table(
        TYPE_COLUMNS,
        {
            "core_type": names,
            "cores": cores,
            "used_cores": np.array([int((count[m] > 0).sum()) for m in members]),
            "records": np.array([count[m].sum() for m in members]),
            "tasks": np.array(
                [np.count_nonzero(np.bincount(capture.records.task[of_record == i])) for i in range(len(names))]
            ),
            "busy_us": to_us(capture, busy_ticks),
            "utilisation": busy_ticks / (cores * makespan) if makespan > 0 else np.full(len(names), np.nan),
        },
    )


def card(tables: Mapping[str, Table], _numbers: Mapping[str, Any]) -> CardText:
    """Busy share per core type, and how many of its cores have a record."""
    rows = [row for row in tables["Core types"].to_records() if row["utilisation"] is not None]
    shares = " / ".join(f"{row['utilisation'] * 100:.1f}" for row in rows)
    used = " / ".join(f"{row['core_type'].upper()} {row['used_cores']} of {row['cores']}" for row in rows)
    return CardText(f"{shares} %" if rows else Quantity(None, "share"), (used,))
