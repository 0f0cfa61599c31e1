"""Records and tasks: joined rows to the two central tables of the model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.capture import (
    EARLY_UNKNOWN,
    I4,
    I8,
    MISSING,
    U1,
    U8,
    Bool,
    RecordTable,
    TaskKind,
    TaskTable,
    UnmatchedTable,
    ids,
)
from analysis.formats.containers.deps import DepTasks
from analysis.formats.join.idindex import IdIndex
from analysis.formats.join.lanes import sub_rows
from analysis.formats.join.raw import RawSwimlane
from analysis.formats.join.records import Joined
from analysis.formats.join.sorting import WORTH_ROWS, order_of


@dataclass
class Listed:
    """deps.json ``tasks[]`` on the dense axis: what the file says about each task, defaults where it says nothing."""

    listed: Bool
    submit_order: I4
    kernel_ids: I4
    block_num: I4
    early: U1
    manual: Bool
    repeated: int


def listed_tasks(tasks: DepTasks | None, index: IdIndex) -> Listed:
    """Spread ``tasks[]`` over the dense axis; of a repeated id the first entry counts."""
    n = len(index)
    out = Listed(
        listed=np.zeros(n, np.bool_),
        submit_order=np.full(n, -1, np.int32),
        kernel_ids=np.full((n, 3), -1, np.int32),
        block_num=np.zeros(n, np.int32),
        early=np.full(n, EARLY_UNKNOWN, np.uint8),
        manual=np.zeros(n, np.bool_),
        repeated=0,
    )
    if tasks is None:
        return out
    dense = index.find(tasks.task_id)
    position = np.arange(len(dense), dtype=np.int32)
    out.submit_order[dense[::-1]] = position[::-1]
    first = out.submit_order[dense] == position
    out.repeated = int((~first).sum())
    dense, position = dense[first], position[first]
    out.listed[dense] = True
    out.kernel_ids[dense] = tasks.kernel_ids[position]
    out.block_num[dense] = tasks.block_num[position].astype(np.int32)
    out.early[dense] = tasks.early[position]
    out.manual[dense] = tasks.manual[position]
    return out


def relative(stamps: I8, zero: int) -> I8:
    """Stamps relative to zero; 0 in the file means not recorded."""
    return np.where(stamps == 0, MISSING, stamps - zero)


def type_codes(core_types: list[str]) -> NDArray[np.int8]:
    """Per core: 0 aic, 1 aiv, 2 anything else."""
    known = {"aic": 0, "aiv": 1}
    return np.array([known.get(kind.lower(), 2) for kind in core_types], np.int8)


def record_table(joined: Joined, index: IdIndex, listed: Listed, codes: NDArray[np.int8], zero: int) -> RecordTable:
    """Records sorted by (core, start, end, file order), with function ids and sub-rows; ``block`` is filled later."""
    rows = joined.rows
    order = order_of(rows.core, rows.start, rows.end)
    if order is not None:
        rows = rows.take(order)
        joined = replace(
            joined, dispatch=joined.dispatch[order], finish=joined.finish[order], func_id=joined.func_id[order]
        )
    task = index.find(rows.token)
    receive, start, end = rows.receive - zero, rows.start - zero, rows.end - zero
    dispatch, finish = relative(joined.dispatch, zero), relative(joined.finish, zero)
    core = rows.core.astype(np.int32)
    return RecordTable(
        core_id=core,
        task=task,
        reg_id=rows.reg,
        receive_ticks=receive,
        start_ticks=start,
        end_ticks=end,
        dispatch_ticks=dispatch,
        finish_ticks=finish,
        func_id=_functions(joined.func_id, listed.kernel_ids, task, codes[core] if len(core) else codes[:0]),
        block=np.zeros(len(rows), np.int32),
        row=sub_rows(core, receive, end),
        sched_row=sub_rows(core, dispatch, finish),
    )


def _functions(named: I8, kernel_ids: I4, task: I4, code: NDArray[np.int8]) -> I4:
    """Function per record: the one the container names, else by core type from kernel_ids (FORMATS section 2)."""
    if not len(task):
        return np.zeros(0, np.int32)
    vector = np.where(kernel_ids[:, 1] >= 0, kernel_ids[:, 1], kernel_ids[:, 2])
    only = np.where((kernel_ids >= 0).sum(axis=1) == 1, kernel_ids.max(axis=1), -1)  # whatever the core is
    by_code = np.stack((kernel_ids[:, 0], vector, only.astype(np.int32)))
    looked_up: I4 = by_code[code, task]
    return np.where(named >= 0, named, looked_up).astype(np.int32) if (named >= 0).any() else looked_up


def unmatched_table(joined: Joined, zero: int) -> UnmatchedTable:
    """AICore rows without partner, by core, file order inside."""
    rows = joined.unmatched.take(np.argsort(joined.unmatched.core, kind="stable"))
    core = rows.core.astype(np.int32)
    receive, end = rows.receive - zero, rows.end - zero
    return UnmatchedTable(
        core_id=core,
        task_id=rows.token,
        reg_id=rows.reg,
        receive_ticks=receive,
        start_ticks=rows.start - zero,
        end_ticks=end,
        row=sub_rows(core, receive, end),
    )


@dataclass
class Graphs:
    """Replayed graphs: which tasks are outer graph tasks, and which outer task each node belongs to."""

    is_outer: Bool
    outer: I4


def find_graphs(index: IdIndex, raw: RawSwimlane, listed: Listed, named_by_edge: Bool, has_record: Bool) -> Graphs:
    """Outer tasks are those a ``graph_prepare`` phase names. Below level 3, where no phase tells, they are the listed
    tasks without kernel whose node ids have records but no deps.json entry (FORMATS sections 3 and 8). In a host-built
    graph the id alone says what a node belongs to (FORMATS-2 section 2); an outer task is one without kernel or record.
    """
    is_outer = np.zeros(len(index.ids), np.bool_)
    shaped, owner_ids = ids.outer_ids(index.ids, raw.runtime)
    node = np.flatnonzero(shaped)
    owner = index.find(owner_ids[node])
    known = owner >= 0
    if len(raw.phases):
        kind = raw.kinds.index("graph_prepare") if "graph_prepare" in raw.kinds else -1
        tasks = index.find(raw.phases.task[(raw.phases.kind == kind) & raw.phases.has_task])
        is_outer[tasks[tasks >= 0]] = True
        is_outer &= ids.may_be_outer(index.ids, raw.runtime)
    if raw.runtime == ids.HOST_GRAPH:
        bare = owner[known]
        is_outer[bare[(listed.kernel_ids[bare] < 0).all(axis=1) & ~has_record[bare]]] = True
    elif not len(raw.phases):
        fits = known.copy()
        fits[fits] = listed.listed[owner[fits]] & (listed.kernel_ids[owner[fits]] < 0).all(axis=1)
        fits &= has_record[node] & ~listed.listed[node] & ~named_by_edge[node]
        is_outer[owner[fits]] = True
    outer = np.full(len(index.ids), -1, np.int32)
    if raw.runtime != ids.HOST_GRAPH:
        known[known] = is_outer[owner[known]]
    outer[node[known]] = owner[known]
    return Graphs(is_outer, outer)


def marked(raw: RawSwimlane, index: IdIndex, kind: str) -> Bool:
    """Tasks that a phase of ``kind`` names."""
    out = np.zeros(len(index), np.bool_)
    code = raw.kinds.index(kind) if kind in raw.kinds else -1
    tasks = index.find(raw.phases.task[(raw.phases.kind == code) & raw.phases.has_task])
    out[tasks[tasks >= 0]] = True
    return out


def only_submitted(raw: RawSwimlane, index: IdIndex, listed: Listed, has_record: Bool) -> Bool:
    """Tasks known by nothing but their submit while deps.json lists others: allocations nobody consumes."""
    out = np.zeros(len(index), np.bool_)
    if not listed.listed.any():
        return out
    for rows in (raw.orch, raw.host_orch):
        tasks = index.find(rows.task[rows.has_task])
        out[tasks[tasks >= 0]] = True
    tasks = index.find(raw.phases.task[raw.phases.has_task])
    out[tasks[tasks >= 0]] = False
    return np.asarray(out & ~listed.listed & ~has_record)


def task_kinds(
    records: RecordTable,
    listed: Listed,
    graphs: Graphs,
    named_by_edge: Bool,
    submitted: Bool,
    codes: NDArray[np.int8],
) -> U1:
    """:class:`~analysis.capture.TaskKind` per task (FORMATS section 3)."""
    n = len(listed.listed)
    flat = np.zeros(n * 3, np.bool_)
    if len(records):
        flat[records.task * 3 + codes[records.core_id]] = True
    on = flat.reshape(n, 3)
    kind = np.full(n, TaskKind.UNKNOWN, np.uint8)
    kind[named_by_edge | submitted] = TaskKind.ALLOC
    kind[on[:, 0]] = TaskKind.AIC
    kind[on[:, 1]] = TaskKind.AIV
    kind[on[:, 0] & on[:, 1]] = TaskKind.MIX
    aic, aiv = listed.kernel_ids[:, 0] >= 0, (listed.kernel_ids[:, 1:] >= 0).any(axis=1)
    told = np.select([aic & aiv, aic, aiv], [TaskKind.MIX, TaskKind.AIC, TaskKind.AIV], TaskKind.DUMMY)
    silent = listed.listed & ~aic & ~aiv & on.any(axis=1)
    kind = np.where(listed.listed & ~silent, told, kind).astype(np.uint8)
    kind[graphs.is_outer] = TaskKind.GRAPH
    return kind


@dataclass
class Grouping:
    """Records by task."""

    task: I4
    """Task of each record."""
    offsets: I8
    order: I4
    counts: I4
    block: I4
    filled: NDArray[np.int64]
    """Tasks that have a record."""
    first: I4
    """First record of each of them."""
    shared: NDArray[np.int64]
    """Tasks that have several records."""
    shared_order: I4
    """Records of those, grouped; ``shared_starts`` is where each group begins."""
    shared_starts: I8


def group_by_task(task: I4, n_tasks: int) -> Grouping:
    """Slices of record indexes per task, and each record's index within its task."""
    counts = np.bincount(task, minlength=n_tasks).astype(np.int32)
    offsets = np.zeros(n_tasks + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    order, block = _grouped(task, offsets)
    filled, shared = np.flatnonzero(counts), np.flatnonzero(counts > 1)
    members = np.repeat(offsets[shared], counts[shared])
    starts = np.zeros(len(shared), np.int64)
    np.cumsum(counts[shared][:-1], out=starts[1:])
    inside = np.arange(len(members)) - np.repeat(starts, counts[shared])
    shared_order = order[members + inside]
    return Grouping(task, offsets, order, counts, block, filled, order[offsets[filled]], shared, shared_order, starts)


def _grouped(task: I4, offsets: I8) -> tuple[I4, I4]:
    """(record indexes grouped by task, index of each record within its task)."""
    if len(task) >= WORTH_ROWS:
        from analysis.formats.join.lane_kernel import group

        order, block = np.empty(len(task), np.int32), np.empty(len(task), np.int32)
        group(task, offsets, order, block)
        return order, block
    order = np.argsort(task, kind="stable").astype(np.int32)
    block = np.empty(len(task), np.int32)
    block[order] = np.arange(len(task)) - offsets[task[order]]
    return order, block


def per_task(values: I8, groups: Grouping, largest: bool) -> I8:
    """Smallest or largest captured value over the records of each task; MISSING where there is none."""
    out = np.full(len(groups.counts), MISSING, np.int64)
    if not len(values):
        return out
    if len(values) >= WORTH_ROWS:
        from analysis.formats.join.lane_kernel import extreme

        extreme(groups.task, values, largest, out)
        return out
    out[groups.filled] = values[groups.first]
    if not len(groups.shared):
        return out
    grouped = values[groups.shared_order]
    if largest:
        out[groups.shared] = np.maximum.reduceat(grouped, groups.shared_starts)
        return out
    top = np.iinfo(np.int64).max
    low = np.minimum.reduceat(np.where(grouped == MISSING, top, grouped), groups.shared_starts)
    out[groups.shared] = np.where(low == top, MISSING, low)
    return out


def task_table(
    task_ids: U8,
    records: RecordTable,
    groups: Grouping,
    listed: Listed,
    graphs: Graphs,
    kind: U1,
    named_by_edge: Bool,
    arg_offsets: I8,
    skipped: Bool,
) -> TaskTable:
    """All tasks named anywhere, by id."""
    func = np.full(len(task_ids), -1, np.int32)
    kernels = listed.kernel_ids
    for slot in (2, 1, 0):
        func = np.where(kernels[:, slot] >= 0, kernels[:, slot], func)
    func[groups.filled] = records.func_id[groups.first]
    return TaskTable(
        task_id=task_ids,
        kind=kind,
        in_graph=listed.listed | named_by_edge,
        listed=listed.listed,
        block_num=listed.block_num,
        kernel_ids=kernels,
        func_id=func.astype(np.int32),
        submit_order=listed.submit_order,
        early_dispatch=listed.early,
        manual_scope=listed.manual,
        outer=graphs.outer,
        n_records=groups.counts,
        receive_ticks=per_task(records.receive_ticks, groups, largest=False),
        start_ticks=per_task(records.start_ticks, groups, largest=False),
        end_ticks=per_task(records.end_ticks, groups, largest=True),
        dispatch_ticks=per_task(records.dispatch_ticks, groups, largest=False),
        finish_ticks=per_task(records.finish_ticks, groups, largest=True),
        record_offsets=groups.offsets,
        record_order=groups.order,
        arg_offsets=arg_offsets,
        skipped=skipped,
    )
