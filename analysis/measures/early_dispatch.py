"""Which tasks may be dispatched before their predecessors finish, and which were?

Source: ALGORITHMS, "Early dispatch". The markers describe metadata (what deps.json allows); the leads describe the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.capture import EARLY_UNKNOWN, EARLY_YES, I8, MISSING, Capture, TaskKind
from analysis.errors import NotAvailable
from analysis.measures.needs import require_dispatch
from analysis.results import Column, Table, task_ids, task_names, to_us

if TYPE_CHECKING:
    import pandas as pd

FIRE, STAR = "🔥", "⭐"

COLUMNS = (
    Column("task_id", "id", "Target task: every predecessor is early-processable, at least one is no alloc (⭐)."),
    Column("name", "text", "Function of the task."),
    Column("dispatch_us", "us", "Earliest dispatch over its blocks, from capture zero."),
    Column("last_fin_us", "us", "Latest FIN over the blocks of its predecessors, from capture zero."),
    Column("lead_us", "us", "last FIN - dispatch; empty when the task or every predecessor has no records."),
    Column("early", "bool", "The lead is positive: the task was dispatched early."),
    Column("blocks", "count", "Blocks of the task that ran."),
    Column("early_blocks", "count", "Blocks dispatched before the last FIN."),
    Column("predecessors", "ids", "Its predecessors, ascending."),
    Column("dispatch_ticks", "ticks", "Earliest dispatch, relative to capture zero."),
    Column("last_fin_ticks", "ticks", "Latest FIN of its predecessors, relative to capture zero."),
    Column("lead_ticks", "ticks", "The lead in ticks; the maximum lead interval is [dispatch, last FIN]."),
)
MARKER_COLUMNS = (
    Column("task_id", "id", "Marked task."),
    Column("name", "text", "Function of the task; alloc, dummy or graph where it has none."),
    Column("fire", "bool", "🔥 early-processable: an alloc task, or marked early_dispatch in deps.json."),
    Column("star", "bool", "⭐ target: every predecessor is early-processable, at least one is no alloc."),
)


@dataclass(frozen=True, slots=True)
class Markers:
    """Dense task indexes, ascending: ``fire`` = early-processable (🔥), ``star`` = targets (⭐).

    ``known`` is False when deps.json predates the key ``early_dispatch``: then only alloc tasks are in ``fire``.
    """

    table: Table
    fire: I8
    star: I8
    known: bool
    fire_ids: tuple[str, ...]
    star_ids: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """One row per marked task."""
        return self.table.frame()

    def to_json(self) -> dict[str, Any]:
        """``{fire: [id…], star: [id…], early_dispatch_known}``."""
        return {"fire": list(self.fire_ids), "star": list(self.star_ids), "early_dispatch_known": self.known}


@dataclass(frozen=True, slots=True)
class EarlyDispatch:
    """One row per target task, largest lead first, targets without a lead last; ``tasks`` are their dense indexes."""

    table: Table
    tasks: I8

    def frame(self) -> pd.DataFrame:
        """The targets as a frame."""
        return self.table.frame()

    def to_json(self) -> list[dict[str, Any]]:
        """``[{task_id, name, dispatch_us, last_fin_us, lead_us, early, blocks, early_blocks, …}]``."""
        return self.table.to_records()


def markers(capture: Capture) -> Markers:
    """The 🔥 and ⭐ sets of the dependency graph, at any capture level.

    Raises:
        NotAvailable: no deps.json (edges rebuilt from ``fanout[]`` know neither alloc tasks nor the mark).
    """
    if not capture.meta.has_deps:
        raise NotAvailable("Early-dispatch markers need deps.json, which is missing beside the swimlane file.")
    tasks, edges = capture.tasks, capture.edges
    alloc = tasks.kind == TaskKind.ALLOC
    early = alloc | (tasks.early_dispatch == EARLY_YES)
    n = len(tasks)
    degree = np.diff(edges.in_offsets)
    early_in = np.bincount(edges.succ, weights=early[edges.pred], minlength=n)
    alloc_in = np.bincount(edges.succ, weights=alloc[edges.pred], minlength=n)
    star = (degree > 0) & (early_in == degree) & (alloc_in < degree)
    listed = tasks.early_dispatch[tasks.listed]
    marked = np.flatnonzero(early | star)
    table = Table(
        MARKER_COLUMNS,
        {
            "task_id": task_ids(capture, marked),
            "name": task_names(capture, marked),
            "fire": early[marked],
            "star": star[marked],
        },
    )
    fire_at, star_at = np.flatnonzero(early), np.flatnonzero(star)
    return Markers(
        table=table,
        fire=fire_at,
        star=star_at,
        known=bool(len(listed) and (listed != EARLY_UNKNOWN).any()),
        fire_ids=tuple(str(i) for i in tasks.task_id[fire_at].tolist()),
        star_ids=tuple(str(i) for i in tasks.task_id[star_at].tolist()),
    )


def early_dispatch(capture: Capture) -> EarlyDispatch:
    """How far ahead of its predecessors' last FIN each target task was dispatched.

    Raises:
        NotAvailable: no deps.json, no records, or no dispatch and FIN stamps (capture level 1).
    """
    found = markers(capture)
    require_dispatch(capture, "Early dispatch needs")
    tasks = capture.tasks
    targets = found.star
    last_fin = _last_fin(capture)[targets]
    dispatch = tasks.dispatch_ticks[targets]
    known = (last_fin != MISSING) & (dispatch != MISSING)
    lead = np.where(known, last_fin - dispatch, MISSING)
    rows = np.lexsort((targets, np.where(known, -lead, 0), ~known))
    targets, last_fin, dispatch, lead, known = (a[rows] for a in (targets, last_fin, dispatch, lead, known))
    table = Table(
        COLUMNS,
        {
            "task_id": task_ids(capture, targets),
            "name": task_names(capture, targets),
            "dispatch_us": to_us(capture, dispatch),
            "last_fin_us": to_us(capture, last_fin),
            "lead_us": to_us(capture, lead),
            "early": [early if is_known else None for early, is_known in zip((lead > 0).tolist(), known, strict=True)],
            "blocks": tasks.n_records[targets],
            "early_blocks": np.where(known, _early_blocks(capture, targets, last_fin), MISSING),
            "predecessors": _predecessors(capture, targets),
            "dispatch_ticks": dispatch,
            "last_fin_ticks": last_fin,
            "lead_ticks": lead,
        },
    )
    return EarlyDispatch(table, targets)


def _last_fin(capture: Capture) -> I8:
    """Latest finish over each task's predecessors; MISSING is the smallest integer, so it never wins."""
    out = np.full(len(capture.tasks), MISSING, dtype=np.int64)
    np.maximum.at(out, capture.edges.succ, capture.tasks.finish_ticks[capture.edges.pred])
    return out


def _early_blocks(capture: Capture, targets: I8, last_fin: I8) -> I8:
    """Blocks of each target dispatched before its ``last_fin``."""
    limit = np.full(len(capture.tasks), MISSING, dtype=np.int64)
    limit[targets] = last_fin
    records = capture.records
    early = (records.dispatch_ticks != MISSING) & (records.dispatch_ticks < limit[records.task])
    return np.bincount(records.task[early], minlength=len(capture.tasks)).astype(np.int64)[targets]


def _predecessors(capture: Capture, targets: I8) -> list[tuple[str, ...]]:
    edges, ids = capture.edges, capture.tasks.task_id
    bounds = zip(edges.in_offsets[targets].tolist(), edges.in_offsets[targets + 1].tolist(), strict=True)
    return [tuple(map(str, ids[edges.pred[edges.in_order[a:b]]].tolist())) for a, b in bounds]
