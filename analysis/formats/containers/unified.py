"""``scheduler_tasks`` and ``scheduler_records``: the producer-neutral streams of September 2026 (FORMATS section 8).

Streams are keyed by ``scheduler_id`` (ids may have holes); queue depths and pop counters lie beside the records in
``metrics`` and point at them by index.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from analysis.formats.join.phases import Depths, PhaseRow, depths, phase_columns
from analysis.formats.join.raw import PhaseRows, RawSwimlane
from analysis.formats.report import Report
from analysis.formats.text.reading import decode, small
from analysis.formats.text.structs import Int, Int32, column, typed_rows


class Capture(msgspec.Struct):
    """What the runtime says about completeness of a stream."""

    committed: Int = 0
    dropped: Int = 0
    truncated: bool = False


class Stream(msgspec.Struct):
    """One entry of ``scheduler_records.streams``."""

    scheduler_id: Int32
    producer: str | None = None
    core_type: str | None = None
    platform: str | None = None
    runtime: str | None = None
    worker_id: Int | None = None
    physical_core_id: Int | None = None
    capture: Capture | None = None
    records: msgspec.Raw = msgspec.Raw(b"[]")
    metrics: msgspec.Raw = msgspec.Raw(b"[]")


class Metric(msgspec.Struct, gc=False):
    """Counters of one record."""

    record_index: Int
    pop_hit: Int | None = -1
    pop_miss: Int | None = -1
    shared_at_start: Depths | None = None
    shared_at_end: Depths | None = None


def scheduler_tasks(section: msgspec.Raw, source: str, report: Report) -> tuple[str, msgspec.Raw | None]:
    """(producer, undecoded rows) of ``scheduler_tasks``."""
    fields = section_fields(section, "scheduler_tasks", source, report)
    producer = small(fields.get("producer"), source, "scheduler_tasks.producer")
    return producer if isinstance(producer, str) else "aicpu", fields.get("records")


def section_fields(section: msgspec.Raw | None, place: str, source: str, report: Report) -> dict[str, msgspec.Raw]:
    """Keys of a section that must be an object; empty (and counted) when it is not."""
    if section is None or bytes(memoryview(section)) == b"null":
        return {}
    if bytes(memoryview(section)[:1]) != b"{":
        report.add("wrong_type", 1, place)
        return {}
    return decode(section, dict[str, msgspec.Raw], source, place)


def read_scheduler_records(section: msgspec.Raw | None, raw: RawSwimlane, source: str, report: Report) -> None:
    """All streams of ``scheduler_records`` into ``raw.phases``, ``raw.streams`` and ``raw.extra``."""
    fields = section_fields(section, "scheduler_records", source, report)
    place = "scheduler_records.streams"
    parts: list[PhaseRows] = []
    described: list[dict[str, Any]] = []
    for streams, positions in typed_rows(fields.get("streams"), Stream, place, source, report):
        for stream, position in zip(streams, positions, strict=True):
            raw.streams.append(stream.scheduler_id)
            described.append(_describe(stream))
            _count_losses(stream, report)
            part = _stream_phases(stream, f"{place}[{position}]", raw, source, report)
            if part is not None:
                parts.append(part)
    if parts:
        raw.phases = PhaseRows.join(parts)
    raw.streams = sorted(set(raw.streams))
    if described:
        raw.extra["scheduler_streams"] = described


def _describe(stream: Stream) -> dict[str, Any]:
    return {
        "scheduler_id": stream.scheduler_id,
        "producer": stream.producer,
        "core_type": stream.core_type,
        "platform": stream.platform,
        "runtime": stream.runtime,
        "worker_id": stream.worker_id,
        "physical_core_id": stream.physical_core_id,
    }


def _count_losses(stream: Stream, report: Report) -> None:
    if stream.capture is None:
        return
    lost = max(0, stream.capture.dropped)
    if stream.capture.truncated and not lost:
        lost = 1
    report.add("truncated_stream", lost, f"scheduler {stream.scheduler_id}")


def _stream_phases(stream: Stream, place: str, raw: RawSwimlane, source: str, report: Report) -> PhaseRows | None:
    parts: list[PhaseRows] = []
    positions: list[int] = []
    for rows, kept in typed_rows(stream.records, PhaseRow, f"{place}.records", source, report):
        parts.append(phase_columns(rows, stream.scheduler_id, place, raw, report))
        positions.extend(kept)
    if not parts:
        return None
    phases = PhaseRows.join(parts)
    where = np.array(positions, np.int64)
    for metrics, _ in typed_rows(stream.metrics, Metric, f"{place}.metrics", source, report):
        index = column(metrics, "record_index")
        at = np.searchsorted(where, index)
        known = (at < len(where)) & (where[np.minimum(at, len(where) - 1)] == index) if len(where) else index < -1
        report.add("lost_metrics", int((~known).sum()), place)
        target = at[known]
        phases.pop_hit[target] = column(metrics, "pop_hit")[known]
        phases.pop_miss[target] = column(metrics, "pop_miss")[known]
        phases.shared_start[target] = depths(metrics, "shared_at_start")[known]
        phases.shared_end[target] = depths(metrics, "shared_at_end")[known]
    return phases
