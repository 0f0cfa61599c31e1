"""Pools that give equal texts, tensors and views one index each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from analysis.capture import I8, U8, ViewTable
from analysis.formats.text.reading import integer

ViewFields: TypeAlias = tuple[Any, Any, Any, Any]
"""(dtype, shape, start_offset, strides) as decoded."""


class Names:
    """Texts in order of first use."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._index: dict[str, int] = {}

    def index(self, name: str | None) -> int:
        """Index of ``name``, added when new; -1 for None."""
        if name is None:
            return -1
        at = self._index.get(name)
        if at is None:
            at = self._index[name] = len(self.names)
            self.names.append(name)
        return at


class TensorNames:
    """Tensor ids, as number or text, to rows of the tensor table."""

    def __init__(self, tensor_id: U8) -> None:
        self._index: dict[Any, int] = {None: -1}
        for at, number in enumerate(tensor_id.tolist()):
            self._index.setdefault(number, at)
            self._index.setdefault(str(number), at)
        self.missed = 0
        """How many lookups named a tensor that the table lacks."""

    def indexes(self, values: Sequence[Any]) -> I8:
        """Row of each id, -1 for None and for ids the table lacks."""
        index = self._index
        try:
            return np.fromiter(map(index.__getitem__, values), np.int64, len(values))
        except KeyError:
            return np.fromiter(map(self._find, values), np.int64, len(values))

    def _find(self, value: Any) -> int:
        at = self._index.get(value, -2)
        if at == -2:
            number = integer(value)
            at = -1 if number is None else self._index.get(number, -1)
            self.missed += at < 0
        return at


class ViewPool:
    """Distinct views (dtype, shape, offset, strides) in order of first use."""

    def __init__(self, dtypes: Names) -> None:
        self._dtypes = dtypes
        self._index: dict[ViewFields, int] = {}

    def indexes(self, views: Iterable[ViewFields]) -> I8:
        """Index of each view, -1 where no shape is given."""
        index = self._index
        return np.array([-1 if view[1] is None else index.setdefault(view, len(index)) for view in views], np.int64)

    def table(self) -> ViewTable:
        """All views as columns."""
        views = list(self._index)
        offsets = [integer(view[2]) for view in views]
        shapes, strides = [view[1] for view in views], [view[3] or () for view in views]
        return ViewTable(
            dtype=np.array([self._dtypes.index(view[0]) for view in views], np.int16),
            start_offset=np.array([-1 if at is None or not 0 <= at < 2**63 else at for at in offsets], np.int64),
            dim_offsets=_offsets(shapes),
            shape=_flat(shapes),
            stride_offsets=_offsets(strides),
            stride=_flat(strides),
        )


def _offsets(lists: list[tuple[int, ...]]) -> I8:
    out = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(cells) for cells in lists], out=out[1:])
    return out


def _flat(lists: list[tuple[int, ...]]) -> I8:
    return np.array([cell for cells in lists for cell in cells], np.int64)
