"""The dependency graph in words and rows: who feeds a task, who uses it, through which tensors, with which arguments.

Everything here answers from the capture's own index, at once and for any size, without a picture.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.capture import FLAG_RETAIN, FLAG_WAIT, I4, ArgType, Capture, EdgeSource, TaskKind, ids
from analysis.csv_text import csv_chunks
from analysis.graph.neighbourhood import Adjacency, distances

OVERLAP_TEXT = ("", "covered", "other")


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """A task that feeds another or uses it. ``wait_us`` = start of the later minus end of the earlier, None untimed."""

    task: int
    distance: int
    edge: int
    """Edge index for a direct neighbour, -1 further away."""
    sources: tuple[str, ...]
    tensors: tuple[str, ...]
    wait_us: float | None


def neighbour_rows(
    capture: Capture, task: int, side: str, depth: int, links: Adjacency, limit: int
) -> tuple[list[NeighbourRow], int]:
    """Who feeds (``side="feeds"``) or uses (``"uses"``) a task within ``depth`` edges (-1: all)?

    Returns at most ``limit`` rows, the nearest first, and how many there are. A self edge is not a neighbour.
    """
    into = side == "feeds"
    offsets, targets, edge_of = (
        (links.in_offsets, links.in_task, links.in_edge)
        if into
        else (links.out_offsets, links.out_task, links.out_edge)
    )
    distance = distances(offsets, targets, task, depth)
    reached = np.flatnonzero(distance > 0)
    reached = reached[np.argsort(distance[reached], kind="stable")]
    direct = slice(int(offsets[task]), int(offsets[task + 1]))
    edge_to = dict(zip(targets[direct].tolist(), edge_of[direct].tolist(), strict=True))
    rows = []
    for other in reached[:limit].tolist():
        edge = edge_to.get(other, -1)
        pred, succ = (other, task) if into else (task, other)
        sources, tensors = edge_words(capture, edge) if edge >= 0 else ((), ())
        rows.append(NeighbourRow(other, int(distance[other]), edge, sources, tensors, wait_us(capture, pred, succ)))
    return rows, len(reached)


def wait_ticks(capture: Capture, pred: int, succ: int) -> int | None:
    """start(succ) - end(pred); negative is a happens-before violation; None when either has no record."""
    tasks = capture.tasks
    if not tasks.n_records[pred] or not tasks.n_records[succ]:
        return None
    return int(tasks.start_ticks[succ]) - int(tasks.end_ticks[pred])


def wait_us(capture: Capture, pred: int, succ: int) -> float | None:
    """:func:`wait_ticks` in µs."""
    ticks = wait_ticks(capture, pred, succ)
    return None if ticks is None else capture.meta.us(ticks)


def edge_words(capture: Capture, edge: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Distinct sources (creator, tensormap, explicit, other) and tensors (T0, …) of an edge's annotations."""
    rows = slice(int(capture.edges.ann_offsets[edge]), int(capture.edges.ann_offsets[edge + 1]))
    sources = [EdgeSource(int(code)).word for code in np.unique(capture.annotations.source[rows])]
    tensors = [f"T{at}" for at in np.unique(capture.annotations.tensor[rows]) if at >= 0]
    return tuple(sources), tuple(tensors)


def edge_index(capture: Capture, pred: int, succ: int) -> int:
    """Index of the edge between two dense task indexes, -1 when there is none."""
    edges = capture.edges
    lo, hi = int(edges.out_offsets[pred]), int(edges.out_offsets[pred + 1])
    at = lo + int(np.searchsorted(edges.succ[lo:hi], succ))
    return at if at < hi and int(edges.succ[at]) == succ else -1


def annotation_rows(capture: Capture, edge: int) -> list[dict[str, Any]]:
    """Why an edge exists: one row per line of deps.json.

    Keys: ``arg``, ``source``, ``flags`` (``"wait retain"``, None where the file has none), ``authoritative`` (False for
    explicit edges of files without a runtime, which are always written as wait and retain), ``overlap``, ``tensor``, ``consumer``, ``producer``.
    """
    notes = capture.annotations
    rows = []
    for at in range(int(capture.edges.ann_offsets[edge]), int(capture.edges.ann_offsets[edge + 1])):
        source = EdgeSource(int(notes.source[at]))
        rows.append(
            {
                "arg": int(notes.arg[at]),
                "source": source.word,
                "flags": flags_text(int(notes.flags[at])),
                "authoritative": source is not EdgeSource.EXPLICIT or capture.meta.deps_runtime == ids.RINGS,
                "overlap": OVERLAP_TEXT[int(notes.overlap[at])],
                "tensor": tensor_text(capture, int(notes.tensor[at])),
                "consumer": view_text(capture, int(notes.consumer_view[at])),
                "producer": view_text(capture, int(notes.producer_view[at])),
            }
        )
    return rows


def repeated_annotations(capture: Capture) -> int:
    """How many rows of deps.json ``edges[]`` say exactly what an earlier row said?"""
    notes = capture.annotations
    edge = np.repeat(np.arange(len(capture.edges)), np.diff(capture.edges.ann_offsets))
    columns = [edge, notes.arg, notes.source, notes.flags, notes.overlap, notes.tensor]
    views = [_view_keys(capture)[column] for column in (notes.consumer_view, notes.producer_view)]
    return int(pd.DataFrame(dict(enumerate([*columns, *views]))).duplicated().sum())


def _view_keys(capture: Capture) -> NDArray[np.object_]:
    """What each view says, as text; the last entry stands for no view (index -1)."""
    keys = [view_text(capture, view) for view in range(len(capture.views))]
    return np.array([*keys, None], dtype=object)


