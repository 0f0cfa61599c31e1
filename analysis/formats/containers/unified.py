"""``scheduler_tasks`` and ``scheduler_records``: the producer-neutral streams of September 2026 (FORMATS section 8).

Streams are keyed by ``scheduler_id`` (ids may have holes); queue depths and pop counters lie beside the records in
``metrics`` and point at them by index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from analysis.formats.join.phases import Depths, PhaseRow, depths, phase_columns
from analysis.formats.join.raw import PhaseRows, RawSwimlane
from analysis.formats.report import Report
from analysis.formats.text.reading import Repeated, count_elements, is_list, sections, small
from analysis.formats.text.structs import Int, Int32, column, typed_rows

STREAM_OF = {
    "aicore_tasks": "aicore_tasks",
    "aicpu_tasks": "scheduler_tasks",
    "scheduler_tasks.records": "scheduler_tasks",
    "tasks": "deps.tasks",
    "edges": "deps.edges",
    "tensors": "deps.tensors",
    "host_device_uploads": "uploads",
    "aicpu_lifecycle_records": "lifecycle",
}
"""Key of a list of rows → stream its rows are accounted for."""


class Capture(msgspec.Struct):
    """What the runtime says about completeness of a stream."""

    committed: Int = 0
    dropped: Int = 0
    truncated: bool = False


class Stream(msgspec.Struct):
    """One entry of ``scheduler_records.streams``."""

    scheduler_id: Int32 | None = None
    producer: str | None = None
    core_type: str | None = None
    platform: str | None = None
    runtime: str | None = None
    worker_id: Int | None = None
    physical_core_id: Int | None = None
    capture: Capture | None = None
    records: msgspec.Raw = msgspec.Raw(b"[]")
    metrics: msgspec.Raw = msgspec.Raw(b"[]")


MAX_STREAM_ID = 256
"""Ids at or above are damaged (the reference numbers such streams by their place)."""


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
    return object_sections(section, source, place, report)


def object_sections(section: msgspec.Raw, source: str, place: str, report: Report) -> dict[str, msgspec.Raw]:
    """Keys of an object with their first values; repeated keys are a finding."""
    return sections(section, source, place, repeated_keys(report, f"{place}."))


def repeated_keys(report: Report, prefix: str = "") -> Repeated:
    """What to call for every key that is named again: counts what is left out."""

    def tell(key: str, raw: msgspec.Raw) -> None:
        name = f"{prefix}{key[:40]}"
        lost = count_elements(raw) if is_list(raw) else 1
        report.add("duplicate_json_key", max(1, lost), name, reason=name)
        report.rows(STREAM_OF.get(name, ""), lost, lost)

    return tell


def read_scheduler_records(section: msgspec.Raw | None, raw: RawSwimlane, source: str, report: Report) -> None:
    """All streams of ``scheduler_records`` into ``raw.phases``, ``raw.streams`` and ``raw.extra``."""
    fields = section_fields(section, "scheduler_records", source, report)
    place = "scheduler_records.streams"
    parts: list[PhaseRows] = []
    described: list[dict[str, Any]] = []
    taken: set[int] = set()
    for streams, positions in typed_rows(fields.get("streams"), Stream, place, source, report):
        numbers = _numbers(streams, positions, taken, report)
        for stream, number, position in zip(streams, numbers, positions, strict=True):
            raw.streams.append(number)
            described.append(_describe(stream, number))
            raw.producers[number] = stream.producer or raw.extra.get("scheduler_producer", "aicpu")
            _count_losses(stream, number, report)
            part = _stream_phases(stream, number, f"{place}[{position}]", raw, source, report)
            if part is not None:
                parts.append(part)
    if parts:
        raw.phases = PhaseRows.join(parts)
    raw.streams = sorted(set(raw.streams))
    if described:
        raw.extra["scheduler_streams"] = described


def _numbers(streams: list[Stream], positions: Sequence[int], taken: set[int], report: Report) -> list[int]:
    """Scheduler id of each stream; one that is missing, out of range or taken becomes the first free number from its
    place on."""
    out = []
    for stream, position in zip(streams, positions, strict=True):
        number = stream.scheduler_id
        if number is None or not 0 <= number < MAX_STREAM_ID or number in taken:
            report.add("stream_id", 1, f"scheduler_records.streams[{position}]")
            number = position
            while number in taken:
                number += 1
        taken.add(number)
        out.append(number)
    return out


def _describe(stream: Stream, number: int) -> dict[str, Any]:
    return {
        "scheduler_id": number,
        "producer": stream.producer,
        "core_type": stream.core_type,
        "platform": stream.platform,
        "runtime": stream.runtime,
        "worker_id": stream.worker_id,
        "physical_core_id": stream.physical_core_id,
    }


def _count_losses(stream: Stream, number: int, report: Report) -> None:
    if stream.capture is None:
        return
    lost = max(0, stream.capture.dropped)
    if stream.capture.truncated and not lost:
        lost = 1
    report.add("truncated_stream", lost, f"scheduler {number}")


def _stream_phases(
    stream: Stream, number: int, place: str, raw: RawSwimlane, source: str, report: Report
) -> PhaseRows | None:
    parts: list[PhaseRows] = []
    positions: list[int] = []
    for rows, kept in typed_rows(stream.records, PhaseRow, f"{place}.records", source, report, "scheduler_phases"):
        parts.append(phase_columns(rows, number, place, raw, report))
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
