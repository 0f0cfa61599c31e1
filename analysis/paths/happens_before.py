"""Which task could another one have been waiting for? (ALGORITHMS: Happens-before graph)

Nodes are the tasks with AICore records. Two answers per task: the dependencies that the clock agrees with (*kept edges*)
and the task that held its core until it started (*core predecessor*). Both critical paths and the gap table build on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, I8, Bool, Capture
from analysis.errors import LimitError, NotAvailable

MAX_CONTRACTION_STEPS = 200_000_000
"""Edge visits allowed while contracting untimed tasks: about two seconds of one core."""


@dataclass(frozen=True, slots=True)
class KeptEdges:
    """Dependencies p → s with both tasks timed, ``end(p) <= start(s) + tol`` and ``start(p) < start(s)``.

    ``offsets`` (n_tasks + 1) slices ``pred`` by successor, ascending predecessor. ``n_contracted`` of the edges exist
    only through untimed tasks (0 unless asked for).
    """

    offsets: I8
    pred: I4
    n_contracted: int

    def __len__(self) -> int:
        return len(self.pred)


@dataclass(frozen=True, slots=True)
class CorePredecessors:
    """Per task the task that held its core last (-1 none), the end of that record and the core."""

    task: I4
    until_ticks: I8
    core_id: I4


def timed_tasks(capture: Capture) -> Bool:
    """Which tasks have AICore records (bool per task).

    Raises:
        NotAvailable: none has, or the capture has no dependencies at all.
    """
    if not len(capture.records):
        raise NotAvailable(
            "no task of this capture has an AICore record: there is no time to follow. "
            "A run with at least one AIC or AIV task, captured at level 1 or higher, would have it"
        )
    if not capture.meta.has_deps and not capture.meta.edges_from_fanout:
        raise NotAvailable(
            "deps.json is missing, so it is unknown which task waits for which. "
            "Put the deps.json of this run beside the swimlane file"
        )
    return capture.tasks.n_records > 0


def kept_edges(capture: Capture, through_untimed: bool = False) -> KeptEdges:
    """Which dependencies does the clock agree with?

    Args:
        capture: one launch.
        through_untimed: also keep p → s where every task between them is untimed (dummy, alloc, graph).

    Raises:
        NotAvailable: no records, or no dependencies in the capture.
        LimitError: the untimed tasks form too dense a graph to contract.
    """
    from analysis.paths import kernels as path_kernels

    timed = timed_tasks(capture)
    tasks, edges = capture.tasks, capture.edges
    graph = (edges.in_offsets, edges.in_order, edges.pred, tasks.start_ticks, tasks.end_ticks, timed)
    tol = capture.meta.tolerance_ticks
    offsets, pred = path_kernels.keep_edges(*graph, tol)
    if not through_untimed:
        return KeptEdges(offsets, pred, 0)
    more_pred, more_succ, steps = path_kernels.contracted_edges(*graph, tol, MAX_CONTRACTION_STEPS)
    if steps > MAX_CONTRACTION_STEPS:
        raise LimitError(
            f"more than {MAX_CONTRACTION_STEPS:,} edges would have to be visited to lead paths through untimed tasks. "
            "Use the paths over timed tasks only"
        )
    n = len(tasks)
    direct = np.repeat(np.arange(n, dtype=np.int64), np.diff(offsets)) * n + pred
    pairs = np.union1d(direct, more_succ.astype(np.int64) * n + more_pred)
    merged = np.searchsorted(pairs, np.arange(n + 1, dtype=np.int64) * n).astype(np.int64)
    return KeptEdges(merged, (pairs % n).astype(np.int32), len(pairs) - len(direct))


def core_predecessors(capture: Capture) -> CorePredecessors:
    """Which task held the core until this one started on it?

    Considered where a record of the task starts at the task's own start; the largest end among earlier records of
    other tasks on that core counts if it is not after the start (plus tolerance); the largest over the cores wins,
    the smaller core id among equals.
    """
    from analysis.paths import kernels as path_kernels

    records, order = capture.records, _text_order(capture)

    def ordered(column: NDArray[Any]) -> NDArray[Any]:
        return column if order is None else column[order]

    holder, until, core = path_kernels.core_predecessors(
        ordered(records.core_id),
        ordered(records.task),
        ordered(records.start_ticks),
        ordered(records.end_ticks),
        capture.tasks.start_ticks,
        capture.meta.tolerance_ticks,
    )
    return CorePredecessors(holder, until, core)


def _text_order(capture: Capture) -> I8 | None:
    """Record order by (core, start, end, task id as text), or None where it is the table's own order already."""
    records = capture.records
    tie = np.ones(len(records), np.bool_)
    for column in (records.core_id, records.start_ticks, records.end_ticks):
        tie[1:] &= column[1:] == column[:-1]
    tie[:1] = False
    if not tie.any():
        return None
    group = np.cumsum(~tie)
    members = np.flatnonzero(tie | np.append(tie[1:], False))
    text = capture.tasks.task_id[records.task[members]].astype("S20")
    order = np.arange(len(records), dtype=np.int64)
    order[members] = members[np.lexsort((text, group[members]))]
    return order
