"""Spans, instants, counters and flows put on lanes, and every event accounted for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.traces import scan_kernel as k
from analysis.traces.codes import codes, letters
from analysis.traces.model import (
    CounterSeries,
    Flows,
    Instants,
    Process,
    Slices,
    Trace,
    TraceLane,
    shown_name,
)
from analysis.traces.nest_kernel import chain, enclosing, nest
from analysis.traces.rules import LEFT_OUT, PUT_RIGHT, Fate, Finding, Repair
from analysis.traces.scan import RawEvents

NO_NAME = "(no name)"
_EXAMPLE_BYTES = 200


@dataclass
class Marks:
    """Repairs: how many events, and the first one."""

    counts: dict[Repair, tuple[int, int]] = field(default_factory=dict)

    def count(self, repair: Repair, events: NDArray[Any], number: int | None = None) -> None:
        """Add events to a repair (``number`` where not each is known)."""
        total = len(events) if number is None else number
        if total:
            before, first = self.counts.get(repair, (0, -1))
            self.counts[repair] = (before + total, first if first >= 0 else int(events[0]) if len(events) else -1)


@dataclass
class Span:
    """Spans before they are sorted: begin event, end event or -1, times, marks."""

    event: NDArray[np.int64]
    ending: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    mark: NDArray[np.uint8]


@dataclass
class Parts:
    """Everything :func:`assemble` needs."""

    raw: RawEvents
    label: str
    column: dict[str, NDArray[Any]]
    texts: list[str]
    canonical: NDArray[np.int32]
    fate: NDArray[np.uint8]
    time: NDArray[np.int64]
    zero_us: str
    lane: NDArray[np.int64]
    lane_keys: NDArray[np.int64]
    spans: Span
    marks: Marks


@dataclass
class _Names:
    """Process and thread names and order from the metadata events."""

    process: dict[str, str] = field(default_factory=dict)
    thread: dict[tuple[str, str], str] = field(default_factory=dict)
    process_order: dict[str, float] = field(default_factory=dict)
    thread_order: dict[tuple[str, str], float] = field(default_factory=dict)


def assemble(parts: Parts) -> Trace:
    """The trace."""
    names, categories = _Numbers(parts.texts), _Numbers(parts.texts)
    order_of, processes, lanes = _lanes(parts)
    lane = order_of[parts.lane] if len(parts.lane) else parts.lane
    slices, crossing = _slices(parts, lane, names, categories)
    parts.marks.count(Repair.CROSSING, np.empty(0, np.int64), crossing)
    bounds = np.searchsorted(slices.lane, np.arange(len(lanes) + 1))
    instants = _instants(parts, lane, names, categories)
    flows = _flows(parts, lane, bounds, slices, names)
    counters, sample_ns, sample_value = _counters(parts, processes, lane, lanes)
    done, track = [], 0
    for i, row in enumerate(lanes):
        low, high = int(bounds[i]), int(bounds[i + 1])
        rows = int(slices.row[low:high].max(initial=0)) + 1
        done.append(TraceLane(*row, track, rows, low, high - low))
        track += rows
    shown, left_out = _accounts(parts.fate)
    ends = [int(slices.end_ns.max(initial=0)), int(instants.time_ns.max(initial=0)), int(sample_ns.max(initial=0))]
    return Trace(
        label=parts.label, zero_us=parts.zero_us, span_ns=max(ends), events_in=len(parts.raw), shown=shown,
        left_out=left_out, findings=tuple(_findings(parts)), names=tuple(names.texts()),
        categories=tuple(categories.texts()), processes=tuple(processes), lanes=tuple(done), slices=slices,
        instants=instants, counters=tuple(counters), sample_ns=sample_ns, sample_value=sample_value, flows=flows,
        metadata={key: value for key, value in parts.raw.sections.items() if key != "traceEvents"},
        source=parts.raw.source,
    )  # fmt: skip


class _Numbers:
    """Texts of one column numbered densely, in order of first use."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._number = np.full(len(texts) + 1, -1, np.int32)
        self._used: list[int] = []

    def of(self, column: NDArray[Any]) -> NDArray[np.int32]:
        """Numbers of a column of text numbers (-1: no text)."""
        seen = np.zeros(len(self._number), bool)
        seen[column] = True
        new = np.flatnonzero(seen & (self._number < 0))
        self._number[new] = np.arange(len(self._used), len(self._used) + len(new))
        self._used += new.tolist()
        return np.asarray(self._number[column], np.int32)

    def texts(self) -> list[str]:
        """The texts by number."""
        return [self._texts[i] if i < len(self._texts) else NO_NAME for i in self._used]


