"""The rows that :mod:`analysis.formats.join.flaws` found: out of the tables, into a list of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.capture import I8, FlaggedTable, FlagStream, Flaw
from analysis.formats.join.flaws import FINE, Flaws
from analysis.formats.join.raw import AicoreRows, OrchRows, PhaseRows
from analysis.formats.join.records import Joined
from analysis.formats.join.tables import relative
from analysis.formats.report import Report

CODES = {Flaw.NEGATIVE: "negative_length", Flaw.FAR: "far_stamp"}
WORDS = {FlagStream.RECORD: "core", FlagStream.PHASE: "scheduler", FlagStream.ORCH: "orchestrator"}
STREAMS = {
    FlagStream.RECORD: "aicore_tasks",
    FlagStream.PHASE: "scheduler_phases",
    FlagStream.ORCH: "orchestrator",
}


def sound(joined: Joined, flaws: Flaws) -> Joined:
    """The records without the flawed ones."""
    good = flaws.records == FINE
    return replace(
        joined,
        rows=joined.rows.take(good),
        dispatch=joined.dispatch[good],
        finish=joined.finish[good],
        func_id=joined.func_id[good],
        unmatched=joined.unmatched.take(flaws.unmatched == FINE),
    )


def flagged_table(
    joined: Joined,
    phases: PhaseRows,
    orch: OrchRows,
    flaws: Flaws,
    zero: int,
    included: bool,
    report: Report,
) -> FlaggedTable:
    """All flawed rows, relative to ``zero``; each is a finding, and left out unless ``included``."""
    none = np.zeros(len(joined.unmatched), np.int64)
    parts = [
        _records(joined.rows, joined.dispatch, joined.finish, flaws.records, zero),
        _records(joined.unmatched, none, none, flaws.unmatched, zero),
        _others(phases, flaws.phases, FlagStream.PHASE, zero),
        _others(orch, flaws.orch, FlagStream.ORCH, zero),
    ]
    for part in parts:
        for stream, flaw, place in zip(part.stream.tolist(), part.flaw.tolist(), part.place.tolist(), strict=True):
            report.add(CODES[Flaw(flaw)], 1, f"{WORDS[FlagStream(stream)]} {place}")
        if len(part) and not included:
            report.rows(STREAMS[FlagStream(int(part.stream[0]))], 0, len(part))
    names = FlaggedTable.__dataclass_fields__
    return FlaggedTable(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def _records(rows: AicoreRows, dispatch: I8, finish: I8, flaw: I8, zero: int) -> FlaggedTable:
    at = np.flatnonzero(flaw != FINE)
    return FlaggedTable(
        stream=np.full(len(at), FlagStream.RECORD, np.uint8),
        flaw=flaw[at].astype(np.uint8),
        place=rows.core[at].astype(np.int32),
        kind=np.full(len(at), -1, np.int32),
        task_id=rows.token[at],
        has_task=np.ones(len(at), np.bool_),
        start_ticks=rows.start[at] - zero,
        end_ticks=rows.end[at] - zero,
        dispatch_ticks=relative(dispatch[at], zero),
        finish_ticks=relative(finish[at], zero),
    )


def _others(rows: PhaseRows | OrchRows, flaw: I8, stream: FlagStream, zero: int) -> FlaggedTable:
    at = np.flatnonzero(flaw != FINE)
    missing = relative(np.zeros(len(at), np.int64), zero)
    return FlaggedTable(
        stream=np.full(len(at), stream, np.uint8),
        flaw=flaw[at].astype(np.uint8),
        place=rows.stream[at].astype(np.int32),
        kind=rows.kind[at].astype(np.int32),
        task_id=rows.task[at],
        has_task=rows.has_task[at],
        start_ticks=rows.start[at] - zero,
        end_ticks=rows.end[at] - zero,
        dispatch_ticks=missing,
        finish_ticks=missing,
    )
