"""What happens between two moments: records, functions, busy share per core type.

Source: ALGORITHMS, "Utilisation"; VIEWS, "Range statistics" (the visible or measured window).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.capture import Capture
from analysis.measures.cores import core_type_names, shown_cores
from analysis.measures.utilisation import busy_curve, functions_in, touches, window_or_makespan
from analysis.results import Column, Table, to_us
from analysis.shown import Part, Quantities, Quantity

if TYPE_CHECKING:
    import pandas as pd

TYPE_COLUMNS = (
    Column("core_type", "text", "aic or aiv."),
    Column("cores", "count", "Cores of the type in core_types."),
    Column("records", "count", "Records of the type with a moment inside the window."),
    Column("busy_us", "us", "Core time executing inside the window."),
    Column("share", "share", "busy / (cores * window)."),
    Column("busy_ticks", "ticks", "Core time executing inside the window, in ticks."),
)


@dataclass(frozen=True, slots=True)
class RangeStatistics:
    """``table``: functions by execution inside the window; ``by_type``: busy share per core type."""

    t0_ticks: int
    t1_ticks: int
    t0_us: float
    t1_us: float
    records: int
    whole_records: int
    """Records that are in the window with both ends."""
    tasks: int
    table: Table
    by_type: Table

    def frame(self) -> pd.DataFrame:
        """The functions as a frame."""
        return self.table.frame()

    def to_json(self) -> dict[str, Any]:
        """``{t0_us, t1_us, length_us, records, whole_records, tasks, by_type: […], functions: […]}``."""
        return {
            "t0_us": self.t0_us,
            "t1_us": self.t1_us,
            "length_us": self.t1_us - self.t0_us,
            "records": self.records,
            "whole_records": self.whole_records,
            "tasks": self.tasks,
            "by_type": self.by_type.to_records(),
            "functions": self.table.to_records(),
        }


def range_statistics(capture: Capture, t0_ticks: int | None = None, t1_ticks: int | None = None) -> RangeStatistics:
    """Statistics of ``[t0_ticks, t1_ticks)``, relative to capture zero; a missing bound is that of the makespan.

    Raises:
        NotAvailable: the capture has no task record.
        ParameterError: the window ends before it begins.
    """
    t0, t1 = window_or_makespan(capture, t0_ticks, t1_ticks)
    records = capture.records
    inside = touches(records.start_ticks, records.end_ticks, t0, t1)
    whole = inside & (records.start_ticks >= t0) & (records.end_ticks <= t1)
    return RangeStatistics(
        t0_ticks=t0,
        t1_ticks=t1,
        t0_us=capture.meta.us(t0),
        t1_us=capture.meta.us(t1),
        records=int(inside.sum()),
        whole_records=int(whole.sum()),
        tasks=int(np.count_nonzero(np.bincount(records.task[inside]))),
        table=functions_in(capture, t0, t1),
        by_type=_by_type(capture, inside, t0, t1),
    )


def _by_type(capture: Capture, inside: Any, t0: int, t1: int) -> Table:
    types = np.array(core_type_names(capture))
    of_record = types[capture.records.core_id]
    names = sorted(set(types[shown_cores(capture)].tolist()))
    cores = np.array([(types[shown_cores(capture)] == name).sum() for name in names])
    curves = [busy_curve(capture, inside & (of_record == name)) for name in names]
    busy = np.array([curve.integral(t0, t1) for curve in curves], dtype=np.int64)
    return Table(
        TYPE_COLUMNS,
        {
            "core_type": names,
            "cores": cores,
            "records": np.array([(inside & (of_record == name)).sum() for name in names]),
            "busy_us": to_us(capture, busy),
            "share": busy / (cores * (t1 - t0)) if t1 > t0 else np.full(len(names), np.nan),
            "busy_ticks": busy,
        },
    )


def summary(_capture: Capture, tables: Mapping[str, Table], _parameters: Mapping[str, Any]) -> list[Part]:
    """Busy share per core type."""
    rows = tables["Core types"].to_records()
    return [Quantities(tuple((f"{row['core_type'].upper()} busy", Quantity(row["share"], "share")) for row in rows))]
