"""Captures built directly as model tables, for tests of the analyses.

``capture(records=[…], edges=[…])`` takes the few facts a test is about and derives the rest the obvious way. Ticks
are microseconds times :data:`TICKS_PER_US`, relative to capture zero.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.capture import (
    EARLY_NO,
    MISSING,
    AnnotationTable,
    ArgTable,
    Capture,
    CaptureMeta,
    EdgeTable,
    FlaggedTable,
    ImportedPaths,
    OrchTable,
    PhaseTable,
    RecordTable,
    TaskKind,
    TaskTable,
    TensorTable,
    UnmatchedTable,
    UploadTable,
    ViewTable,
)

TICKS_PER_US = 50
AIC, AIV = "aic", "aiv"


@dataclass(frozen=True)
class Rec:
    """One record; stamps left out follow from ``start`` and ``end``, or are missing below level 2."""

    task: int
    core: int
    start: int
    end: int
    receive: int | None = None
    dispatch: int | None = None
    finish: int | None = None
    func: int = 0


@dataclass(frozen=True)
class Phase:
    """One scheduler phase."""

    stream: int
    kind: str
    start: int
    end: int
    lane: int = 0
    processed: int = 0
    hit: int = -1
    miss: int = -1


@dataclass(frozen=True)
class Spec:
    """Everything a test may say about a capture."""

    records: Sequence[Rec] = ()
    edges: Sequence[tuple[int, int]] = ()
    phases: Sequence[Phase] = ()
    kinds: Mapping[int, TaskKind] = field(default_factory=dict)
    """Kinds by task id; AIC for tasks not named here."""
    early: Mapping[int, int] = field(default_factory=dict)
    """EARLY_* by task id."""
    tasks: Sequence[int] = ()
    """Further task ids."""
    level: int = 2
    core_types: Sequence[str] = (AIC, AIC, AIV, AIV)
    has_deps: bool = True
    names: Mapping[int, str] = field(default_factory=dict)
    streams: Sequence[int] = ()


def capture(records: Sequence[Rec] = (), edges: Sequence[tuple[int, int]] = (), **facts: object) -> Capture:
    """A capture of these records and edges (task ids), with the further facts of :class:`Spec`."""
    return build(dataclasses.replace(Spec(records=records, edges=edges), **facts))


def build(spec: Spec) -> Capture:
    """The capture of ``spec``."""
    records = sorted(spec.records, key=lambda r: (r.core, r.start, r.end))
    named = {r.task for r in records} | {t for edge in spec.edges for t in edge} | set(spec.tasks) | set(spec.kinds)
    ids = sorted(named)
    at = {task_id: i for i, task_id in enumerate(ids)}
    record_table = _records(spec, records, at)
    return Capture(
        meta=_meta(spec, bool(records)),
        records=record_table,
        tasks=_tasks(spec, ids, record_table),
        edges=_edges(sorted({(at[p], at[s]) for p, s in spec.edges}), len(ids)),
        annotations=AnnotationTable(*_empty(np.int32, np.uint8, np.int8, np.uint8, np.int32, np.int32, np.int32)),
        args=ArgTable(*_empty(np.int32, np.uint8, np.int32, np.int32, np.bool_)),
        tensors=TensorTable(*_empty(np.uint64, np.uint64, np.int32, np.int16, np.int64)),
        views=ViewTable(
            *_empty(np.int16, np.int64),
            np.zeros(1, np.int64),
            *_empty(np.int64),
            np.zeros(1, np.int64),
            *_empty(np.int64),
        ),
        phases=_phases(spec),
        orch=OrchTable(
            *_empty(np.int32, np.int32, np.int64, np.int64, np.int64, np.int32, np.bool_, np.int64, np.int64, np.int16)
        ),
        uploads=UploadTable(*_empty(np.int32, np.int64, np.int64, np.int64, np.int64, np.int64)),
        unmatched=UnmatchedTable(*_empty(np.int32, np.uint64, np.int64, np.int64, np.int64, np.int64, np.int16)),
        flagged=FlaggedTable.empty(),
        paths=ImportedPaths(*_empty(np.int32, np.int32)),
    )


def _empty(*types: type) -> list[np.ndarray]:
    return [np.zeros(0, dtype=t) for t in types]


def _records(spec: Spec, records: list[Rec], at: dict[int, int]) -> RecordTable:
    def column(values: list[int], dtype: type = np.int64) -> np.ndarray:
        return np.array(values, dtype=dtype)

    def stamp(values: list[int | None], fallback: list[int]) -> np.ndarray:
        if spec.level < 2:
            return np.full(len(records), MISSING, dtype=np.int64)
        return column([f if v is None else v for v, f in zip(values, fallback, strict=True)])

    starts, ends = [r.start for r in records], [r.end for r in records]
    receive = [r.start if r.receive is None else r.receive for r in records]
    seen: dict[int, int] = {}
    blocks = []
    for r in records:
        blocks.append(seen.get(r.task, 0))
        seen[r.task] = blocks[-1] + 1
    zeros = np.zeros(len(records), dtype=np.int16)
    return RecordTable(
        core_id=column([r.core for r in records], np.int32),
        task=column([at[r.task] for r in records], np.int32),
        reg_id=column(list(range(len(records)))),
        receive_ticks=column(receive),
        start_ticks=column(starts),
        end_ticks=column(ends),
        dispatch_ticks=stamp([r.dispatch for r in records], receive),
        finish_ticks=stamp([r.finish for r in records], ends),
        func_id=column([r.func for r in records], np.int32),
        block=column(blocks, np.int32),
        row=zeros,
        sched_row=zeros,
    )


def _tasks(spec: Spec, ids: list[int], records: RecordTable) -> TaskTable:
    n = len(ids)
    order = np.argsort(records.task, kind="stable")
    count = np.bincount(records.task, minlength=n)
    offsets = np.concatenate([[0], np.cumsum(count)])
    kinds = [spec.kinds.get(i, TaskKind.AIC) for i in ids]
    in_graph = {t for edge in spec.edges for t in edge} | set(ids)

    def extreme(values: np.ndarray, pick: str) -> np.ndarray:
        out = np.full(n, MISSING, dtype=np.int64)
        for i in range(n):
            own = values[order[offsets[i] : offsets[i + 1]]]
            own = own[own != MISSING]
            out[i] = getattr(own, pick)() if len(own) else MISSING
        return out

    first = [int(records.func_id[order[offsets[i]]]) if count[i] else -1 for i in range(n)]
    return TaskTable(
        task_id=np.array(ids, dtype=np.uint64),
        kind=np.array(kinds, dtype=np.uint8),
        in_graph=np.array([i in in_graph for i in ids], dtype=bool),
        listed=np.array([k != TaskKind.ALLOC for k in kinds], dtype=bool),
        block_num=np.maximum(count, 1).astype(np.int32),
        kernel_ids=np.full((n, 3), -1, dtype=np.int32),
        func_id=np.array(first, dtype=np.int32),
        submit_order=np.arange(n, dtype=np.int32),
        early_dispatch=np.array([spec.early.get(i, EARLY_NO) for i in ids], dtype=np.uint8),
        manual_scope=np.zeros(n, dtype=bool),
        outer=np.full(n, -1, dtype=np.int32),
        n_records=count.astype(np.int32),
        receive_ticks=extreme(records.receive_ticks, "min"),
        start_ticks=extreme(records.start_ticks, "min"),
        end_ticks=extreme(records.end_ticks, "max"),
        dispatch_ticks=extreme(records.dispatch_ticks, "min"),
        finish_ticks=extreme(records.finish_ticks, "max"),
        record_offsets=offsets.astype(np.int64),
        record_order=order.astype(np.int32),
        arg_offsets=np.zeros(n + 1, dtype=np.int64),
        skipped=np.zeros(n, dtype=np.bool_),
    )


def _edges(pairs: list[tuple[int, int]], n_tasks: int) -> EdgeTable:
    pred = np.array([p for p, _ in pairs], dtype=np.int32)
    succ = np.array([s for _, s in pairs], dtype=np.int32)

    def offsets(ends: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n_tasks))]).astype(np.int64)

    return EdgeTable(
        pred=pred,
        succ=succ,
        out_offsets=offsets(pred),
        in_offsets=offsets(succ),
        in_order=np.lexsort((pred, succ)).astype(np.int32),
        ann_offsets=np.zeros(len(pairs) + 1, dtype=np.int64),
    )


def _phases(spec: Spec) -> PhaseTable:
    phases = sorted(spec.phases, key=lambda p: (p.stream, p.start, p.end))
    kinds = _phase_kinds(spec)
    n = len(phases)
    return PhaseTable(
        stream=np.array([p.stream for p in phases], dtype=np.int32),
        kind=np.array([kinds.index(p.kind) for p in phases], dtype=np.int32),
        lane=np.array([p.lane for p in phases], dtype=np.uint8),
        start_ticks=np.array([p.start for p in phases], dtype=np.int64),
        end_ticks=np.array([p.end for p in phases], dtype=np.int64),
        loop_iter=np.zeros(n, dtype=np.int64),
        tasks_processed=np.array([p.processed for p in phases], dtype=np.int64),
        task=np.full(n, -1, dtype=np.int32),
        pop_hit=np.array([p.hit for p in phases], dtype=np.int64),
        pop_miss=np.array([p.miss for p in phases], dtype=np.int64),
        shared_start=np.full((n, 3), -1, dtype=np.int32),
        shared_end=np.full((n, 3), -1, dtype=np.int32),
        row=np.zeros(n, dtype=np.int16),
    )


def _phase_kinds(spec: Spec) -> tuple[str, ...]:
    return tuple(sorted({p.kind for p in spec.phases}))


def _meta(spec: Spec, has_records: bool) -> CaptureMeta:
    return CaptureMeta(
        capture_id="0" * 64,
        label="built",
        level=spec.level,
        container="chip",
        clock_freq_hz=TICKS_PER_US * 1_000_000,
        ticks_per_us=float(TICKS_PER_US),
        zero_ticks=0,
        tolerance_ticks=2,
        num_cores=len(spec.core_types),
        core_types=tuple(spec.core_types),
        core_to_thread=None,
        launch=0,
        launches=1,
        aicore_rows=len(spec.records),
        aicpu_rows=len(spec.records) if spec.level >= 2 else 0,
        has_records_file=has_records,
        has_deps=spec.has_deps,
        edges_from_fanout=False,
        has_name_map=bool(spec.names),
        orchestrator_name=None,
        func_names=dict(spec.names),
        phase_kinds=_phase_kinds(spec),
        dtypes=(),
        scheduler_streams=tuple(spec.streams) or tuple(sorted({p.stream for p in spec.phases})),
        orchestrator_streams=0,
        host_clock=None,
        sources={"swimlane": "built.json"},
        notices=(),
    )
