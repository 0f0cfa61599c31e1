"""Which bytes of a buffer does a strided view touch? (ALGORITHMS: Redundant edges, Reduced DF)"""

from __future__ import annotations

import itertools

from analysis.capture import Capture

MAX_INTERVALS = 10_000
"""A view that falls into more pieces counts as unknown (ALGORITHMS)."""

DTYPE_BYTES: dict[str, int] = {
    "BOOL": 1,
    "INT8": 1,
    "UINT8": 1,
    "INT16": 2,
    "UINT16": 2,
    "FLOAT16": 2,
    "BFLOAT16": 2,
    "INT32": 4,
    "UINT32": 4,
    "FLOAT32": 4,
    "INT64": 8,
    "UINT64": 8,
    "FLOAT64": 8,
}
"""Bytes of one element; a type that is not listed (packed 4-bit types too) has unknown regions."""

Intervals = tuple[tuple[int, int], ...]
"""Half-open byte ranges relative to the buffer's address: sorted, disjoint, not touching."""


def merge(intervals: list[tuple[int, int]]) -> Intervals:
    """The union of half-open ranges."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def intersect(left: Intervals, right: Intervals) -> list[tuple[int, int]]:
    """The common part of two unions of ranges."""
    common = []
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low < high:
            common.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return common


def strided_intervals(start: int, shape: list[int], strides: list[int]) -> Intervals | None:
    """Element ranges of a view: contiguous inner dimensions as one run, the rest enumerated.

    None when the view is empty, its strides are negative or do not match its shape, or it has more than
    :data:`MAX_INTERVALS` pieces.
    """
    if len(shape) != len(strides) or start < 0 or min(shape, default=1) < 1 or min(strides, default=0) < 0:
        return None
    run, dims = 1, list(zip(shape, strides, strict=True))
    while dims and (dims[-1][0] == 1 or dims[-1][1] == run):
        run *= dims.pop()[0]
    pieces = 1
    for extent, _ in dims:
        pieces *= extent
    if pieces > MAX_INTERVALS:
        return None
    steps = [range(0, extent * stride, stride) if stride else (0,) for extent, stride in dims]
    return merge([(start + sum(offset), start + sum(offset) + run) for offset in itertools.product(*steps)])


class Regions:
    """Byte regions of (view, tensor) pairs of one capture, each worked out once."""

    def __init__(self, capture: Capture) -> None:
        views, tensors = capture.views, capture.tensors
        self._start = views.start_offset.tolist()
        self._dims = views.dim_offsets.tolist()
        self._shape = views.shape.tolist()
        self._stride_at = views.stride_offsets.tolist()
        self._stride = views.stride.tolist()
        self._view_dtype = views.dtype.tolist()
        self._tensor_dtype = tensors.dtype.tolist()
        self._numel = tensors.buffer_numel.tolist()
        self._element_bytes = [DTYPE_BYTES.get(name.upper(), 0) for name in capture.meta.dtypes]
        self._known: dict[tuple[int, int, int], Intervals | None] = {}

    def of(self, view: int, tensor: int) -> Intervals | None:
        """Bytes that ``view`` touches in the buffer of ``tensor``; None when they are not exactly known.

        Unknown: no view, tensor, size or type; a view typed unlike its tensor; a region outside the buffer; see also
        :func:`strided_intervals`.
        """
        if view < 0 or tensor < 0:
            return None
        dtype, view_dtype = self._tensor_dtype[tensor], self._view_dtype[view]
        if dtype < 0 or view_dtype not in (-1, dtype) or not self._element_bytes[dtype]:
            return None
        key = (view, dtype, self._numel[tensor])
        if key not in self._known:
            self._known[key] = self._bytes(*key)
        return self._known[key]

    def _bytes(self, view: int, dtype: int, numel: int) -> Intervals | None:
        shape = self._shape[self._dims[view] : self._dims[view + 1]]
        strides = self._stride[self._stride_at[view] : self._stride_at[view + 1]]
        elements = strided_intervals(self._start[view], shape, strides)
        if elements is None or elements[-1][1] > numel:
            return None
        size = self._element_bytes[dtype]
        return tuple((low * size, high * size) for low, high in elements)
