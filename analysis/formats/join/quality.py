"""Checks on a finished capture: what the import report says beyond the rows that were dropped while reading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.capture import (
    I8,
    MISSING,
    U8,
    AnnotationTable,
    Bool,
    EdgeTable,
    OrchTable,
    PhaseTable,
    RecordTable,
    TaskKind,
    TaskTable,
    ids,
)
from analysis.formats.containers.lifecycle import KINDS as LIFECYCLE_KINDS
from analysis.formats.join.raw import RawSwimlane
from analysis.formats.join.records import Joined, per_core
from analysis.formats.join.streams import INNER_KINDS, MARKER_KINDS, ORCH_KINDS, OUTER_KINDS
from analysis.formats.join.tables import Listed
from analysis.formats.report import Report


@dataclass
class Checked:
    """The tables the checks look at."""

    raw: RawSwimlane
    level: int
    records: RecordTable
    tasks: TaskTable
    edges: EdgeTable
    annotations: AnnotationTable
    phases: PhaseTable
    orch: OrchTable
    listed: Listed
    codes: NDArray[np.int8]
    has_deps: bool
    fanout: bool
    marked_dummy: Bool
    """Tasks that a ``dummy_task`` marker names."""
    deps_runtime: str


def check(subject: Checked, report: Report) -> None:
    """Run every check; each adds its own code."""
    _stamps(subject, report)
    _lengths(subject, report)
    _overlaps(subject.records, report)
    _kinds(subject, report)
    _level(subject, report)
    _cores(subject, report)
    _graph(subject, report)
    _functions(subject, report)


def _at_cores(records: RecordTable, bad: Bool) -> dict[str, int]:
    return per_core(records.core_id[bad].astype(np.int64))


def _stamps(subject: Checked, report: Report) -> None:
    records = subject.records
    dispatch, finish = records.dispatch_ticks, records.finish_ticks
    has_dispatch, has_finish = dispatch != MISSING, finish != MISSING
    bad = (
        (records.receive_ticks > records.start_ticks)
        | (records.start_ticks > records.end_ticks)
        | (has_dispatch & (dispatch > records.receive_ticks))
        | (has_finish & (records.end_ticks > finish))
    )
    report.add_each("order_violation", _at_cores(records, bad))
    if (subject.level >= 2 and subject.raw.needs_partner) or (subject.raw.joins is not None and subject.level >= 2):
        report.add_each("missing_stamps", _at_cores(records, ~has_dispatch | ~has_finish))


def _lengths(subject: Checked, report: Report) -> None:
    records = subject.records
    report.add_each("zero_length", _at_cores(records, records.end_ticks == records.start_ticks))


def check_ids(joined: Joined, task_ids: U8, runtime: str, report: Report) -> None:
    """Corrupt ids: of rows with epoch, core and raw value, of everything else the value."""
    if not ids.flawed(task_ids, runtime).any():
        return
    seen: set[int] = set()
    for rows in (joined.rows, joined.unmatched):
        for at in np.flatnonzero(ids.flawed(rows.token, runtime)).tolist():
            task_id, epoch = int(rows.token[at]), int(rows.epoch[at])
            where = f"epoch {epoch} core {rows.core[at]}" if epoch >= 0 else f"core {rows.core[at]}"
            seen.add(task_id)
            report.add("corrupt_id", 1, f"{where}: {task_id}", ids.flaw(task_id, runtime))
    for task_id in task_ids[ids.flawed(task_ids, runtime)].tolist():
        if task_id not in seen:
            report.add("corrupt_id", 1, f"named elsewhere: {task_id}", ids.flaw(task_id, runtime))


def running_end(core: NDArray[np.int32], end: I8) -> I8:
    """Latest end over the earlier entries of the same core; the smallest int64 for the first of each core."""
    lowest = np.iinfo(np.int64).min
    out = np.full(len(end), lowest, np.int64)
    starts = np.flatnonzero(np.concatenate((np.ones(min(1, len(core)), np.bool_), core[1:] != core[:-1])))
    for begin, stop in zip(starts.tolist(), np.append(starts[1:], len(core))[: len(starts)].tolist(), strict=True):
        out[begin + 1 : stop] = np.maximum.accumulate(end[begin : stop - 1])
    return out


def _overlaps(records: RecordTable, report: Report) -> None:
    before = running_end(records.core_id, records.end_ticks)
    report.add_each("overlap", _at_cores(records, records.start_ticks < before))


def _kinds(subject: Checked, report: Report) -> None:
    known = OUTER_KINDS | INNER_KINDS | MARKER_KINDS | LIFECYCLE_KINDS
    for kind, streams, allowed in (
        (subject.phases.kind, "scheduler", known),
        (subject.orch.kind, "orchestrator", ORCH_KINDS),
    ):
        counts = np.bincount(kind, minlength=len(subject.raw.kinds))
        for at in np.flatnonzero(counts).tolist():
            name = subject.raw.kinds[at]
            if name not in allowed:
                report.add("unknown_kind", int(counts[at]), f"{streams} {name}")


def _level(subject: Checked, report: Report) -> None:
    """A level promises streams; a file may also hold more than its level says."""
    raw = subject.raw
    if raw.level is None:
        return
    found = int(len(raw.aicore) > 0)
    if len(raw.aicpu) or (raw.joins is not None and bool((raw.joins.dispatch != 0).any())):
        found = 2
    found = 3 if len(raw.phases) else found
    orchestrated = len(raw.orch) + len(raw.host_orch)
    found = 4 if len(raw.orch) else found
    if found > raw.level:
        report.add("level_mismatch", 1, reason=f"{raw.level} but it holds streams of level {found}")
    lacking = [
        name
        for level, name, present in (
            (2, "dispatch and finish stamps", len(raw.aicpu) or not len(raw.aicore) or not raw.needs_partner),
            (3, "scheduler phases", len(raw.phases)),
            (4, "orchestrator records", orchestrated),
        )
        if raw.level >= level and not present
    ]
    if lacking and (len(raw.aicore) or len(raw.phases)):
        report.add("level_mismatch", 1, reason=f"{raw.level} but it holds no {', no '.join(lacking)}")


def _cores(subject: Checked, report: Report) -> None:
    raw = subject.raw
    known = len(raw.core_types)
    cores = np.concatenate((raw.aicore.core, raw.aicpu.core))
    report.add_each("unknown_core", per_core(cores[cores >= known]))
    if raw.num_cores is not None and raw.num_cores != known:
        report.add("core_count_mismatch", 1, reason=f"{raw.num_cores} cores, {known} types")


def _graph(subject: Checked, report: Report) -> None:
    tasks, edges, notes = subject.tasks, subject.edges, subject.annotations
    timed = tasks.n_records > 0
    if subject.has_deps:
        seen = tasks.listed | timed
        if tasks.listed.any():
            # Alloc tasks only ever feed others; an unlisted, unseen successor is damage.
            report.add("dangling_edge", int((~seen[edges.succ]).sum()))
            nodes = tasks.outer >= 0
            report.add("graph_mismatch", int((timed & ~tasks.in_graph & ~nodes).sum()))
        bare = notes.flags < 0
        if (
            not bare.all() and subject.deps_runtime != ids.HOST_GRAPH
        ):  # files before August 2026 and host-built graphs never have flags: no finding
            report.add("missing_flags", int(bare.sum()))
    if subject.fanout:
        report.add("fanout_edges", len(edges))
    report.add("self_edge", int((edges.pred == edges.succ).sum()))
    both = timed[edges.pred] & timed[edges.succ] & (edges.pred != edges.succ)
    late = both & (tasks.end_ticks[edges.pred] > tasks.start_ticks[edges.succ])
    report.add("hb_violation", int(late.sum()))
    report.add("duplicate_task", subject.listed.repeated)
    if subject.marked_dummy.any():  # runtimes before June 2026 and host-built graphs write no markers
        unmarked = (tasks.kind == TaskKind.DUMMY) & tasks.listed & ~subject.marked_dummy
        report.add("unmarked_dummy", int(unmarked.sum()))


def _functions(subject: Checked, report: Report) -> None:
    records, tasks = subject.records, subject.tasks
    if not len(records):
        return
    open_records = records.func_id < 0
    node = tasks.outer[records.task] >= 0
    report.add("graph_nodes", int((open_records & node).sum()))
    if subject.has_deps:
        _unresolved(subject, open_records & ~node, report)
    first, second = tasks.kernel_ids[:, 1], tasks.kernel_ids[:, 2]
    two = (first >= 0) & (second >= 0) & (first != second)
    if two.any():
        report.add("assumed_aiv_slot", int((two[records.task] & (subject.codes[records.core_id] == 1)).sum()))


def _unresolved(subject: Checked, open_records: Bool, report: Report) -> None:
    tasks, records = subject.tasks, subject.records
    task = records.task[open_records]
    graph = tasks.kind[task] == TaskKind.GRAPH
    unlisted = ~tasks.listed[task] & ~graph
    empty = tasks.listed[task] & (tasks.kernel_ids[task] < 0).all(axis=1) & ~graph
    rest = ~graph & ~unlisted & ~empty
    for reason, which in (
        ("the task is an outer graph task", graph),
        ("deps.json does not list the task", unlisted),
        ("the task has no kernel id (older deps.json or a dependency-only task)", empty),
        ("the task has no kernel for this core type", rest),
    ):
        count = int(which.sum())
        if count:
            report.add("unresolved_function", count, reason, reason)
