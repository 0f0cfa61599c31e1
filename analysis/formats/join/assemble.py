"""Decoded files to one :class:`~analysis.capture.Capture`: split, join, index, lay out, check."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import (
    I4,
    I8,
    Capture,
    CaptureMeta,
    ImportedPaths,
    TensorTable,
    ViewTable,
    ids,
)
from analysis.errors import readable
from analysis.formats.containers.deps import DepEdges, RawDeps
from analysis.formats.containers.name_map import NameMap
from analysis.formats.join import quality, streams, tables
from analysis.formats.join.edges import Dense, arg_table, edge_tables, fanout_edges, no_edges
from analysis.formats.join.flagged import flagged_table, sound
from analysis.formats.join.flaws import FINE, find_flaws
from analysis.formats.join.host_clock import Mapping, mapping
from analysis.formats.join.idindex import IdIndex
from analysis.formats.join.launches import split
from analysis.formats.join.raw import NO_CONTAINER, RawSwimlane
from analysis.formats.join.records import Joined, join
from analysis.formats.report import Report

TOLERANCE_TICKS, TOLERANCE_NS = 2, 40
NS_TICKS_PER_US = 1000.0


@dataclass
class Parts:
    """Everything that was read for one capture."""

    raw: RawSwimlane
    deps: RawDeps | None = None
    names: NameMap | None = None
    paths: dict[str, list[int]] = field(default_factory=dict)
    """``static`` and ``observed`` → task ids."""
    capture_id: str = ""
    label: str = ""
    sources: dict[str, str] = field(default_factory=dict)


def assemble(parts: Parts, launch: int, report: Report, include_flagged: bool = False) -> Capture:
    """Build the capture of one launch.

    Args:
        parts: everything that was read.
        launch: which launch.
        report: collects findings.
        include_flagged: put rows with impossible stamps into the tables as well.

    Raises:
        NotFoundError: there is no such launch.
    """
    aicore_rows, aicpu_rows = len(parts.raw.aicore), len(parts.raw.aicpu)
    raw, launches = split(parts.raw, launch, report)
    if launches > 1:
        aicore_rows, aicpu_rows = len(raw.aicore), len(raw.aicpu)
    if raw.joins is not None:
        aicpu_rows = int(((raw.joins.dispatch != 0) | (raw.joins.finish != 0)).sum())
    level = raw.level if raw.level is not None else _level_of(raw)
    deps = parts.deps
    _settle_runtime(raw, deps, report)
    every = join(raw, level, report)
    every_phase, every_orch = raw.phases, raw.orch
    flaws = find_flaws(every, every_phase, every_orch)
    joined = every
    if flaws.any and not include_flagged:
        joined = sound(every, flaws)
        raw = replace(raw, phases=raw.phases.take(flaws.phases == FINE), orch=raw.orch.take(flaws.orch == FINE))
    low, high = _device_span(raw, joined, None if include_flagged else flaws.bounds)
    zero = low if raw.clock_freq_hz is not None and low is not None else 0
    clock = mapping(raw, low, high, report)
    has_file = raw.container != NO_CONTAINER
    edges = deps.edges if deps is not None else _edges_of_fanout(raw)
    index = IdIndex(_all_ids(raw, every, deps, edges))
    listed = tables.listed_tasks(deps.tasks if deps is not None else None, index)
    codes = _type_codes(raw)
    records = tables.record_table(joined, index, listed, codes, zero)
    groups = tables.group_by_task(records.task, len(index))
    records.block[:] = groups.block
    dense = Dense(index.find(edges.pred), index.find(edges.succ))
    named_by_edge = np.zeros(len(index), np.bool_)
    named_by_edge[dense.pred] = named_by_edge[dense.succ] = True
    has_record = groups.counts > 0
    graphs = tables.find_graphs(index, raw, listed, named_by_edge, has_record)
    submitted = tables.only_submitted(raw, index, listed, has_record)
    kind = tables.task_kinds(records, listed, graphs, named_by_edge, submitted, codes)
    args, arg_offsets = arg_table(deps, index, listed, dense)
    skipped = tables.marked(raw, index, "predicated_skip")
    tasks = tables.task_table(index.ids, records, groups, listed, graphs, kind, named_by_edge, arg_offsets, skipped)
    edge_table, annotations = edge_tables(edges, dense, len(index))
    phases = streams.phase_table(raw, index, zero)
    orch = streams.orch_table(raw, index, zero, clock)
    from_fanout = deps is None and raw.fanout is not None
    subject = quality.Checked(
        raw,
        level,
        records,
        tasks,
        edge_table,
        annotations,
        phases,
        orch,
        listed,
        codes,
        deps is not None,
        from_fanout,
        tables.marked(raw, index, "dummy_task"),
        deps.runtime if deps is not None else "",
    )
    quality.check(subject, report)
    quality.check_ids(every, index.ids, raw.runtime, report)
    flagged = flagged_table(every, every_phase, every_orch, flaws, zero, include_flagged, report)
    _note_assumptions(parts, clock, report)
    paths = {name: _path(wanted, index, report) for name, wanted in parts.paths.items()}
    none = np.zeros(0, np.int32)
    capture = Capture(
        meta=CaptureMeta(
            capture_id=parts.capture_id,
            label=readable(parts.label),
            level=level,
            runtime=raw.runtime,
            deps_runtime=deps.runtime if deps is not None else "",
            includes_flagged=include_flagged,
            container=raw.container,
            clock_freq_hz=raw.clock_freq_hz,
            ticks_per_us=raw.clock_freq_hz / 1e6 if raw.clock_freq_hz is not None else NS_TICKS_PER_US,
            zero_ticks=zero,
            tolerance_ticks=TOLERANCE_TICKS if raw.clock_freq_hz is not None else TOLERANCE_NS,
            num_cores=raw.num_cores if raw.num_cores is not None else len(codes),
            core_types=tuple(raw.core_types),
            core_to_thread=tuple(raw.core_to_thread) if raw.core_to_thread is not None else None,
            launch=launch,
            launches=launches,
            aicore_rows=aicore_rows,
            aicpu_rows=aicpu_rows,
            has_records_file=has_file,
            has_deps=deps is not None,
            edges_from_fanout=from_fanout,
            has_name_map=parts.names is not None,
            orchestrator_name=parts.names.orchestrator_name if parts.names is not None else None,
            func_names=dict(parts.names.names) if parts.names is not None else {},
            phase_kinds=tuple(raw.kinds),
            dtypes=deps.dtypes if deps is not None else (),
            scheduler_streams=tuple(raw.streams),
            scheduler_producers=dict(raw.producers),
            orchestrator_streams=raw.orchestrator_streams,
            host_clock=clock.clock if clock is not None else None,
            sources={kind: readable(name) for kind, name in parts.sources.items()},
            notices=report.notices(),
            stream_rows=report.stream_rows(),
            extra=_storable(raw.extra),
        ),
        records=records,
        tasks=tasks,
        edges=edge_table,
        annotations=annotations,
        args=args,
        tensors=deps.tensors if deps is not None else _no_tensors(),
        views=deps.views if deps is not None else _no_views(),
        phases=phases,
        orch=orch,
        uploads=streams.upload_table(raw, zero, clock),
        unmatched=tables.unmatched_table(joined, zero),
        flagged=flagged,
        paths=ImportedPaths(static=paths.get("static", none), observed=paths.get("observed", none)),
    )
    freeze(capture)
    return capture


def _settle_runtime(raw: RawSwimlane, deps: RawDeps | None, report: Report) -> None:
    """A swimlane without runtime takes that of deps.json; two different ones are a finding, the swimlane's counts."""
    if deps is None or not deps.runtime or raw.runtime == deps.runtime:
        return
    if raw.runtime in ids.RUNTIMES:
        report.add("runtime_mismatch", 1, reason=f"{raw.runtime}, {deps.runtime}")
    else:
        raw.runtime = deps.runtime


