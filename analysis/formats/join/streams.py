"""Scheduler phases, orchestrator records and uploads on the dense task axis, sorted and laid into lanes."""

from __future__ import annotations

import numpy as np

from analysis.capture import I4, MISSING, U1, U8, Bool, OrchTable, PhaseLane, PhaseTable, UploadTable
from analysis.formats.join.host_clock import Mapping
from analysis.formats.join.host_clock import relative as relative_ns
from analysis.formats.join.idindex import IdIndex
from analysis.formats.join.lanes import sub_rows
from analysis.formats.join.raw import OrchRows, RawSwimlane
from analysis.formats.join.sorting import order_of

OUTER_KINDS = frozenset(
    [
        "complete",
        "async_poll",
        "dispatch",
        "release",
        "dummy",
        "early_dispatch",
        "drain",
        "graph_prepare",
        "scan",
        "poll",
        "idle",
        "prestage",
        "wire",
        "bootstrap",
        "state_probe",
        "worksteal",
        "refill",
        "resolve_standalone",
        "ready_claim",
        "ready_steal",
        "direct_refill",
    ]
)
INNER_KINDS = frozenset({"resolve", "fanout", "drain_prepare", "drain_publish"})
MARKER_KINDS = frozenset({"dummy_task", "predicated_skip"})
ORCH_KINDS = frozenset(
    [
        "orch_submit",
        "orch_sync",
        "orch_alloc",
        "orch_params",
        "orch_lookup",
        "orch_insert",
        "orch_fanin",
        "orch_heap",
        "orch_scope_end",
    ]
)


def lane_of(kind: str) -> PhaseLane:
    """Lane a phase kind is drawn in (FORMATS section 2)."""
    if kind in INNER_KINDS:
        return PhaseLane.INNER
    return PhaseLane.MARKER if kind in MARKER_KINDS else PhaseLane.OUTER


def _dense(task: U8, has_task: Bool, index: IdIndex) -> I4:
    out = np.full(len(task), -1, np.int32)
    if has_task.all():
        return index.find(task)
    if has_task.any():
        out[has_task] = index.find(task[has_task])
    return out


def phase_table(raw: RawSwimlane, index: IdIndex, zero: int) -> PhaseTable:
    """Scheduler phases sorted by (stream, start, end)."""
    rows = raw.phases
    order = order_of(rows.stream, rows.start, rows.end)
    rows = rows if order is None else rows.take(order)
    lanes = np.array([lane_of(kind) for kind in raw.kinds], np.uint8)
    lane: U1 = lanes[rows.kind] if len(rows) else np.zeros(0, np.uint8)
    position = np.searchsorted(np.array(raw.streams, np.int64), rows.stream)
    start, end = rows.start - zero, rows.end - zero
    return PhaseTable(
        stream=rows.stream.astype(np.int32),
        kind=rows.kind.astype(np.int16),
        lane=lane,
        start_ticks=start,
        end_ticks=end,
        loop_iter=rows.loop_iter,
        tasks_processed=rows.tasks_processed,
        task=_dense(rows.task, rows.has_task, index),
        pop_hit=rows.pop_hit,
        pop_miss=rows.pop_miss,
        shared_start=rows.shared_start,
        shared_end=rows.shared_end,
        row=sub_rows(
            (position * len(PhaseLane) + lane).astype(np.int16 if len(raw.streams) < 10_000 else np.int64), start, end
        ),
    )


def orch_table(raw: RawSwimlane, index: IdIndex, zero: int, clock: Mapping | None) -> OrchTable:
    """Orchestrator records of device and host, sorted by (stream, start, end)."""
    host = raw.host_orch
    rows = OrchRows.join([raw.orch, host]) if len(host) else raw.orch
    is_host = np.concatenate((np.zeros(len(raw.orch), np.bool_), np.ones(len(host), np.bool_)))
    start, end = rows.start, rows.end
    start_ns = np.full(len(rows), MISSING, np.int64)
    end_ns = start_ns.copy()
    if clock is not None and len(host):
        origin = clock.clock.origin_ns
        start, end = start.copy(), end.copy()
        start_ns[is_host], end_ns[is_host] = relative_ns(host.start, origin), relative_ns(host.end, origin)
        start[is_host], end[is_host] = clock.to_device(host.start), clock.to_device(host.end)
    start, end = start - zero, end - zero
    order = order_of(rows.stream, start, end)
    if order is not None:
        rows, is_host = rows.take(order), is_host[order]
        start, end, start_ns, end_ns = start[order], end[order], start_ns[order], end_ns[order]
    return OrchTable(
        stream=rows.stream.astype(np.int32),
        kind=rows.kind.astype(np.int16),
        start_ticks=start,
        end_ticks=end,
        submit_idx=rows.submit_idx,
        task=_dense(rows.task, rows.has_task, index),
        host=is_host,
        host_start_ns=start_ns,
        host_end_ns=end_ns,
        row=sub_rows(rows.stream, start, end),
    )


def upload_table(raw: RawSwimlane, zero: int, clock: Mapping | None) -> UploadTable:
    """Uploads by start."""
    rows = raw.uploads
    start, end = rows.start, rows.end
    if clock is not None and len(rows):
        start, end = clock.to_device(start), clock.to_device(end)
    order = np.argsort(start, kind="stable")
    return UploadTable(
        kind=rows.kind[order].astype(np.int16),
        start_ticks=start[order] - zero,
        end_ticks=end[order] - zero,
        detail=rows.detail[order],
    )
