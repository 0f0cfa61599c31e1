"""Who left a core idle: how long was work ready while a core of its type had nothing to do?

Source: ALGORITHMS, "Scheduler overhead". The three parts need different stamps and are computed separately: *system* (per core
type; level 2 and dependencies), *switch* (:mod:`analysis.measures.core_switch`, level 2), *loop*
(:mod:`analysis.measures.scheduler_loop`, level 3). A part without its stamps is ``None`` and ``reasons`` says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8, MISSING, Capture
from analysis.errors import NotAvailable
from analysis.measures.core_switch import CoreSwitch, core_switch
from analysis.measures.cores import core_type_names
from analysis.measures.needs import require_dependencies, require_dispatch
from analysis.measures.scheduler_loop import SchedulerLoop, scheduler_loop
from analysis.measures.steps import StepCurve, compact, count_steps, merged_times
from analysis.results import Column, Table

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

COLUMNS = (
    Column("scope", "text", "Core type; 'all': every type at once; 'has': every type that has ready work."),
    Column("cores", "count", "Cores of the type with at least one record; empty for the system rows."),
    Column("overhead_us", "us", "Time with work ready and a core of its type idle."),
    Column("share", "share", "overhead / window."),
    Column("overhead_ticks", "ticks", "The same time in ticks."),
)


@dataclass(frozen=True, slots=True)
class TypeOverhead:
    """One core type: records running, tasks ready, and where the type is in overhead (a 0/1 curve)."""

    core_type: str
    cores: int
    running: StepCurve
    ready: StepCurve
    overhead: StepCurve
    overhead_ticks: int


@dataclass(frozen=True, slots=True)
class SystemOverhead:
    """Overhead per type and of the whole system over the window [min start, max end]."""

    t0_ticks: int
    t1_ticks: int
    by_type: tuple[TypeOverhead, ...]
    all_curve: StepCurve
    has_curve: StepCurve
    all_ticks: int
    has_ticks: int

    @property
    def window_ticks(self) -> int:
        """Length of the window."""
        return self.t1_ticks - self.t0_ticks


@dataclass(frozen=True, slots=True)
class SchedulerOverhead:
    """The three parts; ``reasons`` explains each part that is ``None`` (keys ``system``, ``switch``, ``loop``)."""

    table: Table
    """One row per core type, then ``all`` and ``has``; no row without the system part."""
    system: SystemOverhead | None
    switch: CoreSwitch | None
    loop: SchedulerLoop | None
    reasons: dict[str, str]
    ticks_per_us: float
    curves: bool
    """Whether :meth:`to_json` holds the step curves as well (they have one step per change: large)."""

    @property
    def switch_table(self) -> Table | None:
        """Core switches per core, or ``None``."""
        return self.switch.table if self.switch is not None else None

    @property
    def loop_table(self) -> Table | None:
        """Time per scheduler thread and phase, or ``None``."""
        return self.loop.table if self.loop is not None else None

    @property
    def thread_table(self) -> Table | None:
        """Idle time and pop hit rate per scheduler thread, or ``None``."""
        return self.loop.threads if self.loop is not None else None

    def frame(self) -> pd.DataFrame:
        """The overhead rows as a frame."""
        return self.table.frame()

    def to_json(self) -> dict[str, Any]:
        """``{window_us, by_type, all_us, has_us, switch, loop, not_available, …}``; a missing part is ``null``."""
        curves = {"curves": _curves_json(self.system, self.ticks_per_us)} if self.curves else {}
        return {
            **_system_json(self.system, self.ticks_per_us),
            "switch": self.switch.to_json() if self.switch is not None else None,
            "loop": self.loop.to_json() if self.loop is not None else None,
            "not_available": self.reasons,
            **curves,
        }


def scheduler_overhead(capture: Capture, curves: bool = False) -> SchedulerOverhead:
    """Scheduler overhead, core switches and the loop budget, as far as the capture holds them.

    Args:
        capture: the capture.
        curves: put the curves over time into the JSON.

    Raises:
        NotAvailable: the capture holds the stamps for none of the three parts.
    """
    reasons: dict[str, str] = {}

    def part(name: str, build: Callable[[], T]) -> T | None:
        try:
            return build()
        except NotAvailable as error:
            reasons[name] = error.reason
            return None

    system = part("system", lambda: system_overhead(capture))
    ready = {t.core_type: t.ready for t in system.by_type} if system is not None else None
    switch = part("switch", lambda: core_switch(capture, ready))
    loop = part("loop", lambda: scheduler_loop(capture))
    if system is None and switch is None and loop is None:
        raise NotAvailable(" ".join(dict.fromkeys(reasons.values())))
    return SchedulerOverhead(
        _system_table(system, capture.meta.ticks_per_us),
        system,
        switch,
        loop,
        reasons,
        capture.meta.ticks_per_us,
        curves,
    )


def system_overhead(capture: Capture) -> SystemOverhead:
    """Overhead of each core type and of the system.

    Raises:
        NotAvailable: no records, no dispatch stamps (level 1), or no dependencies.
    """
    require_dispatch(capture, "Scheduler overhead needs")
    require_dependencies(capture, "Scheduler overhead needs")
    records = capture.records
    t0, t1 = int(records.start_ticks.min()), int(records.end_ticks.max())
    names = np.array(core_type_names(capture))
    of_record = names[records.core_id]
    ready_at = _ready_ticks(capture)
    by_type = tuple(
        _type_overhead(capture, name, of_record == name, ready_at, (t0, t1)) for name in sorted(set(of_record.tolist()))
    )
    all_curve, has_curve = _system_curves(by_type)
    all_ticks, has_ticks = all_curve.integral(t0, t1), has_curve.integral(t0, t1)
    return SystemOverhead(t0, t1, by_type, all_curve, has_curve, all_ticks, has_ticks)


def _ready_ticks(capture: Capture) -> I8:
    """When each task became ready: latest end of its timed predecessors, or its own dispatch."""
    tasks, edges = capture.tasks, capture.edges
    latest = np.full(len(tasks), MISSING, dtype=np.int64)
    other = edges.pred != edges.succ
    np.maximum.at(latest, edges.succ[other], tasks.end_ticks[edges.pred[other]])
    return np.where(latest == MISSING, tasks.dispatch_ticks, latest)


def _type_overhead(
    capture: Capture, name: str, on_type: NDArray[Any], ready_at: I8, window: tuple[int, int]
) -> TypeOverhead:
    records = capture.records
    rows = np.flatnonzero(on_type)
    cores = int(np.count_nonzero(np.bincount(records.core_id[rows])))
    running = count_steps(records.start_ticks[rows], records.end_ticks[rows])
    tasks = np.flatnonzero(np.bincount(records.task[rows]))
    dispatch = capture.tasks.dispatch_ticks[tasks]
    known = dispatch != MISSING
    ready = count_steps(ready_at[tasks][known], dispatch[known])
    times = merged_times([running, ready])
    idle = (running.at(times) < cores) & (ready.at(times) > 0)
    overhead = compact(StepCurve(times, idle.astype(np.int64)))
    return TypeOverhead(name, cores, running, ready, overhead, overhead.integral(*window))


def _system_curves(parts: tuple[TypeOverhead, ...]) -> tuple[StepCurve, StepCurve]:
    """0/1 curves: every type in overhead; every type with ready work in overhead, and at least one."""
    times = merged_times([curve for p in parts for curve in (p.overhead, p.ready)])
    every = np.ones(len(times), dtype=bool)
    content = np.ones(len(times), dtype=bool)
    some = np.zeros(len(times), dtype=bool)
    for p in parts:
        overhead, ready = p.overhead.at(times) > 0, p.ready.at(times) > 0
        every &= overhead
        content &= overhead | ~ready
        some |= ready
    has = content & some
    return compact(StepCurve(times, every.astype(np.int64))), compact(StepCurve(times, has.astype(np.int64)))


def _system_table(system: SystemOverhead | None, ticks_per_us: float) -> Table:
    rows: list[tuple[str, int, int]] = []
    if system is not None:
        rows = [(t.core_type, t.cores, t.overhead_ticks) for t in system.by_type]
        rows += [("all", MISSING, system.all_ticks), ("has", MISSING, system.has_ticks)]
    ticks = np.array([row[2] for row in rows], dtype=np.int64)
    window = system.window_ticks if system is not None else 0
    return Table(
        COLUMNS,
        {
            "scope": [row[0] for row in rows],
            "cores": np.array([row[1] for row in rows], dtype=np.int64),
            "overhead_us": ticks / ticks_per_us,
            "share": ticks / window if window > 0 else np.full(len(rows), np.nan),
            "overhead_ticks": ticks,
        },
    )


def _system_json(system: SystemOverhead | None, ticks_per_us: float) -> dict[str, Any]:
    if system is None:
        missing = ("window_us", "window_ticks", "by_type", "all_us", "all_share", "all_ticks", "has_us", "has_share")
        return dict.fromkeys((*missing, "has_ticks"))
    window = system.window_ticks

    def us(ticks: int) -> float:
        return ticks / ticks_per_us

    def share(ticks: int) -> float | None:
        return ticks / window if window > 0 else None

    by_type = {
        t.core_type: {
            "cores": t.cores,
            "overhead_us": us(t.overhead_ticks),
            "share": share(t.overhead_ticks),
            "overhead_ticks": t.overhead_ticks,
        }
        for t in system.by_type
    }
    return {
        "window_us": us(window),
        "window_ticks": window,
        "by_type": by_type,
        "all_us": us(system.all_ticks),
        "all_share": share(system.all_ticks),
        "all_ticks": system.all_ticks,
        "has_us": us(system.has_ticks),
        "has_share": share(system.has_ticks),
        "has_ticks": system.has_ticks,
    }


def _curves_json(system: SystemOverhead | None, ticks_per_us: float) -> dict[str, Any] | None:
    """Step curves as ``{time_us: […], value: […]}``: running, ready and overhead per type, then all and has."""
    if system is None:
        return None

    def steps(curve: StepCurve) -> dict[str, Any]:
        return {"time_us": (curve.times / ticks_per_us).tolist(), "value": curve.values.tolist()}

    by_type = {
        t.core_type: {"running": steps(t.running), "ready": steps(t.ready), "overhead": steps(t.overhead)}
        for t in system.by_type
    }
    return {"by_type": by_type, "all": steps(system.all_curve), "has": steps(system.has_curve)}
