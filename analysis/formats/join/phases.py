"""Scheduler phases, orchestrator records and uploads of the containers in cycles (FORMATS sections 2 and 8)."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, TypeVar

import msgspec
import numpy as np

from analysis.capture import I4, I8
from analysis.formats.join.raw import OrchRows, PhaseRows, RawSwimlane, UploadRows, empty
from analysis.formats.report import Report
from analysis.formats.text.reading import batches, count_elements, is_list
from analysis.formats.text.scan import MAX_STREAMS, Keys, Scanned
from analysis.formats.text.structs import Id, Int, Int32, column, encode, ids, typed_lists, typed_rows, wide_column

S = TypeVar("S", bound=msgspec.Struct)
_EPOCHS = ("run_epoch", "launch_epoch")
Depths = tuple[Int32, Int32, Int32]


class PhaseRow(msgspec.Struct, gc=False):
    """One entry of ``aicpu_scheduler_phases[stream]`` or ``scheduler_records.streams[].records``."""

    kind: str
    start_cycles: Int
    end_cycles: Int
    loop_iter: Int | None = -1
    tasks_processed: Int | None = -1
    task_id: Id | None = None
    pop_hit: Int | None = -1
    pop_miss: Int | None = -1
    shared_at_start: Depths | None = None
    shared_at_end: Depths | None = None
    run_epoch: Int | None = None
    launch_epoch: Int | None = None


class OrchRow(msgspec.Struct, gc=False):
    """One entry of ``aicpu_orchestrator_phases[stream]``."""

    start_cycles: Int
    end_cycles: Int
    kind: str | None = None
    phase: str | None = None
    submit_idx: Int | None = -1
    task_id: Id | None = None
    run_epoch: Int | None = None
    launch_epoch: Int | None = None


class HostOrchRow(msgspec.Struct, gc=False):
    """One entry of ``host_orchestrator_phases[stream]``."""

    start_host_ns: Int
    end_host_ns: Int
    kind: str | None = None
    phase: str | None = None
    submit_idx: Int | None = -1
    task_id: Id | None = None
    run_epoch: Int | None = None
    launch_epoch: Int | None = None


class UploadRow(msgspec.Struct, gc=False):
    """One entry of ``host_device_uploads``."""

    phase: str
    start_host_ns: Int
    end_host_ns: Int
    detail: Int | None = -1
    run_epoch: Int | None = None
    launch_epoch: Int | None = None


def epochs(rows: list[Any]) -> I8:
    """Which launch each row names, -1 where it names none."""
    named = column(rows, "run_epoch")
    return np.where(named >= 0, named, column(rows, "launch_epoch"))


def depths(rows: list[Any], name: str) -> I4:
    """Queue depths (n, 3), -1 where not recorded."""
    return wide_column(rows, name, 3).astype(np.int32)


def phase_columns(rows: list[PhaseRow], stream: int, place: str, raw: RawSwimlane, report: Report) -> PhaseRows:
    """Decoded phases of one stream as columns; new kinds are added to ``raw.kinds``."""
    task, has_task = ids([row.task_id for row in rows], place, report)
    return PhaseRows(
        stream=np.full(len(rows), stream, np.int64),
        kind=encode([row.kind for row in rows], raw.kind_index),
        start=column(rows, "start_cycles"),
        end=column(rows, "end_cycles"),
        loop_iter=column(rows, "loop_iter"),
        tasks_processed=column(rows, "tasks_processed"),
        task=task,
        has_task=has_task,
        pop_hit=column(rows, "pop_hit"),
        pop_miss=column(rows, "pop_miss"),
        shared_start=depths(rows, "shared_at_start"),
        shared_end=depths(rows, "shared_at_end"),
        epoch=epochs(rows),
    )


def stream_rows(
    section: msgspec.Raw | None, kind: type[S], name: str, source: str, report: Report, counted: str
) -> Iterator[tuple[int, list[S]]]:
    """(stream, rows) of a section that holds one list per stream; a stream may come in several parts, or empty.

    Rows are accounted for under ``counted``. Lists from the :data:`MAX_STREAMS`-th on are damage: counted, not read.
    """
    if section is None or bytes(memoryview(section)) == b"null":
        return
    if not is_list(section):
        report.add("wrong_type", 1, name)
        return
    total = count_elements(section)
    lists = typed_lists(section, kind) if total <= MAX_STREAMS else None
    if lists is not None:
        report.rows(counted, sum(map(len, lists)))
        lists.reverse()
        for stream in range(len(lists)):
            yield stream, lists.pop()
        return
    report.add("out_of_range", max(0, total - MAX_STREAMS), name)
    for first, _, texts in batches(section, source, name):
        for stream, part in enumerate(texts()[: max(0, MAX_STREAMS - first)], first):
            yield stream, []
            for rows, _ in typed_rows(msgspec.Raw(part), kind, f"{name}[{stream}]", source, report, counted):
                yield stream, rows
        if first >= MAX_STREAMS:
            return


PHASE_KEYS = Keys(
    numbers=("start_cycles", "end_cycles", "loop_iter", "tasks_processed", "pop_hit", "pop_miss", *_EPOCHS),
    texts=("kind",),
    triples=("shared_at_start", "shared_at_end"),
    required=("kind", "start_cycles", "end_cycles"),
    order=(
        "kind",
        "start_cycles",
        "end_cycles",
        "loop_iter",
        "tasks_processed",
        "task_id",
        "pop_hit",
        "pop_miss",
        "shared_at_start",
        "shared_at_end",
        *_EPOCHS,
    ),
)
ORCH_KEYS = Keys(
    numbers=("submit_idx", "start_cycles", "end_cycles", *_EPOCHS),
    required=("start_cycles", "end_cycles"),
    order=("submit_idx", "task_id", "start_cycles", "end_cycles", *_EPOCHS),
)


def _scanned_epochs(scanned: Scanned) -> I8:
    run, launch = (scanned.columns[name] for name in _EPOCHS)
    return np.where(run >= 0, run, launch)


def _scanned_phases(scanned: Scanned, raw: RawSwimlane) -> PhaseRows:
    numbers = np.array([raw.kind_index(text) for text in scanned.texts], np.int64)
    kind = scanned.columns["kind"]
    return PhaseRows(
        stream=scanned.stream,
        kind=numbers[kind] if len(kind) else kind,
        start=scanned.columns["start_cycles"],
        end=scanned.columns["end_cycles"],
        loop_iter=scanned.columns["loop_iter"],
        tasks_processed=scanned.columns["tasks_processed"],
        task=scanned.ids,
        has_task=scanned.has_id,
        pop_hit=scanned.columns["pop_hit"],
        pop_miss=scanned.columns["pop_miss"],
        shared_start=scanned.triples["shared_at_start"],
        shared_end=scanned.triples["shared_at_end"],
        epoch=_scanned_epochs(scanned),
    )


def _scanned_orch(scanned: Scanned, raw: RawSwimlane) -> OrchRows:
    return OrchRows(
        stream=scanned.stream,
        kind=np.full(len(scanned.stream), raw.kind_index("orch_submit") if len(scanned.stream) else 0, np.int64),
        start=scanned.columns["start_cycles"],
        end=scanned.columns["end_cycles"],
        submit_idx=scanned.columns["submit_idx"],
        task=scanned.ids,
        has_task=scanned.has_id,
        epoch=_scanned_epochs(scanned),
    )


def read_scheduler_phases(
    section: msgspec.Raw | None, scanned: Scanned | None, raw: RawSwimlane, source: str, report: Report
) -> None:
    """``aicpu_scheduler_phases``: the position of a list is its scheduler id."""
    if scanned is not None:
        raw.streams = list(range(scanned.streams))
        raw.phases = _scanned_phases(scanned, raw)
        report.rows("scheduler_phases", len(raw.phases))
        return
    parts: list[PhaseRows] = []
    name = "aicpu_scheduler_phases"
    for stream, rows in stream_rows(section, PhaseRow, name, source, report, "scheduler_phases"):
        raw.streams.append(stream)
        parts.append(phase_columns(rows, stream, f"{name}[{stream}]", raw, report))
    raw.streams = sorted(set(raw.streams))
    if parts:
        raw.phases = PhaseRows.join(parts)


def _orch_kinds(rows: list[Any]) -> list[str]:
    """Kind of each orchestrator record; today's files name none and mean a submit."""
    named = map(attrgetter("kind", "phase"), rows)
    return [kind or phase or "orch_submit" for kind, phase in named]


