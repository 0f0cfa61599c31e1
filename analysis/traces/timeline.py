"""A trace as items of the timeline engine: the same level-of-detail index, messages and gestures as a chip swimlane.

A tick is one ns. Item kinds are ``s`` (slice) and ``i`` (instant) with their index in the trace; a class is a name.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.timeline.items import Items, Lane
from analysis.timeline.message import lane_rows
from analysis.timeline.query import LodIndex, LodResult, build_arrays, index_from_arrays
from analysis.traces.model import TICKS_PER_US, Trace

VIEW = "trace"
KIND_LETTERS = "si"
SLICE, INSTANT = 0, 1
MAX_CLASSES = 65_000
"""More names than this share the class "other names", the rarest first."""
OTHER_NAMES = -1


def trace_items(trace: Trace) -> Items:
    """Slices and instants of all lanes, sorted as the timeline wants them; an instant is an item of length 0."""
    slices, instants = trace.slices, trace.instants
    first_track, moment_track = _tracks(trace)
    n, m = len(slices), len(instants)
    track = np.concatenate((first_track[slices.lane] + slices.row, moment_track[instants.lane])).astype(np.int32)
    start = np.concatenate((slices.start_ns, instants.time_ns))
    end = np.concatenate((slices.end_ns, instants.time_ns))
    cls, class_value = _classes(np.concatenate((slices.name, instants.name)), len(trace.names))
    kind = np.concatenate((np.full(n, SLICE, np.uint8), np.full(m, INSTANT, np.uint8)))
    index = np.concatenate((np.arange(n, dtype=np.int32), np.arange(m, dtype=np.int32)))
    order = np.lexsort((index, kind, end, start, track))
    start = start[order]
    return Items(
        lanes(trace), track[order], start, start, end[order], cls[order], kind[order], index[order],
        np.full(n + m, -1, np.int32), np.zeros(len(class_value), np.uint8), class_value,
    )  # fmt: skip


def _tracks(trace: Trace) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per lane its first track, and the track of its instants: a row of their own below the slices.

    Items of one track never hold each other, so that what is under a pointer is found by start.
    """
    own = np.asarray([lane.rows if lane.slices else 0 for lane in trace.lanes], np.int64)
    some = np.bincount(trace.instants.lane, minlength=len(trace.lanes)) > 0
    rows = np.maximum(own + some, 1)
    first = np.concatenate(([0], np.cumsum(rows)))[:-1].astype(np.int64)
    return first, first + own


def lanes(trace: Trace) -> tuple[Lane, ...]:
    """The lanes, grouped by process; their labels name it where there are several."""
    moments = np.bincount(trace.instants.lane, minlength=len(trace.lanes))
    first, moment = _tracks(trace)
    several = len({lane.process for lane in trace.lanes}) > 1
    return tuple(
        Lane(
            lane.key,
            f"{lane.label} · {trace.processes[lane.process].name}" if several else lane.label,
            trace.processes[lane.process].name,
            i,
            int(first[i]),
            max(int(moment[i] - first[i]) + int(moments[i] > 0), 1),
            lane.slices + int(moments[i]),
        )
        for i, lane in enumerate(trace.lanes)
    )


def moments(index: LodIndex) -> NDArray[np.int64]:
    """Positions of the instants, which have no length and would never be wide enough for a bar."""
    return np.flatnonzero(index.kind == INSTANT)


def with_moments(index: LodIndex, at: NDArray[np.int64], got: LodResult, t0: int, t1: int, most: int) -> LodResult:
    """``got`` with the instants of its window as bars too, unless there are more than ``most`` (they stay density).

    Args:
        at: :func:`moments` of ``index``.
    """
    start = index.start_ticks[at]
    inside = at[(start >= t0) & (start < t1)]
    inside = inside[np.isin(index.track_of(inside), got.tracks)]
    if not len(inside) or len(inside) > most:
        return got
    return replace(got, bars=np.union1d(got.bars, inside))


