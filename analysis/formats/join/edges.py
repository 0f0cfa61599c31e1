"""Edges, annotations and arguments on the dense task axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.capture import (
    I4,
    I8,
    U8,
    AnnotationTable,
    ArgTable,
    ArgType,
    EdgeSource,
    EdgeTable,
)
from analysis.formats.containers.deps import DepEdges, RawDeps
from analysis.formats.join.idindex import IdIndex
from analysis.formats.join.tables import Listed


def no_edges() -> DepEdges:
    """Edge columns without rows."""
    return fanout_edges(np.zeros(0, np.uint64), np.zeros(0, np.uint64))


def fanout_edges(pred: U8, succ: U8) -> DepEdges:
    """Edges that only ``fanout[]`` knows: nothing but the two ends."""
    none = np.full(len(pred), -1, np.int64)
    return DepEdges(
        pred=pred,
        succ=succ,
        arg=none,
        source=np.full(len(pred), EdgeSource.UNRECORDED, np.uint8),
        flags=none,
        overlap=np.zeros(len(pred), np.uint8),
        tensor=none,
        consumer_view=none,
        producer_view=none,
    )


@dataclass
class Dense:
    """Ends of each annotation on the dense axis, file order."""

    pred: I4
    succ: I4


def edge_tables(edges: DepEdges, dense: Dense, n_tasks: int) -> tuple[EdgeTable, AnnotationTable]:
    """Unique edges sorted by (pred, succ) and their annotations in file order."""
    key = dense.pred.astype(np.int64) * max(n_tasks, 1) + dense.succ
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    fresh = np.concatenate((np.ones(min(1, len(ordered)), np.bool_), ordered[1:] != ordered[:-1]))
    first = np.flatnonzero(fresh)
    pred, succ = dense.pred[order[first]], dense.succ[order[first]]
    in_order = np.argsort(succ, kind="stable").astype(np.int32)
    table = EdgeTable(
        pred=pred,
        succ=succ,
        out_offsets=_offsets(pred, n_tasks),
        in_offsets=_offsets(succ, n_tasks),
        in_order=in_order,
        ann_offsets=np.append(first, len(ordered)).astype(np.int64),
    )
    return table, AnnotationTable(
        arg=edges.arg[order].astype(np.int32),
        source=edges.source[order],
        flags=edges.flags[order].astype(np.int8),
        overlap=edges.overlap[order],
        tensor=edges.tensor[order].astype(np.int32),
        consumer_view=edges.consumer_view[order].astype(np.int32),
        producer_view=edges.producer_view[order].astype(np.int32),
    )


def _offsets(task: I4, n_tasks: int) -> I8:
    """Where the entries of each task begin once they are grouped by task."""
    offsets = np.zeros(n_tasks + 1, np.int64)
    if len(task):
        np.cumsum(np.bincount(task, minlength=n_tasks), out=offsets[1:])
    return offsets


def arg_table(deps: RawDeps | None, index: IdIndex, listed: Listed, dense: Dense) -> tuple[ArgTable, I8]:
    """Arguments grouped by task, with the tensor of an open OUTPUT inferred where only one is possible."""
    n = len(index)
    offsets = np.zeros(n + 1, np.int64)
    if deps is None:
        return _pack_args(np.zeros(0, np.int64), deps, np.zeros(0, np.int64)), offsets
    tasks = deps.tasks
    file_offsets = np.zeros(len(tasks.task_id) + 1, np.int64)
    np.cumsum(tasks.arg_count, out=file_offsets[1:])
    have = np.flatnonzero(listed.submit_order >= 0)
    source = listed.submit_order[have]
    counts = np.zeros(n, np.int64)
    counts[have] = tasks.arg_count[source]
    np.cumsum(counts, out=offsets[1:])
    begin = np.repeat(file_offsets[source] - offsets[have], counts[have])
    order = begin + np.arange(int(offsets[-1]))
    owner = np.repeat(np.arange(n), counts)
    return _pack_args(order, deps, _inferred(deps, order, owner, dense, n)), offsets


def _pack_args(order: NDArray[np.int64], deps: RawDeps | None, inferred: I8) -> ArgTable:
    if deps is None:
        none4 = np.zeros(0, np.int32)
        return ArgTable(none4, np.zeros(0, np.uint8), none4, none4, np.zeros(0, np.bool_))
    tasks = deps.tasks
    tensor = tasks.arg_tensor[order]
    return ArgTable(
        idx=tasks.arg_idx[order].astype(np.int32),
        type=tasks.arg_type[order],
        tensor=np.where(inferred >= 0, inferred, tensor).astype(np.int32),
        view=tasks.arg_view[order].astype(np.int32),
        inferred=inferred >= 0,
    )


def _inferred(deps: RawDeps, order: I8, owner: I8, dense: Dense, n: int) -> I8:
    """Tensor to assume for each argument, -1 for none.

    An OUTPUT without tensor id takes the tensor of the creator edges leaving its task when exactly one such argument
    is open and exactly one such tensor is not already one of the task's arguments (FORMATS section 3).
    """
    tasks, edges = deps.tasks, deps.edges
    out = np.full(len(order), -1, np.int64)
    open_arg = (tasks.arg_type[order] == ArgType.OUTPUT) & ~tasks.arg_has_tensor[order]
    single = np.bincount(owner[open_arg], minlength=n) == 1
    tensors = max(len(deps.tensors), 1)
    known = owner * tensors + tasks.arg_tensor[order]
    made = (edges.source == EdgeSource.CREATOR) & (edges.tensor >= 0)
    created = np.unique(dense.pred[made].astype(np.int64) * tensors + edges.tensor[made])
    created = created[~np.isin(created, known[tasks.arg_tensor[order] >= 0])]
    maker = created // tensors
    alone = np.bincount(maker, minlength=n) == 1
    choice = np.full(n, -1, np.int64)
    choice[maker] = created % tensors
    take = open_arg & single[owner] & alone[owner]
    out[take] = choice[owner[take]]
    return out
