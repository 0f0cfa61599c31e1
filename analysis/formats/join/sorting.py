"""Rows by (group, start, end): the order of every table with bars."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8

WORTH_ROWS = 200_000
"""Tables shorter than this are sorted before compiled code would have been loaded."""


def order_of(group: NDArray[Any], start: I8, end: I8) -> NDArray[np.int64] | None:
    """Row indexes by (group, start, end, index); None where the rows lie like that already."""
    same, equal = group[1:] == group[:-1], start[1:] == start[:-1]
    later = (group[1:] > group[:-1]) | (same & ((start[1:] > start[:-1]) | (equal & (end[1:] >= end[:-1]))))
    if later.all():
        return None
    if len(group) >= WORTH_ROWS:
        from analysis.formats.join.lane_kernel import insertion_order

        order = np.empty(len(group), np.int64)
        if insertion_order(group.astype(np.int64), start, end, order):
            return order
    return np.lexsort((end, start, group))
