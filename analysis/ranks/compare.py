"""Which rank was late, which was slow, and with what? Tables over the dispatches of a tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.ranks.facts import RankFacts
from analysis.ranks.tree import Dispatch, RankTree
from analysis.results import Column, Table

MANUAL = "aligned by hand"
OWN_ZERO = "each rank from its own zero"
DISPATCH_COLUMNS = (
    Column("dispatch", "text", "Dispatch, by identity (run and task) or by directory number."),
    Column("paired_by", "text", "identity, or directory where dispatch_identity.json is missing."),
    Column("ranks", "count", "Ranks with task records."),
    Column("missing", "texts", "Ranks that should have a capture and have none, or none with records."),
    Column("not_read", "texts", "Ranks whose capture has not been read, or cannot be."),
    Column("start_skew_us", "us", "Latest minus earliest first start over the ranks; empty without one axis."),
    Column("end_skew_us", "us", "Latest minus earliest last end over the ranks; empty without one axis."),
    Column("skew_pm_us", "us", "How far the skews can be off: the two largest half-widths of the placements."),
    Column("makespan_us", "us", "Longest first start to last end of a rank."),
    Column("median_us", "us", "Median makespan of the ranks."),
    Column("slowest", "text", "Rank with the longest makespan; empty when none is above the median."),
    Column("excess_us", "us", "Its makespan minus the median."),
    Column("spent_on", "text", "Function whose total grew most against the rank of median makespan; core time."),
    Column("spent_us", "us", "By how much that function's total grew; core time, so it can exceed the excess."),
    Column("axis", "text", "How the ranks are placed: host clock, by hand, or each from its own zero, and why."),
)
STRAGGLER_COLUMNS = (
    Column("rank", "text", "Rank."),
    Column("dispatches", "count", "Dispatches it took part in."),
    Column("slowest", "count", "Dispatches in which it was the slowest of at least two."),
    Column("excess_us", "us", "Sum of its makespan minus the median, over its dispatches."),
    Column("mean_excess_us", "us", "That per dispatch."),
    Column("worst", "text", "Dispatch with its largest excess."),
    Column("worst_excess_us", "us", "Excess there."),
    Column("last_start", "count", "Dispatches that it certainly started last; undecided ones do not count."),
)

Facts = Mapping[tuple[str, str], RankFacts]
"""(dispatch key, rank) → facts; captures without any are absent."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One rank of a dispatch on the common axis, in ns: best start, how much earlier or later it can be, its length."""

    rank: str
    start_ns: int
    earlier_ns: int
    later_ns: int
    makespan_ns: int

    @property
    def end_ns(self) -> int:
        """Best end."""
        return self.start_ns + self.makespan_ns


@dataclass(frozen=True, slots=True)
class Axis:
    """The common axis of one dispatch. ``comparable`` is False where every rank starts at its own zero."""

    comparable: bool
    words: str
    ranks: tuple[Placed, ...]


def place(dispatch: Dispatch, facts: Facts, by_hand: str = "") -> Axis:
    """Where each rank of ``dispatch`` is on one axis (FORMATS-2 sections 3.2 and 3.5).

    Args:
        by_hand: label of a task that is taken to start at the same moment in every rank; "" uses the host clock.
    """
    known = [(m.rank, facts[dispatch.key, m.rank]) for m in dispatch.members if (dispatch.key, m.rank) in facts]
    timed = [(rank, fact) for rank, fact in known if fact.makespan_ns is not None]
    if by_hand:
        lacking = [rank for rank, fact in timed if by_hand not in fact.tasks]
        if not lacking:
            return Axis(
                True,
                f"{MANUAL} on the first start of {by_hand}",
                tuple(_at(r, f, -f.tasks[by_hand], 0, 0) for r, f in timed),
            )
        return _own_zero(timed, f"{lacking[0]} has no task {by_hand} to align on")
    unplaced = [(rank, fact) for rank, fact in timed if fact.first_host_ns is None]
    if unplaced:
        return _own_zero(timed, f"{unplaced[0][0]}: {unplaced[0][1].reason}")
    domains = {fact.domain for _rank, fact in timed if fact.domain}
    if len(domains) > 1:
        return _own_zero(timed, "the ranks name different host clocks")
    placed = tuple(_at(r, f, f.first_host_ns or 0, f.earlier_ns, f.later_ns) for r, f in timed)
    assumed = "" if all(fact.domain for _rank, fact in timed) else "; a rank names no host clock, one host is assumed"
    return Axis(True, f"host clock{assumed}", placed)