def _orch_columns(
    rows: list[Any], stream: int, place: str, ends: tuple[str, str], raw: RawSwimlane, report: Report
) -> OrchRows:
    task, has_task = ids([row.task_id for row in rows], place, report)
    return OrchRows(
        stream=np.full(len(rows), stream, np.int64),
        kind=encode(_orch_kinds(rows), raw.kind_index),
        start=column(rows, ends[0]),
        end=column(rows, ends[1]),
        submit_idx=column(rows, "submit_idx"),
        task=task,
        has_task=has_task,
        epoch=epochs(rows),
    )


def read_orchestrator(
    section: msgspec.Raw | None, scanned: Scanned | None, host: bool, raw: RawSwimlane, source: str, report: Report
) -> OrchRows:
    """``aicpu_orchestrator_phases`` (device cycles) or ``host_orchestrator_phases`` (host nanoseconds)."""
    name = "host_orchestrator_phases" if host else "aicpu_orchestrator_phases"
    ends = ("start_host_ns", "end_host_ns") if host else ("start_cycles", "end_cycles")
    if scanned is not None:
        raw.orchestrator_streams = max(raw.orchestrator_streams, scanned.streams)
        report.rows("orchestrator", len(scanned.stream))
        return _scanned_orch(scanned, raw)
    parts: list[OrchRows] = []
    for stream, rows in stream_rows(
        section, HostOrchRow if host else OrchRow, name, source, report, "host_orchestrator" if host else "orchestrator"
    ):
        raw.orchestrator_streams = max(raw.orchestrator_streams, stream + 1)
        parts.append(_orch_columns(rows, stream, f"{name}[{stream}]", ends, raw, report))
    return OrchRows.join(parts) if parts else empty(OrchRows)


def read_uploads(section: msgspec.Raw | None, raw: RawSwimlane, source: str, report: Report) -> None:
    """``host_device_uploads``."""
    parts = [
        UploadRows(
            kind=encode([row.phase for row in rows], raw.kind_index),
            start=column(rows, "start_host_ns"),
            end=column(rows, "end_host_ns"),
            detail=column(rows, "detail"),
            epoch=epochs(rows),
        )
        for rows, _ in typed_rows(section, UploadRow, "host_device_uploads", source, report, "uploads")
    ]
    if parts:
        raw.uploads = UploadRows.join(parts)
