"""Compiled scanner for long lists of flat JSON objects, byte by byte.

It reads only what it knows: given keys in any order, integers below 10^18, ids, lists of three integers, short texts
without escapes, null. At anything else it stops and refuses, and the caller reads the list by the typed decoder instead,
so both ways give the same columns. The text must already be known to be valid JSON: nothing here checks for its end.
Loading the compiled code takes a fraction of a second, so it is only worth it for long lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

NUMBER, TEXT, TRIPLE, ID = 0, 1, 2, 3
"""What a key holds: an integer, a text (stored as its number in the table of texts), three integers, a 64-bit id."""
REFUSED = -1
MAX_TEXTS = 256
_QUOTE, _COMMA, _COLON, _OPEN, _CLOSE, _BEGIN, _END, _MINUS, _N = 34, 44, 58, 91, 93, 123, 125, 45, 110


def _compiled(function: F) -> F:
    """Compile on first call, through numba's on-disk cache where one can be written; runs without the GIL."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no writable cache directory: compile in every process
        return cast(F, numba.njit(nogil=True)(function))


@_compiled
def count_bytes(data: NDArray[np.uint8], byte: int) -> int:
    """How often ``byte`` occurs."""
    count = 0
    for value in data:
        count += value == byte
    return count


@_compiled
def _blank(data: NDArray[np.uint8], at: int) -> int:
    """First position at or after ``at`` that is no JSON white space."""
    while data[at] <= 32:
        at += 1
    return at


@_compiled
def _number(data: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """(position after an integer of at most 18 digits, value); REFUSED for anything else."""
    negative = data[at] == _MINUS
    if negative:
        at += 1
    begin = at
    value = 0
    while 48 <= data[at] <= 57:
        value = value * 10 + (data[at] - 48)
        at += 1
    if at == begin or at - begin > 18:
        return REFUSED, 0
    return at, (-value if negative else value)


@_compiled
def _identity(data: NDArray[np.uint8], at: int) -> tuple[int, np.uint64]:
    """(position after an id given as number or text of at most 19 digits, value); REFUSED for anything else."""
    quoted = data[at] == _QUOTE
    if quoted:
        at += 1
    begin = at
    value = np.uint64(0)
    while 48 <= data[at] <= 57:
        value = value * np.uint64(10) + np.uint64(data[at] - 48)
        at += 1
    if at == begin or at - begin > 19 or (quoted and data[at] != _QUOTE):
        return REFUSED, value
    return (at + 1 if quoted else at), value


@_compiled
def _key(
    data: NDArray[np.uint8], at: int, keys: NDArray[np.uint8], starts: NDArray[np.int64], guess: int
) -> tuple[int, int]:
    """(position after the quote that ends the key, index of the key); REFUSED for an unknown key.

    ``guess`` is tried first: machine-written objects have their keys in one order.
    """
    n = len(starts) - 1
    which = guess
    for _ in range(n):
        begin = starts[which]
        size = starts[which + 1] - begin
        k = 0
        while k < size and data[at + k] == keys[begin + k]:
            k += 1
        if k == size and data[at + size] == _QUOTE:
            return at + size + 1, which
        which += 1
        if which == n:
            which = 0
    return REFUSED, 0


@_compiled
def _text(data: NDArray[np.uint8], at: int, texts: NDArray[np.int64]) -> tuple[int, int]:
    """(position after the closing quote, number of the text); new texts are added to ``texts`` (place, length).

    The first free entry of ``texts`` has length -1. REFUSED for escapes, other than printable ASCII, or a full table.
    """
    if data[at] != _QUOTE:
        return REFUSED, 0
    begin = at + 1
    for which in range(MAX_TEXTS):
        place, size = texts[which, 0], texts[which, 1]
        if size < 0:
            at = begin
            while data[at] != _QUOTE:
                if data[at] == 92 or data[at] < 32 or data[at] > 126:
                    return REFUSED, 0
                at += 1
            texts[which, 0], texts[which, 1] = begin, at - begin
            return at + 1, which
        k = 0
        while k < size and data[begin + k] == data[place + k]:
            k += 1
        if k == size and data[begin + size] == _QUOTE:
            return begin + size + 1, which
    return REFUSED, 0


@_compiled
def _triple(data: NDArray[np.uint8], at: int, columns: NDArray[np.int64], slot: int, row: int) -> int:
    """Position after ``[a, b, c]``, which goes into three slots; REFUSED for anything else."""
    if data[at] != _OPEN:
        return REFUSED
    at = _blank(data, at + 1)
    for k in range(3):
        at, columns[slot + k, row] = _number(data, at)
        if at == REFUSED:
            return REFUSED
        at = _blank(data, at)
        if data[at] != (_COMMA if k < 2 else _CLOSE):
            return REFUSED
        at += 1
        if k < 2:
            at = _blank(data, at)
    return at


@_compiled
def scan_list(
    data: NDArray[np.uint8],
    at: int,
    keys: NDArray[np.uint8],
    starts: NDArray[np.int64],
    kinds: NDArray[np.int64],
    places: NDArray[np.int64],
    required: int,
    texts: NDArray[np.int64],
    ids: NDArray[np.uint64],
    has_id: NDArray[np.bool_],
    columns: NDArray[np.int64],
    row: int,
) -> tuple[int, int]:
    """Read a list of objects that begins at ``at`` into ``columns`` (slots, capacity) from ``row`` on.

    ``keys`` holds the known keys end to end, cut by ``starts``; key k is of ``kinds[k]`` and fills ``columns`` from slot
    ``places[k]`` on. Every object must have the keys of the bit mask ``required``; slots that an object does not name
    keep what they hold.

    Returns:
        (position after the list, row after the last one read), or (REFUSED, 0).
    """
    if data[at] != _OPEN:
        return REFUSED, 0
    at = _blank(data, at + 1)
    if data[at] == _CLOSE:
        return at + 1, row
    n_keys = len(kinds)
    while True:
        if data[at] != _BEGIN or row >= columns.shape[1]:
            return REFUSED, 0
        at = _blank(data, at + 1)
        seen, guess = 0, 0
        while True:
            if data[at] != _QUOTE:
                return REFUSED, 0
            at, key = _key(data, at + 1, keys, starts, guess)
            if at == REFUSED or seen >> key & 1:
                return REFUSED, 0
            seen |= 1 << key
            guess = key + 1 if key + 1 < n_keys else 0
            at = _blank(data, at)
            if data[at] != _COLON:
                return REFUSED, 0
            at = _blank(data, at + 1)
            kind = kinds[key]
            if data[at] == _N and kind != TEXT:
                if required >> key & 1:
                    return REFUSED, 0
                at += 4
            elif kind == NUMBER:
                at, columns[places[key], row] = _number(data, at)
            elif kind == TEXT:
                at, columns[places[key], row] = _text(data, at, texts)
            elif kind == TRIPLE:
                at = _triple(data, at, columns, places[key], row)
            else:
                at, ids[row] = _identity(data, at)
                has_id[row] = True
            if at == REFUSED:
                return REFUSED, 0
            at = _blank(data, at)
            if data[at] == _END:
                break
            if data[at] != _COMMA:
                return REFUSED, 0
            at = _blank(data, at + 1)
        if seen & required != required:
            return REFUSED, 0
        row += 1
        at = _blank(data, at + 1)
        if data[at] == _CLOSE:
            return at + 1, row
        if data[at] != _COMMA:
            return REFUSED, 0
        at = _blank(data, at + 1)
