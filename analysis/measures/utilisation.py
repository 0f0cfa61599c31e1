"""How many cores are busy at each moment, and with which functions?

Source: ALGORITHMS, "Utilisation". A core is busy while it executes at least one record (setup excluded).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.capture import I8, Capture
from analysis.errors import ParameterError
from analysis.measures.cores import core_type_names, shown_cores
from analysis.measures.needs import require_records
from analysis.measures.steps import StepCurve, count_steps
from analysis.results import Column, Table, to_us
from analysis.shown import PlotCurve

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    Column("core_type", "text", "aic or aiv."),
    Column("time_us", "us", "From here on (until the next row of the type), from capture zero."),
    Column("busy", "count", "Cores of the type that execute a record."),
    Column("time_ticks", "ticks", "The same moment in ticks."),
)
FUNCTION_COLUMNS = (
    Column("func_id", "index", "Function id; -1 where deps.json names none."),
    Column("name", "text", "Name from the name map, else func_<id>; 'unresolved' for -1."),
    Column("records", "count", "Records that overlap the window."),
    Column("busy_us", "us", "Execution inside the window."),
    Column("share", "share", "Part of all execution inside the window."),
    Column("busy_ticks", "ticks", "Execution inside the window in ticks."),
)


@dataclass(frozen=True, slots=True)
class TypeCurve:
    """Busy cores of one type over time."""

    core_type: str
    cores: int
    curve: StepCurve
    busy_ticks: int
    """Core-ticks inside the window."""


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Curves per core type and the functions' share inside ``[t0_ticks, t1_ticks)``."""

    t0_ticks: int
    t1_ticks: int
    curves: tuple[TypeCurve, ...]
    functions: Table
    ticks_per_us: float

    @property
    def table(self) -> Table:
        """The steps of all curves, type by type."""
        times = [c.curve.times for c in self.curves]
        merged = np.concatenate([np.zeros(0, np.int64), *times])
        return Table(
            COLUMNS,
            {
                "core_type": [c.core_type for c in self.curves for _ in range(len(c.curve.times))],
                "time_us": merged / self.ticks_per_us,
                "busy": np.concatenate([np.zeros(0, np.int64), *(c.curve.values for c in self.curves)]),
                "time_ticks": merged,
            },
        )

    def frame(self) -> pd.DataFrame:
        """The steps as a frame."""
        return self.table.frame()

    def to_json(self) -> dict[str, Any]:
        """``{t0_us, t1_us, by_type: {aic: {cores, busy_us, share, time_us: […], busy: […]}}, functions: […]}``."""
        per_us, length = self.ticks_per_us, self.t1_ticks - self.t0_ticks
        return {
            "t0_us": self.t0_ticks / per_us,
            "t1_us": self.t1_ticks / per_us,
            "by_type": {
                c.core_type: {
                    "cores": c.cores,
                    "busy_us": c.busy_ticks / per_us,
                    "share": c.busy_ticks / (c.cores * length) if length > 0 else None,
                    "time_us": (c.curve.times / per_us).tolist(),
                    "busy": c.curve.values.tolist(),
                }
                for c in self.curves
            },
            "functions": self.functions.to_records(),
        }


def utilisation(capture: Capture, t0_ticks: int | None = None, t1_ticks: int | None = None) -> Utilisation:
    """Busy cores per type over ``[t0_ticks, t1_ticks)``, by default the makespan.

    Raises:
        NotAvailable: the capture has no task record.
        ParameterError: the window ends before it begins.
    """
    t0, t1 = window_or_makespan(capture, t0_ticks, t1_ticks)
    return Utilisation(
        t0_ticks=t0,
        t1_ticks=t1,
        curves=tuple(_type_curves(capture, t0, t1)),
        functions=functions_in(capture, t0, t1),
        ticks_per_us=capture.meta.ticks_per_us,
    )


