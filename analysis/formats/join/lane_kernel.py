"""Compiled loops of the assembly: ordering, sub-rows and the join for tables that come nearly as they should be.

Each gives up where the general way has to decide (:mod:`analysis.formats.join.sorting`, ``lanes``, ``join``), and gives the
same result where it does not. Loading the compiled code takes a fraction of a second, so it is only worth it for long
tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I2, I4, I8, MISSING, Bool
from analysis.jit import compiled

FITTED, UNORDERED, CROWDED = 0, 1, 2
_MOVES_PER_ROW = 8


@compiled
def insertion_order(group: NDArray[Any], start: I8, end: I8, order: I8) -> bool:
    """Fill ``order`` with the rows by (group, start, end, index); False when they are too far from it already."""
    moves = _MOVES_PER_ROW * len(group)
    for row in range(len(group)):
        at = row
        while at > 0:
            before = order[at - 1]
            if group[before] != group[row]:
                if group[before] < group[row]:
                    break
            elif start[before] != start[row]:
                if start[before] < start[row]:
                    break
            elif end[before] <= end[row]:
                break
            order[at] = before
            at -= 1
            moves -= 1
            if moves < 0:
                return False
        order[at] = row
    return True


@compiled
def first_fit(
    lane: NDArray[Any],
    start: I8,
    end: I8,
    order: I8,
    lowest_lane: int,
    free_at: NDArray[np.int64],
    last: NDArray[np.int64],
    rows: I2,
) -> int:
    """First free sub-row per bar, taken in ``order`` (empty: as they come), into ``rows``.

    ``free_at`` (lanes, sub-rows) and ``last`` (lanes, 2) begin at the smallest int64. UNORDERED when a bar of a lane
    comes after a later one, CROWDED when a lane needs more sub-rows than there is room for.
    """
    for position in range(len(lane)):
        bar = order[position] if len(order) else position
        begin, stop = start[bar], end[bar]
        if begin == MISSING or stop == MISSING:
            continue
        at = lane[bar] - lowest_lane
        if begin < last[at, 0] or (begin == last[at, 0] and stop < last[at, 1]):
            return UNORDERED
        last[at, 0], last[at, 1] = begin, stop
        row = 0
        while row < free_at.shape[1] and free_at[at, row] > begin:
            row += 1
        if row == free_at.shape[1]:
            return CROWDED
        free_at[at, row] = max(begin, stop)
        rows[bar] = row
    return FITTED


@compiled
def pair(
    core: I8, reg: I8, other_core: I8, other_reg: I8, base: I8, size: I8, table: I4, seen: Bool, partner: I8
) -> bool:
    """Partner of each (core, reg) among the others, -1 for none; False when a key repeats or lies outside the table.

    The slot of a key in ``table`` (all -1) and ``seen`` (all False) is ``base[core] + reg``; ``size[core]`` bounds reg.
    """
    for row in range(len(other_core)):
        slot = base[other_core[row]] + other_reg[row]
        if table[slot] >= 0:
            return False
        table[slot] = row
    for row in range(len(core)):
        if core[row] >= len(base) or not 0 <= reg[row] < size[core[row]]:
            return False
        slot = base[core[row]] + reg[row]
        if seen[slot]:
            return False
        seen[slot] = True
        partner[row] = table[slot]
    return True


@compiled
def group(task: I4, offsets: I8, order: I4, block: I4) -> None:
    """Rows grouped by task into ``order``, each group (``offsets``) in row order, and the place of each row in its
    group into ``block``. ``block`` begins at 0."""
    filled = np.zeros(len(offsets), np.int32)
    for row in range(len(task)):
        owner = task[row]
        block[row] = filled[owner]
        order[offsets[owner] + filled[owner]] = row
        filled[owner] += 1


@compiled
def extreme(task: I4, values: I8, largest: bool, out: I8) -> None:
    """Smallest or largest captured value per task into ``out``, which begins at MISSING."""
    for row in range(len(task)):
        value, owner = values[row], task[row]
        if value == MISSING:
            continue
        before = out[owner]
        if before == MISSING or (value > before if largest else value < before):
            out[owner] = value