def _own_zero(timed: list[tuple[str, RankFacts]], why: str) -> Axis:
    return Axis(False, f"{OWN_ZERO}: {why}", tuple(_at(rank, fact, 0, 0, 0) for rank, fact in timed))


def _at(rank: str, fact: RankFacts, start_ns: int, earlier_ns: int, later_ns: int) -> Placed:
    return Placed(rank, start_ns, earlier_ns, later_ns, fact.makespan_ns or 0)


def order(a: Placed, b: Placed) -> str:
    """Whether rank ``a`` certainly started ``before`` or ``after`` ``b``, else ``undecided``."""
    if a.start_ns + a.later_ns < b.start_ns - b.earlier_ns:
        return "before"
    if b.start_ns + b.later_ns < a.start_ns - a.earlier_ns:
        return "after"
    return "undecided"


def last_start(axis: Axis) -> str:
    """The rank that certainly started after every other one; "" when that is undecided."""
    if not axis.comparable or len(axis.ranks) < 2:
        return ""
    latest = max(axis.ranks, key=lambda item: item.start_ns)
    others = (item for item in axis.ranks if item is not latest)
    return latest.rank if all(order(latest, item) == "after" for item in others) else ""


def dispatch_table(tree: RankTree, facts: Facts, by_hand: str = "") -> Table:
    """One row per dispatch, in the tree's order: :data:`DISPATCH_COLUMNS`."""
    rows = [_dispatch_row(dispatch, facts, by_hand) for dispatch in tree.dispatches]
    return _table(DISPATCH_COLUMNS, rows)


def _dispatch_row(dispatch: Dispatch, facts: Facts, by_hand: str) -> dict[str, Any]:
    axis = place(dispatch, facts, by_hand)
    empty = [m.rank for m in dispatch.members if (dispatch.key, m.rank) in facts]
    missing = [*dispatch.missing, *(rank for rank in empty if rank not in {p.rank for p in axis.ranks})]
    row: dict[str, Any] = dict.fromkeys(column.name for column in DISPATCH_COLUMNS)
    row |= {
        "dispatch": dispatch.key,
        "paired_by": dispatch.paired_by,
        "ranks": len(axis.ranks),
        "missing": tuple(missing),
        "not_read": tuple(m.rank for m in dispatch.members if (dispatch.key, m.rank) not in facts),
        "axis": axis.words,
    }
    if not axis.ranks:
        return row
    middle = median(item.makespan_ns for item in axis.ranks)
    slowest = max(axis.ranks, key=lambda item: item.makespan_ns)
    row |= {"makespan_us": slowest.makespan_ns / 1000, "median_us": middle / 1000}
    row["excess_us"] = (slowest.makespan_ns - middle) / 1000
    if slowest.makespan_ns > middle:
        row["slowest"] = slowest.rank
        row["spent_on"], row["spent_us"] = _spent(dispatch, facts, axis, slowest.rank)
    if axis.comparable and len(axis.ranks) > 1:
        starts, ends = [p.start_ns for p in axis.ranks], [p.end_ns for p in axis.ranks]
        widest = sorted((max(p.earlier_ns, p.later_ns) for p in axis.ranks), reverse=True)
        row |= {
            "start_skew_us": (max(starts) - min(starts)) / 1000,
            "end_skew_us": (max(ends) - min(ends)) / 1000,
            "skew_pm_us": sum(widest[:2]) / 1000,
        }
    return row


