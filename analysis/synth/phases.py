"""What would the scheduler threads have recorded around a synthetic schedule?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.capture import I4, I8, Bool
from analysis.synth.build import Plan
from analysis.synth.schedule import AIC, AIV, MIX, NONE, Schedule, draws, ints

KINDS = (
    "complete",
    "resolve",
    "async_poll",
    "dispatch",
    "early_dispatch",
    "dummy",
    "dummy_task",
    "release",
    "drain",
    "drain_prepare",
    "drain_publish",
)
COMPLETE, RESOLVE, POLL, DISPATCH, EARLY, DUMMY, DUMMY_TASK, RELEASE, DRAIN, PREPARE, PUBLISH = range(len(KINDS))
_LOOP_TICKS = 128
"""Grid of one scheduler loop, in 20 ns ticks: every outer phase is inside one cell, so none overlap."""


@dataclass(frozen=True, slots=True)
class Phases:
    """Phases of one scheduler thread in file order (by end)."""

    kind: I8
    start: I8
    end: I8
    loop: I8
    processed: I8
    task: I8
    hit: I8
    miss: I8
    depth_start: I8
    """Shape (n, 3)."""
    depth_end: I8


def core_threads(n_aic: int, n_aiv: int, threads: int) -> I4:
    """Scheduler thread of each core: AIC round robin, AIV in pairs."""
    return np.concatenate((np.arange(n_aic) % threads, np.arange(n_aiv) // 2 % threads)).astype(np.int32)


class _Depth:
    """Ready queue depths [aic, aiv, mix] at any tick."""

    def __init__(self, p: Plan, s: Schedule) -> None:
        task = np.repeat(np.arange(len(p.graph.lane)), p.graph.records)
        lane = p.graph.lane[task]
        self.ready = [np.sort(s.ready[task[lane == k]]) for k in (AIC, AIV, MIX)]
        self.taken = [np.sort(s.dispatch[lane == k]) for k in (AIC, AIV, MIX)]

    def at(self, ticks: I8) -> I8:
        rows = [
            np.searchsorted(r, ticks, "right") - np.searchsorted(t, ticks, "right")
            for r, t in zip(self.ready, self.taken, strict=True)
        ]
        return np.maximum(0, np.stack(rows, axis=1)).astype(np.int64)


def _counts(ticks: I8, cell: int, cells: int) -> I8:
    return np.bincount(ticks // cell, minlength=cells)[:cells].astype(np.int64)


def _columns(s: Schedule, p: Plan, of_thread: Bool, early: Bool, dummies: I8, cell: int, cells: int) -> dict[int, I8]:
    """How many tasks each kind of phase handles in each cell of one thread."""
    task = np.repeat(np.arange(len(p.graph.lane)), p.graph.records)
    mix = p.graph.lane[task] == MIX
    complete = _counts(s.finish[of_thread], cell, cells)
    drain = _counts(s.dispatch[of_thread & mix], cell, cells)
    out = {
        COMPLETE: complete,
        DISPATCH: _counts(s.dispatch[of_thread & ~early & ~mix], cell, cells),
        EARLY: _counts(s.dispatch[of_thread & early & ~mix], cell, cells),
        DUMMY: _counts(s.done[dummies] - 2, cell, cells),
        DRAIN: drain,
    }
    for kind in (COMPLETE, DISPATCH, EARLY):
        out[kind] = np.where(drain > 0, 0, out[kind])
    out[RELEASE] = np.where((out[COMPLETE] > 1) & (np.arange(cells) % 2 == 0), out[COMPLETE], 0)
    return out


def thread_phases(p: Plan, s: Schedule, early: Bool, threads: I4, seed: int, scale: int) -> Iterator[Phases]:
    """Yield the phases of every scheduler thread.

    Args:
        early: records that were dispatched before their predecessors' FIN.
        threads: scheduler thread per core.
        scale: ticks per 20 ns.
    """
    cell = _LOOP_TICKS * scale
    depth = _Depth(p, s)
    cells = int(max(s.finish.max(), s.done.max())) // cell + 1
    n_threads = int(threads.max()) + 1
    dummy = np.flatnonzero(p.graph.lane == NONE)
    for thread in range(n_threads):
        mine = dummy[dummy % n_threads == thread]
        counts = _columns(s, p, threads[s.core] == thread, early, mine, cell, cells)
        yield _lay_out(p, counts, depth, s.done[mine] - 2, mine, cell, scale, seed * 64 + thread)


def _lay_out(
    p: Plan, counts: dict[int, I8], depth: _Depth, dummy_at: I8, dummy: I8, cell: int, scale: int, seed: int
) -> Phases:
    """Place the phases of one thread one after another inside their cells and add the inner ones."""
    cells = len(counts[COMPLETE])
    base = np.arange(cells, dtype=np.int64) * cell
    cursor = base + ints(seed, 30, cells, 2 * scale, 5 * scale)
    rows: list[tuple[int, I8, I8, I8, I8]] = []

    def add(kind: int, where: I8, start: I8, end: I8, processed: I8) -> None:
        rows.append((kind, where, start, end, processed))

    spans = {COMPLETE: (7, 3, 40), DUMMY: (5, 1, 14), DISPATCH: (6, 4, 36), EARLY: (5, 2, 14), RELEASE: (2, 1, 8)}
    placed: dict[int, I8] = {}
    for kind, (fixed, each, most) in spans.items():
        n = counts[kind]
        where = np.flatnonzero(n)
        length = np.minimum(fixed + each * n[where], most) * scale + ints(seed, 31 + kind, len(where), 0, scale)
        start = cursor[where]
        placed[kind] = cursor.copy()
        add(kind, where, start, start + length, n[where])
        cursor[where] = start + length + 1
    resolve = np.flatnonzero((counts[COMPLETE] > 0) & (draws(seed, 40, cells) % np.uint64(6) == 0))
    inner = placed[COMPLETE][resolve]
    add(RESOLVE, resolve, inner + scale, inner + 5 * scale, np.maximum(1, counts[COMPLETE][resolve] // 2))
    drain = np.flatnonzero(counts[DRAIN])
    at = np.maximum(cursor[drain], base[drain] + 2 * scale)
    stop = base[drain] + cell - 2
    add(PREPARE, drain, at + scale, at + (stop - at) // 3, counts[DRAIN][drain])
    add(PUBLISH, drain, at + (stop - at) // 3, stop - 1, counts[DRAIN][drain])
    add(DRAIN, drain, at, stop, counts[DRAIN][drain])
    poll = np.flatnonzero(
        (cursor <= base + 5 * scale) & (counts[DRAIN] == 0) & (draws(seed, 41, cells) % np.uint64(50) == 0)
    )
    add(POLL, poll, cursor[poll], cursor[poll] + 6 * scale, np.zeros(len(poll), np.int64))
    marker = dummy_at // cell
    stamp = placed[DUMMY][marker] + 1
    add(DUMMY_TASK, marker, stamp, stamp, np.ones(len(marker), np.int64))

    kinds = np.repeat(np.array([r[0] for r in rows], np.int64), [len(r[1]) for r in rows])
    where, start, end, processed = (np.concatenate([r[i] for r in rows]).astype(np.int64) for i in range(1, 5))
    task = np.full(len(kinds), -1, np.int64)
    task[kinds == DUMMY_TASK] = dummy
    order = np.lexsort((kinds != DUMMY_TASK, start, end))
    kinds, where, start, end, processed, task = (c[order] for c in (kinds, where, start, end, processed, task))
    hit = np.where(kinds == DISPATCH, processed, -1)
    miss = np.where(kinds == DISPATCH, ints(seed, 42, len(kinds), 0, 9), -1)
    return Phases(kinds, start, end, where + 1, processed, task, hit, miss, depth.at(start), depth.at(end))
