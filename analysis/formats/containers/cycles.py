"""Swimlane containers in cycles: ``l2_cycles``, ``chip`` and ``unified`` (FORMATS sections 2 and 8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from analysis.capture import ids
from analysis.errors import InputError
from analysis.formats.containers.lifecycle import read_lifecycle
from analysis.formats.containers.unified import object_sections, read_scheduler_records, scheduler_tasks
from analysis.formats.join.phases import ORCH_KEYS, PHASE_KEYS, read_orchestrator, read_scheduler_phases, read_uploads
from analysis.formats.join.raw import AicoreRows, AicpuRows, Boundary, RawSwimlane, empty
from analysis.formats.join.rows import STAMP_LIMIT, RowColumns, RowFormat, int_rows
from analysis.formats.registry import Format, Sections, Shape
from analysis.formats.report import Report
from analysis.formats.text.reading import integer, small, whole
from analysis.formats.text.walk import Plan

LEVEL_KEYS = ("chip_swimlane_level", "l2_swimlane_level", "l2_perf_level")
CHIP_HZ = {"a2a3": 50_000_000, "a5": 1_000_000_000}
"""Device clock per platform."""
MAX_CORE = 1 << 16
"""Core ids at or above this are damaged rows, not cores."""
_AICORE = RowFormat("aicore_tasks", (5, 6, 7), (0, 0, 0, 0, 0, 0, -1), id_column=1, stream="aicore_tasks")
_AICPU = RowFormat("aicpu_tasks", (4, 5), (0, 0, 0, 0, -1), stream="scheduler_tasks")
PHASES, ORCH = "aicpu_scheduler_phases", "aicpu_orchestrator_phases"
PLAN: Plan = {"aicore_tasks": _AICORE, "aicpu_tasks": _AICPU, PHASES: PHASE_KEYS, ORCH: ORCH_KEYS}
"""The long lists of these containers."""


def read(sections: Sections, source: str, report: Report) -> RawSwimlane:
    """Decode a container in cycles.

    Raises:
        InputError: metadata has no clock frequency, so cycles cannot become time.
    """
    phases, orch = sections.get(PHASES), sections.get(ORCH)
    raw = _rows(sections, source, report)
    if "scheduler_records" in sections:
        read_scheduler_records(sections["scheduler_records"], raw, source, report)
    else:
        read_scheduler_phases(phases, sections.streams.get(PHASES), raw, source, report)
    raw.orch = read_orchestrator(orch, sections.streams.get(ORCH), False, raw, source, report)
    raw.host_orch = read_orchestrator(sections.get("host_orchestrator_phases"), None, True, raw, source, report)
    read_uploads(sections.get("host_device_uploads"), raw, source, report)
    read_lifecycle(sections.get("aicpu_lifecycle_records"), raw, source, report)
    _check_chip(raw, report)
    report.add("no_rows", int(not any(map(len, (raw.aicore, raw.aicpu, raw.phases, raw.orch, raw.host_orch)))))
    return raw


def _check_chip(raw: RawSwimlane, report: Report) -> None:
    """Whether the clock frequency is that of the chip the streams name, or of any chip where they name none."""
    named = {str(stream["platform"]) for stream in raw.extra.get("scheduler_streams", ()) if stream["platform"]}
    fitting = {CHIP_HZ[name] for name in named if name in CHIP_HZ} or set(CHIP_HZ.values())
    if raw.clock_freq_hz not in fitting:
        chips = ", ".join(f"{name}: {hz}" for name, hz in CHIP_HZ.items() if hz in fitting)
        report.add("frequency_mismatch", 1, reason=f"{raw.clock_freq_hz} Hz ({chips})")


def _rows(sections: Sections, source: str, report: Report) -> RawSwimlane:
    """Metadata and the two lists of number rows."""
    metadata = _metadata(sections, source, report)
    if not isinstance(metadata, dict):
        report.add("wrong_type", int("metadata" in sections), "metadata")
        metadata = {}
    raw = RawSwimlane(
        container=_container(sections),
        level=read_level(sections, source, report),
        clock_freq_hz=_frequency(metadata, source),
        num_cores=_positive(metadata.get("num_cores")),
        core_types=core_types(metadata, report),
        core_to_thread=core_to_thread(metadata.get("core_to_thread")),
        aicore=_aicore(sections, source, report),
        aicpu=empty(AicpuRows),
        metadata=metadata,
        boundaries=_boundaries(metadata, report),
    )
    raw.runtime = _runtime(metadata, sections, raw, report)
    _check_collection(metadata, report)
    rows, name = sections.get("aicpu_tasks"), "aicpu_tasks"
    if "scheduler_tasks" in sections:
        producer, rows = scheduler_tasks(sections["scheduler_tasks"], source, report)
        name = "scheduler_tasks.records"
        raw.extra["scheduler_producer"] = producer
        raw.needs_partner = producer == "aicpu"
    found = sections.rows.get(name)
    if found is None:
        found = int_rows(rows, replace(_AICPU, name=name), source, report)
    else:
        report.rows(_AICPU.stream, len(found.columns[0]))
    raw.aicpu = _aicpu(found, name, report)
    return raw


def read_level(sections: Sections, source: str, report: Report) -> int | None:
    """Capture level as the file names it; None when it does not, or not as 0..4."""
    for key in LEVEL_KEYS:
        if key in sections:
            level = whole(small(sections[key], source, key))
            if level is not None and 0 <= level <= 4:
                return level
            report.add("wrong_type", 1, key)
    return None


def _container(sections: Sections) -> str:
    if "scheduler_tasks" in sections or "scheduler_records" in sections:
        return "unified"
    return "chip" if "chip_swimlane_level" in sections else "l2_cycles"


def _metadata(sections: Sections, source: str, report: Report) -> Any:
    """``metadata``, the first value of every key."""
    section = sections.get("metadata")
    if section is None or bytes(memoryview(section)[:1]) != b"{":
        return small(section, source, "metadata")
    fields = object_sections(section, source, "metadata", report)
    return {key: small(raw, source, f"metadata.{key}") for key, raw in fields.items()}


def _runtime(metadata: dict[str, Any], sections: Sections, raw: RawSwimlane, report: Report) -> str:
    """Runtime that made the task ids: "" for files from before runtimes were named, "?" where labels would be guesses."""
    runtime = metadata.get("runtime")
    if runtime in ids.RUNTIMES:
        return str(runtime)
    if runtime is None:
        # Seven columns without boundaries come only from runtimes that name themselves (FORMATS-2 section 0).
        new = len(raw.aicore) and int(raw.aicore.epoch.max()) >= 0 and "run_boundaries" not in metadata
        if not new or "aicpu_tasks" in sections:
            return ids.LEGACY
    words = "metadata.runtime is missing" if runtime is None else f"metadata.runtime is {str(runtime)[:40]!r}"
    report.add("unknown_runtime", 1, reason=words)
    return ids.RAW_IDS


_COUNTED = ("not_received_buffers", "unpublished_loss", "transport_retired", "transport_retired_records")
_PROMISED = ("processing_complete", "metadata_complete", "handoff_identity_verified")


def _check_collection(metadata: dict[str, Any], report: Report) -> None:
    """Whether a retained run is complete (FORMATS-2 section 1.8)."""
    collection = metadata.get("collection")
    if not isinstance(collection, dict):
        return
    verdict = collection.get("verdict")
    lacking = [f"verdict {str(verdict)[:40]}"] if verdict != "published" else []
    lacking += [f"{key} {collection[key]}" for key in _COUNTED if whole(collection.get(key)) not in (None, 0)]
    lacking += [f"{key} is not true" for key in _PROMISED if collection.get(key) is not True]
    report.add("incomplete_collection", int(bool(lacking)), reason=", ".join(lacking))


def _frequency(metadata: dict[str, Any], source: str) -> int:
    frequency = whole(metadata.get("clock_freq_hz"))
    if frequency is None or not 0 < frequency <= 10**10:
        raise InputError(
            source,
            "metadata.clock_freq_hz",
            "the clock frequency is missing or not a positive number of Hz, so cycles cannot be converted to time",
            "Add the frequency of the chip (a2a3: 50000000, a5: 1000000000) or capture again",
        )
    return frequency


def _positive(value: object) -> int | None:
    number = whole(value)
    return number if number is not None and 0 < number <= MAX_CORE else None


def core_types(metadata: dict[str, Any], report: Report) -> list[str]:
    """``metadata.core_types``; entries that are no text become "unknown"."""
    types = metadata.get("core_types")
    if not isinstance(types, list):
        report.add("wrong_type", int(types is not None), "metadata.core_types")
        return []
    names = [kind if isinstance(kind, str) else "unknown" for kind in types[:MAX_CORE]]
    report.add("wrong_type", sum(not isinstance(kind, str) for kind in types), "metadata.core_types")
    return names


def core_to_thread(value: object) -> list[int] | None:
    """``core_to_thread``: -1 where a core retired nothing; None when absent."""
    if not isinstance(value, list):
        return None
    threads = [integer(thread) for thread in value[:MAX_CORE]]
    return [thread if thread is not None and 0 <= thread < 2**31 else -1 for thread in threads]


def _aicore(sections: Sections, source: str, report: Report) -> AicoreRows:
    found = sections.rows.get("aicore_tasks")
    if found is None:
        found = int_rows(sections.get("aicore_tasks"), _AICORE, source, report)
    else:
        report.rows(_AICORE.stream, len(found.columns[0]))
    core, _, reg, start, end, setup, epoch = found.columns
    keep = _known_cores(core, "aicore_tasks", report)
    rows = AicoreRows(core, found.ids, reg, start, end, start - setup, epoch)
    return rows if keep is None else rows.take(keep)


def _aicpu(found: RowColumns, name: str, report: Report) -> AicpuRows:
    core, reg, dispatch, finish, epoch = found.columns
    keep = _known_cores(core, name, report)
    rows = AicpuRows(core, reg, dispatch, finish, epoch)
    return rows if keep is None else rows.take(keep)


def _known_cores(core: Any, name: str, report: Report) -> Any:
    if not len(core) or (int(core.min()) >= 0 and int(core.max()) < MAX_CORE):
        return None
    keep = (core >= 0) & (core < MAX_CORE)
    report.add("out_of_range", int((~keep).sum()), name)
    report.rows(_AICORE.stream if name == _AICORE.name else _AICPU.stream, 0, int((~keep).sum()))
    return keep


def _boundaries(metadata: dict[str, Any], report: Report) -> list[Boundary]:
    """``metadata.run_boundaries``: objects with a start in cycles and perhaps an epoch, or bare start stamps."""
    entries = metadata.get("run_boundaries")
    if not isinstance(entries, list):
        report.add("wrong_type", int(entries is not None), "metadata.run_boundaries")
        return []
    lost = whole(metadata.get("dropped_run_boundaries"))
    report.add("dropped_launches", lost or 0)
    found = [_boundary(entry) for entry in entries]
    usable = [one for one in found if one.epoch is not None or one.start is not None]
    report.add("out_of_range", len(found) - len(usable), "metadata.run_boundaries")
    return usable


def _stamp(value: object) -> int | None:
    number = whole(value)
    return number if number is not None and 0 <= number < STAMP_LIMIT else None


def _boundary(entry: object) -> Boundary:
    if isinstance(entry, list | tuple):
        return Boundary(None, _stamp(entry[0]) if entry else None)
    if not isinstance(entry, dict):
        return Boundary(None, _stamp(entry))
    epoch = next((_stamp(entry[key]) for key in ("run_epoch", "launch_epoch", "epoch") if key in entry), None)
    named = [key for key in entry if key.startswith("start")] or [key for key in entry if key.endswith("cycles")]
    return Boundary(epoch, _stamp(entry[named[0]]) if named else None)


def _sniff(shape: Shape) -> bool:
    in_cycles = {"aicore_tasks", "scheduler_tasks", "scheduler_records"} & shape.keys
    in_us = "start_time_us" in shape.rows.get("tasks", frozenset())
    return bool(in_cycles) or (bool(shape.keys.intersection(LEVEL_KEYS)) and "metadata" in shape.keys and not in_us)


FORMAT = Format("cycles", "swimlane", _sniff, read)
