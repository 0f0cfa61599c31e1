"""From raw events to a trace: what is shown where, and what became of the rest (:mod:`analysis.traces.rules`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.traces import scan_kernel as k
from analysis.traces.assemble import Marks, Parts, Span, assemble
from analysis.traces.codes import codes, letters
from analysis.traces.model import NO_LENGTH, OPEN, Trace
from analysis.traces.nest_kernel import pair
from analysis.traces.rules import Fate, Repair
from analysis.traces.scan import Progress, RawEvents, scan_file

I8 = NDArray[np.int64]
_DAY_US = 86_400_000_000
_FAR_US = (1 << 52) // 1000
"""Longest span that keeps its ns below 2^52, half of what a browser's number holds."""
_THREAD, _ASYNC = 0, 1
_BEGIN, _COMPLETE, _ASYNC_SIDE = "Bb", "X", "bneSTpF"


def open_trace(path: str | Path, progress: Progress | None = None) -> Trace:
    """What is in a Chrome trace (object or bare list, ``.json`` or ``.json.gz``, cut or damaged)?

    Args:
        path: the file.
        progress: called with (bytes read, bytes of the file) every 8 MB; raise from it to cancel.

    Raises:
        InputError: not readable, or no list of trace events in it.
        LimitError: gzip expands beyond 8 GB.
    """
    return build(scan_file(Path(path), progress), Path(path).name)


def build(raw: RawEvents, label: str) -> Trace:
    """The trace of raw events."""
    fate = first_fates(raw)
    time_ns, zero_us = rebase(raw, fate)
    canonical, texts = unified(raw.texts)
    column = {name: raw.columns[name] for name in ("phase", "flags", "offset", "size", "length_ns")}
    for name in ("name", "category", "pid", "tid", "ident"):
        values = raw.columns[name]
        column[name] = np.where(values >= 0, canonical[np.maximum(values, 0)] if len(canonical) else -1, -1).astype(
            np.int32
        )
    side = np.isin(column["phase"], letters(_ASYNC_SIDE)).astype(np.int64)
    thread = np.where(side == _ASYNC, column["category"], column["tid"])
    lane, lane_keys = codes(column["pid"], side, thread)
    marks = Marks()
    spans = _spans(column, fate, time_ns, lane, marks)
    return assemble(Parts(raw, label, column, texts, canonical, fate, time_ns, zero_us, lane, lane_keys, spans, marks))


def unified(texts: list[str]) -> tuple[NDArray[np.int32], list[str]]:
    """Equal texts written differently get one number: (old number → new, texts)."""
    numbers: dict[str, int] = {}
    canonical = np.asarray([numbers.setdefault(text, len(numbers)) for text in texts], np.int32)
    return canonical, list(numbers)


def first_fates(raw: RawEvents) -> NDArray[np.uint8]:
    """What the flags of each event alone decide; 0 for those that pairing still judges."""
    phase, flags = raw.columns["phase"], raw.columns["flags"]
    table = np.full(256, Fate.UNKNOWN_PHASE, np.uint8)
    for group, fate in (
        ("X", Fate.SLICE), ("iIRPnTp", Fate.INSTANT), ("C", Fate.COUNTER), ("M", Fate.METADATA),
        ("BEbeSFstf", 0), ("NODvVc()", Fate.NOT_DRAWN),
    ):  # fmt: skip
        table[letters(group)] = fate
    fate = table[phase]
    timed = fate < Fate.METADATA
    fate[timed & (flags & k.HAS_TIME == 0)] = Fate.NO_TIME
    fate[timed & (flags & k.BAD_TIME != 0)] = Fate.BAD_TIME
    complete = fate == Fate.SLICE
    fate[complete & (flags & k.BAD_LENGTH != 0)] = Fate.BAD_LENGTH
    fate[complete & (flags & k.NEGATIVE != 0)] = Fate.NEGATIVE_LENGTH
    fate[flags & k.NOT_OBJECT != 0] = Fate.NO_OBJECT
    fate[flags & k.BAD_JSON != 0] = Fate.BROKEN
    if len(fate) and fate[-1] == Fate.BROKEN and not raw.list_closed:
        fate[-1] = Fate.CUT
    counted = np.zeros(len(fate), bool)
    counted[raw.sample_event] = True
    fate[(fate == Fate.COUNTER) & ~counted] = Fate.COUNTER_WITHOUT_NUMBER
    return np.asarray(fate, np.uint8)


