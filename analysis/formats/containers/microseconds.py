"""Swimlane containers in microseconds: ``us`` (versions 1 and 2, ``l2_perf``, ``l2``), FORMATS sections 2 and 8.

They come joined and hold no clock: stamps become integer nanoseconds, ``round(us * 1000)``.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8
from analysis.formats.containers.cycles import LEVEL_KEYS, MAX_CORE, core_to_thread, read_level
from analysis.formats.join.phases import Depths, depths, stream_rows
from analysis.formats.join.raw import AicoreRows, AicpuRows, KnownJoins, OrchRows, PhaseRows, RawSwimlane, empty
from analysis.formats.registry import Format, Sections, Shape
from analysis.formats.report import Report
from analysis.formats.text.reading import small
from analysis.formats.text.structs import Id, Int, Int32, column, encode, ids, typed_rows

Us: TypeAlias = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
NS_PER_US = 1000


class TaskRow(msgspec.Struct, gc=False):
    """One entry of ``tasks[]``."""

    task_id: Id
    core_id: Annotated[int, msgspec.Meta(ge=0, lt=MAX_CORE)]
    start_time_us: Us
    end_time_us: Us
    func_id: Int32 | None = -1
    core_type: str | None = None
    kernel_ready_time_us: Us | None = 0.0
    dispatch_time_us: Us | None = 0.0
    finish_time_us: Us | None = 0.0
    fanout: list[Id] | None = None


class PhaseRow(msgspec.Struct, gc=False):
    """One scheduler phase."""

    phase: str
    start_time_us: Us
    end_time_us: Us
    loop_iter: Int | None = -1
    tasks_processed: Int | None = -1
    task_id: Id | None = None
    pop_hit: Int | None = -1
    pop_miss: Int | None = -1
    shared_at_start: Depths | None = None
    shared_at_end: Depths | None = None


class OrchRow(msgspec.Struct, gc=False):
    """One orchestrator record."""

    start_time_us: Us
    end_time_us: Us
    phase: str | None = None
    submit_idx: Int | None = -1
    task_id: Id | None = None


def nanoseconds(rows: list[Any], name: str) -> I8:
    """A time in µs as integer nanoseconds; None becomes 0 (not recorded)."""
    us = np.array([getattr(row, name) or 0.0 for row in rows], np.float64)
    scaled: NDArray[np.float64] = np.rint(us * NS_PER_US)
    return scaled.astype(np.int64)


def read(sections: Sections, source: str, report: Report) -> RawSwimlane:
    """Decode a container in microseconds."""
    rows = [
        row
        for part, _ in typed_rows(sections.get("tasks"), TaskRow, "tasks", source, report, "aicore_tasks")
        for row in part
    ]
    raw = RawSwimlane(
        container="us",
        level=read_level(sections, source, report),
        clock_freq_hz=None,
        num_cores=None,
        core_types=[],
        core_to_thread=core_to_thread(small(sections.get("core_to_thread"), source, "core_to_thread")),
        aicore=empty(AicoreRows),
        aicpu=empty(AicpuRows),
        needs_partner=False,
    )
    _tasks(rows, raw, report)
    _phases(sections.get("aicpu_scheduler_phases"), raw, source, report)
    _orchestrator(sections.get("aicpu_orchestrator_phases"), raw, source, report)
    for key in ("version", "aicpu_orchestrator"):
        if key in sections:
            raw.extra[key] = small(sections[key], source, key)
    if raw.level is None:
        raw.level = _level_of(raw)
    return raw


def _tasks(rows: list[TaskRow], raw: RawSwimlane, report: Report) -> None:
    token, present = ids([row.task_id for row in rows], "tasks", report)
    if not present.all():
        report.rows("aicore_tasks", 0, int((~present).sum()))
        rows = [row for row, good in zip(rows, present.tolist(), strict=True) if good]
        token = token[present]
    none = np.full(len(rows), -1, np.int64)
    start, ready = nanoseconds(rows, "start_time_us"), nanoseconds(rows, "kernel_ready_time_us")
    end = nanoseconds(rows, "end_time_us")
    raw.aicore = AicoreRows(
        core=column(rows, "core_id"),
        token=token,
        reg=none,
        start=start,
        end=end,
        receive=np.where(ready != 0, ready, start),
        epoch=none,
    )
    raw.joins = KnownJoins(
        dispatch=nanoseconds(rows, "dispatch_time_us"),
        finish=nanoseconds(rows, "finish_time_us"),
        func_id=column(rows, "func_id"),
    )
    raw.core_types = _types(rows)
    raw.num_cores = len(raw.core_types)
    _fanout(rows, token, raw, report)


def _types(rows: list[TaskRow]) -> list[str]:
    known = {row.core_id: row.core_type for row in rows if row.core_type is not None}
    top = max((row.core_id for row in rows), default=-1)
    return [known.get(core) or "unknown" for core in range(top + 1)]


def _fanout(rows: list[TaskRow], token: NDArray[np.uint64], raw: RawSwimlane, report: Report) -> None:
    if all(row.fanout is None for row in rows):
        return
    counts = np.array([len(row.fanout or ()) for row in rows], np.int64)
    succ, present = ids([task for row in rows for task in row.fanout or ()], "tasks.fanout", report)
    raw.fanout = np.repeat(token, counts)[present], succ[present]


def _phases(section: msgspec.Raw | None, raw: RawSwimlane, source: str, report: Report) -> None:
    parts: list[PhaseRows] = []
    name = "aicpu_scheduler_phases"
    for stream, rows in stream_rows(section, PhaseRow, name, source, report, "scheduler_phases"):
        raw.streams.append(stream)
        if rows:
            task, has_task = ids([row.task_id for row in rows], f"{name}[{stream}]", report)
            parts.append(
                PhaseRows(
                    stream=np.full(len(rows), stream, np.int64),
                    kind=encode([row.phase for row in rows], raw.kind_index),
                    start=nanoseconds(rows, "start_time_us"),
                    end=nanoseconds(rows, "end_time_us"),
                    loop_iter=column(rows, "loop_iter"),
                    tasks_processed=column(rows, "tasks_processed"),
                    task=task,
                    has_task=has_task,
                    pop_hit=column(rows, "pop_hit"),
                    pop_miss=column(rows, "pop_miss"),
                    shared_start=depths(rows, "shared_at_start"),
                    shared_end=depths(rows, "shared_at_end"),
                    epoch=np.full(len(rows), -1, np.int64),
                )
            )
    raw.streams = sorted(set(raw.streams))
    if parts:
        raw.phases = PhaseRows.join(parts)


def _orchestrator(section: msgspec.Raw | None, raw: RawSwimlane, source: str, report: Report) -> None:
    parts: list[OrchRows] = []
    name = "aicpu_orchestrator_phases"
    for stream, rows in stream_rows(section, OrchRow, name, source, report, "orchestrator"):
        raw.orchestrator_streams = max(raw.orchestrator_streams, stream + 1)
        if rows:
            task, has_task = ids([row.task_id for row in rows], f"{name}[{stream}]", report)
            parts.append(
                OrchRows(
                    stream=np.full(len(rows), stream, np.int64),
                    kind=encode([row.phase or "orch_submit" for row in rows], raw.kind_index),
                    start=nanoseconds(rows, "start_time_us"),
                    end=nanoseconds(rows, "end_time_us"),
                    submit_idx=column(rows, "submit_idx"),
                    task=task,
                    has_task=has_task,
                    epoch=np.full(len(rows), -1, np.int64),
                )
            )
    if parts:
        raw.orch = OrchRows.join(parts)


def _level_of(raw: RawSwimlane) -> int:
    """Level of a file that names none, by what it holds (FORMATS section 2)."""
    if len(raw.orch):
        return 4
    if len(raw.phases):
        return 3
    return 2 if raw.joins is not None and bool((raw.joins.dispatch != 0).any()) else 1


def _sniff(shape: Shape) -> bool:
    if "tasks" not in shape.lists or "edges" in shape.keys:
        return False
    if shape.rows.get("tasks"):
        return "start_time_us" in shape.rows["tasks"]
    return bool(shape.keys.intersection(("version", *LEVEL_KEYS)))


FORMAT = Format("us", "swimlane", _sniff, read)