def _classes(name: NDArray[np.int32], n_names: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    counts = np.bincount(name, minlength=n_names)
    used = np.flatnonzero(counts)
    if len(used) > MAX_CLASSES:
        used = np.sort(used[np.argsort(-counts[used], kind="stable")[:MAX_CLASSES]])
    cls = np.full(n_names, len(used), np.int32)
    cls[used] = np.arange(len(used))
    value = np.append(used, OTHER_NAMES) if len(used) < int((counts > 0).sum()) else used
    return cls[name], value.astype(np.int32)


def build_trace_index(trace: Trace) -> LodIndex:
    """The index of a trace, in memory; through a store use :func:`stored_arrays` and :func:`index_from_store`."""
    items = trace_items(trace)
    return index_from_arrays(VIEW, items.lanes, build_arrays(items))


def stored_arrays(trace: Trace) -> dict[str, NDArray[Any]]:
    """The arrays of the index plus its lanes as JSON bytes."""
    items = trace_items(trace)
    text = json.dumps([asdict(lane) for lane in items.lanes])
    return build_arrays(items) | {"lanes": np.frombuffer(text.encode(), np.uint8)}


def index_from_store(arrays: dict[str, NDArray[Any]]) -> LodIndex:
    """The index over what :func:`stored_arrays` made."""
    rows = json.loads(np.asarray(arrays["lanes"]).tobytes())
    return index_from_arrays(VIEW, tuple(Lane(**row) for row in rows), arrays)


def class_name(trace: Trace, value: int) -> str:
    """What class ``value`` is called."""
    return "other names" if value == OTHER_NAMES else trace.names[value]


def trace_view_info(trace: Trace, index: LodIndex) -> dict[str, Any]:
    """What a page must know before it draws: as ``timeline.message.view_info`` gives it for a capture.

    Besides: ``zero_us`` (text), ``events_in``, ``shown``, ``left_out``, ``counters`` (process, name, series, samples).
    """
    first, last = index.span_ticks
    return {
        "lanes": lane_rows(index),
        "classes": [
            {"name": class_name(trace, value), "kind": 0, "value": value} for value in index.class_value.tolist()
        ],
        "span": [first, last],
        "items": len(index),
        "graph_tasks": [],
        "ticks_per_us": TICKS_PER_US,
        "overview": [round(float(value), 4) for value in index.overview],
        "overview_peak": float(index.overview.max(initial=0.0)),
        "views": {VIEW: ""},
        "zero_us": trace.zero_us,
        "events_in": trace.events_in,
        "shown": dict(trace.shown),
        "left_out": dict(trace.left_out),
        "counters": [
            {"process": trace.processes[c.process].name, "name": c.name, "series": c.series, "samples": c.samples}
            for c in trace.counters
        ],
    }


def counter_steps(
    trace: Trace, counter: int, t0_ns: int, t1_ns: int, max_points: int = 2000
) -> dict[str, NDArray[Any]]:
    """One counter series in a window as steps: from each time on the value holds.

    With more samples than ``max_points`` each of so many equal cells gives its last value and its ``low`` and ``high``;
    ``exact`` (one bool) says which. The value before the window is the first point.

    Raises:
        ValueError: the window is empty or the series does not exist (a bug in the caller).
    """
    if t1_ns <= t0_ns or not 0 <= counter < len(trace.counters):
        raise ValueError("a window needs t0 < t1 and a counter that exists")
    series = trace.counters[counter]
    part = slice(series.first, series.first + series.samples)
    time, value = trace.sample_ns[part], trace.sample_value[part]
    low, high = np.searchsorted(time, [t0_ns, t1_ns])
    low = max(int(low) - 1, 0)
    time, value = time[low:high], value[low:high]
    if len(time) <= max_points:
        return {"time_ns": time, "value": value, "low": value, "high": value, "exact": np.array([True])}
    cell = np.clip((time - t0_ns) * max_points // (t1_ns - t0_ns), 0, max_points - 1)
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    last = np.append(first[1:], len(cell)) - 1
    return {
        "time_ns": time[first], "value": value[last], "low": np.minimum.reduceat(value, first),
        "high": np.maximum.reduceat(value, first), "exact": np.array([False]),
    }  # fmt: skip
