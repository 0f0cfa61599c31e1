"""A set of bytes as disjoint ranges: which of them has been seen?"""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class ByteSet:
    """Union of half-open ranges, kept disjoint and sorted; ranges of no bytes are not kept."""

    def __init__(self) -> None:
        self._lows: list[int] = []
        self._highs: list[int] = []

    def meets(self, low: int, high: int) -> bool:
        """Is any byte from ``low`` up to ``high`` in the set?"""
        at = bisect_right(self._highs, low)
        return at < len(self._lows) and self._lows[at] < high

    def covers(self, low: int, high: int) -> bool:
        """Are all bytes from ``low`` up to ``high`` in the set?"""
        at = bisect_right(self._lows, low) - 1
        return low >= high or (at >= 0 and self._highs[at] >= high)

    def add(self, low: int, high: int) -> None:
        """Put the bytes from ``low`` up to ``high`` into the set."""
        if low >= high:
            return
        first, last = bisect_left(self._highs, low), bisect_right(self._lows, high)
        if first < last:
            low, high = min(low, self._lows[first]), max(high, self._highs[last - 1])
        self._lows[first:last] = [low]
        self._highs[first:last] = [high]
