"""64-bit task ids to dense indexes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, U8

_SLACK = 4


class IdIndex:
    """Sorted distinct ids and the way back.

    Ids are a ring in the upper half and a counter in the lower, so per ring a table of counters is the fast way;
    scattered ids use binary search. Both give the same answer.
    """

    def __init__(self, sources: Sequence[U8]) -> None:
        everything = np.concatenate([np.zeros(0, np.uint64), *sources])
        self._tables: dict[int, tuple[int, NDArray[np.int32]]] | None = None
        self.ids: U8 = self._compact(everything)

    def _compact(self, everything: U8) -> U8:
        upper = everything >> np.uint64(32)
        rings = np.unique(upper[:1]) if len(upper) and bool((upper == upper[0]).all()) else np.unique(upper)
        if len(rings) > 256:
            return np.unique(everything)
        parts: list[U8] = []
        tables: dict[int, tuple[int, NDArray[np.int32]]] = {}
        count = 0
        for ring in rings.tolist():
            mine = everything[upper == ring] if len(rings) > 1 else everything
            low, high = int(mine.min()), int(mine.max())
            if high - low >= _SLACK * len(mine) + 1024:
                return np.unique(everything)
            seen = np.zeros(high - low + 1, np.bool_)
            seen[(mine - np.uint64(low)).astype(np.int64)] = True
            present = np.flatnonzero(seen)
            table = np.full(high - low + 1, -1, np.int32)
            table[present] = np.arange(count, count + len(present), dtype=np.int32)
            tables[ring] = (low, table)
            parts.append(present.astype(np.uint64) + np.uint64(low))
            count += len(present)
        self._tables = tables
        return np.concatenate([np.zeros(0, np.uint64), *parts])

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, wanted: U8) -> I4:
        """Dense index of each id, -1 where unknown."""
        if not len(wanted) or not len(self.ids):
            return np.full(len(wanted), -1, np.int32)
        if self._tables is None:
            at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
            return np.where(self.ids[at] == wanted, at, -1).astype(np.int32)
        out = np.full(len(wanted), -1, np.int32)
        upper = wanted >> np.uint64(32)
        for ring, (low, table) in self._tables.items():
            mine = np.flatnonzero(upper == ring) if len(self._tables) > 1 or not (upper == ring).all() else slice(None)
            offset = (wanted[mine] - np.uint64(low)).astype(np.int64)
            inside = (wanted[mine] >= np.uint64(low)) & (offset < len(table))
            out[mine] = np.where(inside, table[np.where(inside, offset, 0)], -1)
        return out
