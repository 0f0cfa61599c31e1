"""What is selected, searched, measured or listed of a trace? Questions about its items on the timeline.

A selection is ``item:s12`` (slice) or ``item:i3`` (instant), or ``span:P.L.N``: all slices of process P, lane L and name N,
each a number or -1 for any.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, Bool
from analysis.errors import NotFoundError
from analysis.results import Column, Table
from analysis.selection import matching_names
from analysis.timeline.find import item_name, touching
from analysis.timeline.query import LodIndex
from analysis.traces.model import TICKS_PER_US, Trace
from analysis.traces.timeline import INSTANT, KIND_LETTERS, SLICE, class_name

_ITEM = re.compile(r"^item:([si])(\d{1,10})$")
_SPANS = re.compile(r"^span:(-?\d{1,10})\.(-?\d{1,10})\.(-?\d{1,10})$")
CSV_COLUMNS = (
    Column("item", "text", "s (slice) or i (instant) and its number."),
    Column("process", "text", "Process."),
    Column("lane", "text", "Thread or lane."),
    Column("name", "text", "Name."),
    Column("category", "text", "Category."),
    Column("depth", "index", "Spans around it, -1 for an instant."),
    Column("start_us", "us", "Start on the trace's axis."),
    Column("duration_us", "us", "Length."),
    Column("self_us", "us", "Length without what the spans inside cover."),
)


def span_spec(process: int, lane: int, name: int) -> str:
    """The selection of all slices of a process, lane and name."""
    return f"span:{process}.{lane}.{name}"


def item_at(trace: Trace, index: LodIndex, spec: str) -> int:
    """Position of the one item that ``item:…`` names.

    Raises:
        NotFoundError: the trace has no such item.
    """
    found = _ITEM.match(spec)
    at = index.position(KIND_LETTERS.index(found[1]), int(found[2])) if found else -1
    if at < 0:
        raise NotFoundError(f"{trace.label} holds no item {spec!r}; the file may have changed")
    return at


def selected(trace: Trace, index: LodIndex, spec: str, text: str = "") -> Bool:
    """Mask of the items that a selection or the highlight ``search`` (with ``text``) names.

    Raises:
        NotFoundError: it names nothing.
    """
    if spec == "search":
        return matching(trace, index, text)
    if spec.startswith("item:"):
        mask = np.zeros(len(index), bool)
        mask[item_at(trace, index, spec)] = True
        return mask
    found = _SPANS.match(spec)
    if not found:
        raise NotFoundError(f"{spec!r} names nothing of a trace")
    process, lane, name = (int(part) for part in found.groups())
    slices = trace.slices
    keep = np.ones(len(slices), bool)
    if process >= 0:
        keep &= np.asarray([each.process for each in trace.lanes], np.int64)[slices.lane] == process
    if lane >= 0:
        keep &= slices.lane == lane
    if name >= 0:
        keep &= slices.name == name
    if not keep.any():
        raise NotFoundError(f"{trace.label} holds no such spans; the file may have changed")
    chosen: Bool = (index.kind == SLICE) & keep[np.where(index.kind == SLICE, index.index, 0)]
    return chosen


def matching(trace: Trace, index: LodIndex, text: str) -> Bool:
    """Items whose name a search text finds."""
    if not text.strip() or not len(index):
        return np.zeros(len(index), bool)
    return matching_names(text, trace.names)[_names(trace, index)]


def _names(trace: Trace, index: LodIndex, at: Any = slice(None)) -> NDArray[np.int32]:
    """Number of the name of each item at the positions ``at``."""
    kind, number = index.kind[at], index.index[at]
    names: NDArray[np.int32] = _pick(kind, number, trace.slices.name, trace.instants.name)
    return names


def _pick(kind: Any, number: Any, of_slices: Any, of_instants: Any) -> Any:
    out = np.zeros(len(kind), of_slices.dtype)
    is_slice = kind == SLICE
    out[is_slice] = of_slices[number[is_slice]]
    if len(of_instants):
        out[~is_slice] = of_instants[number[~is_slice]]
    return out


def name_of(trace: Trace, index: LodIndex, position: int) -> str:
    """Name of one item."""
    return trace.names[int(_names(trace, index, slice(position, position + 1))[0])]


def class_names(trace: Trace, index: LodIndex) -> Callable[[int], str]:
    """Class number → what it is called."""
    return lambda cls: class_name(trace, int(index.class_value[cls]))


@dataclass(frozen=True, slots=True)
class FlowLines:
    """Arrows at a slice: positions of their ends in the index, and 0 for those that come in, 1 for those that go out."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    from_ns: NDArray[np.int64]
    to_ns: NDArray[np.int64]
    side: NDArray[np.int64]


