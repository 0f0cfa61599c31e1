"""AICore rows and AICPU rows to task records: the join on (core_id, reg_task_id) (FORMATS section 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8, Bool
from analysis.formats.join.raw import AicoreRows, AicpuRows, KnownJoins, RawSwimlane, empty
from analysis.formats.join.sorting import WORTH_ROWS
from analysis.formats.report import Report

_CORE_SHIFT = 47


@dataclass
class Joined:
    """Records in file order (absolute stamps, 0 = not recorded) and the AICore rows that found no partner."""

    rows: AicoreRows
    dispatch: I8
    finish: I8
    func_id: I8
    """Function id the container itself names, -1 where it names none."""
    unmatched: AicoreRows


def join(raw: RawSwimlane, level: int, report: Report) -> Joined:
    """Drop reserved rows, pair the streams, set aside what has no partner; count all of it."""
    rows, joins = _committed(raw, report)
    if joins is not None:
        return Joined(rows, joins.dispatch, joins.finish, joins.func_id, empty(AicoreRows))
    partner, pairs = _simple_pairs(rows, raw.aicpu) or _pair(rows, raw.aicpu, report)
    found = partner >= 0
    if found.all():
        dispatch, finish = raw.aicpu.dispatch[partner], raw.aicpu.finish[partner]
    else:
        dispatch, finish = np.zeros((2, len(rows)), np.int64)
        dispatch[found] = raw.aicpu.dispatch[partner[found]]
        finish[found] = raw.aicpu.finish[partner[found]]
    _count_unused(raw.aicpu, pairs, report)
    unmatched = empty(AicoreRows)
    if level >= 2 and raw.needs_partner and not found.all():
        unmatched = rows.take(~found)
        report.add_each("unmatched_aicore", per_core(unmatched.core))
        rows, dispatch, finish = rows.take(found), dispatch[found], finish[found]
    return Joined(rows, dispatch, finish, np.full(len(rows), -1, np.int64), unmatched)


def _committed(raw: RawSwimlane, report: Report) -> tuple[AicoreRows, KnownJoins | None]:
    """Rows that were committed. In µs containers 0.0 is a time like any other unless the end is 0 too."""
    rows, joins = raw.aicore, raw.joins
    reserved = rows.start == 0 if joins is None else (rows.start == 0) & (rows.end == 0)
    if not reserved.any():
        return rows, joins
    report.add_each("reserved_row", per_core(rows.core[reserved]))
    report.rows("aicore_tasks", 0, int(reserved.sum()))
    keep = ~reserved
    if joins is not None:
        joins = KnownJoins(joins.dispatch[keep], joins.finish[keep], joins.func_id[keep])
    return rows.take(keep), joins


def per_core(core: I8) -> dict[str, int]:
    """Counts per core as places of the report."""
    cores, counts = np.unique(core, return_counts=True)
    return {f"core {c}": n for c, n in zip(cores.tolist(), counts.tolist(), strict=True)}


def _keys(core: I8, reg: I8) -> I8 | None:
    """One integer per (core, reg), None when they do not fit into 63 bits."""
    if len(reg) and (int(reg.min()) < 0 or int(reg.max()) >= 1 << _CORE_SHIFT):
        return None
    return (core << _CORE_SHIFT) | reg


def _pair(rows: AicoreRows, aicpu: AicpuRows, report: Report) -> tuple[I8, Bool]:
    """Partner index or -1 per AICore row, and which AICPU rows were used."""
    used = np.zeros(len(aicpu), np.bool_)
    left, right = _keys(rows.core, rows.reg), _keys(aicpu.core, aicpu.reg)
    if left is None or right is None:
        left, right = _ranked_keys(rows, aicpu)
    order_left, order_right = np.argsort(left, kind="stable"), np.argsort(right, kind="stable")
    sorted_left, sorted_right = left[order_left], right[order_right]
    rank_left, rank_right = _rank(sorted_left), _rank(sorted_right)
    _count_duplicates(rows, aicpu, order_left, order_right, rank_left, rank_right, report)
    partner = np.full(len(rows), -1, np.int64)
    if np.array_equal(sorted_left, sorted_right):
        partner[order_left] = order_right
        used[:] = True
        return partner, used
    at = np.searchsorted(sorted_right, sorted_left) + rank_left
    inside = at < len(sorted_right)
    hit = np.flatnonzero(inside)[sorted_right[at[inside]] == sorted_left[inside]]
    partner[order_left[hit]] = order_right[at[hit]]
    used[order_right[at[hit]]] = True
    return partner, used


def _simple_pairs(rows: AicoreRows, aicpu: AicpuRows) -> tuple[I8, Bool] | None:
    """The pairs of a long, healthy capture (register ids count up per core, no key twice) by a table; else None."""
    n = len(aicpu)
    if n < WORTH_ROWS or int(aicpu.reg.min()) < 0:
        return None
    size = np.zeros(int(aicpu.core.max()) + 1, np.int64)
    np.maximum.at(size, aicpu.core, aicpu.reg + 1)
    if int(size.max()) > 4 * n or int(size.sum()) > 4 * n:
        return None
    from analysis.formats.join.lane_kernel import pair

    base = np.concatenate(([0], np.cumsum(size)))
    partner = np.empty(len(rows), np.int64)
    table, seen = np.full(int(base[-1]), -1, np.int32), np.zeros(int(base[-1]), np.bool_)
    if not pair(rows.core, rows.reg, aicpu.core, aicpu.reg, base[:-1], size, table, seen, partner):
        return None
    used = np.zeros(n, np.bool_)
    used[partner[partner >= 0]] = True
    return partner, used


def _ranked_keys(rows: AicoreRows, aicpu: AicpuRows) -> tuple[I8, I8]:
    """Keys for register ids outside the packed range: rank of each distinct (core, reg)."""
    core = np.concatenate((rows.core, aicpu.core))
    reg = np.concatenate((rows.reg, aicpu.reg))
    _, key = np.unique(np.stack((core, reg), axis=1), axis=0, return_inverse=True)
    flat = key.reshape(-1).astype(np.int64)
    return flat[: len(rows)], flat[len(rows) :]


def _rank(keys: NDArray[np.int64]) -> I8:
    """Position of each entry of a sorted array among its equals."""
    position = np.arange(len(keys), dtype=np.int64)
    if not len(keys):
        return position
    fresh = np.concatenate(([True], keys[1:] != keys[:-1]))
    return position - np.maximum.accumulate(np.where(fresh, position, 0))


def _count_duplicates(
    rows: AicoreRows, aicpu: AicpuRows, order_left: I8, order_right: I8, rank_left: I8, rank_right: I8, report: Report
) -> None:
    for cores, order, rank, stream in (
        (rows.core, order_left, rank_left, "AICore"),
        (aicpu.core, order_right, rank_right, "AICPU"),
    ):
        repeated = order[rank > 0]
        for place, count in per_core(cores[repeated]).items():
            report.add("duplicate_key", count, f"{stream} {place}")


def _count_unused(aicpu: AicpuRows, used: Bool, report: Report) -> None:
    if not used.all():
        report.add_each("unmatched_aicpu", per_core(aicpu.core[~used]))
        report.rows("scheduler_tasks", 0, int((~used).sum()))