def _text(value: Any) -> str:
    return str(value) if not isinstance(value, float) or not value.is_integer() else str(int(value))


def _metadata_names(parts: Parts) -> _Names:
    out = _Names()
    for _, event in parts.raw.metadata_events:
        args = event.get("args")
        if not isinstance(args, dict):
            continue
        pid, tid = (_text(event[key]) if event.get(key) is not None else "" for key in ("pid", "tid"))
        name, order = args.get("name"), args.get("sort_index")
        match event.get("name"):
            case "process_name" if name is not None:
                out.process[pid] = str(name)
            case "thread_name" if name is not None:
                out.thread[pid, tid] = str(name)
            case "process_sort_index" if isinstance(order, int):
                out.process_order[pid] = order
            case "thread_sort_index" if isinstance(order, int):
                out.thread_order[pid, tid] = order
    return out


def _natural(text: str) -> tuple[int, int, str]:
    return (0, int(text), "") if text.lstrip("-").isdecimal() and len(text) < 40 else (1, 0, text)


def _lanes(
    parts: Parts,
) -> tuple[NDArray[np.int64], list[Process], list[tuple[str, str, int, str, str]]]:
    """Lanes in the order they are shown: by process, its threads, then its asynchronous spans.

    Only lanes with a span or an instant are lanes; named threads without any are lanes too.
    """
    named = _metadata_names(parts)

    def text(number: int) -> str:
        return parts.texts[number] if number >= 0 else ""

    drawn = np.isin(parts.fate, [Fate.SLICE, Fate.PAIR, Fate.INSTANT])
    used = np.zeros(len(parts.lane_keys) + 1, bool)
    used[parts.lane[drawn]] = True
    found: dict[tuple[str, int, str], list[int]] = {}
    for i, (pid, side, thread) in enumerate(parts.lane_keys.tolist()):
        if used[i]:
            found.setdefault((text(pid), side, text(thread)), []).append(i)
    for pid, tid in named.thread:
        found.setdefault((pid, 0, tid), [])
    counter_pids = {text(int(p)) for p in np.unique(parts.column["pid"][parts.fate == Fate.COUNTER])}
    pids = {pid for pid, _, _ in found} | counter_pids | set(named.process)
    pids_sorted = sorted(pids, key=lambda p: (named.process_order.get(p, 0), _natural(p)))
    processes = [
        Process(p, named.process.get(p, f"process {p}" if p else "no process"), p in named.process) for p in pids_sorted
    ]
    number = {p: i for i, p in enumerate(pids_sorted)}
    rows: list[tuple[str, str, int, str, str]] = []
    order_of = np.full(len(parts.lane_keys) + 1, -1, np.int64)
    keys = sorted(found, key=lambda f: (number[f[0]], f[1], named.thread_order.get((f[0], f[2]), 0), _natural(f[2])))
    for pid, side, thread in keys:
        order_of[found[pid, side, thread]] = len(rows)
        if side:
            rows.append((f"{pid}/async/{thread}", f"async {thread}".rstrip(), number[pid], thread, "async"))
        else:
            label = named.thread.get((pid, thread), f"thread {thread}" if thread else "no thread")
            rows.append((f"{pid}/{thread}", label, number[pid], thread, "thread"))
    return order_of[: len(parts.lane_keys)], processes, rows