def flow_lines(trace: Trace, index: LodIndex, position: int) -> FlowLines:
    """The arrows of the item at ``position``; none for an instant."""
    none = np.empty(0, np.int64)
    if index.kind[position] == INSTANT:
        return FlowLines(none, none, none, none, none)
    own = int(index.index[position])
    at = np.unique(trace.flows.of(own))
    place = np.full(len(trace.slices), -1, np.int64)
    slices = np.flatnonzero(index.kind == SLICE)
    place[index.index[slices]] = slices
    source, target = trace.flows.source[at], trace.flows.target[at]
    return FlowLines(
        place[source], place[target], trace.flows.from_ns[at], trace.flows.to_ns[at], (source == own).astype(np.int64)
    )


@dataclass(frozen=True, slots=True)
class RangeSpans:
    """What a range of time holds: spans that touch it, whole ones, and per name count and time inside, longest first."""

    spans: int
    whole: int
    instants: int
    names: tuple[tuple[str, int, float], ...]


def range_spans(trace: Trace, t0_ns: int, t1_ns: int) -> RangeSpans:
    """Spans within a range; nested spans count each."""
    slices = trace.slices
    at = np.flatnonzero((slices.start_ns < t1_ns) & (slices.end_ns > t0_ns))
    inside = np.minimum(slices.end_ns[at], t1_ns) - np.maximum(slices.start_ns[at], t0_ns)
    whole = (slices.start_ns[at] >= t0_ns) & (slices.end_ns[at] <= t1_ns)
    counts = np.bincount(slices.name[at], minlength=len(trace.names))
    times = np.bincount(slices.name[at], weights=inside, minlength=len(trace.names)) / TICKS_PER_US
    order = [int(i) for i in np.lexsort((-counts, -times)) if counts[i]]
    moments = int(((trace.instants.time_ns >= t0_ns) & (trace.instants.time_ns < t1_ns)).sum())
    names = tuple((trace.names[i], int(counts[i]), float(times[i])) for i in order)
    return RangeSpans(len(at), int(whole.sum()), moments, names)


def visible_table(trace: Trace, index: LodIndex, tracks: I4, t0: int, t1: int) -> Table:
    """Every item of ``tracks`` that touches ``[t0, t1)``: the CSV of what is in view, lanes from top to bottom."""
    parts = [touching(index, int(track), t0, t1) for track in tracks]
    at = np.concatenate(parts) if parts else np.empty(0, np.int64)
    kind, number = index.kind[at], index.index[at]
    lane = _pick(kind, number, trace.slices.lane, trace.instants.lane).tolist()
    category = _pick(kind, number, trace.slices.category, trace.instants.category).tolist()
    depth = _pick(kind, number, trace.slices.depth, np.full(len(trace.instants), -1, np.int32))
    own = _pick(kind, number, trace.slices.self_ns, np.zeros(len(trace.instants), np.int64))
    data: dict[str, Any] = {
        "item": [item_name(index, int(p), KIND_LETTERS) for p in at],
        "process": [trace.processes[trace.lanes[i].process].name for i in lane],
        "lane": [trace.lanes[i].label for i in lane],
        "name": [trace.names[i] for i in _names(trace, index, at).tolist()],
        "category": [trace.categories[i] if i >= 0 else None for i in category],
        "depth": depth.astype(np.int64),
        "start_us": index.start_ticks[at] / TICKS_PER_US,
        "duration_us": (index.end_ticks[at] - index.start_ticks[at]) / TICKS_PER_US,
        "self_us": own / TICKS_PER_US,
    }
    return Table(CSV_COLUMNS, data)
