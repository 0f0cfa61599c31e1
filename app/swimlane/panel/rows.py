"""Which row of a table is the selection? Needed where the browser holds only some blocks of a long table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis import selection
from analysis.results import Table


def row_of(table: Table, shown: NDArray[Any], sel: str) -> int:
    """Position in the shown order of the first row that ``sel`` names, or -1.

    Args:
        table: the whole table.
        shown: its rows as filters and sort leave them.
        sel: a selection as in the URL; task, group and gap of one task are the same row.
    """
    names = {column.name for column in table.columns}
    found = selection.parse(sel)
    word, value = (found.kind, found.value) if found is not None else ("", "")
    if word in selection.OF_A_TASK:
        cells = table.cells("task_id") if "task_id" in names else table.cells("succ") if "succ" in names else []
    elif word == "chain" and "tasks" in names:
        cells = [tasks[0] for tasks in table.cells("tasks")]
    elif word == "func" and "func_id" in names and "task_id" not in names:
        cells = [str(cell) for cell in table.cells("func_id")]
    else:
        cells = []
    hit = np.array([cell == value for cell in cells], dtype=bool)
    if not hit.any():
        return -1
    at = np.flatnonzero(hit[shown])
    return int(at[0]) if len(at) else -1
