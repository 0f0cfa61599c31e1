"""Long lists of number rows and of flat objects as columns by the compiled scanners.

Everything here answers None where a list is not of the expected plain form; the typed decoder reads it then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, I8, U8, Bool
from analysis.formats.join.rows import RowColumns, RowFormat, arranged
from analysis.formats.text.buffers import zeros

_SAMPLE_BYTES = 1 << 20
_GROWTH = 1.5
_SPARE_ROWS = 1024
MAX_STREAMS = 4096
"""More lists than this are left to the way that counts them."""


@dataclass(frozen=True)
class Keys:
    """Known keys of an object in the order the runtime writes them; ``id_key`` is the one 64-bit id."""

    numbers: tuple[str, ...]
    texts: tuple[str, ...] = ()
    triples: tuple[str, ...] = ()
    id_key: str = "task_id"
    required: tuple[str, ...] = ()
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scanned:
    """Rows of all streams one after the other."""

    stream: I8
    columns: dict[str, I8]
    """Per number or text (n,); -1 where a row does not name the key."""
    triples: dict[str, I4]
    """Per triple (n, 3), -1 likewise."""
    texts: tuple[str, ...]
    """What the numbers in text columns stand for."""
    ids: U8
    has_id: Bool
    streams: int


def scan_rows(data: NDArray[np.uint8], at: int, form: RowFormat) -> tuple[RowColumns, int] | None:
    """(columns, position after the list) of a list of number rows of one width that begins at ``at``.

    ``data`` is followed by zero bytes (:class:`analysis.formats.text.reading.Text`).
    """
    from analysis.formats.text import scan_kernel as kernel

    first = re.match(rb"\[\s*\[([0-9,\s]*)\]", data[at : at + 4096].tobytes())
    width = first[1].count(b",") + 1 if first is not None else 0
    if width not in form.widths:
        return None
    columns = zeros((width, _capacity(data, at, b"]")), np.int64)
    state, at, rows = kernel.scan_rows(data, kernel.blank(data, at + 1), columns, 0)
    while state == kernel.FULL:
        columns = _wider(columns, rows)
        state, at, rows = kernel.scan_rows(data, at, columns, rows)
    return (arranged(columns[:, :rows], form), at) if state == kernel.DONE else None


def scan_streams(data: NDArray[np.uint8], at: int, keys: Keys) -> tuple[Scanned, int] | None:
    """(columns, position after the list) of a list of lists of objects, one per stream, that begins at ``at``."""
    from analysis.formats.text import scan_kernel as kernel

    if data[at] != ord("["):
        return None
    scan = _ObjectScan(keys, _capacity(data, at, b"{"))
    counts: list[int] = []
    at = kernel.blank(data, at + 1)
    while data[at] == ord("["):
        before = scan.rows
        at = kernel.blank(data, at + 1)
        if data[at] == ord("]"):
            at += 1
        else:
            at = scan.read(data, at)
            if at == kernel.REFUSED:
                return None
        counts.append(scan.rows - before)
        if len(counts) > MAX_STREAMS:
            return None
        at = kernel.blank(data, at)
        if data[at] == ord(","):
            at = kernel.blank(data, at + 1)
            if data[at] != ord("["):
                return None
        elif data[at] != ord("]"):
            return None
    return (scan.result(data, counts), at + 1) if data[at] == ord("]") else None


class _ObjectScan:
    """Columns that objects are scanned into, one list after the other."""

    def __init__(self, keys: Keys, capacity: int) -> None:
        from analysis.formats.text import scan_kernel as kernel

        self.rows = 0
        self._keys = keys
        single = [*keys.numbers, *keys.texts]
        slots = {name: k for names in (single, keys.triples, [keys.id_key]) for k, name in enumerate(names)}
        kind_of = dict.fromkeys(keys.texts, kernel.TEXT) | dict.fromkeys(keys.triples, kernel.TRIPLE)
        kind_of[keys.id_key] = kernel.ID
        self._names = np.empty((len(keys.order), 4), np.int64)
        for k, name in enumerate(keys.order):
            kernel.entry(self._names, k, np.frombuffer(f'{name}"        '.encode(), np.uint8), 0, len(name))
        self._kinds = np.array([kind_of.get(name, kernel.NUMBER) for name in keys.order], np.int64)
        self._places = np.array([slots[name] for name in keys.order], np.int64)
        self._required = sum(1 << keys.order.index(name) for name in keys.required)
        self._texts = np.full((kernel.MAX_TEXTS, 5), -1, np.int64)
        self._ever = np.zeros(1, np.int64)
        self._ids, self._has_id = zeros((capacity,), np.uint64), zeros((capacity,), np.bool_)
        self._columns = zeros((len(single), capacity), np.int64)
        self._triples = zeros((len(keys.triples), capacity, 3), np.int32)

    def read(self, data: NDArray[np.uint8], at: int) -> int:
        """Position after the list whose first object begins at ``at``, REFUSED when it holds anything unknown."""
        from analysis.formats.text import scan_kernel as kernel

        state = kernel.FULL
        while state == kernel.FULL:
            if self.rows == len(self._ids):
                self._grow()
            state, at, self.rows = kernel.scan_objects(
                data,
                at,
                self._names,
                self._kinds,
                self._places,
                self._required,
                self._texts,
                self._ever,
                self._ids,
                self._has_id,
                self._triples,
                self._columns,
                self.rows,
            )
        return at if state == kernel.DONE else kernel.REFUSED

    def _grow(self) -> None:
        self._columns = _wider(self._columns, self.rows)
        self._triples = _wider(self._triples, self.rows)
        self._ids = _wider(self._ids[None], self.rows)[0]
        self._has_id = _wider(self._has_id[None], self.rows)[0]

    def result(self, data: NDArray[np.uint8], counts: list[int]) -> Scanned:
        """What was read, given the number of rows per stream."""
        keys, rows = self._keys, self.rows
        seen = {name for k, name in enumerate(keys.order) if int(self._ever[0]) >> k & 1}

        def pick(names: tuple[str, ...], source: NDArray[Any]) -> dict[str, Any]:
            parts = ((name, source[k, :rows]) for k, name in enumerate(names))
            return {name: part if name in seen else np.full_like(part, -1) for name, part in parts}

        has_id = keys.id_key in seen
        return Scanned(
            stream=np.repeat(np.arange(len(counts), dtype=np.int64), counts),
            columns=pick((*keys.numbers, *keys.texts), self._columns),
            triples=pick(keys.triples, self._triples),
            texts=tuple(
                data[at : at + size].tobytes().decode("ascii")
                for _, _, _, size, at in self._texts.tolist()
                if size >= 0
            ),
            ids=self._ids[:rows] if has_id else np.zeros(rows, np.uint64),
            has_id=self._has_id[:rows] if has_id else np.zeros(rows, np.bool_),
            streams=len(counts),
        )


def _capacity(data: NDArray[np.uint8], at: int, mark: bytes) -> int:
    """Rows to make room for: how many the rest of the text could hold at the density of its beginning.

    Room that is never written to costs no memory.
    """
    sample = data[at : at + _SAMPLE_BYTES]
    density = sample.tobytes().count(mark) / max(1, len(sample))
    return int(density * (len(data) - at)) + _SPARE_ROWS


def _wider(columns: NDArray[Any], rows: int) -> NDArray[Any]:
    """A copy with room for more rows (second dimension)."""
    slots, capacity, *rest = columns.shape
    out = zeros((slots, int(capacity * _GROWTH) + _SPARE_ROWS, *rest), columns.dtype)
    out[:, :rows] = columns[:, :rows]
    return out