def _slices(parts: Parts, lane: NDArray[np.int64], names: _Numbers, categories: _Numbers) -> tuple[Slices, int]:
    spans, column = parts.spans, parts.column
    on = lane[spans.event]
    order = np.lexsort((spans.event, -spans.end, spans.start, on))
    event, ending = spans.event[order], spans.ending[order]
    start, end, of_lane = spans.start[order], spans.end[order], on[order].astype(np.int32)
    n = len(order)
    parent, depth, row = (np.empty(n, np.int32) for _ in range(3))
    self_ns = np.empty(n, np.int64)
    crossing = nest(of_lane, start, end, parent, depth, row, self_ns)
    closed = ending >= 0
    return Slices(
        start, end, self_ns, names.of(column["name"][event]), categories.of(column["category"][event]), of_lane, row, depth,
        parent, spans.mark[order], column["offset"][event], column["size"][event],
        np.where(closed, column["offset"][ending], -1) if n else np.empty(0, np.int64),
        np.where(closed, column["size"][ending], 0).astype(np.int32) if n else np.empty(0, np.int32),
    ), int(crossing)  # fmt: skip


def _instants(parts: Parts, lane: NDArray[np.int64], names: _Numbers, categories: _Numbers) -> Instants:
    at = np.flatnonzero(parts.fate == Fate.INSTANT)
    at = at[np.lexsort((at, parts.time[at], lane[at]))]
    column = parts.column
    return Instants(
        parts.time[at], names.of(column["name"][at]), categories.of(column["category"][at]), lane[at].astype(np.int32),
        column["offset"][at], column["size"][at],
    )  # fmt: skip


def _flows(parts: Parts, lane: NDArray[np.int64], bounds: NDArray[Any], slices: Slices, names: _Numbers) -> Flows:
    column, fate, time = parts.column, parts.fate, parts.time
    at = np.flatnonzero((fate == 0) & np.isin(column["phase"], letters("stf")))
    key, _ = codes(column["category"][at], column["name"][at], column["ident"][at])
    rank = np.select([column["phase"][at] == ord("s"), column["phase"][at] == ord("t")], [0, 1], 2)
    order = np.lexsort((at, rank, time[at], key))
    at, key, rank = at[order], key[order], rank[order]
    before = np.empty(len(at), np.int64)
    again = chain(key, rank, before)
    parts.marks.count(Repair.DUPLICATE_FLOW, np.empty(0, np.int64), again)
    bound = np.full(len(at), -1, np.int64)
    on = lane[at]
    has_lane = on >= 0
    following = (rank == 2) & (column["flags"][at] & k.ENCLOSING == 0)
    found = np.empty(int(has_lane.sum()), np.int64)
    enclosing(
        bounds,
        slices.start_ns,
        slices.end_ns,
        slices.parent,
        on[has_lane],
        time[at][has_lane],
        following[has_lane],
        found,
    )
    bound[has_lane] = found
    good = (before >= 0) & (bound >= 0)
    good[good] = bound[before[good]] >= 0
    used = np.zeros(len(at), bool)
    used[good] = True
    used[before[good]] = True
    fate[at] = np.where(used, Fate.FLOW, Fate.FLOW_WITHOUT_PARTNER)
    to, start = np.flatnonzero(good), before[good]
    source, target = bound[start].astype(np.int32), bound[to].astype(np.int32)
    by = np.lexsort((target, source))
    source, target = source[by], target[by]
    return Flows(
        source, target, time[at[start]][by], time[at[to]][by], names.of(column["name"][at[start]][by]),
        np.argsort(target, kind="stable").astype(np.int32),
    )  # fmt: skip


