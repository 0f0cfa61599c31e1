"""A tree of ranks with known skews: ``rankN/dK`` captures of the newest generation, sidecars included."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CYCLES_PER_NS = 1
"""The captures run at 1 GHz, so cycles are ns."""
DEVICE_BASE = 10_000
HOST_BASE_NS = 5_000_000_000
TASK_NS = 900
STEP_NS = 1_000
FUNCTIONS = ("matmul", "softmax", "all_reduce")


@dataclass(frozen=True, slots=True)
class RankPlan:
    """What is true of one rank of a dispatch.

    Args:
        start_ns: how much later than the tree's origin its first task starts.
        extra_ns: how much longer its last ``all_reduce`` takes.
        uncertainty_ns: half-width of its placement; None leaves its clock unavailable.
        missing: it leaves no capture.
    """

    start_ns: int = 0
    extra_ns: int = 0
    uncertainty_ns: int | None = 100
    missing: bool = False


def write_ranks(
    root: Path,
    plans: list[list[RankPlan]],
    records: int = 60,
    cores: int = 4,
    above: str = "",
    identity: bool = True,
    programs: list[str] | None = None,
) -> Path:
    """Write ``root``: ``plans[dispatch][rank]``; returns the tree's root.

    Args:
        records: task records per capture, spread over ``cores``.
        above: a ``nodeN`` directory above the ranks, or "".
        identity: with ``dispatch_identity.json``; the directory numbers of odd ranks are then shifted by one, so that
            pairing by number is wrong.
        programs: program name per rank for ``dispatch_program.json``.
    """
    for number, dispatch in enumerate(plans):
        for rank, plan in enumerate(dispatch):
            if plan.missing:
                continue
            stored = number + (rank % 2 if identity else 0)
            place = root / above / f"rank{rank}" / f"d{stored}"
            place.mkdir(parents=True)
            (place / "chip_swimlane_records.json").write_text(_capture(plan, records, cores))
            (place / "deps.json").write_text(_deps(records, cores))
            (place / "name_map.json").write_text(
                json.dumps({"callable_id_to_name": {str(at): name for at, name in enumerate(FUNCTIONS)}})
            )
            if identity:
                (place / "dispatch_identity.json").write_text(_identity(number, rank, stored, len(dispatch)))
            if programs is not None:
                (place / "dispatch_program.json").write_text(json.dumps({"program": programs[rank]}))
    return root


def _identity(number: int, rank: int, stored: int, size: int) -> str:
    return json.dumps(
        {
            "schema_version": 1,
            "run_id": 17,
            "task_slot": number,
            "group_index": rank,
            "group_size": size,
            "host_pid": 4242,
            "chip_rank": rank,
            "local_capture_index": stored,
            "endpoint_dispatch_id": number + 1,
            "pipeline_slot": 0,
            "pipeline_generation": 1,
            "callable_digest": "ab" * 32,
        }
    )


def _capture(plan: RankPlan, records: int, cores: int) -> str:
    """``records`` tasks of :data:`TASK_NS`, one per core and step; the last one takes ``extra_ns`` longer."""
    at = np.arange(records)
    core, step = at % cores, at // cores
    start = DEVICE_BASE + 100 + step * STEP_NS
    end = start + TASK_NS
    end[-1] += plan.extra_ns
    rows = np.column_stack([core, at, at // cores, start, end, np.full(records, 4), np.full(records, 1)])
    stamps = np.column_stack([core, at // cores, start - 50, end + 30, np.full(records, 1)])
    metadata = {
        "runtime": "tensormap_and_ringbuffer",
        "clock_freq_hz": 1_000_000_000,
        "num_cores": cores,
        "core_types": ["aic" if core % 2 == 0 else "aiv" for core in range(cores)],
        "host_clock_domain_id": "linux-boot-id:synthetic",
        "clock_alignment": _alignment(plan),
    }
    return json.dumps(
        {
            "chip_swimlane_level": 2,
            "metadata": metadata,
            "aicore_tasks": rows.tolist(),
            "scheduler_tasks": {"producer": "aicpu", "records": stamps.tolist()},
        }
    )


def _alignment(plan: RankPlan) -> dict[str, object]:
    if plan.uncertainty_ns is None:
        return {"status": "unavailable", "reason": "no host log"}
    host = HOST_BASE_NS + plan.start_ns
    return {
        "status": "bounded",
        "device_anchor_cycles": DEVICE_BASE + 100,
        "host_anchor_ns": host,
        "host_anchor_min_ns": host - plan.uncertainty_ns,
        "host_anchor_max_ns": host + plan.uncertainty_ns,
    }


def _deps(records: int, cores: int) -> str:
    """Every task's function in the slot of its core's type; the last task is the ``all_reduce``."""
    tasks = []
    for at in range(records):
        vector = at % cores % 2
        function = 2 if at + 1 == records else vector
        kernels = [-1, function, -1] if vector else [function, -1, -1]
        tasks.append({"task_id": str(at), "kernel_ids": kernels, "core_types": ["aiv" if vector else "aic"]})
    return json.dumps({"runtime": "tensormap_and_ringbuffer", "tasks": tasks, "tensors": [], "edges": []})