def flags_text(flags: int) -> str | None:
    """``wait``, ``retain``, both, ``none``; None where the file carries no flags."""
    if flags < 0:
        return None
    words = [word for bit, word in ((FLAG_WAIT, "wait"), (FLAG_RETAIN, "retain")) if flags & bit]
    return " ".join(words) or "none"


def tensor_text(capture: Capture, tensor: int) -> str | None:
    """``T3 FLOAT32``; None for no tensor."""
    if tensor < 0:
        return None
    dtype = int(capture.tensors.dtype[tensor])
    return f"T{tensor} {capture.meta.dtypes[dtype]}" if dtype >= 0 else f"T{tensor}"


def view_text(capture: Capture, view: int) -> str | None:
    """``FLOAT32 [16, 128] strides [128, 1] offset 0``, with what the file holds; None for no view."""
    if view < 0:
        return None
    views = capture.views
    shape = views.shape[int(views.dim_offsets[view]) : int(views.dim_offsets[view + 1])].tolist()
    strides = views.stride[int(views.stride_offsets[view]) : int(views.stride_offsets[view + 1])].tolist()
    dtype, offset = int(views.dtype[view]), int(views.start_offset[view])
    parts = [capture.meta.dtypes[dtype]] if dtype >= 0 else []
    parts += [str(shape)] if shape else []
    parts += [f"strides {strides}"] if strides else []
    parts += [f"offset {offset}"] if offset >= 0 else []
    return " ".join(parts) or None


def arg_rows(capture: Capture, task: int) -> list[dict[str, Any]]:
    """A task's arguments: ``idx``, ``direction``, ``tensor``, ``inferred``, ``dtype``, ``shape``, ``strides``, ``offset``.

    What the file does not hold is None; without a view the dtype is that of the tensor.
    """
    args, views = capture.args, capture.views
    rows = []
    for at in range(int(capture.tasks.arg_offsets[task]), int(capture.tasks.arg_offsets[task + 1])):
        view, tensor = int(args.view[at]), int(args.tensor[at])
        row: dict[str, Any] = {
            "idx": int(args.idx[at]),
            "direction": ArgType(int(args.type[at])).name,
            "tensor": f"T{tensor}" if tensor >= 0 else None,
            "inferred": bool(args.inferred[at]),
            "dtype": _dtype_name(capture, int(capture.tensors.dtype[tensor])) if tensor >= 0 else None,
            "shape": None,
            "strides": None,
            "offset": None,
        }
        if view >= 0:
            dtype, offset = int(views.dtype[view]), int(views.start_offset[view])
            strides = views.stride[int(views.stride_offsets[view]) : int(views.stride_offsets[view + 1])].tolist()
            row["dtype"] = _dtype_name(capture, dtype)
            row["shape"] = views.shape[int(views.dim_offsets[view]) : int(views.dim_offsets[view + 1])].tolist()
            row["strides"] = strides or None
            row["offset"] = offset if offset >= 0 else None
        rows.append(row)
    return rows


def _dtype_name(capture: Capture, dtype: int) -> str | None:
    return capture.meta.dtypes[dtype] if dtype >= 0 else None


EDGE_COLUMNS = (
    "pred",
    "succ",
    "pred_label",
    "succ_label",
    "pred_name",
    "succ_name",
    "sources",
    "tensors",
    "annotations",
    "wait_us",
)


def edges_csv(capture: Capture, edges: I4) -> Iterator[str]:
    """The given edges as CSV text: ids, labels, names, sources, tensors, wait. Streamed in blocks."""
    return csv_chunks(itertools.chain([EDGE_COLUMNS], (_edge_cells(capture, edge) for edge in edges.tolist())))


def _edge_cells(capture: Capture, edge: int) -> list[str | int | float | None]:
    pred, succ = int(capture.edges.pred[edge]), int(capture.edges.succ[edge])
    ends = [int(capture.tasks.task_id[task]) for task in (pred, succ)]
    sources, tensors = edge_words(capture, edge)
    wait = wait_us(capture, pred, succ)
    return [
        str(ends[0]),
        str(ends[1]),
        capture.meta.task_label(ends[0]),
        capture.meta.task_label(ends[1]),
        capture.task_name(pred),
        capture.task_name(succ),
        " ".join(sources),
        " ".join(tensors),
        int(capture.edges.ann_offsets[edge + 1] - capture.edges.ann_offsets[edge]),
        None if wait is None else round(wait, 3),
    ]


def dot(capture: Capture, edges: I4) -> Iterator[str]:
    """The whole graph with the given edges in Graphviz DOT. Streamed."""
    shapes = {TaskKind.AIC: "box", TaskKind.AIV: "ellipse", TaskKind.MIX: "hexagon", TaskKind.ALLOC: "cylinder"}
    yield "digraph tasks {\n  rankdir=LR;\n"
    for task in np.flatnonzero(capture.tasks.in_graph).tolist():
        task_id = int(capture.tasks.task_id[task])
        name = capture.task_name(task).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        shape = shapes.get(TaskKind(int(capture.tasks.kind[task])), "octagon")
        yield f'  "{task_id}" [label="{name}\\n{capture.meta.task_label(task_id)}", shape={shape}];\n'
    task_ids = capture.tasks.task_id
    for edge in edges.tolist():
        yield f'  "{int(task_ids[capture.edges.pred[edge]])}" -> "{int(task_ids[capture.edges.succ[edge]])}";\n'
    yield "}\n"
