"""Small integers for phase letters and for combinations of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8


def letters(text: str) -> NDArray[np.uint8]:
    """Phase letters as bytes."""
    return np.frombuffer(text.encode(), np.uint8)


def codes(*columns: NDArray[Any]) -> tuple[I8, NDArray[np.int64]]:
    """Dense number of each row's combination of small integers (from -1 on), and the combinations, ascending."""
    code = np.zeros(len(columns[0]), np.int64)
    sizes = [int(column.max(initial=-1)) + 2 for column in columns]
    for column, size in zip(columns, sizes, strict=True):
        code = code * size + column + 1
    space = int(np.prod([float(size) for size in sizes]))
    if space <= max(1 << 20, 4 * len(code)):
        used = np.flatnonzero(np.bincount(code, minlength=1))
        dense = np.zeros(space, np.int64)
        dense[used] = np.arange(len(used))
        inverse = dense[code]
    else:
        used, inverse = np.unique(code, return_inverse=True)
    parts, rest = [], used
    for size in reversed(sizes):
        parts.append(rest % size - 1)
        rest = rest // size
    return inverse.astype(np.int64), np.stack(parts[::-1], axis=1) if len(used) else np.empty(
        (0, len(columns)), np.int64
    )
