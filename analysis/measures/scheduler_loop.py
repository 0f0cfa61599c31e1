"""What does each scheduler thread spend its time on?

Source: ALGORITHMS, "Scheduler overhead" (scheduler loop). The budget of a thread is the time from its first outer phase to
its last: outer phases and idle fill it; inner phases are inside outer ones and are listed separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.capture import I8, MISSING, Capture, PhaseLane
from analysis.errors import NotAvailable
from analysis.measures.steps import union_length
from analysis.results import Column, Table, to_us

LANES = {int(PhaseLane.OUTER): "outer", int(PhaseLane.INNER): "inner", int(PhaseLane.MARKER): "marker"}

COLUMNS = (
    Column("thread", "index", "Scheduler id as in the capture."),
    Column("phase", "text", "Phase kind."),
    Column("lane", "text", "outer: exclusive phases; inner: inside an outer one; marker: drawn on the worker view."),
    Column("count", "count", "Phases recorded."),
    Column("total_us", "us", "Time in the phase."),
    Column("share", "share", "Time in the phase / time of the thread."),
    Column("mean_us", "us", "Mean length of the phase."),
    Column("max_us", "us", "Longest phase."),
    Column("tasks", "count", "Sum of tasks_processed; empty where not recorded."),
    Column("total_ticks", "ticks", "Time in the phase in ticks."),
)
THREAD_COLUMNS = (
    Column("thread", "index", "Scheduler id as in the capture."),
    Column("loop_us", "us", "First outer phase to end of the last; empty for a thread without phases."),
    Column("idle_us", "us", "Gaps between outer phases."),
    Column("idle_share", "share", "idle / loop time."),
    Column("phases", "count", "Outer phases recorded."),
    Column("pop_hit", "count", "Ready-queue pops that found a task; empty where not recorded."),
    Column("pop_miss", "count", "Ready-queue pops that found none; empty where not recorded."),
    Column("pop_hit_rate", "share", "hit / (hit + miss)."),
    Column("idle_ticks", "ticks", "Gaps between outer phases in ticks."),
)


@dataclass(frozen=True, slots=True)
class SchedulerLoop:
    """``table``: one row per thread and phase kind, longest first in a thread; ``threads``: one row per thread."""

    table: Table
    threads: Table

    def to_json(self) -> dict[str, Any]:
        """``{threads: [{thread, idle_us, pop_hit_rate, …, phases_by_kind: [...]}, …]}``."""
        phases = self.table.to_records()
        threads = self.threads.to_records()
        for thread in threads:
            thread["phases_by_kind"] = [
                {key: value for key, value in row.items() if key != "thread"}
                for row in phases
                if row["thread"] == thread["thread"]
            ]
        return {"threads": threads}


def scheduler_loop(capture: Capture) -> SchedulerLoop:
    """Time per scheduler thread and phase, idle time, and pop hit rate.

    Raises:
        NotAvailable: no scheduler phases (capture level below 3, or nothing recorded).
    """
    if not len(capture.phases):
        level = capture.meta.level
        why = f"this capture has level {level}" if level < 3 else "none were recorded"
        raise NotAvailable(f"The scheduler loop needs scheduler phases, captured from level 3 on; {why}.")
    streams = np.union1d(np.array(capture.meta.scheduler_streams, dtype=np.int64), capture.phases.stream)
    loops = [_loop_and_idle(capture, int(stream)) for stream in streams]
    loop = np.array([a for a, _, _ in loops], dtype=np.int64)
    idle = np.array([b for _, b, _ in loops], dtype=np.int64)
    count = np.array([c for _, _, c in loops], dtype=np.int64)
    hit, miss = (_known_sum(capture, values, streams) for values in (capture.phases.pop_hit, capture.phases.pop_miss))
    pops = np.where((hit == MISSING) | (miss == MISSING), 0, hit + miss)
    threads = Table(
        THREAD_COLUMNS,
        {
            "thread": streams,
            "loop_us": to_us(capture, loop),
            "idle_us": to_us(capture, idle),
            "idle_share": np.divide(idle, loop, out=np.full(len(loop), np.nan), where=loop > 0),
            "phases": count,
            "pop_hit": hit,
            "pop_miss": miss,
            "pop_hit_rate": np.divide(hit, pops, out=np.full(len(pops), np.nan), where=pops > 0),
            "idle_ticks": idle,
        },
    )
    return SchedulerLoop(_phase_table(capture, streams, loop), threads)


def _loop_and_idle(capture: Capture, stream: int) -> tuple[int, int, int]:
    """Loop time, idle time and number of outer phases of one thread."""
    phases = capture.phases
    own = np.flatnonzero((phases.stream == stream) & (phases.lane == PhaseLane.OUTER))
    if not len(own):
        return MISSING, MISSING, 0
    starts, ends = phases.start_ticks[own], phases.end_ticks[own]
    whole = int(ends.max()) - int(starts.min())
    return whole, whole - union_length(starts, ends), len(own)


def _known_sum(capture: Capture, values: I8, streams: I8) -> I8:
    """Sum of the recorded values (>= 0) per thread; MISSING where none was recorded."""
    known = values >= 0
    at = np.searchsorted(streams, capture.phases.stream[known])
    total = np.zeros(len(streams), dtype=np.int64)
    np.add.at(total, at, values[known])
    return np.where(np.bincount(at, minlength=len(streams)) > 0, total, MISSING)


def _phase_table(capture: Capture, streams: I8, loop: I8) -> Table:
    phases = capture.phases
    length = phases.end_ticks - phases.start_ticks
    thread_at = np.searchsorted(streams, phases.stream)
    kinds, lanes = len(capture.meta.phase_kinds), len(LANES)
    keys = (thread_at * lanes + phases.lane) * kinds + phases.kind
    found = np.flatnonzero(np.bincount(keys))
    group = np.searchsorted(found, keys)
    lane_at, kind_at, n = found // kinds % lanes, found % kinds, len(found)
    total, tasks, longest = np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, MISSING, np.int64)
    known = phases.tasks_processed >= 0
    np.add.at(total, group, length)
    np.add.at(tasks, group[known], phases.tasks_processed[known])
    np.maximum.at(longest, group, length)
    tasks = np.where(np.bincount(group[known], minlength=n) > 0, tasks, MISSING)
    count = np.bincount(group, minlength=n)
    of_thread = found // (kinds * lanes)
    rows = np.lexsort((-total, lane_at, of_thread))
    budget = loop[of_thread[rows]]
    return Table(
        COLUMNS,
        {
            "thread": streams[of_thread[rows]],
            "phase": [capture.meta.phase_kinds[k] for k in kind_at[rows].tolist()],
            "lane": [LANES[lane] for lane in lane_at[rows].tolist()],
            "count": count[rows],
            "total_us": to_us(capture, total[rows]),
            "share": np.divide(total[rows], budget, out=np.full(n, np.nan), where=budget > 0),
            "mean_us": total[rows] / count[rows] / capture.meta.ticks_per_us,
            "max_us": to_us(capture, longest[rows]),
            "tasks": tasks[rows],
            "total_ticks": total[rows],
        },
    )