def window_or_makespan(capture: Capture, t0_ticks: int | None, t1_ticks: int | None) -> tuple[int, int]:
    """The window asked for; a missing bound is that of the makespan.

    Raises:
        NotAvailable: the capture has no task record.
        ParameterError: the window ends before it begins.
    """
    require_records(capture, "Utilisation and range statistics need")
    records = capture.records
    t0 = int(records.start_ticks.min()) if t0_ticks is None else t0_ticks
    t1 = int(records.end_ticks.max()) if t1_ticks is None else t1_ticks
    if t1 < t0:
        raise ParameterError(f"the window ends at {t1} before it begins at {t0}")
    return t0, t1


def functions_in(capture: Capture, t0: int, t1: int) -> Table:
    """Execution per function clipped to the window, largest first."""
    records = capture.records
    starts, ends = np.maximum(records.start_ticks, t0), np.minimum(records.end_ticks, t1)
    inside = np.flatnonzero(touches(records.start_ticks, records.end_ticks, t0, t1))
    func_ids, group = np.unique(records.func_id[inside], return_inverse=True)
    busy = np.zeros(len(func_ids), dtype=np.int64)
    np.add.at(busy, group, np.maximum(ends[inside] - starts[inside], 0))
    count = np.bincount(group, minlength=len(func_ids))
    rows = np.lexsort((func_ids, -busy))
    whole = int(busy.sum())
    return Table(
        FUNCTION_COLUMNS,
        {
            "func_id": func_ids[rows],
            "name": [capture.meta.func_name(int(f)) for f in func_ids[rows]],
            "records": count[rows],
            "busy_us": to_us(capture, busy[rows]),
            "share": busy[rows] / whole if whole > 0 else np.full(len(rows), np.nan),
            "busy_ticks": busy[rows],
        },
    )


def touches(starts: I8, ends: I8, t0: int, t1: int) -> Any:
    """Which records have a moment in ``[t0, t1)``; one of no length counts where it stands."""
    return (starts < t1) & ((ends > t0) | ((starts == ends) & (starts >= t0)))


def busy_curve(capture: Capture, on_type: Any) -> StepCurve:
    """Busy cores over time of the records that ``on_type`` selects (records that overlap on a core count once)."""
    records = capture.records
    rows = np.flatnonzero(on_type)
    core, starts, ends = records.core_id[rows], records.start_ticks[rows], records.end_ticks[rows]
    if not len(rows):
        return StepCurve(np.zeros(0, np.int64), np.zeros(0, np.int64))
    first = np.flatnonzero(np.diff(core, prepend=-1))
    overlap = (starts[1:] < ends[:-1]) & (core[1:] == core[:-1])
    if overlap.any():
        for begin, end in zip(first.tolist(), [*first[1:].tolist(), len(rows)], strict=True):
            latest = np.maximum.accumulate(ends[begin:end])
            starts[begin + 1 : end] = np.maximum(starts[begin + 1 : end], latest[:-1])
    return count_steps(starts, ends)


def _type_curves(capture: Capture, t0: int, t1: int) -> list[TypeCurve]:
    types = np.array(core_type_names(capture))
    of_record = types[capture.records.core_id]
    out = []
    shown = types[shown_cores(capture)]
    for name in sorted(set(shown.tolist())):
        whole = busy_curve(capture, of_record == name)
        out.append(TypeCurve(name, int((shown == name).sum()), _clip(whole, t0, t1), whole.integral(t0, t1)))
    return out


def _clip(curve: StepCurve, t0: int, t1: int) -> StepCurve:
    """The curve inside ``[t0, t1)``, closed by a step to 0."""
    inside = (curve.times > t0) & (curve.times < t1)
    times = np.concatenate([[t0], curve.times[inside], [t1]])
    values = np.concatenate([curve.at(np.array([t0])), curve.values[inside], [0]])
    return StepCurve(times.astype(np.int64), values.astype(np.int64))


def curves(found: Utilisation) -> list[PlotCurve]:
    """Busy cores of every core type that has cores."""
    return [
        PlotCurve(item.core_type, item.curve, found.t0_ticks, found.t1_ticks, item.cores)
        for item in found.curves
        if item.cores
    ]
