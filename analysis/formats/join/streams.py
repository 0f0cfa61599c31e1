"""Scheduler phases, orchestrator records and uploads on the dense task axis, sorted and laid into lanes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, I8, MISSING, U1, U8, Bool, OrchTable, PhaseLane, PhaseTable, UploadTable, ids
from analysis.formats.join.host_clock import Mapping
from analysis.formats.join.host_clock import relative as relative_ns
from analysis.formats.join.idindex import IdIndex
from analysis.formats.join.lanes import sub_rows
from analysis.formats.join.raw import OrchRows, PhaseRows, RawSwimlane
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
    """Lane of a phase kind where neither runtime nor producer says otherwise (FORMATS section 2)."""
    if kind in INNER_KINDS:
        return PhaseLane.INNER
    return PhaseLane.MARKER if kind in MARKER_KINDS else PhaseLane.OUTER


def _lanes(raw: RawSwimlane, rows: PhaseRows) -> U1:
    """Lane of each phase, rows sorted by (stream, start, end): the same word in two runtimes is two phases (FORMATS-2
    section 4)."""
    lanes = np.array([lane_of(kind) for kind in raw.kinds], np.uint8)
    lane: U1 = lanes[rows.kind]
    resolve = _code(raw, "resolve")
    aicore = np.isin(rows.stream, [stream for stream, name in raw.producers.items() if name == "aicore"])
    if aicore.any():
        measured = rows.kind == _code(raw, "idle")
        lane[aicore & (lane != PhaseLane.MARKER)] = PhaseLane.OUTER
        lane[aicore & measured] = PhaseLane.IDLE
    if raw.runtime == ids.HOST_GRAPH:
        lane[rows.kind == resolve] = PhaseLane.OUTER
    elif raw.runtime == ids.RINGS:
        parent = np.isin(rows.kind, [_code(raw, "complete"), _code(raw, "dummy")])
        mine = np.flatnonzero((rows.kind == resolve) & ~aicore)
        lane[mine[~_nested(rows, parent, mine)]] = PhaseLane.OUTER
    return lane


def _code(raw: RawSwimlane, kind: str) -> int:
    """Number of a kind, -1 where no phase has it."""
    return raw.kinds.index(kind) if kind in raw.kinds else -1


def _nested(rows: PhaseRows, parent: Bool, mine: I8) -> Bool:
    """Whether each resolve lies inside the last ``complete`` or ``dummy`` of its stream that begins at or before it:
    it ends strictly before that one does."""
    out = np.zeros(len(mine), np.bool_)
    at = np.flatnonzero(parent)
    for stream in np.unique(rows.stream[mine]).tolist():
        own = rows.stream[mine] == stream
        parents = at[rows.stream[at] == stream]
        last = np.searchsorted(rows.start[parents], rows.start[mine[own]], side="right") - 1
        ends = np.append(rows.end[parents], np.iinfo(np.int64).min)
        out[own] = (last >= 0) & (rows.end[mine[own]] < ends[last])
    return out


def _dense(task: U8, has_task: Bool, index: IdIndex) -> I4:
    out = np.full(len(task), -1, np.int32)
    if has_task.all():
        return index.find(task)
    if has_task.any():
        out[has_task] = index.find(task[has_task])
    return out


def phase_table(raw: RawSwimlane, index: IdIndex, zero: int) -> PhaseTable:
    """Scheduler phases sorted by (stream, start, end), then the steps of the AICPU threads (lane LIFECYCLE)."""
    rows, lane = _ordered(raw.phases), np.zeros(0, np.uint8)
    if len(rows):
        lane = _lanes(raw, rows)
        if raw.runtime == ids.HOST_GRAPH and (alone := _code(raw, "resolve_standalone")) >= 0:
            rows = replace(rows, kind=np.where(rows.kind == alone, raw.kind_index("resolve"), rows.kind))
    if len(raw.lifecycle):
        steps = _ordered(raw.lifecycle)
        rows = PhaseRows.join([rows, steps]) if len(rows) else steps
        lane = np.concatenate((lane, np.full(len(steps), PhaseLane.LIFECYCLE, np.uint8)))
    start, end = rows.start - zero, rows.end - zero
    return PhaseTable(
        stream=rows.stream.astype(np.int32),
        kind=rows.kind.astype(np.int32),
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
        row=sub_rows(_tracks(rows, lane), start, end),
    )


def _ordered(rows: PhaseRows) -> PhaseRows:
    order = order_of(rows.stream, rows.start, rows.end)
    return rows if order is None else rows.take(order)


def _tracks(rows: PhaseRows, lane: U1) -> NDArray[Any]:
    """One number per lane a phase is drawn in; measured idle is on the line of the outer phases."""
    drawn = np.where(lane == PhaseLane.IDLE, PhaseLane.OUTER, lane).astype(np.int64)
    streams = np.unique(rows.stream)
    track = np.searchsorted(streams, rows.stream) * len(PhaseLane) + drawn
    return track.astype(np.int16) if len(streams) < 6_000 else track


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
        kind=rows.kind.astype(np.int32),
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
    start_ns, end_ns = np.full((2, len(rows)), MISSING, np.int64)
    if clock is not None and len(rows):
        start_ns, end_ns = relative_ns(start, clock.clock.origin_ns), relative_ns(end, clock.clock.origin_ns)
        start, end = clock.to_device(start), clock.to_device(end)
    order = np.argsort(start, kind="stable")
    return UploadTable(
        kind=rows.kind[order].astype(np.int32),
        start_ticks=start[order] - zero,
        end_ticks=end[order] - zero,
        detail=rows.detail[order],
        host_start_ns=start_ns[order],
        host_end_ns=end_ns[order],
    )
