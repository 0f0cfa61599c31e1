"""What does each scheduler thread spend its time on?

Source: ALGORITHMS, "Scheduler overhead" (scheduler loop). The budget of a thread is the time from its first outer phase to
its last: outer phases and idle fill it; inner phases are inside outer ones and are listed separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.capture import I8, MISSING, Capture, PhaseLane, ids
from analysis.errors import NotAvailable
from analysis.measures.steps import union_length
from analysis.results import Column, Table, to_us

LANES = {
    int(PhaseLane.OUTER): "outer",
    int(PhaseLane.INNER): "inner",
    int(PhaseLane.MARKER): "marker",
    int(PhaseLane.IDLE): "idle",
}
PROCESSED = {
    "complete": "finishes",
    "dispatch": "subtasks published",
    "async_poll": "completions resolved",
    "release": "releases drained",
    "dummy": "dependency-only tasks",
    "early_dispatch": "blocks staged",
    "drain": "blocks staged",
    "drain_prepare": "subtasks",
    "drain_publish": "subtasks",
    "resolve": "consumers visited",
    "graph_prepare": "nodes expanded",
    "bootstrap": "tasks held at start",
}
"""What ``tasks_processed`` counts, per phase kind (FORMATS-2 section 4)."""

COLUMNS = (
    Column("thread", "index", "Scheduler id as in the capture."),
    Column("phase", "text", "Phase kind."),
    Column(
        "lane",
        "text",
        "outer: exclusive phases; inner: inside an outer one; marker: no time of its own; idle: measured.",
    ),
    Column("count", "count", "Phases recorded."),
    Column("total_us", "us", "Time in the phase."),
    Column("share", "share", "Time in the phase / time of the thread."),
    Column("mean_us", "us", "Mean length of the phase."),
    Column("max_us", "us", "Longest phase."),
    Column("tasks", "count", "Sum of tasks_processed; what it counts is beside it. Empty where not recorded."),
    Column("counted", "text", "What tasks counts: of complete they are finishes, not logical tasks."),
    Column("total_ticks", "ticks", "Time in the phase in ticks."),
)
THREAD_COLUMNS = (
    Column("thread", "index", "Scheduler id as in the capture."),
    Column("loop_us", "us", "First outer phase to end of the last; empty for a thread without phases."),
    Column("busy_us", "us", "Time in outer phases."),
    Column("idle_us", "us", "Gaps between outer phases; of an AICore scheduler its measured idle."),
    Column("idle_share", "share", "idle / loop time."),
    Column("phases", "count", "Outer phases recorded."),
    Column("unrecorded_us", "us", "Neither busy nor measured idle; only AICore schedulers measure idle."),
    Column("role", "text", "resolution: it resolves, polls or handles dummies and publishes nothing; else scheduler."),
    Column(
        "logical_tasks", "count", "Tasks whose last finish was on a core of this thread; empty without core_to_thread."
    ),
    Column("pop_hit", "count", "Ready-queue pops that found a task; empty where not recorded."),
    Column("pop_miss", "count", "Ready-queue pops that found none; empty where not recorded."),
    Column("pop_hit_rate", "share", "hit / (hit + miss)."),
    Column("busy_ticks", "ticks", "Time in outer phases in ticks."),
    Column("idle_ticks", "ticks", "Idle time in ticks."),
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
    phases = capture.phases
    drawn = phases.stream[phases.lane != PhaseLane.LIFECYCLE]
    streams = np.union1d(np.array(capture.meta.scheduler_streams, dtype=np.int64), drawn)
    budgets = [_budget(capture, int(stream)) for stream in streams]
    loop, busy, idle, unrecorded, count = (
        np.array([getattr(one, name) for one in budgets], dtype=np.int64)
        for name in ("loop", "busy", "idle", "unrecorded", "phases")
    )
    hit, miss = (_known_sum(capture, values, streams) for values in (phases.pop_hit, phases.pop_miss))
    pops = np.where((hit == MISSING) | (miss == MISSING), 0, hit + miss)
    threads = Table(
        THREAD_COLUMNS,
        {
            "thread": streams,
            "loop_us": to_us(capture, loop),
            "busy_us": to_us(capture, busy),
            "idle_us": to_us(capture, idle),
            "idle_share": np.divide(idle, loop, out=np.full(len(loop), np.nan), where=loop > 0),
            "phases": count,
            "unrecorded_us": to_us(capture, unrecorded),
            "role": [_role(capture, int(stream)) for stream in streams],
            "logical_tasks": _logical_tasks(capture, streams),
            "pop_hit": hit,
            "pop_miss": miss,
            "pop_hit_rate": np.divide(hit, pops, out=np.full(len(pops), np.nan), where=pops > 0),
            "busy_ticks": busy,
            "idle_ticks": idle,
        },
    )
    return SchedulerLoop(_phase_table(capture, streams, loop), threads)


def processed_word(kind: str) -> str:
    """What ``tasks_processed`` of a phase of ``kind`` counts."""
    return PROCESSED.get(kind, "tasks processed")


@dataclass(frozen=True, slots=True)
class _Budget:
    """Where the time of one thread went, in ticks; MISSING for a thread without phases."""

    loop: int = MISSING
    busy: int = MISSING
    idle: int = MISSING
    unrecorded: int = MISSING
    phases: int = 0


def _budget(capture: Capture, stream: int) -> _Budget:
    """An AICPU scheduler is idle between its outer phases; an AICore scheduler measures its idle, and what it records
    neither as work nor as idle is unrecorded (FORMATS-2 section 4)."""
    phases = capture.phases
    here = phases.stream == stream
    work = np.flatnonzero(here & (phases.lane == PhaseLane.OUTER))
    waits = np.flatnonzero(here & (phases.lane == PhaseLane.IDLE))
    every = np.sort(np.concatenate((work, waits)))
    if not len(every):
        return _Budget()
    starts, ends = phases.start_ticks, phases.end_ticks
    whole = int(ends[every].max()) - int(starts[every].min())
    covered, busy = union_length(starts[every], ends[every]), union_length(starts[work], ends[work])
    if capture.meta.scheduler_producers.get(stream) != "aicore":
        return _Budget(whole, busy, whole - busy, MISSING, len(work))
    return _Budget(whole, busy, covered - busy, whole - covered, len(work))


_RESOLVING = frozenset({"resolve", "async_poll", "dummy"})
_WORKING = frozenset({"complete", "dispatch", "early_dispatch", "drain"})
_ALSO_WORKING = {
    ids.RINGS: frozenset({"release"}),
    ids.HOST_GRAPH: frozenset({"state_probe", "worksteal", "refill", "graph_prepare"}),
}


def _role(capture: Capture, stream: int) -> str | None:
    """``resolution`` or ``scheduler`` (FORMATS-2 section 4); None for a thread without phases."""
    phases, meta = capture.phases, capture.meta
    here = (phases.stream == stream) & (phases.lane != PhaseLane.LIFECYCLE)
    kinds = {meta.phase_kinds[kind] for kind in np.unique(phases.kind[here]).tolist()}
    if not kinds:
        return None
    if not kinds & _RESOLVING or kinds & (_WORKING | _ALSO_WORKING.get(meta.runtime, frozenset())):
        return "scheduler"
    resolve = meta.phase_kinds.index("resolve") if "resolve" in meta.phase_kinds else -1
    alone = bool((here & (phases.kind == resolve) & (phases.lane == PhaseLane.OUTER)).any())
    absent = meta.core_to_thread is not None and stream not in meta.core_to_thread
    return "resolution" if alone or absent else "scheduler"


def _logical_tasks(capture: Capture, streams: I8) -> I8:
    """Tasks per thread, each credited to the thread whose core had its last finish; MISSING without ``core_to_thread``."""
    records, threads = capture.records, capture.meta.core_to_thread
    stamped = np.flatnonzero(records.finish_ticks != MISSING)
    if threads is None or not len(stamped):
        return np.full(len(streams), MISSING, np.int64)
    order = stamped[np.lexsort((records.finish_ticks[stamped], records.task[stamped]))]
    task = records.task[order]
    last = order[np.append(task[1:] != task[:-1], True)]
    thread_of = np.full(max(len(threads), int(records.core_id.max()) + 1), -1, np.int64)
    thread_of[: len(threads)] = threads
    found = thread_of[records.core_id[last]]
    at = np.searchsorted(streams, found)
    known = (at < len(streams)) & (np.append(streams, -2)[at] == found)
    return np.bincount(at[known], minlength=len(streams)).astype(np.int64)


def _known_sum(capture: Capture, values: I8, streams: I8) -> I8:
    """Sum of the recorded values (>= 0) per thread; MISSING where none was recorded."""
    known = (values >= 0) & (capture.phases.lane != PhaseLane.LIFECYCLE)
    at = np.searchsorted(streams, capture.phases.stream[known])
    total = np.zeros(len(streams), dtype=np.int64)
    np.add.at(total, at, values[known])
    return np.where(np.bincount(at, minlength=len(streams)) > 0, total, MISSING)


def _phase_table(capture: Capture, streams: I8, loop: I8) -> Table:
    phases = capture.phases
    rows = np.flatnonzero(phases.lane != PhaseLane.LIFECYCLE)
    length = phases.end_ticks[rows] - phases.start_ticks[rows]
    processed = phases.tasks_processed[rows]
    thread_at = np.searchsorted(streams, phases.stream[rows])
    kinds, lanes = len(capture.meta.phase_kinds), len(LANES)
    found, group = np.unique((thread_at * lanes + phases.lane[rows]) * kinds + phases.kind[rows], return_inverse=True)
    lane_at, kind_at, n = found // kinds % lanes, found % kinds, len(found)
    total, tasks, longest = np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, MISSING, np.int64)
    known = processed >= 0
    np.add.at(total, group, length)
    np.add.at(tasks, group[known], processed[known])
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
            "counted": [processed_word(capture.meta.phase_kinds[k]) for k in kind_at[rows].tolist()],
            "total_ticks": total[rows],
        },
    )
