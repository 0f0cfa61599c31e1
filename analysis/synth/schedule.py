"""When would the records of a task graph run?

A small discrete-event model of the runtime: an orchestrator submits tasks at a steady pace, ready tasks wait in one queue
per core type, schedulers hand records to idle cores, and see them finish a little later. It gives stamps that keep
``dispatch <= receive <= start <= end <= finish``, happens-before, and one record at a time per core. MIX blocks take one
AIC and two AIV cores together, after draining.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from analysis.capture import I1, I4, I8, U8

AIC, AIV, MIX, NONE, ALLOC = range(5)
_COMPILE_FROM = 5_000
"""Records from which compiling the model costs less than interpreting it."""


def draws(seed: int, stream: int, count: int, start: int = 0) -> U8:
    """Return ``count`` deterministic 64-bit draws (splitmix64), the same on every machine and library version."""
    with np.errstate(over="ignore"):
        z = np.arange(start + 1, start + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        key = (seed * 0xD1342543DE82EF95 + stream * 0xA0761D6478BD642F + 0x1234567) % 2**64
        z += np.uint64(key)
        z ^= z >> np.uint64(30)
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(27)
        z *= np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return z


def ints(seed: int, stream: int, count: int, low: int, high: int) -> I8:
    """Return ``count`` deterministic integers in ``low..high`` (both included)."""
    return low + (draws(seed, stream, count) % np.uint64(high - low + 1)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Graph:
    """Tasks in submit order (columns of equal length) and their unique edges, successors in CSR form."""

    lane: I1
    records: I8
    """Records per task."""
    offsets: I8
    """(n + 1): first record of each task."""
    succ_offsets: I8
    succ: I4
    fan_in: I4
    submit: I8
    """Tick at which the orchestrator has submitted the task."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Lengths in ticks, one per record."""

    duration: I8
    schedule: I8
    propagate: I8
    setup: I8
    detect: I8
    eager: I1
    """1 where the scheduler queues the record on a core that is still busy."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Stamps per record in ticks, and per task the ticks at which it became ready and was done."""

    core: I4
    dispatch: I8
    receive: I8
    start: I8
    end: I8
    finish: I8
    ready: I8
    done: I8


