"""Long lists of flat objects as columns by the compiled scanner; None where the typed decoder has to do it."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from analysis.model import I8, U8, Bool

WORTH_BYTES = 32 << 20
"""Lists shorter than this are decoded before the compiled scanner would have been loaded."""
_DEPTH_LIMIT = 2**31


@dataclass(frozen=True)
class Keys:
    """Known keys of an object in the order the runtime writes them; ``id_key`` is the one 64-bit id."""

    numbers: tuple[str, ...]
    texts: tuple[str, ...] = ()
    triples: tuple[str, ...] = ()
    id_key: str = "task_id"
    required: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    def slots(self) -> dict[str, int]:
        """First column of each key."""
        single = [*self.numbers, *self.texts]
        slots = {name: at for at, name in enumerate(single)}
        return slots | {name: len(single) + 3 * at for at, name in enumerate(self.triples)}

    def width(self) -> int:
        """Number of columns."""
        return len(self.numbers) + len(self.texts) + 3 * len(self.triples)


@dataclass(frozen=True)
class Scanned:
    """Rows of all streams one after the other."""

    stream: I8
    columns: dict[str, I8]
    """Per key (n,), for triples (n, 3); -1 where a row does not name the key."""
    texts: tuple[str, ...]
    """What the numbers in text columns stand for."""
    ids: U8
    has_id: Bool
    streams: int


def scan_streams(section: msgspec.Raw | None, keys: Keys) -> Scanned | None:
    """A section that holds one list of objects per stream, when it is long and plain enough; else None.

    The section must be valid JSON (a value :func:`analysis.formats.reading.sections` gave).
    """
    if section is None or len(memoryview(section)) < WORTH_BYTES:
        return None
    from analysis.formats import scan_kernel as kernel

    data = np.frombuffer(memoryview(section), np.uint8)
    if data[0] != ord("["):
        return None
    capacity = int(kernel.count_bytes(data, ord("{")))
    order = keys.order
    slots = keys.slots() | {keys.id_key: 0}
    kind_of = dict.fromkeys(keys.texts, kernel.TEXT) | dict.fromkeys(keys.triples, kernel.TRIPLE)
    kind_of[keys.id_key] = kernel.ID
    names = np.frombuffer("".join(order).encode(), np.uint8)
    starts = np.concatenate(([0], np.cumsum([len(name) for name in order]))).astype(np.int64)
    kinds = np.array([kind_of.get(name, kernel.NUMBER) for name in order], np.int64)
    places = np.array([slots[name] for name in order], np.int64)
    required = sum(1 << order.index(name) for name in keys.required)
    columns = np.full((keys.width(), capacity), -1, np.int64)
    ids, has_id = np.zeros(capacity, np.uint64), np.zeros(capacity, np.bool_)
    texts = np.full((kernel.MAX_TEXTS, 2), -1, np.int64)
    counts: list[int] = []
    at, row = _next(data, 1), 0
    while data[at] != ord("]"):
        at, after = kernel.scan_list(data, at, names, starts, kinds, places, required, texts, ids, has_id, columns, row)
        if at == kernel.REFUSED:
            return None
        counts.append(after - row)
        row = after
        at = _next(data, at)
        at = _next(data, at + 1) if data[at] == ord(",") else at
    if row != capacity or (keys.triples and int(columns[-3 * len(keys.triples) :].max(initial=0)) >= _DEPTH_LIMIT):
        return None
    return Scanned(
        stream=np.repeat(np.arange(len(counts), dtype=np.int64), counts),
        columns=_columns(columns, keys),
        texts=_texts(data, texts),
        ids=ids,
        has_id=has_id,
        streams=len(counts),
    )


def _next(data: NDArray[np.uint8], at: int) -> int:
    """First position at or after ``at`` that is no white space."""
    while data[at] <= 32:
        at += 1
    return at


def _columns(columns: I8, keys: Keys) -> dict[str, I8]:
    slots = keys.slots()
    single = {name: columns[slots[name]] for name in (*keys.numbers, *keys.texts)}
    return single | {name: np.ascontiguousarray(columns[slots[name] : slots[name] + 3].T) for name in keys.triples}


def _texts(data: NDArray[np.uint8], texts: I8) -> tuple[str, ...]:
    return tuple(data[at : at + size].tobytes().decode() for at, size in texts.tolist() if size >= 0)