def _storable(value: Any) -> Any:
    """``value`` with integers beyond 64 bits as text: the store and JSON hold no such numbers."""
    if isinstance(value, dict):
        return {str(key): _storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(inner) for inner in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value


def freeze(capture: Capture) -> None:
    """Make every array of the capture read-only."""
    for table_field in fields(capture):
        table: Any = getattr(capture, table_field.name)
        if table_field.name == "meta":
            continue
        for column in fields(table):
            getattr(table, column.name).flags.writeable = False


def _level_of(raw: RawSwimlane) -> int:
    """Level of a file that names none, by what it holds (FORMATS section 2)."""
    if len(raw.orch) or len(raw.host_orch):
        return 4
    if len(raw.phases):
        return 3
    return 2 if len(raw.aicpu) else 1


def _type_codes(raw: RawSwimlane) -> NDArray[np.int8]:
    """Type code by core id, long enough for every row; cores the file does not list are of unknown type."""
    top = max((int(part.max()) for part in (raw.aicore.core, raw.aicpu.core) if len(part)), default=-1)
    listed = tables.type_codes(raw.core_types)
    return np.concatenate((listed, np.full(max(0, top + 1 - len(listed)), 2, np.int8)))


def _device_span(raw: RawSwimlane, joined: Joined, bounds: tuple[int, int] | None) -> tuple[int | None, int | None]:
    """Smallest and largest recorded device stamp, receive times and AICPU steps counted (FORMATS section 2); only
    stamps inside ``bounds`` where rows are left out."""
    stamps: list[NDArray[np.int64]] = []
    for rows in (joined.rows, joined.unmatched):
        stamps += [rows.receive, rows.start, rows.end]
    stamps += [raw.aicpu.dispatch, raw.aicpu.finish]
    for part in (raw.phases, raw.lifecycle, raw.orch):
        stamps += [part.start, part.end]
    lowest, highest = bounds if bounds is not None else (1, np.iinfo(np.int64).max)
    positive = [((column > 0) & (column >= lowest) & (column <= highest), column) for column in stamps]
    lows = [int(column[mask].min()) for mask, column in positive if mask.any()]
    highs = [int(column[mask].max()) for mask, column in positive if mask.any()]
    return (min(lows), max(highs)) if lows else (None, None)


def _edges_of_fanout(raw: RawSwimlane) -> DepEdges:
    return fanout_edges(*raw.fanout) if raw.fanout is not None else no_edges()


def _all_ids(raw: RawSwimlane, joined: Joined, deps: RawDeps | None, edges: DepEdges) -> list[NDArray[np.uint64]]:
    named = [part.task[part.has_task] for part in (raw.phases, raw.orch, raw.host_orch)]
    listed = [deps.tasks.task_id] if deps is not None else []
    return [joined.rows.token, joined.unmatched.token, *listed, edges.pred, edges.succ, *named]


def _path(wanted: list[int], index: IdIndex, report: Report) -> I4:
    at = index.find(np.array(wanted, np.uint64))
    report.add("dangling_path_task", int((at < 0).sum()))
    return at[at >= 0]


def _note_assumptions(parts: Parts, clock: Mapping | None, report: Report) -> None:
    raw = parts.raw
    has_file = raw.container != NO_CONTAINER
    report.add("missing_swimlane", int(not has_file))
    report.add("missing_deps", int(parts.deps is None and raw.fanout is None))
    report.add("missing_name_map", int(parts.names is None))
    report.add("assumed_tolerance", int(has_file and raw.clock_freq_hz is None))
    if clock is None:
        return
    host = clock.clock
    if not host.merged and (len(raw.host_orch) or len(raw.uploads)):
        report.add("separate_clocks", 1, reason=host.reason)


def _no_tensors() -> TensorTable:
    big, small = np.zeros(0, np.uint64), np.zeros(0, np.int32)
    return TensorTable(big, big, small, np.zeros(0, np.int16), np.zeros(0, np.int64))


def _no_views() -> ViewTable:
    none: I8 = np.zeros(0, np.int64)
    start: I8 = np.zeros(1, np.int64)
    return ViewTable(np.zeros(0, np.int16), none, start, none, start, none)
