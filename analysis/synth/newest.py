"""The container of late September 2026 around a synthetic schedule: epochs, runtimes, streams (FORMATS-2 section 1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np

from analysis.capture import I8, ids
from analysis.synth.build import Plan
from analysis.synth.phases import COMPLETE, DISPATCH, DUMMY_TASK, KINDS, Phases

EPOCH = 1
_IDLE = "idle"


def metadata(head: dict[str, Any], runtime: str) -> dict[str, Any]:
    """``metadata`` of the newest generation: the runtime first, an alignment in place of anchors."""
    anchors = head.pop("clock_anchors", None)
    out = {"runtime": runtime, **head}
    if anchors is not None:
        sample = anchors["samples"][1]
        middle = (sample["host_before_ns"] + sample["host_after_ns"]) // 2
        out["clock_alignment"] = {
            "status": "bounded",
            "device_anchor_cycles": sample["device_cycles"],
            "host_anchor_ns": middle,
            "host_anchor_min_ns": middle,
            "host_anchor_max_ns": middle + 2000,
        }
        out["host_clock_domain_id"] = "linux-boot-id:00000000-0000-0000-0000-000000000000"
    return out


def write_streams(out: IO[str], threads: Iterable[Phases], p: Plan, base: int, runtime: str) -> int:
    """``scheduler_records``, one stream per thread; returns the number of records.

    The ring runtime has AICPU schedulers; the host-built graph an AICore scheduler that works on one line and measures its
    idle between phases.
    """
    out.write(',\n  "scheduler_records": {"streams": [')
    total = 0
    for number, phases in enumerate(threads):
        rows = list(_aicore_rows(phases, base) if runtime == ids.HOST_GRAPH else _aicpu_rows(phases, p, base))
        total += len(rows)
        out.write((",\n" if number else "\n") + json.dumps(_stream(rows, phases, number, runtime)))
    out.write("]}")
    return total


def _stream(rows: list[dict[str, Any]], phases: Phases, number: int, runtime: str) -> dict[str, Any]:
    aicore = runtime == ids.HOST_GRAPH
    return {
        "platform": "a5" if aicore else "a2a3",
        "producer": "aicore" if aicore else "aicpu",
        "scheduler_id": number,
        "worker_id": number,
        "core_type": "aiv" if aicore else "aicpu",
        "physical_core_id": None,
        "capture": {"committed": len(rows), "dropped": 0, "truncated": False},
        "records": rows,
        "metrics": [] if aicore else list(_metrics(phases)),
    }


def _record(kind: str, start: int, end: int, loop: int, processed: int, task: int | None) -> dict[str, Any]:
    return {
        "start_cycles": start,
        "end_cycles": end,
        "run_epoch": EPOCH,
        "loop_iter": loop,
        "kind": kind,
        "tasks_processed": processed,
        "task_id": task,
    }


def _columns(phases: Phases) -> Iterator[tuple[int, int, int, int, int, int]]:
    columns: tuple[I8, ...] = (phases.kind, phases.start, phases.end, phases.loop, phases.processed, phases.task)
    return zip(*(column.tolist() for column in columns), strict=True)


def _aicpu_rows(phases: Phases, p: Plan, base: int) -> Iterator[dict[str, Any]]:
    for kind, start, end, loop, processed, task in _columns(phases):
        named = int(p.task_id[task]) if kind == DUMMY_TASK else None
        yield _record(KINDS[kind], start + base, end + base, loop, processed, named)


def _aicore_rows(phases: Phases, base: int) -> Iterator[dict[str, Any]]:
    """Finishes and dispatches one after the other, with measured idle between them."""
    rows = [row for row in _columns(phases) if row[0] in (COMPLETE, DISPATCH)]
    before: int | None = None
    for kind, start, end, loop, processed, _ in sorted(rows, key=lambda row: row[1:3]):
        if before is not None and before < start:
            yield _record(_IDLE, before + base, start + base, loop, 0, None)
        yield _record(KINDS[kind], start + base, end + base, loop, processed, None)
        before = end


def _metrics(phases: Phases) -> Iterator[dict[str, Any]]:
    dispatch = phases.kind == DISPATCH
    depths = np.concatenate((phases.depth_start, phases.depth_end), axis=1).tolist()
    for at, (pops, depth) in enumerate(zip(dispatch.tolist(), depths, strict=True)):
        own: dict[str, Any] = {"record_index": at, "shared_at_start": depth[:3], "shared_at_end": depth[3:]}
        if pops:
            own |= {"pop_hit": int(phases.hit[at]), "pop_miss": int(phases.miss[at])}
        yield own


def write_lifecycle(out: IO[str], threads: int, base: int, scale: int) -> None:
    """``aicpu_lifecycle_records`` of a host-built graph: handshake and exit around the run."""
    rows = [
        {
            "aicpu_thread_id": thread,
            "handshake_start_cycles": base - 900 * scale + thread,
            "handshake_complete_cycles": base - 700 * scale + thread,
            "bootstrap_wait_start_cycles": base - 600 * scale,
            "bootstrap_complete_cycles": base - 500 * scale,
        }
        for thread in range(threads)
    ]
    out.write(f',\n  "aicpu_lifecycle_records": {json.dumps(rows)}')
