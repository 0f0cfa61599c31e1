"""How long does a core stand between two records although the next one was already dispatched?

Source: ALGORITHMS, "Scheduler overhead" (core switch): the gap [previous end, start] of a record dispatched before that
previous end. The split says whether work of the core's type was ready during the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8, MISSING, Capture
from analysis.measures.cores import core_type_names
from analysis.measures.needs import require_dispatch
from analysis.measures.steps import StepCurve, compact
from analysis.results import Cells, Column, Table, to_us

GROUPS = (("", "all switches"), ("ready_", "switches while work was ready"), ("calm_", "switches without ready work"))

COLUMNS = (
    Column("core_id", "index", "Core id as in the capture."),
    Column("core_type", "text", "aic or aiv."),
    *(
        column
        for prefix, words in GROUPS
        for column in (
            Column(f"{prefix}count", "count", f"Number of {words}."),
            Column(f"{prefix}min_us", "us", f"Shortest of {words}."),
            Column(f"{prefix}mean_us", "us", f"Mean of {words}."),
            Column(f"{prefix}max_us", "us", f"Longest of {words}."),
            Column(f"{prefix}total_us", "us", f"Sum of {words}."),
        )
    ),
)


@dataclass(frozen=True, slots=True)
class CoreSwitch:
    """``table``: one row per core with a switch; ``total``: all cores as one row (core_id empty).

    The columns ``ready_*`` and ``calm_*`` are empty when the capture has no dependencies.
    """

    table: Table
    total: Table
    overlapping: int
    """Records that start before the previous end of their core: no gap, so left out."""

    def to_json(self) -> dict[str, Any]:
        """``{count, min_us, mean_us, max_us, total_us, ready_…, calm_…, overlapping, cores: […]}``."""
        (total,) = self.total.to_records()
        del total["core_id"], total["core_type"]
        return {**total, "overlapping": self.overlapping, "cores": self.table.to_records()}


def core_switch(capture: Capture, ready: dict[str, StepCurve] | None) -> CoreSwitch:
    """Switch gaps per core.

    Args:
        capture: the capture.
        ready: ready tasks over time per core type, or ``None`` where dependencies are missing.

    Raises:
        NotAvailable: no records, or no dispatch stamps (capture level 1).
    """
    require_dispatch(capture, "Core switches need")
    core, previous, start, dispatch = _neighbours(capture)
    ahead = (dispatch != MISSING) & (dispatch < previous)
    gap = start - previous
    rows = np.flatnonzero(ahead & (gap >= 0))
    busy = _overlaps_ready(capture, core[rows], previous[rows], start[rows], ready)
    cores, group = np.unique(core[rows], return_inverse=True)
    types = core_type_names(capture)
    table: dict[str, Cells] = {"core_id": cores, "core_type": [types[c] for c in cores.tolist()]}
    total: dict[str, Cells] = {"core_id": np.array([MISSING], dtype=np.int64), "core_type": [None]}
    return CoreSwitch(
        table=Table(COLUMNS, {**table, **_groups(capture, gap[rows], group, len(cores), busy)}),
        total=Table(COLUMNS, {**total, **_groups(capture, gap[rows], np.zeros_like(group), 1, busy)}),
        overlapping=int((ahead & (gap < 0)).sum()),
    )


def _neighbours(capture: Capture) -> tuple[I8, I8, I8, I8]:
    """Core, latest earlier end, start and dispatch of each record that has an earlier one on its core."""
    records = capture.records
    core = records.core_id.astype(np.int64)
    follows = core[1:] == core[:-1]
    bounds = np.flatnonzero(np.concatenate([[True], ~follows, [True]]))
    latest = records.end_ticks.copy()
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        latest[begin:end] = np.maximum.accumulate(latest[begin:end])
    at = np.flatnonzero(follows)
    return core[at + 1], latest[at], records.start_ticks[at + 1], records.dispatch_ticks[at + 1]


def _overlaps_ready(
    capture: Capture, core: I8, begin: I8, end: I8, ready: dict[str, StepCurve] | None
) -> NDArray[np.bool_] | None:
    """Whether any work of the core's type was ready during each gap; ``None`` when that is unknown."""
    if ready is None:
        return None
    types = np.array(core_type_names(capture))[core]
    out = np.zeros(len(core), dtype=bool)
    for name, curve in ready.items():
        some = compact(StepCurve(curve.times, (curve.values > 0).astype(np.int64)))
        mine = types == name
        out[mine] = some.areas(begin[mine], end[mine]) > 0
    return out


def _groups(
    capture: Capture, gap: I8, group: NDArray[Any], groups: int, busy: NDArray[np.bool_] | None
) -> dict[str, Cells]:
    """The columns of :data:`GROUPS`."""
    out = _figures(capture, "", gap, group, groups)
    if busy is None:
        for prefix in ("ready_", "calm_"):
            out[f"{prefix}count"] = np.full(groups, MISSING, dtype=np.int64)
            for name in ("min_us", "mean_us", "max_us", "total_us"):
                out[f"{prefix}{name}"] = np.full(groups, np.nan)
        return out
    out.update(_figures(capture, "ready_", gap[busy], group[busy], groups))
    out.update(_figures(capture, "calm_", gap[~busy], group[~busy], groups))
    return out


def _figures(capture: Capture, prefix: str, gap: I8, group: NDArray[Any], groups: int) -> dict[str, Cells]:
    count = np.bincount(group, minlength=groups)
    total, highest = np.zeros(groups, dtype=np.int64), np.full(groups, MISSING, dtype=np.int64)
    lowest = np.full(groups, np.iinfo(np.int64).max, dtype=np.int64)
    np.add.at(total, group, gap)
    np.maximum.at(highest, group, gap)
    np.minimum.at(lowest, group, gap)
    none = count == 0
    lowest[none] = MISSING
    mean = np.divide(total, count, out=np.full(groups, np.nan), where=~none)
    return {
        f"{prefix}count": count,
        f"{prefix}min_us": to_us(capture, lowest),
        f"{prefix}mean_us": mean / capture.meta.ticks_per_us,
        f"{prefix}max_us": to_us(capture, highest),
        f"{prefix}total_us": to_us(capture, total),
    }
