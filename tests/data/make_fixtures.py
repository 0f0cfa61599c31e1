"""Write the fixtures of this directory: one tiny file per quirk (``python tests/data/make_fixtures.py``).

Each quirk is the healthy file of its format with one thing wrong, so a test sees exactly one finding.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Json = dict[str, Any]
A, B, C, D = 1 << 32, (1 << 32) + 1, (1 << 32) + 2, (1 << 32) + 3
"""Task ids of the healthy capture: A (AIC) → B (AIV), A → C (MIX on cores 0 and 2) → D (AIV)."""


def chip() -> Json:
    """Two AIC and two AIV cores, level 4, five records, healthy."""
    return {
        "chip_swimlane_level": 4,
        "metadata": {
            "clock_freq_hz": 50_000_000,
            "num_cores": 4,
            "core_types": ["aic", "aic", "aiv", "aiv"],
            "core_to_thread": [0, 0, 1, 1],
        },
        "aicore_tasks": [
            [0, A, 1, 1010, 1020, 2],
            [0, C, 2, 1040, 1060, 1],
            [2, B, 1, 1030, 1035, 3],
            [2, C, 2, 1041, 1055, 2],
            [3, D, 1, 1070, 1080, 0],
        ],
        "aicpu_tasks": [
            [0, 1, 1005, 1022],
            [0, 2, 1036, 1063],
            [2, 1, 1025, 1037],
            [2, 2, 1037, 1058],
            [3, 1, 1066, 1083],
        ],
        "aicpu_scheduler_phases": [
            [
                {
                    "kind": "dispatch",
                    "start_cycles": 1003,
                    "end_cycles": 1006,
                    "loop_iter": 1,
                    "tasks_processed": 1,
                    "pop_hit": 1,
                    "pop_miss": 0,
                    "shared_at_start": [1, 0, 0],
                    "shared_at_end": [0, 0, 0],
                },
                {"kind": "resolve", "start_cycles": 1023, "end_cycles": 1024, "loop_iter": 2, "tasks_processed": 2},
                {"kind": "complete", "start_cycles": 1022, "end_cycles": 1025, "loop_iter": 2, "tasks_processed": 1},
            ],
            [{"kind": "dispatch", "start_cycles": 1034, "end_cycles": 1038, "loop_iter": 1, "tasks_processed": 2}],
            [],
        ],
        "aicpu_orchestrator_phases": [
            [
                {"submit_idx": 0, "task_id": A, "start_cycles": 1000, "end_cycles": 1001},
                {"submit_idx": 1, "task_id": B, "start_cycles": 1001, "end_cycles": 1002},
            ]
        ],
    }


def deps() -> Json:
    """The graph of :func:`chip`, with one alloc task (id 7) that feeds A."""

    def task(task_id: int, kernels: list[int], blocks: int, args: list[Json]) -> Json:
        return {
            "task_id": str(task_id),
            "scope": "auto",
            "early_dispatch": False,
            "kernel_ids": kernels,
            "block_num": blocks,
            "args": args,
        }

    def edge(pred: int, succ: int, source: str, **more: Any) -> Json:
        return {"pred": str(pred), "succ": str(succ), "arg": 0, "source": source, "flags": ["wait"], **more}

    view = {"dtype": "FLOAT32", "shape": [16], "start_offset": "0", "strides": [1]}
    return {
        "tasks": [
            task(
                A,
                [0, -1, -1],
                1,
                [{"idx": 0, "type": "INPUT", "tensor_id": "11", **view}, {"idx": 1, "type": "OUTPUT"}],
            ),
            task(B, [-1, 1, -1], 1, [{"idx": 0, "type": "INPUT", "tensor_id": "12", **view}]),
            task(C, [2, 3, -1], 1, [{"idx": 0, "type": "INPUT", "tensor_id": "12", **view}]),
            task(D, [-1, 1, -1], 1, []),
        ],
        "tensors": [
            {"tensor_id": "11", "buffer_addr": "4096", "version": 0, "dtype": "FLOAT32", "buffer_numel": "16"},
            {"tensor_id": "12", "buffer_addr": "8192", "version": 0, "dtype": "FLOAT32", "buffer_numel": "16"},
        ],
        "edges": [
            edge(7, A, "creator", tensor_id="11", flags=["retain"]),
            edge(A, B, "creator", tensor_id="12"),
            edge(A, C, "creator", tensor_id="12"),
            edge(C, D, "explicit"),
        ],
    }


def us() -> Json:
    """The capture of :func:`chip` in microseconds, level 2."""
    rows = [(0, A, 0.2, 0.4, 0.1, 0.44), (2, B, 0.6, 0.7, 0.5, 0.74), (3, D, 1.4, 1.6, 1.32, 1.66)]
    return {
        "version": 2,
        "tasks": [
            {
                "task_id": t,
                "func_id": 0 if c == 0 else 1,
                "core_id": c,
                "core_type": "aic" if c == 0 else "aiv",
                "ring_id": 1,
                "start_time_us": s,
                "end_time_us": e,
                "duration_us": e - s,
                "dispatch_time_us": d,
                "finish_time_us": f,
                "fanout": [B, D] if t == A else [],
            }
            for c, t, s, e, d, f in rows
        ],
        "core_to_thread": [0, 0, 1, 1],
    }


def unified() -> Json:
    """The capture of :func:`chip` with producer-neutral streams; scheduler ids 0 and 5."""
    base = chip()
    phases = base.pop("aicpu_scheduler_phases")
    rows = base.pop("aicpu_tasks")
    base["scheduler_tasks"] = {"schema_version": 1, "producer": "aicpu", "records": rows}
    streams = []
    for scheduler_id, part in ((5, phases[0]), (0, phases[1])):
        records = [
            {k: row[k] for k in ("kind", "start_cycles", "end_cycles", "loop_iter", "tasks_processed")} for row in part
        ]
        metrics = [
            {"record_index": at, **{k: row[k] for k in ("pop_hit", "pop_miss", "shared_at_start", "shared_at_end")}}
            for at, row in enumerate(part)
            if "pop_hit" in row
        ]
        streams.append(
            {
                "scheduler_id": scheduler_id,
                "producer": "aicpu",
                "core_type": "aicpu",
                "physical_core_id": None,
                "platform": "a2a3",
                "runtime": "tensormap_and_ringbuffer",
                "worker_id": scheduler_id,
                "capture": {"committed": len(part), "dropped": 0, "truncated": False},
                "records": [{**row, "task_id": None} for row in records],
                "metrics": metrics,
            }
        )
    base["scheduler_records"] = {"schema_version": 1, "streams": streams}
    return base


def host() -> Json:
    """The capture of :func:`chip`, orchestrated by the host: two clocks, anchors 2000 ns and 100 cycles apart."""
    base = chip()
    del base["aicpu_orchestrator_phases"]

    def sample(position: str, at: int, before: int, after: int, cycles: int) -> Json:
        return {
            "position": position,
            "sample_idx": at,
            "host_before_ns": before,
            "raw_device_timestamp": cycles,
            "device_cycles": cycles,
            "host_after_ns": after,
            "rtt_ns": after - before,
            "uncertainty_ns": (after - before + 1) // 2,
            "error": None,
        }

    base["metadata"] |= {
        "orchestrator_source": "host",
        "host_orchestration_origin_ns": 50_000,
        "timeline_relation": "host_orchestration_precedes_device",
        "host_capture": {
            "status": "complete",
            "expected_records": 2,
            "recorded_records": 2,
            "pool_records": 4,
            "dropped_records": 0,
            "error": None,
        },
        "clock_anchors": {
            "schema_version": 1,
            "provider": "sim",
            "device_timestamp_unit": "syscnt_cycles",
            "raw_device_timestamp_unit": "syscnt_cycles",
            "samples": [
                sample("pre_host_orchestration", 0, 48_900, 49_300, 905),
                sample("pre_host_orchestration", 1, 48_980, 49_021, 900),
                sample("post_device_execution", 0, 58_980, 59_021, 1400),
            ],
        },
    }
    base["host_orchestrator_phases"] = [
        [
            {"submit_idx": 0, "task_id": A, "start_host_ns": 50_000, "end_host_ns": 50_400},
            {"submit_idx": 1, "task_id": B, "start_host_ns": 50_400, "end_host_ns": 50_600},
        ]
    ]
    base["host_device_uploads"] = [
        {"phase": "graph_upload", "start_host_ns": 50_700, "end_host_ns": 50_800, "detail": 64}
    ]
    return base


def launches() -> Json:
    """Two launches that reuse every task and register id."""
    base = chip()
    shift = 10_000
    base["metadata"]["run_boundaries"] = [
        {"launch_epoch": 1, "start_cycles": 990},
        {"launch_epoch": 2, "start_cycles": 10_990},
    ]
    base["aicore_tasks"] += [[c, t, r, s + shift, e + shift + 1, w] for c, t, r, s, e, w in base["aicore_tasks"]]
    base["aicpu_tasks"] += [[c, r, d + shift, f + shift + 1] for c, r, d, f in base["aicpu_tasks"]]
    for part in (*base["aicpu_scheduler_phases"], *base["aicpu_orchestrator_phases"]):
        part += [
            row | {"start_cycles": row["start_cycles"] + shift, "end_cycles": row["end_cycles"] + shift} for row in part
        ]
    return base


def trace() -> Json:
    """A CPM file: the path is A, C, D; B is off the path; dummies do not count."""
    names = [
        (A, "QK(r1t0)", 1.0),
        (B, "·(r1t1)", 2.0),
        (C, "PV(r1t2)", 3.0),
        (C, "PV(r1t2)", 3.1),
        (D, "UP(r1t3)", 4.0),
        (9, "dummy(t9)", 5.0),
    ]
    bars = [
        {"ph": "X", "pid": 4, "tid": 1, "name": n, "ts": ts, "dur": 1.0, "args": {"taskId": t}} for t, n, ts in names
    ]
    other = {"ph": "X", "pid": 2, "tid": 1, "name": "Dispatch", "ts": 0.5, "dur": 1.0, "args": {"taskId": B}}
    return {
        "traceEvents": [{"ph": "M", "pid": 4, "name": "process_name", "args": {"name": "Worker View"}}, other, *bars]
    }


TMR, HBG = "tensormap_and_ringbuffer", "host_build_graph"
SUB = 1 << 62
"""Id space of the tasks inside a graph of a host-built run."""


def stream(producer: str, number: int, records: list[list[Any]]) -> Json:
    """A scheduler stream of late September 2026; records are (kind, start, end, tasks_processed, task id)."""
    return {
        "platform": "a2a3" if producer == "aicpu" else "a5",
        "producer": producer,
        "scheduler_id": number,
        "worker_id": number,
        "core_type": "aicpu" if producer == "aicpu" else "aiv",
        "physical_core_id": None,
        "capture": {"committed": len(records), "dropped": 0, "truncated": False},
        "records": [
            {
                "start_cycles": start,
                "end_cycles": end,
                "run_epoch": 7,
                "loop_iter": at,
                "kind": kind,
                "tasks_processed": processed,
                "task_id": task,
            }
            for at, (kind, start, end, processed, task) in enumerate(records)
        ],
        "metrics": [],
    }


def rings() -> Json:
    """The capture of :func:`chip` as the ring runtime writes it in late September 2026, one epoch."""
    old = chip()
    work = [["complete", 1022, 1026, 1, None], ["resolve", 1023, 1024, 2, None], ["dispatch", 1026, 1030, 1, None]]
    work += [["resolve", 1040, 1044, 1, None], ["dummy_task", 1041, 1041, 1, 9]]
    return {
        "chip_swimlane_level": 4,
        "metadata": {"runtime": TMR, **old["metadata"], "core_to_thread": [0, 0, 1, 1, -1, -1]},
        "aicore_tasks": [[*cells, 7] for cells in old["aicore_tasks"]],
        "scheduler_tasks": {"producer": "aicpu", "records": [[*cells, 7] for cells in old["aicpu_tasks"]]},
        "scheduler_records": {
            "streams": [stream("aicpu", 0, work), stream("aicpu", 1, [["dispatch", 1034, 1038, 2, None]])]
        },
        "aicpu_orchestrator_phases": [[r | {"run_epoch": 7} for r in old["aicpu_orchestrator_phases"][0]]],
    }


def hostgraph() -> Json:
    """A host-built graph of late September 2026: id spaces, an AICore scheduler, lifecycle, clock alignment."""
    base = rings()
    ids = {A: 5, B: SUB | 5 << 32 | 0, C: SUB | 5 << 32 | 1, D: 2 << 62 | 3}
    base["metadata"] = host()["metadata"] | {"runtime": HBG, "clock_freq_hz": 1_000_000_000}
    base["metadata"].pop("clock_anchors")
    base["metadata"]["host_timestamp_quantization_ns"] = 0
    base["metadata"]["host_capture"].update(expected_records=1, recorded_records=1, pool_records=3)
    base["metadata"]["clock_alignment"] = {
        "status": "bounded",
        "device_anchor_cycles": 1000,
        "host_anchor_ns": 60_000,
        "host_anchor_min_ns": 59_980,
        "host_anchor_max_ns": 60_060,
    }
    for cells in base["aicore_tasks"]:
        cells[1] = ids[cells[1]]
    base["scheduler_tasks"]["producer"] = "aicore"
    loop = [["bootstrap", 1000, 1003, 1, None], ["state_probe", 1003, 1004, 1, 5], ["dispatch", 1004, 1006, 1, 5]]
    loop += [["idle", 1006, 1020, 0, None], ["complete", 1022, 1024, 1, 5], ["resolve", 1024, 1030, 2, 5]]
    base["scheduler_records"]["streams"] = [stream("aicore", 2, loop)]
    del base["aicpu_orchestrator_phases"]
    base["host_orchestrator_phases"] = [
        [{"submit_idx": 0, "task_id": 5, "start_host_ns": 50_000, "end_host_ns": 50_400}]
    ]
    base["host_device_uploads"] = [{"phase": "arena_h2d", "start_host_ns": 50_700, "end_host_ns": 50_800, "detail": 64}]
    base["aicpu_lifecycle_records"] = [
        {
            "aicpu_thread_id": 0,
            "handshake_start_cycles": 990,
            "handshake_complete_cycles": 995,
            "config_start_cycles": 995,
            "topology_complete_cycles": 998,
        },
        {"aicpu_thread_id": 1, "handshake_start_cycles": 991, "handshake_complete_cycles": 996},
    ]
    return base


Edit = Callable[[Json], Any]
EDITS: dict[str, tuple[Callable[[], Json], dict[str, Edit]]] = {}


def quirks(name: str, base: Callable[[], Json], **edits: Edit) -> None:
    """Register the quirks of a format; each edits a copy of the healthy file in place or returns another."""
    EDITS[name] = (base, {"healthy": lambda c: None, **edits})


def row(key: str, at: int, column: int, value: Any) -> Edit:
    """Set one cell of a row."""
    return lambda c: c[key][at].__setitem__(column, value)


quirks(
    "chip",
    chip,
    unmatched_aicore=lambda c: c["aicpu_tasks"].pop(2),
    unmatched_aicpu=lambda c: c["aicore_tasks"].pop(4),
    duplicate_key=lambda c: (row("aicore_tasks", 1, 2, 1)(c), row("aicpu_tasks", 1, 1, 1)(c)),
    reserved_row=lambda c: c["aicore_tasks"].append([1, 0, 9, 0, 0, 0]),
    wrong_type=lambda c: c["aicore_tasks"].insert(0, [0, A, None, "x", 1.5, 2]),
    short_row=lambda c: c["aicore_tasks"].insert(3, [0, A, 5]),
    out_of_range=lambda c: c["aicore_tasks"].append([1, A, 5, 2**63, 2**63, 0]),
    negative_core=lambda c: c["aicore_tasks"].append([-1, A, 5, 1090, 1091, 0]),
    extra_columns=lambda c: c["aicpu_tasks"][0].extend([0, 5]),
    order_violation=row("aicpu_tasks", 2, 2, 1029),
    negative_length=lambda c: row("aicore_tasks", 4, 4, 1069)(c),
    zero_length=row("aicore_tasks", 4, 4, 1070),
    overlap=lambda c: (row("aicore_tasks", 3, 3, 1034)(c), row("aicpu_tasks", 3, 2, 1030)(c)),
    unknown_kind=lambda c: c["aicpu_scheduler_phases"][1][0].__setitem__("kind", "teleport"),
    unknown_core=lambda c: (
        c["aicore_tasks"].append([6, D, 1, 1070, 1079, 0]),
        c["aicpu_tasks"].append([6, 1, 1066, 1083]),
    ),
    core_count_mismatch=lambda c: c["metadata"].__setitem__("num_cores", 5),
    level_too_low=lambda c: c.__setitem__("chip_swimlane_level", 3),
    level_too_high=lambda c: [c.pop(k) for k in ("aicpu_scheduler_phases", "aicpu_orchestrator_phases")],
    missing_stamps=row("aicpu_tasks", 4, 3, 0),
    negative_phase=lambda c: c["aicpu_scheduler_phases"][1][0].__setitem__("end_cycles", 1030),
    wrong_phase=lambda c: c["aicpu_scheduler_phases"][0].append({"kind": 5, "start_cycles": "soon"}),
    no_rows=lambda c: {"chip_swimlane_level": 1, "metadata": c["metadata"], "scheduler_tasks": {}},
    no_clock=lambda c: c["metadata"].pop("clock_freq_hz"),
    string_ids=lambda c: [r.__setitem__(1, str(r[1])) for r in c["aicore_tasks"]],
    largest_id=lambda c: c["aicore_tasks"][4].__setitem__(1, 2**64 - 1),
    five_columns=lambda c: [r.pop() for r in c["aicore_tasks"]],
    no_level=lambda c: c.pop("chip_swimlane_level"),
    legacy_kinds=lambda c: [
        c["aicpu_scheduler_phases"][0][i].__setitem__("kind", k) for i, k in enumerate(("scan", "fanout", "prestage"))
    ],
    bare_minimum=lambda c: {"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 50_000_000}, "aicore_tasks": []},
)
quirks("l2_cycles", lambda: {("l2_swimlane_level" if k == "chip_swimlane_level" else k): v for k, v in chip().items()})
quirks(
    "unified",
    unified,
    truncated_stream=lambda c: c["scheduler_records"]["streams"][0]["capture"].update(dropped=3, truncated=True),
    lost_metrics=lambda c: c["scheduler_records"]["streams"][0]["metrics"].append({"record_index": 77, "pop_hit": 1}),
    producer_aicore=lambda c: c["scheduler_tasks"].update(producer="aicore", records=[]),
    run_epoch=lambda c: (
        [r.append(3) for r in c["aicore_tasks"]],
        [r.append(3) for r in c["scheduler_tasks"]["records"]],
    ),
)
quirks(
    "rings",
    rings,
    corrupt_id=lambda c: c["aicore_tasks"][4].__setitem__(1, 1 << 40 | 5),
    sentinel=lambda c: c["aicore_tasks"][4].__setitem__(1, 2**64 - 1),
    unknown_runtime=lambda c: c["metadata"].pop("runtime"),
    strange_runtime=lambda c: c["metadata"].update(runtime="warp_drive"),
    two_epochs=lambda c: (
        c["aicore_tasks"].extend([[*r[:3], r[3] + 10_000, r[4] + 10_001, r[5], 8] for r in c["aicore_tasks"]]),
        c["scheduler_tasks"]["records"].extend(
            [[r[0], r[1], r[2] + 10_000, r[3] + 10_001, 8] for r in c["scheduler_tasks"]["records"]]
        ),
    ),
    rows_by_time=lambda c: (
        c["aicore_tasks"].extend([[*r[:3], r[3] + 10_000, r[4] + 10_001, r[5], 8] for r in c["aicore_tasks"]]),
        c["scheduler_tasks"].update(
            records=[r[:4] for r in c["scheduler_tasks"]["records"]]
            + [[r[0], r[1], r[2] + 10_000, r[3] + 10_001] for r in c["scheduler_tasks"]["records"]]
        ),
    ),
    epoch_without_boundary=lambda c: c["metadata"].update(run_boundaries=[{"run_epoch": 6, "start_cycles": 1}]),
    repeated_boundary=lambda c: c["metadata"].update(run_boundaries=[{"run_epoch": 7, "start_cycles": 1}] * 2),
    stream_id=lambda c: c["scheduler_records"]["streams"][1].update(scheduler_id=0),
    frequency_mismatch=lambda c: c["metadata"].update(clock_freq_hz=1_000_000_000),
    fraction_frequency=lambda c: c["metadata"].update(clock_freq_hz=50_000_000.0),
    far_stamp=lambda c: (
        c["aicore_tasks"].append([1, A, 9, 10**13, 10**13 + 10, 1, 7]),
        c["scheduler_tasks"]["records"].append([1, 9, 10**13 - 5, 10**13 + 12, 7]),
    ),
    incomplete_collection=lambda c: c["metadata"].update(
        collection={
            "verdict": "partial_safe",
            "processing_complete": True,
            "metadata_complete": True,
            "handoff_identity_verified": True,
            "not_received_buffers": 2,
        }
    ),
)
quirks(
    "hostgraph",
    hostgraph,
    corrupt_id=lambda c: c["aicore_tasks"][0].__setitem__(1, 3 << 62 | 5),
    no_alignment=lambda c: c["metadata"].update(clock_alignment={"status": "unavailable", "reason": "no log"}),
    clock_alignment=lambda c: c["metadata"]["clock_alignment"].update(host_anchor_ns=1),
    quantized=lambda c: c["metadata"].update(host_timestamp_quantization_ns=20),
    host_capture=lambda c: c["metadata"]["host_capture"].update(expected_records=3),
    incomplete=lambda c: c["metadata"]["host_capture"].update(status="incomplete"),
    no_host_capture=lambda c: c["metadata"].pop("host_capture"),
    poll_only=lambda c: c["scheduler_records"].update(
        streams=[stream("aicpu", 3, [["async_poll", 1000, 1004, 0, None], ["resolve_standalone", 1004, 1006, 1, None]])]
    ),
)
quirks(
    "us",
    us,
    version_1=lambda c: (c.update(version=1), [t.update(dispatch_time_us=0.0, finish_time_us=0.0) for t in c["tasks"]]),
    wrong_type=lambda c: c["tasks"].append({"task_id": A, "core_id": "three"}),
    reserved_row=lambda c: c["tasks"].append(c["tasks"][0] | {"start_time_us": 0.0, "end_time_us": 0.0}),
    missing_stamps=lambda c: c["tasks"][2].update(finish_time_us=0.0),
    unresolved=lambda c: [t.update(func_id=-1) for t in c["tasks"]],
)
quirks(
    "host",
    host,
    host_dropped=lambda c: c["metadata"]["host_capture"].update(status="dropped", dropped_records=4),
    separate_clocks=lambda c: c["metadata"].pop("clock_anchors"),
    outside_anchors=lambda c: c["metadata"]["clock_anchors"]["samples"][2].update(device_cycles=1050),
    coarse_anchors=lambda c: c["metadata"]["clock_anchors"].update(raw_device_timestamp_unit="device_uptime_us"),
)
quirks(
    "launches",
    launches,
    dropped_launches=lambda c: c["metadata"].update(dropped_run_boundaries=2),
    unsplit_rows=lambda c: [b.pop("start_cycles") for b in c["metadata"]["run_boundaries"]],
)
quirks(
    "deps",
    deps,
    unmarked_dummy=lambda c: c["tasks"].append({"task_id": "77", "kernel_ids": [-1, -1, -1]}),
    no_source=lambda c: c["edges"][0].pop("source"),
    hb_violation=lambda c: c["edges"].append(c["edges"][1] | {"pred": str(C), "succ": str(B)}),
    dangling_edge=lambda c: c["edges"].append(c["edges"][1] | {"succ": "999"}),
    self_edge=lambda c: c["edges"].append(c["edges"][1] | {"succ": str(A)}),
    dangling_tensor=lambda c: c["edges"][2].update(tensor_id="404"),
    duplicate_task=lambda c: c["tasks"].append(c["tasks"][0] | {"block_num": 9}),
    unknown_value=lambda c: c["edges"][3].update(source="telepathy"),
    graph_mismatch=lambda c: (c["tasks"].pop(3), c["edges"].pop(3)),
    unresolved_function=lambda c: c["tasks"][1].update(kernel_ids=[1, -1, -1]),
    assumed_aiv_slot=lambda c: c["tasks"][2].update(kernel_ids=[2, 3, 4]),
    missing_flags=lambda c: c["edges"][0].pop("flags"),
    edges_only=lambda c: {"edges": [{"pred": e["pred"], "succ": e["succ"]} for e in c["edges"]]},
    wrong_type=lambda c: c["edges"].insert(1, {"pred": [1], "succ": "2"}),
    out_of_range=lambda c: c["edges"].insert(1, {"pred": str(2**64), "succ": "2"}),
    number_ids=lambda c: (
        [t.update(task_id=int(t["task_id"])) for t in c["tasks"]],
        [e.update(pred=int(e["pred"])) for e in c["edges"]],
    ),
)
quirks(
    "name_map",
    lambda: {
        "level": 2,
        "orchestrator_name": "Case",
        "callable_id_to_name": {"0": "QK", "1": "SF", "2": "PV", "3": "UP"},
    },
    flat=lambda c: c["callable_id_to_name"],
    wrong_type=lambda c: c["callable_id_to_name"].update({"x": "bad", "4": 5}),
    host_level=lambda c: c.update(level=3),
)
quirks(
    "cpm",
    trace,
    bare_list=lambda c: c["traceEvents"],
    dangling_path_task=lambda c: c["traceEvents"][-2]["args"].update(taskId=123456),
)


def main() -> None:
    """Write every fixture."""
    for name, (base, edits) in EDITS.items():
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        for quirk, edit in edits.items():
            content = copy.deepcopy(base())
            other = edit(content)
            chosen = other if quirk in ("no_rows", "bare_minimum", "edges_only", "flat", "bare_list") else content
            (folder / f"{quirk}.json").write_text(json.dumps(chosen, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
