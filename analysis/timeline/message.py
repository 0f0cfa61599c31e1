"""How is an answer of the timeline sent? One small binary message that a browser reads without parsing numbers.

Layout: ``<u4 length of header><header JSON, padded><arrays>``; the header's ``arrays`` lists name, dtype, offset
(from the end of the header) and length of each; every array starts at a multiple of 8. Times of bars are unsigned
32-bit ticks after ``base``, shifted right by ``shift`` where a window is longer than that.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import Capture, TaskKind
from analysis.timeline.items import available_views, class_name
from analysis.timeline.kernels import NO_CLASS
from analysis.timeline.query import LodIndex, LodResult

_KINDS = {"uint8": "u1", "uint16": "u2", "uint32": "u4", "float64": "f8"}


MARK_BINS = 512
"""Parts of the span in which matches are marked above the lanes."""
LABEL_PX = 26
"""Bars from this width on may carry a label."""


def pack(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    """The message of ``header`` and ``arrays`` (unsigned integers or float64)."""
    table, chunks, offset = [], [], 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        table.append({"name": name, "dtype": _KINDS[str(array.dtype)], "offset": offset, "length": array.size})
        padding = -len(data) % 8
        chunks += [data, b"\0" * padding]
        offset += len(data) + padding
    text = json.dumps({**header, "arrays": table}, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([len(text).to_bytes(4, "little"), text, *chunks])


def window_message(index: LodIndex, got: LodResult, capture: Capture | None, label_ticks: int) -> bytes:
    """The message for one query; bars of at least ``label_ticks`` carry their 64-bit task id for labels.

    Without a capture (a trace) no bar has a task.

    Arrays: ``cls``, ``busy`` (share × 255, at least 1 where something is) per track and cell; ``bar_start``,
    ``bar_length``, ``bar_cls``, ``bar_kind``, ``bar_index``, ``bar_offsets`` (per track); ``setup_bar`` and
    ``setup_length`` for bars with a setup part of a pixel or more; ``label_bar`` and ``label_task`` (two u4 each: low, high).
    """
    bars = got.bars
    start, end = index.start_ticks[bars], index.end_ticks[bars]
    base = int(start.min()) if len(bars) else 0
    longest = int(end.max() if len(bars) else 0) - base
    shift = max(0, longest.bit_length() - 32)
    setup = index.middle_ticks[bars] - start
    with_setup = np.flatnonzero(setup * LABEL_PX >= max(label_ticks, 1))
    task = index.task[bars]
    labelled = np.flatnonzero((end - start >= label_ticks) & (task >= 0) & (capture is not None))
    ids = capture.tasks.task_id[task[labelled]] if capture is not None else np.empty(0, np.uint64)
    busy = _busy_share(got)
    small = len(index.class_kind) < 255
    cls = np.where(got.cls == NO_CLASS, 255, got.cls).astype(np.uint8) if small else got.cls
    kinds = index.kind[bars]
    header = {
        "level": got.level, "cell0": got.cell0, "cells": got.cls.shape[1], "tracks": got.tracks.tolist(),
        "base": base, "shift": shift, "n_shown": got.n_shown, "n_total": got.n_total, "bar_ticks": got.bar_ticks,
        "wanted_bar_ticks": got.wanted_bar_ticks, "none": 255 if small else NO_CLASS,
    }  # fmt: skip
    arrays = {
        "cls": cls,
        "busy": busy,
        "bar_offsets": np.searchsorted(bars, index.offsets[_ends(got)]).astype(np.uint32),
        "bar_start": ((start - base) >> shift).astype(np.uint32),
        "bar_length": ((end - start) >> shift).astype(np.uint32),
        "bar_cls": index.cls[bars].astype(np.uint16),
        "bar_kind": kinds if len(np.unique(kinds)) > 1 else kinds[:1],
        "bar_index": index.index[bars].astype(np.uint32),
        "setup_bar": with_setup.astype(np.uint32),
        "setup_length": (setup[with_setup] >> shift).astype(np.uint32),
        "label_bar": labelled.astype(np.uint32),
        "label_low": (ids & np.uint64(0xFFFFFFFF)).astype(np.uint32),
        "label_high": (ids >> np.uint64(32)).astype(np.uint32),
    }
    return pack(header, arrays)


def view_info(capture: Capture, index: LodIndex) -> dict[str, Any]:
    """What a page must know of a view before it draws: lanes, classes with colours, span, overview and clock.

    Each lane carries ``classes``, the classes that occur in it; ``graph_tasks`` are the local ids of outer graph tasks,
    by which the browser calls their nodes. Ticks stay below 2**53 in any real capture and are
    plain JSON numbers; 64-bit ids never occur here.
    """
    first, last = index.span_ticks
    peak = float(index.overview.max(initial=0.0))
    return {
        "lanes": lane_rows(index),
        "classes": [
            {"name": class_name(capture, int(kind), int(value)), "kind": int(kind), "value": int(value)}
            for kind, value in zip(index.class_kind, index.class_value, strict=True)
        ],
        "span": [first, last],
        "items": len(index),
        "graph_tasks": (capture.tasks.task_id[capture.tasks.kind == TaskKind.GRAPH] & np.uint64(0xFFFFFFFF)).tolist(),
        "ticks_per_us": capture.meta.ticks_per_us,
        "overview": [round(float(value), 4) for value in index.overview],
        "overview_peak": peak,
        "views": {view.value: reason for view, reason in available_views(capture).items()},
    }


def lane_rows(index: LodIndex) -> list[dict[str, Any]]:
    """The lanes as JSON objects, each with ``classes``, the classes that occur in it."""
    lane_of_track = np.repeat(np.arange(len(index.lanes)), [lane.rows for lane in index.lanes])
    classes: list[dict[int, None]] = [{} for _ in index.lanes]
    for value in index.track_classes.tolist():
        classes[int(lane_of_track[value >> 16])][value & 0xFFFF] = None
    return [{**asdict(lane), "classes": sorted(classes[i])} for i, lane in enumerate(index.lanes)]


def _ends(got: LodResult) -> NDArray[Any]:
    """Index into ``offsets`` for the first bar of each track, then the end of the last; tracks must ascend."""
    return np.stack([got.tracks, got.tracks + 1], axis=1).ravel()


def _busy_share(got: LodResult) -> NDArray[np.uint8]:
    share = np.minimum((got.busy_ticks * 255) >> got.level, 255)
    return np.where((got.count > 0) & (share == 0), 1, share).astype(np.uint8)
