"""deps.json, all generations: edges only, kernel ids, early dispatch, edge flags (FORMATS sections 3 and 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec
import numpy as np

from analysis.capture import (
    EARLY_NO,
    EARLY_UNKNOWN,
    EARLY_YES,
    FLAG_RETAIN,
    FLAG_WAIT,
    I4,
    I8,
    OVERLAP_COVERED,
    OVERLAP_NONE,
    OVERLAP_OTHER,
    U1,
    U8,
    ArgType,
    Bool,
    EdgeSource,
    TensorTable,
    ViewTable,
    ids,
)
from analysis.errors import InputError
from analysis.formats.registry import Format, Sections, Shape
from analysis.formats.report import Report
from analysis.formats.text.interning import Names, TensorNames, ViewPool
from analysis.formats.text.reading import small
from analysis.formats.text.structs import Id, Int, Int32, column, typed_rows
from analysis.formats.text.structs import ids as id_columns

Dims: TypeAlias = tuple[Int, ...] | None


class Arg(msgspec.Struct, gc=False):
    """One entry of ``tasks[].args``."""

    idx: Int32 | None = -1
    type: str | None = None
    tensor_id: Id | None = None
    dtype: str | None = None
    shape: Dims = None
    start_offset: Id | None = None
    offset: Id | None = None
    strides: Dims = None


class Task(msgspec.Struct, gc=False):
    """One entry of ``tasks[]``."""

    task_id: Id
    scope: str | None = None
    kernel_ids: tuple[Int32, ...] | None = None
    block_num: Int32 | None = 1
    early_dispatch: bool | None = None
    args: tuple[Arg, ...] | None = None


class Tensor(msgspec.Struct, gc=False):
    """One entry of ``tensors[]``."""

    tensor_id: Id
    buffer_addr: Id | None = None
    version: Int32 | None = -1
    dtype: str | None = None
    buffer_numel: Id | None = None


class Edge(msgspec.Struct, gc=False):
    """One entry of ``edges[]``."""

    pred: Id
    succ: Id
    arg: Int32 | None = -1
    source: str | None = None
    flags: tuple[str, ...] | None = None
    overlap: str | None = None
    tensor_id: Id | None = None
    consumer_dtype: str | None = None
    consumer_shape: Dims = None
    consumer_start_offset: Id | None = None
    consumer_strides: Dims = None
    producer_dtype: str | None = None
    producer_shape: Dims = None
    producer_start_offset: Id | None = None
    producer_strides: Dims = None


@dataclass
class DepTasks:
    """Columns of ``tasks[]`` in file order; ``arg_*`` rows are grouped by task."""

    task_id: U8
    manual: Bool
    kernel_ids: I4
    block_num: I8
    early: U1
    arg_count: I8
    arg_idx: I8
    arg_type: U1
    arg_tensor: I8
    arg_has_tensor: Bool
    arg_view: I8


@dataclass
class DepEdges:
    """Columns of ``edges[]`` in file order."""

    pred: U8
    succ: U8
    arg: I8
    source: U1
    flags: I8
    overlap: U1
    tensor: I8
    consumer_view: I8
    producer_view: I8


@dataclass
class RawDeps:
    """A deps.json, decoded but not indexed by task."""

    tasks: DepTasks
    edges: DepEdges
    tensors: TensorTable
    views: ViewTable
    dtypes: tuple[str, ...]
    runtime: str = ""
    """Top-level ``runtime``; "" for files without one."""


_NO_SOURCE = ""
_SOURCES = {
    "creator": int(EdgeSource.CREATOR),
    "tensormap": int(EdgeSource.TENSORMAP),
    "explicit": int(EdgeSource.EXPLICIT),
    _NO_SOURCE: int(EdgeSource.UNRECORDED),
}
_ARG_TYPES = {name.name: int(name) for name in ArgType if name != ArgType.OTHER}


def read(sections: Sections, source: str, report: Report) -> RawDeps:
    """Decode deps.json.

    Raises:
        InputError: a section is not JSON, or there is neither a list of tasks nor one of edges.
    """
    if "tasks" not in sections and "edges" not in sections:
        raise InputError(source, "", "neither tasks nor edges: not a dependency graph", "Capture it again")
    dtypes = Names()
    tensors, names = _tensors(sections, dtypes, source, report)
    views = ViewPool(dtypes)
    tasks = _tasks(sections, names, views, source, report)
    edges = _edges(sections, names, views, source, report)
    report.add("dangling_tensor", names.missed)
    runtime = small(sections.get("runtime"), source, "runtime")
    return RawDeps(
        tasks, edges, tensors, views.table(), tuple(dtypes.names), str(runtime) if runtime in ids.RUNTIMES else ""
    )


def _tensors(sections: Sections, dtypes: Names, source: str, report: Report) -> tuple[TensorTable, TensorNames]:
    rows = [
        row
        for part, _ in typed_rows(sections.get("tensors"), Tensor, "tensors", source, report, "deps.tensors")
        for row in part
    ]
    tensor_id, present = id_columns([row.tensor_id for row in rows], "tensors", report)
    report.rows("deps.tensors", 0, int((~present).sum()))
    rows = [row for row, good in zip(rows, present.tolist(), strict=True) if good]
    address, _ = id_columns([row.buffer_addr for row in rows], "tensors.buffer_addr", report)
    numel, has_numel = id_columns([row.buffer_numel for row in rows], "tensors.buffer_numel", report)
    table = TensorTable(
        tensor_id=tensor_id[present],
        buffer_addr=address,
        version=column(rows, "version").astype(np.int32),
        dtype=np.array([dtypes.index(row.dtype) for row in rows], np.int16),
        buffer_numel=np.where(has_numel & (numel < 2**63), numel, 0).astype(np.int64) - ~has_numel,
    )
    return table, TensorNames(table.tensor_id)


def _tasks(sections: Sections, names: TensorNames, views: ViewPool, source: str, report: Report) -> DepTasks:
    parts = [
        _task_columns(rows, names, views, report)
        for rows, _ in typed_rows(sections.get("tasks"), Task, "tasks", source, report, "deps.tasks")
    ] or [_task_columns([], names, views, report)]
    return DepTasks(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in DepTasks.__annotations__})


def _task_columns(rows: Sequence[Task], names: TensorNames, views: ViewPool, report: Report) -> DepTasks:
    task_id, present = id_columns([row.task_id for row in rows], "tasks", report)
    if not present.all():
        report.rows("deps.tasks", 0, int((~present).sum()))
        rows = [row for row, good in zip(rows, present.tolist(), strict=True) if good]
        task_id = task_id[present]
    args = [arg for row in rows for arg in row.args or ()]
    early = {None: EARLY_UNKNOWN, True: EARLY_YES, False: EARLY_NO}
    return DepTasks(
        task_id=task_id,
        manual=np.array([row.scope == "manual" for row in rows], np.bool_),
        kernel_ids=_kernels(rows),
        block_num=column(rows, "block_num", 1),
        early=np.array([early[row.early_dispatch] for row in rows], np.uint8),
        arg_count=np.array([len(row.args or ()) for row in rows], np.int64),
        arg_idx=column(args, "idx"),
        arg_type=_words([arg.type for arg in args], _ARG_TYPES, ArgType.OTHER, report),
        arg_tensor=names.indexes([arg.tensor_id for arg in args]),
        arg_has_tensor=np.array([arg.tensor_id is not None for arg in args], np.bool_),
        arg_view=views.indexes(
            (arg.dtype, arg.shape, arg.start_offset if arg.start_offset is not None else arg.offset, arg.strides)
            for arg in args
        ),
    )


def _kernels(rows: Sequence[Task]) -> I4:
    """Kernel ids (n, 3); slots that are not given are -1."""
    full = (-1, -1, -1)
    cells = [
        (*(row.kernel_ids or ()), *full)[:3] if row.kernel_ids is None or len(row.kernel_ids) != 3 else row.kernel_ids
        for row in rows
    ]
    return np.array(cells, np.int32).reshape(len(rows), 3)


def _edges(sections: Sections, names: TensorNames, views: ViewPool, source: str, report: Report) -> DepEdges:
    parts = [
        _edge_columns(rows, names, views, report)
        for rows, _ in typed_rows(sections.get("edges"), Edge, "edges", source, report, "deps.edges")
    ] or [_edge_columns([], names, views, report)]
    return DepEdges(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in DepEdges.__annotations__})


def _edge_columns(rows: Sequence[Edge], names: TensorNames, views: ViewPool, report: Report) -> DepEdges:
    pred, has_pred = id_columns(list(map(attrgetter("pred"), rows)), "edges", report)
    succ, has_succ = id_columns(list(map(attrgetter("succ"), rows)), "edges", report)
    both = has_pred & has_succ
    if not both.all():
        report.rows("deps.edges", 0, int((~both).sum()))
        rows = [row for row, good in zip(rows, both.tolist(), strict=True) if good]
        pred, succ = pred[both], succ[both]
    return DepEdges(
        pred=pred,
        succ=succ,
        arg=column(rows, "arg"),
        source=_sources([row.source for row in rows], report),
        flags=_flags([row.flags for row in rows]),
        overlap=_overlaps([row.overlap for row in rows]),
        tensor=names.indexes([row.tensor_id for row in rows]),
        consumer_view=views.indexes(
            map(attrgetter("consumer_dtype", "consumer_shape", "consumer_start_offset", "consumer_strides"), rows)
        ),
        producer_view=views.indexes(
            map(attrgetter("producer_dtype", "producer_shape", "producer_start_offset", "producer_strides"), rows)
        ),
    )


def _words(values: Sequence[str | None], known: dict[str, int], other: int, report: Report) -> U1:
    """Known words as their numbers, ``other`` for the rest (counted once each)."""
    counts = Counter(values)
    table: dict[Any, int] = {word: known.get(word or "", int(other)) for word in counts}
    for word, count in counts.items():
        if word not in known:
            report.add("unknown_value", count, str(word), reason=str(word)[:40])
    return np.fromiter(map(table.__getitem__, values), np.uint8, len(values))


def _sources(values: Sequence[str | None], report: Report) -> U1:
    """Sources of edges; an edge without one is not recorded, which is no unknown word."""
    return _words([_NO_SOURCE if value is None else value for value in values], _SOURCES, EdgeSource.OTHER, report)


def _flags(values: Sequence[tuple[str, ...] | None]) -> I8:
    table: dict[Any, int] = {None: -1}
    for flags in dict.fromkeys(values):
        if flags is not None:
            table[flags] = FLAG_WAIT * ("wait" in flags) | FLAG_RETAIN * ("retain" in flags)
    return np.fromiter(map(table.__getitem__, values), np.int64, len(values))


def _overlaps(values: Sequence[str | None]) -> U1:
    table = {
        word: OVERLAP_NONE if word is None else OVERLAP_COVERED if word == "covered" else OVERLAP_OTHER
        for word in dict.fromkeys(values)
    }
    return np.fromiter(map(table.__getitem__, values), np.uint8, len(values))


def _sniff(shape: Shape) -> bool:
    if "edges" in shape.lists:
        rows = shape.rows.get("edges")
        return {"pred", "succ"} <= rows if rows else bool({"tasks", "tensors"} & shape.lists) or len(shape.keys) == 1
    return "kernel_ids" in shape.rows.get("tasks", frozenset())


FORMAT = Format("deps", "deps", _sniff)
