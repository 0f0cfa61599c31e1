"""Which tasks run one after the other with nothing else to wait for or to feed?

Source: ALGORITHMS, "Continuous single-dependency chains". Such tasks are candidates for merging: the gap between them is
pure scheduling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.capture import I8, MISSING, Capture
from analysis.measures.needs import require_dependencies
from analysis.results import Column, Table, task_ids, task_names, to_us

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    Column("tasks", "ids", "Task ids from first to last."),
    Column("names", "texts", "Function of each task; alloc, dummy or graph where it has none."),
    Column("length", "count", "Tasks in the chain."),
    Column("exec_us", "us", "Sum of task durations (end - start); a task without records adds nothing."),
    Column("gap_us", "us", "Sum of start(v) - end(u) along the chain; empty when a member has no records."),
    Column("span_us", "us", "First start to last end of the members with records; empty when none has."),
    Column("start_us", "us", "First start, from capture zero."),
    Column("exec_ticks", "ticks", "Sum of task durations in ticks."),
    Column("gap_ticks", "ticks", "Sum of the gaps in ticks."),
    Column("span_ticks", "ticks", "Span in ticks."),
)


@dataclass(frozen=True, slots=True)
class Chains:
    """Chains by gap, largest first; chains with a gap that was not captured come last.

    ``members[offsets[i]:offsets[i + 1]]`` are the dense task indexes of row ``i``.
    """

    table: Table
    offsets: I8
    members: I8

    def frame(self) -> pd.DataFrame:
        """One row per chain."""
        return self.table.frame()

    def to_json(self) -> list[dict[str, Any]]:
        """``[{tasks, names, exec_us, gap_us, span_us, …}]``."""
        return self.table.to_records()


def single_dependency_chains(capture: Capture) -> Chains:
    """Maximal runs of links u → v where v's only predecessor is u and u's only successor is v.

    A run that closes into a cycle has no first task and is left out.

    Raises:
        NotAvailable: neither deps.json nor ``fanout[]`` is there.
    """
    require_dependencies(capture, "Chains need")
    offsets, members = _chains(capture)
    figures = _figures(capture, offsets, members)
    return _sorted(capture, offsets, members, figures)


def _chains(capture: Capture) -> tuple[I8, I8]:
    """CSR of all chains, by first task index."""
    edges, n = capture.edges, len(capture.tasks)
    single_out, single_in = np.diff(edges.out_offsets) == 1, np.diff(edges.in_offsets) == 1
    link = single_out[edges.pred] & single_in[edges.succ] & (edges.pred != edges.succ)
    before = np.full(n, -1, dtype=np.int64)
    before[edges.succ[link]] = edges.pred[link]
    linked = np.zeros(n, dtype=bool)
    linked[edges.pred[link]] = linked[edges.succ[link]] = True
    head, rank = _heads(before)
    member = np.flatnonzero(linked & (head >= 0))
    order = member[np.lexsort((rank[member], head[member]))]
    starts = np.flatnonzero(rank[order] == 0)
    return np.append(starts, len(order)).astype(np.int64), order.astype(np.int64)


def _heads(before: I8) -> tuple[I8, I8]:
    """First task of each task's run and the distance to it, by pointer doubling; head -1 inside a cycle."""
    n = len(before)
    jump = np.where(before >= 0, before, np.arange(n))
    rank = (before >= 0).astype(np.int64)
    for _ in range(max(n, 1).bit_length()):
        further = jump[jump]
        if np.array_equal(further, jump):
            break
        rank = rank + rank[jump]
        jump = further
    return np.where(before[jump] < 0, jump, -1), rank


def _figures(capture: Capture, offsets: I8, members: I8) -> dict[str, I8]:
    """Execution, gap and span of each chain in ticks; gap and span MISSING where not captured."""
    start, end = capture.tasks.start_ticks[members], capture.tasks.end_ticks[members]
    timed = start != MISSING
    first, last = offsets[:-1], offsets[1:] - 1
    gap_known = timed[1:] & timed[:-1]
    gap = np.where(gap_known, start[1:] - end[:-1], 0)
    inside = np.ones(len(gap), dtype=bool)
    inside[first[1:] - 1] = False
    gap_sum = _running(gap * inside)
    unknown = _running((~gap_known & inside).astype(np.int64))
    execution = _running(np.where(timed, end - start, 0))
    gap_ticks = np.where(unknown[last] == unknown[first], gap_sum[last] - gap_sum[first], MISSING)
    if not len(first):
        return {"exec": gap_ticks, "gap": gap_ticks, "start": gap_ticks, "span": gap_ticks}
    highest = np.iinfo(np.int64).max
    begin = np.minimum.reduceat(np.where(timed, start, highest), first)
    stop = np.maximum.reduceat(end, first)
    any_timed = begin != highest
    return {
        "exec": execution[offsets[1:]] - execution[first],
        "gap": gap_ticks,
        "start": np.where(any_timed, begin, MISSING),
        "span": np.where(any_timed, stop - begin, MISSING),
    }


def _running(values: I8) -> I8:
    """Sum of the values before each position, with a leading 0."""
    return np.concatenate([[0], np.cumsum(values)]).astype(np.int64)


def _sorted(capture: Capture, offsets: I8, members: I8, figures: dict[str, I8]) -> Chains:
    unknown = figures["gap"] == MISSING
    rows = np.lexsort((np.arange(len(unknown)), np.where(unknown, 0, -figures["gap"]), unknown))
    lengths = np.diff(offsets)[rows]
    new_offsets = _running(lengths)
    at = np.repeat(offsets[:-1][rows] - new_offsets[:-1], lengths) + np.arange(len(members))
    new_members = members[at]
    ids, names = task_ids(capture, new_members), task_names(capture, new_members)
    spans = list(zip(new_offsets[:-1].tolist(), new_offsets[1:].tolist(), strict=True))
    table = Table(
        COLUMNS,
        {
            "tasks": [tuple(ids[a:b]) for a, b in spans],
            "names": [tuple(names[a:b]) for a, b in spans],
            "length": lengths,
            "exec_us": to_us(capture, figures["exec"][rows]),
            "gap_us": to_us(capture, figures["gap"][rows]),
            "span_us": to_us(capture, figures["span"][rows]),
            "start_us": to_us(capture, figures["start"][rows]),
            "exec_ticks": figures["exec"][rows],
            "gap_ticks": figures["gap"][rows],
            "span_ticks": figures["span"][rows],
        },
    )
    return Chains(table, new_offsets, new_members)
