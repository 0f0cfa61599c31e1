"""A slow, obvious loader: the yardstick for ``analysis.formats``.

Plain dicts, lists and loops over ``json.load``; only the containers in cycles (``chip``, ``l2_cycles``), deps.json and
name maps. No quality notices, no host clock merging: it exists to be read and compared with, not to be fast.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from analysis.capture import (
    EARLY_NO,
    EARLY_UNKNOWN,
    EARLY_YES,
    FLAG_RETAIN,
    FLAG_WAIT,
    MISSING,
    AnnotationTable,
    ArgTable,
    ArgType,
    Capture,
    CaptureMeta,
    EdgeSource,
    EdgeTable,
    FlaggedTable,
    ImportedPaths,
    OrchTable,
    PhaseLane,
    PhaseTable,
    RecordTable,
    TaskKind,
    TaskTable,
    TensorTable,
    UnmatchedTable,
    UploadTable,
    ViewTable,
)

INNER = {"resolve", "fanout", "drain_prepare", "drain_publish"}
MARKERS = {"dummy_task", "predicated_skip"}


def load(directory: str | Path) -> Capture:
    """Load the one swimlane of ``directory`` (a dfx_outputs directory) with its siblings."""
    directory = Path(directory)
    swim = next(p for p in sorted(directory.glob("*swimlane_records*.json")))
    raw = json.loads(swim.read_bytes())
    deps_file = directory / "deps.json"
    deps = json.loads(deps_file.read_bytes()) if deps_file.exists() else None
    maps = sorted(directory.glob("name_map*.json"), key=lambda p: (p.stat().st_mtime, p.name))
    name_map = json.loads(maps[-1].read_bytes()) if maps else None
    paths = {
        kind: json.loads(found[-1].read_bytes())
        for kind in ("static", "observed")
        if (found := sorted(directory.glob(f"CPM_{kind}*.json")))
    }
    return build(raw, deps, name_map, paths, label=directory.parent.name)


def build(raw: Any, deps: Any, name_map: Any, cpm: dict[str, Any], label: str = "reference") -> Capture:
    """Turn parsed JSON into a Capture the obvious way."""
    level = raw.get("chip_swimlane_level", raw.get("l2_swimlane_level", 0))
    meta = raw["metadata"]
    core_types = tuple(meta["core_types"])
    cores_rows = [[*map(int, row), 0][:6] if len(row) == 5 else list(map(int, row)) for row in raw["aicore_tasks"]]
    aicpu = [list(map(int, row)) for row in raw.get("aicpu_tasks", [])]

    partners: dict[tuple[int, int], list[list[int]]] = defaultdict(list)
    for row in aicpu:
        partners[row[0], row[1]].append(row)
    joined, unmatched = [], []
    for core, task_id, reg, start, end, setup in cores_rows:
        if start == 0:
            continue
        queue = partners.get((core, reg), [])
        if level >= 2 and aicpu:
            if not queue:
                unmatched.append((core, task_id, reg, start - setup, start, end))
                continue
            row = queue.pop(0)
            joined.append((core, task_id, reg, start - setup, start, end, row[2] or MISSING, row[3] or MISSING))
        else:
            joined.append((core, task_id, reg, start - setup, start, end, MISSING, MISSING))

    kinds: list[str] = []

    def kind_of(name: str) -> int:
        if name not in kinds:
            kinds.append(name)
        return kinds.index(name)

    sched = [(s, p) for s, stream in enumerate(raw.get("aicpu_scheduler_phases", [])) for p in stream]
    orch = [(s, p) for s, stream in enumerate(raw.get("aicpu_orchestrator_phases", [])) for p in stream]
    host = [(s, p) for s, stream in enumerate(raw.get("host_orchestrator_phases", [])) for p in stream]
    stamps = [t for row in joined for t in row[3:8] if t != MISSING and t > 0]
    stamps += [t for row in unmatched for t in row[3:6] if t > 0]
    stamps += [p[k] for _, p in sched + orch for k in ("start_cycles", "end_cycles") if p[k] > 0]
    zero = min(stamps) if stamps else 0

    dep_tasks = {int(t["task_id"]): t for t in (deps or {}).get("tasks", [])}
    dep_edges = [(int(e["pred"]), int(e["succ"]), e) for e in (deps or {}).get("edges", [])]
    submitted = {int(p["task_id"]) for _, p in orch + host if p.get("task_id") is not None} if dep_tasks else set()
    only_submitted = submitted - {int(p["task_id"]) for _, p in sched if p.get("task_id") is not None}
    in_graph = set(dep_tasks) | {e[0] for e in dep_edges} | {e[1] for e in dep_edges}
    skipped = {int(p["task_id"]) for _, p in sched if p["kind"] == "predicated_skip" and p.get("task_id") is not None}
    outer_ids = {int(p["task_id"]) for _, p in sched if p["kind"] == "graph_prepare" and p.get("task_id") is not None}
    named = {int(p["task_id"]) for _, p in sched + orch + host if p.get("task_id") is not None}
    record_ids = {row[1] for row in joined}
    ids = sorted(in_graph | named | record_ids)
    index = {task_id: i for i, task_id in enumerate(ids)}

    def func_of(core: int, task_id: int) -> int:
        kernel = dep_tasks[task_id]["kernel_ids"] if task_id in dep_tasks and "kernel_ids" in dep_tasks[task_id] else []
        kernel = [*map(int, kernel), -1, -1, -1][:3]
        if core_types[core] == "aic":
            return kernel[0]
        return kernel[1] if kernel[1] >= 0 else kernel[2]

    joined.sort(key=lambda r: (r[0], r[4], r[5]))
    by_task: dict[int, list[int]] = defaultdict(list)
    for i, row in enumerate(joined):
        by_task[row[1]].append(i)
    block = {i: b for group in by_task.values() for b, i in enumerate(group)}

    def rel(value: int) -> int:
        return MISSING if value == MISSING else value - zero

    def lanes(spans: list[tuple[Any, int, int]]) -> np.ndarray:
        """First free sub-row per lane, in start order."""
        rows = [0] * len(spans)
        free: dict[Any, list[int]] = defaultdict(list)
        for i in sorted(range(len(spans)), key=lambda i: (spans[i][1], spans[i][2], i)):
            lane, start, end = spans[i]
            if start == MISSING or end == MISSING:
                continue
            for r, last in enumerate(free[lane]):
                if last <= start:
                    rows[i] = r
                    free[lane][r] = end
                    break
            else:
                rows[i] = len(free[lane])
                free[lane].append(end)
        return np.array(rows, np.int16)

    columns = [[rel(row[k]) for row in joined] for k in (3, 4, 5, 6, 7)]
    i8 = lambda values: np.array(values, np.int64)  # noqa: E731
    i4 = lambda values: np.array(values, np.int32)  # noqa: E731
    records = RecordTable(
        core_id=i4([r[0] for r in joined]),
        task=i4([index[r[1]] for r in joined]),
        reg_id=i8([r[2] for r in joined]),
        receive_ticks=i8(columns[0]),
        start_ticks=i8(columns[1]),
        end_ticks=i8(columns[2]),
        dispatch_ticks=i8(columns[3]),
        finish_ticks=i8(columns[4]),
        func_id=i4([func_of(r[0], r[1]) for r in joined]),
        block=i4([block[i] for i in range(len(joined))]),
        row=lanes([(r[0], columns[0][i], columns[2][i]) for i, r in enumerate(joined)]),
        sched_row=lanes([(r[0], columns[3][i], columns[4][i]) for i, r in enumerate(joined)]),
    )

    def kind_of_task(task_id: int) -> TaskKind:
        if task_id in outer_ids and (task_id >> 32) & 0xFF == 0:
            return TaskKind.GRAPH
        if task_id in dep_tasks:
            kernel = [*dep_tasks[task_id].get("kernel_ids", []), -1, -1, -1][:3]
            aic, aiv = kernel[0] >= 0, kernel[1] >= 0 or kernel[2] >= 0
            if aic and aiv:
                return TaskKind.MIX
            return TaskKind.AIC if aic else TaskKind.AIV if aiv else TaskKind.DUMMY
        types = {core_types[joined[i][0]] for i in by_task.get(task_id, [])}
        if len(types) > 1:
            return TaskKind.MIX
        if types:
            return TaskKind.AIC if "aic" in types else TaskKind.AIV
        return TaskKind.ALLOC if task_id in in_graph or task_id in only_submitted else TaskKind.UNKNOWN

    def outer_of(task_id: int) -> int:
        outer = (task_id & 0xFFFFFFFF) >> 10
        return index[outer] if (task_id >> 32) & 0xFF == 1 and outer in outer_ids else -1

    def kernels(task_id: int) -> list[int]:
        return [*map(int, dep_tasks.get(task_id, {}).get("kernel_ids", [])), -1, -1, -1][:3]

    def main_func(task_id: int) -> int:
        if by_task.get(task_id):
            return int(records.func_id[by_task[task_id][0]])
        return next((k for k in kernels(task_id) if k >= 0), -1)

    def over(task_id: int, k: int, pick: Any) -> int:
        values = [columns[k][i] for i in by_task.get(task_id, []) if columns[k][i] != MISSING]
        return pick(values) if values else MISSING

    def early(task_id: int) -> int:
        value = dep_tasks.get(task_id, {}).get("early_dispatch")
        return EARLY_UNKNOWN if value is None else EARLY_YES if value else EARLY_NO

    dtypes: list[str] = []

    def dtype_of(name: str | None) -> int:
        if name is None:
            return -1
        if name not in dtypes:
            dtypes.append(name)
        return dtypes.index(name)

    tensors = (deps or {}).get("tensors", [])
    tensor_index = {int(t["tensor_id"]): i for i, t in enumerate(tensors)}
    tensor_table = TensorTable(
        tensor_id=np.array([int(t["tensor_id"]) for t in tensors], np.uint64),
        buffer_addr=np.array([int(t["buffer_addr"]) for t in tensors], np.uint64),
        version=i4([t["version"] for t in tensors]),
        dtype=np.array([dtype_of(t["dtype"]) for t in tensors], np.int16),
        buffer_numel=i8([int(t["buffer_numel"]) for t in tensors]),
    )
    views: list[tuple[int, int, list[int], list[int]]] = []

    def view(item: dict[str, Any], prefix: str, dtype: str | None) -> int:
        if f"{prefix}shape" not in item:
            return -1
        strides = [int(s) for s in item.get(f"{prefix}strides", [])]
        views.append(
            (
                dtype_of(dtype),
                int(item.get(f"{prefix}start_offset", -1)),
                [int(s) for s in item[f"{prefix}shape"]],
                strides,
            )
        )
        return len(views) - 1

    grouped: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for pred, succ, edge in dep_edges:
        grouped[index[pred], index[succ]].append(edge)
    pairs = sorted(grouped)
    creators: dict[int, list[int]] = defaultdict(list)
    for pred, _, edge in dep_edges:
        if edge["source"] == "creator" and "tensor_id" in edge and int(edge["tensor_id"]) not in creators[pred]:
            creators[pred].append(int(edge["tensor_id"]))

    arg_rows: list[tuple[int, int, int, int, bool]] = []
    arg_offsets = [0]
    for task_id in ids:
        args = dep_tasks.get(task_id, {}).get("args", [])
        known = {int(a["tensor_id"]) for a in args if "tensor_id" in a}
        open_outputs = [a for a in args if a["type"] == "OUTPUT" and "tensor_id" not in a]
        candidates = [t for t in creators[task_id] if t not in known]
        for arg in args:
            inferred = "tensor_id" not in arg and len(open_outputs) == 1 and len(candidates) == 1
            tensor_id = candidates[0] if inferred else int(arg["tensor_id"]) if "tensor_id" in arg else None
            kind = ArgType[arg["type"]] if arg["type"] in ArgType.__members__ else ArgType.OTHER
            tensor = tensor_index.get(tensor_id, -1) if tensor_id is not None else -1
            arg_rows.append((int(arg["idx"]), kind, tensor, view(arg, "", arg.get("dtype")), inferred))
        arg_offsets.append(len(arg_rows))
    arg_table = ArgTable(
        idx=i4([a[0] for a in arg_rows]),
        type=np.array([a[1] for a in arg_rows], np.uint8),
        tensor=i4([a[2] for a in arg_rows]),
        view=i4([a[3] for a in arg_rows]),
        inferred=np.array([a[4] for a in arg_rows], np.bool_),
    )

    annotations: list[tuple[int, int, int, int, int, int, int]] = []
    ann_offsets = [0]
    for pair in pairs:
        for e in grouped[pair]:
            source = {"creator": 0, "tensormap": 1, "explicit": 2}.get(e["source"], int(EdgeSource.OTHER))
            flags = -1
            if "flags" in e:
                flags = FLAG_WAIT * ("wait" in e["flags"]) | FLAG_RETAIN * ("retain" in e["flags"])
            overlap = 0 if "overlap" not in e else 1 if e["overlap"] == "covered" else 2
            tensor = tensor_index.get(int(e["tensor_id"]), -1) if "tensor_id" in e else -1
            consumer = view(e, "consumer_", e.get("consumer_dtype"))
            annotations.append(
                (int(e.get("arg", -1)), source, flags, overlap, tensor, consumer, view(e, "producer_", None))
            )
        ann_offsets.append(len(annotations))
    n = len(ids)
    in_order = sorted(range(len(pairs)), key=lambda k: (pairs[k][1], pairs[k][0]))
    edge_table = EdgeTable(
        pred=i4([p for p, _ in pairs]),
        succ=i4([s for _, s in pairs]),
        out_offsets=np.searchsorted([p for p, _ in pairs], range(n + 1)).astype(np.int64),
        in_offsets=np.searchsorted([pairs[k][1] for k in in_order], range(n + 1)).astype(np.int64),
        in_order=i4(in_order),
        ann_offsets=i8(ann_offsets),
    )
    annotation_table = AnnotationTable(
        arg=i4([a[0] for a in annotations]),
        source=np.array([a[1] for a in annotations], np.uint8),
        flags=np.array([a[2] for a in annotations], np.int8),
        overlap=np.array([a[3] for a in annotations], np.uint8),
        tensor=i4([a[4] for a in annotations]),
        consumer_view=i4([a[5] for a in annotations]),
        producer_view=i4([a[6] for a in annotations]),
    )
    view_table = ViewTable(
        dtype=np.array([v[0] for v in views], np.int16),
        start_offset=i8([v[1] for v in views]),
        dim_offsets=i8([0, *np.cumsum([len(v[2]) for v in views])]),
        shape=i8([d for v in views for d in v[2]]),
        stride_offsets=i8([0, *np.cumsum([len(v[3]) for v in views])]),
        stride=i8([d for v in views for d in v[3]]),
    )

    submit = {task_id: i for i, task_id in enumerate(dep_tasks)}
    task_table = TaskTable(
        task_id=np.array(ids, np.uint64),
        kind=np.array([kind_of_task(t) for t in ids], np.uint8),
        in_graph=np.array([t in in_graph for t in ids], np.bool_),
        listed=np.array([t in dep_tasks for t in ids], np.bool_),
        block_num=i4([int(dep_tasks[t].get("block_num", 1)) if t in dep_tasks else 0 for t in ids]),
        kernel_ids=i4([kernels(t) for t in ids]).reshape(n, 3),
        func_id=i4([main_func(t) for t in ids]),
        submit_order=i4([submit.get(t, -1) for t in ids]),
        early_dispatch=np.array([early(t) for t in ids], np.uint8),
        manual_scope=np.array([dep_tasks.get(t, {}).get("scope") == "manual" for t in ids], np.bool_),
        outer=i4([outer_of(t) for t in ids]),
        n_records=i4([len(by_task.get(t, [])) for t in ids]),
        receive_ticks=i8([over(t, 0, min) for t in ids]),
        start_ticks=i8([over(t, 1, min) for t in ids]),
        end_ticks=i8([over(t, 2, max) for t in ids]),
        dispatch_ticks=i8([over(t, 3, min) for t in ids]),
        finish_ticks=i8([over(t, 4, max) for t in ids]),
        record_offsets=i8([0, *np.cumsum([len(by_task.get(t, [])) for t in ids])]),
        record_order=i4([i for t in ids for i in by_task.get(t, [])]),
        arg_offsets=i8(arg_offsets),
        skipped=np.array([t in skipped for t in ids], np.bool_),
    )

    def lane_of(name: str) -> PhaseLane:
        return PhaseLane.INNER if name in INNER else PhaseLane.MARKER if name in MARKERS else PhaseLane.OUTER

    sched.sort(key=lambda sp: (sp[0], sp[1]["start_cycles"], sp[1]["end_cycles"]))
    triple = lambda p, key: [*p.get(key, []), -1, -1, -1][:3]  # noqa: E731
    task_of = lambda p: index[int(p["task_id"])] if p.get("task_id") is not None else -1  # noqa: E731
    phases = PhaseTable(
        stream=i4([s for s, _ in sched]),
        kind=np.array([kind_of(p["kind"]) for _, p in sched], np.int32),
        lane=np.array([lane_of(p["kind"]) for _, p in sched], np.uint8),
        start_ticks=i8([p["start_cycles"] - zero for _, p in sched]),
        end_ticks=i8([p["end_cycles"] - zero for _, p in sched]),
        loop_iter=i8([p.get("loop_iter", -1) for _, p in sched]),
        tasks_processed=i8([p.get("tasks_processed", -1) for _, p in sched]),
        task=i4([task_of(p) for _, p in sched]),
        pop_hit=i8([p.get("pop_hit", -1) for _, p in sched]),
        pop_miss=i8([p.get("pop_miss", -1) for _, p in sched]),
        shared_start=i4([triple(p, "shared_at_start") for _, p in sched]).reshape(len(sched), 3),
        shared_end=i4([triple(p, "shared_at_end") for _, p in sched]).reshape(len(sched), 3),
        row=lanes([((s, lane_of(p["kind"])), p["start_cycles"], p["end_cycles"]) for s, p in sched]),
    )
    orch.sort(key=lambda sp: (sp[0], sp[1]["start_cycles"], sp[1]["end_cycles"]))
    orch_table = OrchTable(
        stream=i4([s for s, _ in orch]),
        kind=np.array([kind_of(p.get("kind", "orch_submit")) for _, p in orch], np.int32),
        start_ticks=i8([p["start_cycles"] - zero for _, p in orch]),
        end_ticks=i8([p["end_cycles"] - zero for _, p in orch]),
        submit_idx=i8([p.get("submit_idx", -1) for _, p in orch]),
        task=i4([task_of(p) for _, p in orch]),
        host=np.zeros(len(orch), np.bool_),
        host_start_ns=np.full(len(orch), MISSING, np.int64),
        host_end_ns=np.full(len(orch), MISSING, np.int64),
        row=lanes([(s, p["start_cycles"], p["end_cycles"]) for s, p in orch]),
    )
    names = (name_map or {}).get("callable_id_to_name", name_map or {})
    thread = meta.get("core_to_thread")
    frequency = meta["clock_freq_hz"]
    capture_meta = CaptureMeta(
        capture_id=hashlib.sha256(json.dumps([raw, deps, name_map], sort_keys=True).encode()).hexdigest(),
        label=label,
        level=level,
        container="chip" if "chip_swimlane_level" in raw else "l2_cycles",
        clock_freq_hz=frequency,
        ticks_per_us=frequency / 1e6,
        zero_ticks=zero,
        tolerance_ticks=2,
        num_cores=meta["num_cores"],
        core_types=core_types,
        core_to_thread=tuple(thread) if thread is not None else None,
        launch=0,
        launches=1,
        aicore_rows=len(cores_rows),
        aicpu_rows=len(aicpu),
        has_records_file=True,
        has_deps=deps is not None,
        edges_from_fanout=False,
        has_name_map=name_map is not None,
        orchestrator_name=(name_map or {}).get("orchestrator_name"),
        func_names={int(k): v for k, v in names.items() if str(k).lstrip("-").isdigit()},
        phase_kinds=tuple(kinds),
        dtypes=tuple(dtypes),
        scheduler_streams=tuple(range(len(raw.get("aicpu_scheduler_phases", [])))),
        orchestrator_streams=len(raw.get("aicpu_orchestrator_phases", [])),
        host_clock=None,
        sources={},
        notices=(),
    )
    order_by = np.argsort([u[0] for u in unmatched], kind="stable") if unmatched else []
    lost = [unmatched[int(i)] for i in order_by]
    unmatched_table = UnmatchedTable(
        core_id=i4([u[0] for u in lost]),
        task_id=np.array([u[1] for u in lost], np.uint64),
        reg_id=i8([u[2] for u in lost]),
        receive_ticks=i8([u[3] - zero for u in lost]),
        start_ticks=i8([u[4] - zero for u in lost]),
        end_ticks=i8([u[5] - zero for u in lost]),
        row=lanes([(u[0], u[3], u[5]) for u in lost]),
    )
    uploads = UploadTable(
        kind=np.zeros(0, np.int32),
        start_ticks=i8([]),
        end_ticks=i8([]),
        detail=i8([]),
        host_start_ns=i8([]),
        host_end_ns=i8([]),
    )
    imported = {kind: i4(_path(trace, index)) for kind, trace in cpm.items()}
    return Capture(
        meta=capture_meta,
        records=records,
        tasks=task_table,
        edges=edge_table,
        annotations=annotation_table,
        args=arg_table,
        tensors=tensor_table,
        views=view_table,
        phases=phases,
        orch=orch_table,
        uploads=uploads,
        unmatched=unmatched_table,
        flagged=FlaggedTable.empty(),
        paths=ImportedPaths(
            static=imported.get("static", i4([])),
            observed=imported.get("observed", i4([])),
        ),
    )


def _path(trace: Any, index: dict[int, int]) -> list[int]:
    """Distinct tasks of the unrenamed worker bars, by start (FORMATS section 5)."""
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    bars = [
        e
        for e in events
        if e.get("ph") == "X"
        and e.get("pid") == 4
        and "taskId" in e.get("args", {})
        and not re.match(r"·\(|dummy\(|alloc\(", e["name"])
    ]
    ordered: dict[int, None] = {}
    for event in sorted(bars, key=lambda e: e["ts"]):
        ordered.setdefault(index[int(event["args"]["taskId"])])
    return list(ordered)
