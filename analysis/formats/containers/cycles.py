"""Swimlane containers in cycles: ``l2_cycles``, ``chip`` and ``unified`` (FORMATS sections 2 and 8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from analysis.errors import InputError
from analysis.formats.containers.unified import read_scheduler_records, scheduler_tasks
from analysis.formats.join.phases import ORCH_KEYS, PHASE_KEYS, read_orchestrator, read_scheduler_phases, read_uploads
from analysis.formats.join.raw import AicoreRows, AicpuRows, Boundary, RawSwimlane, empty
from analysis.formats.join.rows import RowColumns, RowFormat, int_rows
from analysis.formats.registry import Format, Sections, Shape
from analysis.formats.report import Report
from analysis.formats.text.reading import integer, small
from analysis.formats.text.walk import Plan

LEVEL_KEYS = ("chip_swimlane_level", "l2_swimlane_level", "l2_perf_level")
MAX_CORE = 1 << 16
"""Core ids at or above this are damaged rows, not cores."""
_AICORE = RowFormat("aicore_tasks", (5, 6, 7), (0, 0, 0, 0, 0, 0, -1), id_column=1)
_AICPU = RowFormat("aicpu_tasks", (4, 5), (0, 0, 0, 0, -1))
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
    return raw


def _rows(sections: Sections, source: str, report: Report) -> RawSwimlane:
    """Metadata and the two lists of number rows."""
    metadata = small(sections.get("metadata"), source, "metadata")
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
    rows, name = sections.get("aicpu_tasks"), "aicpu_tasks"
    if "scheduler_tasks" in sections:
        producer, rows = scheduler_tasks(sections["scheduler_tasks"], source, report)
        name = "scheduler_tasks.records"
        raw.extra["scheduler_producer"] = producer
        raw.needs_partner = producer == "aicpu"
    found = sections.rows.get(name) or int_rows(rows, replace(_AICPU, name=name), source, report)
    raw.aicpu = _aicpu(found, name, report)
    return raw


def read_level(sections: Sections, source: str, report: Report) -> int | None:
    """Capture level as the file names it; None when it does not, or not as 0..4."""
    for key in LEVEL_KEYS:
        if key in sections:
            level = integer(small(sections[key], source, key))
            if level is not None and 0 <= level <= 4:
                return level
            report.add("wrong_type", 1, key)
    return None


def _container(sections: Sections) -> str:
    if "scheduler_tasks" in sections or "scheduler_records" in sections:
        return "unified"
    return "chip" if "chip_swimlane_level" in sections else "l2_cycles"


def _frequency(metadata: dict[str, Any], source: str) -> int:
    frequency = integer(metadata.get("clock_freq_hz"))
    if frequency is None or not 0 < frequency <= 10**12:
        raise InputError(
            source,
            "metadata.clock_freq_hz",
            "the clock frequency is missing or not a positive number of Hz, so cycles cannot be converted to time",
            "Add the frequency of the chip (a2a3: 50000000, a5: 1000000000) or capture again",
        )
    return frequency


def _positive(value: object) -> int | None:
    number = integer(value)
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
    found = sections.rows.get("aicore_tasks") or int_rows(sections.get("aicore_tasks"), _AICORE, source, report)
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
    return keep


def _boundaries(metadata: dict[str, Any], report: Report) -> list[Boundary]:
    """``metadata.run_boundaries``: objects with a start in cycles and perhaps an epoch, or bare start stamps."""
    entries = metadata.get("run_boundaries")
    if not isinstance(entries, list):
        report.add("wrong_type", int(entries is not None), "metadata.run_boundaries")
        return []
    lost = integer(metadata.get("dropped_run_boundaries"))
    report.add("dropped_launches", lost or 0)
    return [_boundary(entry) for entry in entries]


def _boundary(entry: object) -> Boundary:
    if isinstance(entry, list | tuple):
        return Boundary(None, integer(entry[0]) if entry else None)
    if not isinstance(entry, dict):
        return Boundary(None, integer(entry))
    epoch = next((integer(entry[key]) for key in ("run_epoch", "launch_epoch", "epoch") if key in entry), None)
    named = [key for key in entry if key.startswith("start")] or [key for key in entry if key.endswith("cycles")]
    return Boundary(epoch, integer(entry[named[0]]) if named else None)


def _sniff(shape: Shape) -> bool:
    in_cycles = {"aicore_tasks", "scheduler_tasks", "scheduler_records"} & shape.keys
    in_us = "start_time_us" in shape.rows.get("tasks", frozenset())
    return bool(in_cycles) or (bool(shape.keys.intersection(LEVEL_KEYS)) and "metadata" in shape.keys and not in_us)


FORMAT = Format("cycles", "swimlane", _sniff, read)