def median_rank(axis: Axis) -> str:
    """The rank whose makespan is the (lower) median."""
    ordered = sorted(axis.ranks, key=lambda item: (item.makespan_ns, item.rank))
    return ordered[(len(ordered) - 1) // 2].rank


def _spent(dispatch: Dispatch, facts: Facts, axis: Axis, slowest: str) -> tuple[str | None, float | None]:
    """The function whose total grew most from the median rank to the slowest one."""
    slow, middle = facts[dispatch.key, slowest].function_ns, facts[dispatch.key, median_rank(axis)].function_ns
    grown = {name: total - middle.get(name, 0) for name, total in slow.items()}
    name = max(grown, key=lambda key: (grown[key], key), default=None)
    return (
        (name, grown[name] / 1000) if name is not None and grown[name] > 0 else ("no function: it waited longer", None)
    )


def result_json(tree: RankTree, facts: Facts) -> dict[str, Any]:
    """The document of the command line."""
    return {
        "ranks": list(tree.ranks),
        "problems": list(tree.problems),
        "dispatches": dispatch_table(tree, facts).to_records(),
        "stragglers": straggler_table(tree, facts).to_records(),
    }


def straggler_table(tree: RankTree, facts: Facts) -> Table:
    """One row per rank, the largest sum of excess first: :data:`STRAGGLER_COLUMNS`."""
    rows = {rank: _no_row(rank) for rank in tree.ranks}
    for dispatch in tree.dispatches:
        axis = place(dispatch, facts)
        if not axis.ranks:
            continue
        middle = median(item.makespan_ns for item in axis.ranks)
        slowest = max(axis.ranks, key=lambda item: item.makespan_ns).rank
        latest = last_start(axis)
        for item in axis.ranks:
            row, excess = rows[item.rank], (item.makespan_ns - middle) / 1000
            row["dispatches"] += 1
            row["slowest"] += item.rank == slowest and excess > 0
            row["last_start"] += item.rank == latest
            row["excess_us"] += excess
            if row["worst_excess_us"] is None or excess > row["worst_excess_us"]:
                row["worst"], row["worst_excess_us"] = dispatch.key, excess
    for row in rows.values():
        row["mean_excess_us"] = row["excess_us"] / row["dispatches"] if row["dispatches"] else None
        row["excess_us"] = row["excess_us"] if row["dispatches"] else None
    return _table(STRAGGLER_COLUMNS, sorted(rows.values(), key=lambda row: -(row["excess_us"] or 0.0)))


def _no_row(rank: str) -> dict[str, Any]:
    return {
        "rank": rank, "dispatches": 0, "slowest": 0, "excess_us": 0.0, "mean_excess_us": None, "worst": "",
        "worst_excess_us": None, "last_start": 0,
    }  # fmt: skip


def heat(tree: RankTree, facts: Facts) -> NDArray[np.float64]:
    """Excess over the dispatch's median makespan in µs, ranks × dispatches; ``nan`` where there is no capture."""
    out = np.full((len(tree.ranks), len(tree.dispatches)), np.nan)
    at = {rank: number for number, rank in enumerate(tree.ranks)}
    for column, dispatch in enumerate(tree.dispatches):
        axis = place(dispatch, facts)
        if axis.ranks:
            middle = median(item.makespan_ns for item in axis.ranks)
            for item in axis.ranks:
                out[at[item.rank], column] = (item.makespan_ns - middle) / 1000
    return out


def _table(columns: tuple[Column, ...], rows: list[dict[str, Any]]) -> Table:
    floats = {column.name for column in columns if column.unit == "us"}

    def cells(name: str) -> Any:
        values = [row[name] for row in rows]
        return np.array([np.nan if v is None else v for v in values], np.float64) if name in floats else values

    return Table(columns, {column.name: cells(column.name) for column in columns})
