"""Compiled inner loops of the happens-before graph, the critical paths and the edge reduction.

Import this module only where a loop is about to run: numba costs half a second to import and, on the first run after an
install, some seconds to compile. Signatures are explicit and results are cached on disk, so it compiles once.
Every array argument may be read-only or memory-mapped; indexes are dense task indexes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types

F = TypeVar("F", bound=Callable[..., Any])


def readonly(dtype: Any) -> Any:
    """The type of a one-dimensional argument that may be read-only."""
    return types.Array(dtype, 1, "C", readonly=True)


I4S, I8S, U8S, BOOLS = readonly(types.int32), readonly(types.int64), readonly(types.uint64), readonly(types.boolean)
I4W, I8W, U1W = types.int32[::1], types.int64[::1], types.uint8[::1]
INT = types.int64


def compiled(result: Any, *arguments: Any) -> Callable[[F], F]:
    """Compile for one signature, through numba's on-disk cache where one can be written."""

    def decorate(function: F) -> F:
        try:
            return cast(F, numba.njit(result(*arguments), cache=True)(function))
        except RuntimeError:  # no writable cache directory: compile in every process
            return cast(F, numba.njit(result(*arguments))(function))

    return decorate


@compiled(types.boolean, types.uint64, types.uint64)
def text_less(a: int, b: int) -> bool:
    """Whether decimal text of ``a`` sorts before that of ``b``."""
    ten, one = np.uint64(10), np.uint64(1)
    scale_a, scale_b = one, one
    while a // scale_a >= ten:
        scale_a *= ten
    while b // scale_b >= ten:
        scale_b *= ten
    if scale_a == scale_b:
        return bool(a < b)
    if scale_a < scale_b:
        return bool(a <= b // (scale_b // scale_a))
    return bool(a // (scale_a // scale_b) < b)


@compiled(types.Tuple((I8W, I4W)), I8S, I4S, I4S, I8S, I8S, BOOLS, INT)
def keep_edges(
    in_offsets: Any, in_order: Any, pred: Any, start: Any, end: Any, timed: Any, tol: int
) -> tuple[Any, Any]:
    """Kept edges grouped by successor, ascending predecessor: (offsets, predecessor)."""
    n = len(start)
    offsets = np.zeros(n + 1, np.int64)
    kept = np.empty(len(in_order), np.int32)
    m = 0
    for s in range(n):
        if timed[s]:
            for k in range(in_offsets[s], in_offsets[s + 1]):
                p = pred[in_order[k]]
                if timed[p] and end[p] <= start[s] + tol and start[p] < start[s]:
                    kept[m] = p
                    m += 1
        offsets[s + 1] = m
    return offsets, kept[:m].copy()


@compiled(types.Tuple((I4W, I4W, INT)), I8S, I4S, I4S, I8S, I8S, BOOLS, INT, INT)
def contracted_edges(
    in_offsets: Any, in_order: Any, pred: Any, start: Any, end: Any, timed: Any, tol: int, max_steps: int
) -> tuple[Any, Any, int]:
    """Kept pairs whose way leads through untimed tasks only: (pred, succ, steps taken).

    Gives up, with ``steps > max_steps``, when the graph of untimed tasks is too dense to enumerate.
    """
    n = len(start)
    seen = np.full(n, -1, np.int32)
    stack = np.empty(n, np.int32)
    preds = np.empty(1024, np.int32)
    succs = np.empty(1024, np.int32)
    m = 0
    steps = 0
    for s in range(n):
        if not timed[s]:
            continue
        depth = 0
        for k in range(in_offsets[s], in_offsets[s + 1]):
            d = pred[in_order[k]]
            if not timed[d] and seen[d] != s:
                seen[d] = s
                stack[depth] = d
                depth += 1
        while depth > 0:
            depth -= 1
            d = stack[depth]
            for k in range(in_offsets[d], in_offsets[d + 1]):
                steps += 1
                p = pred[in_order[k]]
                if seen[p] == s:
                    continue
                seen[p] = s
                if not timed[p]:
                    stack[depth] = p
                    depth += 1
                elif end[p] <= start[s] + tol and start[p] < start[s]:
                    if m == len(preds):
                        preds = np.concatenate((preds, np.empty(m, np.int32)))
                        succs = np.concatenate((succs, np.empty(m, np.int32)))
                    preds[m] = p
                    succs[m] = s
                    m += 1
            if steps > max_steps:
                return preds[:0].copy(), succs[:0].copy(), steps
    return preds[:m].copy(), succs[:m].copy(), steps


@compiled(types.Tuple((I4W, I8W, I4W)), I4S, I4S, I8S, I8S, I8S, INT)
def core_predecessors(core_id: Any, task: Any, start: Any, end: Any, task_start: Any, tol: int) -> tuple[Any, Any, Any]:
    """Per task: the task that held its core last, until when, and which core; -1 where none.

    Records come sorted by (core, start, end, task id as text). The two best ends of *different* tasks are carried
    along, so "of other tasks" costs nothing.
    """
    n = len(task_start)
    holder = np.full(n, -1, np.int32)
    until = np.zeros(n, np.int64)
    core_of = np.full(n, -1, np.int32)
    core = -1
    first = second = -1
    first_end = second_end = np.int64(0)
    for k in range(len(core_id)):
        if core_id[k] != core:
            core = core_id[k]
            first = second = -1
        t = task[k]
        if start[k] == task_start[t]:
            best, best_end = first, first_end
            if best == t:
                best, best_end = second, second_end
            if best >= 0 and best_end <= start[k] + tol and (holder[t] < 0 or best_end > until[t]):
                holder[t] = best
                until[t] = best_end
                core_of[t] = core
        if first == t:
            first_end = max(first_end, end[k])
        elif first < 0 or end[k] > first_end:
            second, second_end = first, first_end
            first, first_end = t, end[k]
        elif second < 0 or end[k] > second_end:
            second, second_end = t, end[k]
    return holder, until, core_of


@compiled(types.Tuple((I8W, I4W)), I4S, I8S, I4S, I8S, I8S)
def longest_paths(order: Any, offsets: Any, pred: Any, start: Any, end: Any) -> tuple[Any, Any]:
    """Per task the length of the longest path that ends with it, and its parent there (-1 none).

    ``order`` lists the timed tasks by start; predecessors come ascending, so the first of equals is the smallest id.
    """
    length = np.zeros(len(start), np.int64)
    parent = np.full(len(start), -1, np.int32)
    for s in order:
        best = np.int64(0)
        for k in range(offsets[s], offsets[s + 1]):
            p = pred[k]
            if parent[s] < 0 or length[p] > best:
                best = length[p]
                parent[s] = p
        length[s] = best + end[s] - start[s]
    return length, parent


DATA_WAIT, CORE_WAIT, FRONT_GAP = 0, 1, 2


@compiled(types.Tuple((types.int32, types.uint8)), INT, I8S, I4S, I4S, I8S, I8S, I8S, U8S)
def waited_for(
    at: int, offsets: Any, pred: Any, holder: Any, until: Any, start: Any, end: Any, task_id: Any
) -> tuple[Any, Any]:
    """What task ``at`` waited for, and how: the largest (end, id as text, kind) of its candidates; -1 none."""
    found = np.int32(-1)
    found_end = np.int64(0)
    kind = np.uint8(FRONT_GAP)
    for k in range(offsets[at], offsets[at + 1]):
        p = pred[k]
        if found < 0 or end[p] > found_end or (end[p] == found_end and text_less(task_id[found], task_id[p])):
            found = p
            found_end = end[p]
            kind = np.uint8(DATA_WAIT)
    h = holder[at]
    held = h >= 0 and start[h] < start[at]
    # On a full tie with the same task "data-wait" is the larger text and stays.
    if held and (
        found < 0 or until[at] > found_end or (until[at] == found_end and text_less(task_id[found], task_id[h]))
    ):
        found = h
        kind = np.uint8(CORE_WAIT)
    return found, kind


@compiled(types.Tuple((I4W, U1W)), I4S, I8S, I4S, I4S, I8S, I8S, I8S, U8S)
def all_waited_for(
    tasks: Any, offsets: Any, pred: Any, holder: Any, until: Any, start: Any, end: Any, task_id: Any
) -> tuple[Any, Any]:
    """:func:`waited_for` of each of ``tasks``."""
    found = np.empty(len(tasks), np.int32)
    kinds = np.empty(len(tasks), np.uint8)
    for i in range(len(tasks)):
        found[i], kinds[i] = waited_for(tasks[i], offsets, pred, holder, until, start, end, task_id)
    return found, kinds


@compiled(types.Tuple((I4W, U1W)), INT, I8S, I4S, I4S, I8S, I8S, I8S, U8S)
def walk_back(
    last: int, offsets: Any, pred: Any, holder: Any, until: Any, start: Any, end: Any, task_id: Any
) -> tuple[Any, Any]:
    """The observed path from ``last`` back to the front: (task, what it waited for), last task first."""
    tasks = np.empty(1024, np.int32)
    kinds = np.empty(1024, np.uint8)
    m = 0
    at = last
    while at >= 0:
        found, kind = waited_for(at, offsets, pred, holder, until, start, end, task_id)
        if m == len(tasks):
            tasks = np.concatenate((tasks, np.empty(m, np.int32)))
            kinds = np.concatenate((kinds, np.empty(m, np.uint8)))
        tasks[m] = at
        kinds[m] = kind
        m += 1
        at = found
    return tasks[:m].copy(), kinds[:m].copy()