def _simulate(
    lane: I1,
    n_rec: I8,
    offsets: I8,
    succ_offsets: I8,
    succ: I4,
    missing: I4,
    submit: I8,
    duration: I8,
    schedule: I8,
    propagate: I8,
    setup: I8,
    detect: I8,
    eager: I1,
    n_aic: int,
    n_aiv: int,
    core: I4,
    stamps: I8,
    ready: I8,
    done: I8,
) -> None:
    """Event loop. Writes ``core``, ``stamps`` (5, records), ``ready`` and ``done``; consumes ``missing``."""
    n = len(lane)
    clusters = min(n_aic, n_aiv // 2)
    queue = np.empty((3, n), np.int64)
    head = np.zeros(3, np.int64)
    tail = np.zeros(3, np.int64)
    given = np.zeros(n, np.int64)
    left = n_rec.copy()
    task_of = np.empty(len(core), np.int64)
    last = np.full(n_aic + n_aiv, -1, np.int64)
    idle_at = np.zeros(n_aic + n_aiv, np.int64)
    idle_aic = [(np.int64(0), np.int64(c)) for c in range(n_aic)]
    idle_aiv = [(np.int64(0), np.int64(c)) for c in range(n_aic, n_aic + n_aiv)]
    events = [(np.int64(0), np.int64(-1), np.int64(0))]
    take = np.empty(3, np.int64)
    submitted = 0
    while submitted < n or len(events):
        woken = -1
        if submitted < n and (not len(events) or submit[submitted] <= events[0][0]):
            now = submit[submitted]
            if missing[submitted] == 0:
                woken = submitted
            submitted += 1
            kind, item = np.int64(-1), np.int64(0)
        else:
            now, kind, item = heapq.heappop(events)
        first = 0
        stop = 0
        if kind == 0:  # a record's kernel ended: an eager record may follow at once
            at = core[item]
            q = 0 if at < n_aic else 1
            if head[2] == tail[2] and head[q] < tail[q] and last[at] == item:
                task = queue[q, head[q]]
                r = offsets[task] + given[task]
                if eager[r] and ready[task] < stamps[3, item]:
                    task_of[r] = task
                    core[r] = at
                    given[task] += 1
                    if given[task] == n_rec[task]:
                        head[q] += 1
                    stamps[0, r] = min(max(ready[task], stamps[2, item]) + 1 + schedule[r] // 4, now)
                    stamps[1, r] = now + 1
                    stamps[2, r] = stamps[1, r] + setup[r]
                    stamps[3, r] = stamps[2, r] + duration[r]
                    stamps[4, r] = stamps[3, r] + detect[r]
                    last[at] = r
                    heapq.heappush(events, (stamps[3, r], np.int64(0), r))
                    heapq.heappush(events, (stamps[4, r], np.int64(1), r))
        elif kind == 1:  # the scheduler saw a record finish
            at = core[item]
            if last[at] == item:
                last[at] = -1
                idle_at[at] = now
                if at < n_aic:
                    heapq.heappush(idle_aic, (now, np.int64(at)))
                else:
                    heapq.heappush(idle_aiv, (now, np.int64(at)))
            task = task_of[item]
            left[task] -= 1
            if left[task] == 0:
                done[task] = now
                first, stop = succ_offsets[task], succ_offsets[task + 1]
        elif kind == 2:  # a task without records is done
            done[item] = now
            first, stop = succ_offsets[item], succ_offsets[item + 1]
        position = first
        while woken >= 0 or position < stop:
            if woken < 0:
                follower = succ[position]
                position += 1
                missing[follower] -= 1
                if missing[follower] > 0 or follower >= submitted:
                    continue
                woken = follower
            ready[woken] = now
            if lane[woken] == 3:
                heapq.heappush(events, (now + 12, np.int64(2), np.int64(woken)))
            elif lane[woken] == 4:
                heapq.heappush(events, (now, np.int64(2), np.int64(woken)))
            else:
                q = lane[woken]
                queue[q, tail[q]] = woken
                tail[q] += 1
            woken = -1
        while True:
            took = 0
            if head[2] < tail[2]:
                task = queue[2, head[2]]
                for cluster in range(clusters):
                    pair = n_aic + 2 * cluster
                    if last[cluster] < 0 and last[pair] < 0 and last[pair + 1] < 0:
                        take[0], take[1], take[2] = cluster, pair, pair + 1
                        took = 3
                        break
            else:
                for q in range(2):
                    if took or head[q] == tail[q]:
                        continue
                    idle = idle_aic if q == 0 else idle_aiv
                    while len(idle) and (last[idle[0][1]] >= 0 or idle_at[idle[0][1]] != idle[0][0]):
                        heapq.heappop(idle)
                    if len(idle):
                        take[0] = heapq.heappop(idle)[1]
                        task = queue[q, head[q]]
                        took = 1
            if not took:
                break
            for i in range(took):
                r = offsets[task] + given[task]
                at = take[i]
                task_of[r] = task
                core[r] = at
                given[task] += 1
                stamps[0, r] = now + schedule[r]
                stamps[1, r] = stamps[0, r] + propagate[r]
                stamps[2, r] = stamps[1, r] + setup[r]
                stamps[3, r] = stamps[2, r] + duration[r]
                stamps[4, r] = stamps[3, r] + detect[r]
                last[at] = r
                heapq.heappush(events, (stamps[3, r], np.int64(0), r))
                heapq.heappush(events, (stamps[4, r], np.int64(1), r))
            if given[task] == n_rec[task]:
                head[lane[task]] += 1


def run(graph: Graph, delays: Delays, n_aic: int, n_aiv: int) -> Schedule:
    """Schedule ``graph`` on ``n_aic`` + ``n_aiv`` cores (AIC ids first).

    The result does not depend on whether the model was compiled.
    """
    total = int(graph.offsets[-1])
    core = np.full(total, -1, np.int32)
    stamps = np.zeros((5, total), np.int64)
    ready = np.zeros(len(graph.lane), np.int64)
    done = np.zeros(len(graph.lane), np.int64)
    simulate: Callable[..., None] = _simulate
    if total >= _COMPILE_FROM:
        from numba import njit

        simulate = cast("Callable[..., None]", njit(cache=True)(_simulate))
    simulate(
        graph.lane,
        graph.records,
        graph.offsets,
        graph.succ_offsets,
        graph.succ,
        graph.fan_in.copy(),
        graph.submit,
        delays.duration,
        delays.schedule,
        delays.propagate,
        delays.setup,
        delays.detect,
        delays.eager,
        n_aic,
        n_aiv,
        core,
        stamps,
        ready,
        done,
    )
    return Schedule(core, stamps[0], stamps[1], stamps[2], stamps[3], stamps[4], ready, done)