def rebase(raw: RawEvents, fate: NDArray[np.uint8]) -> tuple[I8, str]:
    """Time of each event in ns from the first one that is shown, and that one's time in µs as decimal text.

    Times so far from most others that ns would not fit a browser's numbers get the fate ``FAR_TIME``.
    """
    whole, fraction = raw.columns["whole_us"], raw.columns["fraction_ns"].astype(np.int64)
    fate[(fate == Fate.SLICE) & (raw.columns["length_ns"] // 1000 > _FAR_US)] = Fate.BAD_LENGTH
    timed = fate < Fate.METADATA
    if timed.any() and int(whole[timed].max()) - int(whole[timed].min()) > _FAR_US:
        fate[_far(whole, timed)] = Fate.FAR_TIME
        timed = fate < Fate.METADATA
    at = np.flatnonzero(timed)
    if not len(at):
        return np.zeros(len(fate), np.int64), "0"
    base = int(whole[at].min())
    earliest = at[whole[at] == base]
    zero = int(fraction[earliest].min())
    time = np.where(timed, (np.where(timed, whole, base) - base) * 1000 + fraction - zero, 0)
    low = int(time[at].min())
    time[at] -= low
    total = base * 1000 + zero + low
    sign, size = ("-", -total) if total < 0 else ("", total)
    return time, f"{sign}{size // 1000}" + (f".{size % 1000:03}" if size % 1000 else "")


def _far(whole: NDArray[Any], timed: NDArray[np.bool_]) -> I8:
    """Timed events outside of the most populous stretch without a gap of a day (of equal ones the latest)."""
    at = np.flatnonzero(timed)
    order = at[np.argsort(whole[at], kind="stable")]
    times = whole[order]
    gap = np.flatnonzero((times[1:] // 2 - times[:-1] // 2) > _DAY_US // 2)
    bounds = np.concatenate([[0], gap + 1, [len(order)]])
    sizes = np.diff(bounds)
    best = len(sizes) - 1 - int(np.argmax(sizes[::-1]))
    low, high = int(bounds[best]), int(bounds[best + 1])
    high = low + int(np.searchsorted(times[low:high] // 2 - times[low] // 2, _FAR_US // 2, side="right"))
    return np.concatenate((order[:low], order[high:]))


def _spans(column: dict[str, NDArray[Any]], fate: NDArray[np.uint8], time: I8, lane: I8, marks: Marks) -> Span:
    phase, flags = column["phase"], column["flags"]
    complete = np.flatnonzero(fate == Fate.SLICE)
    no_length = complete[flags[complete] & k.HAS_LENGTH == 0]
    marks.count(Repair.MISSING_LENGTH, no_length)
    judged = fate == 0
    begins, ends, open_begin = [], [], []
    for group_letters, by_id in (("BE", False), ("beSF", True)):
        at = np.flatnonzero(judged & np.isin(phase, letters(group_letters)))
        if not len(at):
            continue
        group = lane[at]
        if by_id:
            group, _ = codes(lane[at], column["ident"][at])
        at = at[np.lexsort((at, time[at], group))]
        group = codes(lane[at], column["ident"][at])[0] if by_id else lane[at]
        is_begin = np.isin(phase[at], letters("BbS"))
        partner = np.empty(len(at), np.int64)
        pair(group, is_begin, column["name"][at], partner)
        fate[at[partner >= 0]] = Fate.PAIR
        fate[at[(partner < 0) & ~is_begin]] = Fate.END_WITHOUT_BEGIN
        alone = at[(partner < 0) & is_begin]
        fate[alone] = Fate.PAIR
        matched = is_begin & (partner >= 0)
        begins.append(at[matched])
        ends.append(at[partner[matched]])
        open_begin.append(alone)
    none = np.empty(0, np.int64)
    begin, end, alone = (np.concatenate(x) if x else none for x in (begins, ends, open_begin))
    marks.count(Repair.UNCLOSED_BEGIN, alone)
    last = np.zeros(int(lane.max(initial=-1)) + 1, np.int64)
    seen = np.flatnonzero(fate < Fate.METADATA)
    np.maximum.at(last, lane[seen], time[seen] + np.where(fate[seen] == Fate.SLICE, column["length_ns"][seen], 0))
    event = np.concatenate((complete, begin, alone))
    start = time[event]
    finish = np.concatenate((time[complete] + column["length_ns"][complete], time[end], last[lane[alone]]))
    ending = np.concatenate((np.full(len(complete), -1, np.int64), end, np.full(len(alone), -1, np.int64)))
    mark = np.zeros(len(event), np.uint8)
    mark[: len(complete)][flags[complete] & k.HAS_LENGTH == 0] = NO_LENGTH
    mark[len(event) - len(alone) :] = OPEN
    return Span(event, ending, start, np.maximum(finish, start), mark)