def _counters(
    parts: Parts, processes: list[Process], lane: NDArray[np.int64], lanes: Any
) -> tuple[list[CounterSeries], NDArray[np.int64], NDArray[np.float64]]:
    raw, column = parts.raw, parts.column
    shown = parts.fate[raw.sample_event] == Fate.COUNTER
    event, value = raw.sample_event[shown], raw.sample_value[shown]
    series = parts.canonical[raw.sample_series[shown]] if shown.any() else np.empty(0, np.int32)
    key, keys = codes(column["pid"][event], column["name"][event], series)
    order = np.lexsort((event, parts.time[event], key))
    event, value, key = event[order], value[order], key[order]
    bounds = np.searchsorted(key, np.arange(len(keys) + 1))
    number = {process.pid: i for i, process in enumerate(processes)}

    def text(number: int, other: str) -> str:
        return parts.texts[number] if number >= 0 else other

    rows = [
        CounterSeries(
            number[text(pid, "")], text(name, NO_NAME), text(one, ""), int(bounds[i]), int(bounds[i + 1] - bounds[i])
        )
        for i, (pid, name, one) in enumerate(keys.tolist())
    ]
    return rows, parts.time[event], value


def _accounts(fate: NDArray[np.uint8]) -> tuple[dict[str, int], dict[str, int]]:
    counts = np.bincount(fate, minlength=32).tolist()
    assert not counts[0], "every event has a fate"
    shown = {shown_name(x): counts[x] for x in Fate if x <= Fate.METADATA and counts[x]}
    return shown, {shown_name(x): counts[x] for x in Fate if x > Fate.METADATA and counts[x]}


def _findings(parts: Parts) -> list[Finding]:
    raw, column = parts.raw, parts.column
    flags = raw.columns["flags"]
    shown = parts.fate <= Fate.METADATA
    marks = parts.marks
    for repair, flag in (
        (Repair.TIME_AS_TEXT, k.TIME_TEXT), (Repair.LONG_NAME, k.LONG_NAME), (Repair.COUNTER_VALUE, k.BAD_VALUE),
    ):  # fmt: skip
        marks.count(repair, np.flatnonzero(shown & (flags & flag != 0)))
    drawn = np.isin(parts.fate, [Fate.SLICE, Fate.INSTANT, Fate.COUNTER]) | (
        (parts.fate == Fate.PAIR) & np.isin(column["phase"], [ord(c) for c in "BbS"])
    )
    marks.count(Repair.NO_NAME, np.flatnonzero(drawn & ((column["name"] < 0) | (flags & k.BAD_NAME != 0))))
    for kind, repair in (("bad_utf8", Repair.BAD_UTF8), ("bad_escape", Repair.BAD_ESCAPE)):
        bad = [number for number, wrong in raw.text_damage.items() if wrong == kind]
        if bad:
            hit = np.isin(raw.columns["name"], bad) | np.isin(raw.columns["category"], bad)
            marks.count(repair, np.flatnonzero(shown & hit))
    out = []
    for fate, text in LEFT_OUT.items():
        at = np.flatnonzero(parts.fate == fate)
        if len(at):
            out.append(Finding(shown_name(fate), "left_out", text, len(at), *_example(parts, int(at[0]))))
    for repair, text in PUT_RIGHT.items():
        if repair in marks.counts:
            number, first = marks.counts[repair]
            out.append(Finding(repair.value, "repaired", text, number, *_example(parts, first)))
    if not raw.list_closed:
        out.append(
            Finding(
                "list_not_closed",
                "note",
                "The file ends before its list of events does; all events up to there are read.",
                0,
            )
        )
    if raw.damage:
        out.append(Finding("gzip_damaged", "note", f"{raw.damage}; everything before is read.".capitalize(), 0))
    for key, size in raw.skipped_sections.items():
        out.append(Finding("section_not_read", "note", f"Top-level key {key[:80]!r} ({size:,} bytes) is not read.", 0))
    return out


def _example(parts: Parts, event: int) -> tuple[str, int]:
    if event < 0:
        return "", -1
    offset, size = int(parts.raw.columns["offset"][event]), int(parts.raw.columns["size"][event])
    return parts.raw.source.read(offset, min(size, _EXAMPLE_BYTES)).decode("utf-8", "replace"), offset
