"""Compiled scanners for long lists of number rows and of flat JSON objects, byte by byte.

They read only what they know: rows of one width made of integers below 10^18; objects with given keys in any order,
integers below 10^18, ids, lists of three 32-bit integers, short texts without escapes, null. At anything else they stop
and refuse, and the caller reads the list by the typed decoder instead, so both ways give the same columns. What they
accept is valid JSON.

The text needs no check before: it must be followed by :data:`PAD_BYTES` zero bytes, at which every loop stops. Loading
the compiled code takes a fraction of a second, so it is only worth it for long lists.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis.jit import byte_at, compiled, eight, inlined, word

NUMBER, TEXT, TRIPLE, ID = 0, 1, 2, 3
"""What a key holds: an integer, a text (stored as its number in the table of texts), three integers, a 64-bit id."""
REFUSED, DONE, FULL = -1, 0, 1
"""How a scan ended: at something it does not know, at the end of the list, or for want of room in the columns."""
MAX_TEXTS = 256
MAX_TEXT_BYTES = 15
"""Keys and texts that are longer are refused."""
_MAX_DIGITS, _MAX_ID_DIGITS = 18, 19
_INT32_LIMIT = 2**31
_BLOCK_ROWS = 2048
_QUOTE, _COMMA, _MINUS, _COLON, _OPEN, _BACKSLASH, _CLOSE, _N, _BEGIN, _END = 34, 44, 45, 58, 91, 92, 93, 110, 123, 125


@compiled
def blank(data: NDArray[np.uint8], at: int) -> int:
    """First position at or after ``at`` that is no JSON white space."""
    byte = byte_at(data, at)
    while byte <= 32 and (byte == 32 or byte == 10 or byte == 13 or byte == 9):
        at += 1
        byte = byte_at(data, at)
    return at


@inlined
def _number(data: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """(position after an integer of at most 18 digits, value); REFUSED for anything else."""
    negative = byte_at(data, at) == _MINUS
    if negative:
        at += 1
    begin = at
    value = 0
    digit = byte_at(data, at) - 48
    while 0 <= digit <= 9:
        value = value * 10 + digit
        at += 1
        digit = byte_at(data, at) - 48
    size = at - begin
    if size == 0 or size > _MAX_DIGITS or (size > 1 and byte_at(data, begin) == 48):
        return REFUSED, 0
    return at, (-value if negative else value)


@inlined
def _identity(data: NDArray[np.uint8], at: int) -> tuple[int, np.uint64]:
    """(position after an id given as number or text of at most 19 digits, value); REFUSED for anything else."""
    quoted = byte_at(data, at) == _QUOTE
    if quoted:
        at += 1
    begin = at
    value = np.uint64(0)
    digit = byte_at(data, at) - 48
    while 0 <= digit <= 9:
        value = value * np.uint64(10) + np.uint64(digit)
        at += 1
        digit = byte_at(data, at) - 48
    size = at - begin
    if size == 0 or size > _MAX_ID_DIGITS or (size > 1 and not quoted and byte_at(data, begin) == 48):
        return REFUSED, value
    if quoted and byte_at(data, at) != _QUOTE:
        return REFUSED, value
    return (at + 1 if quoted else at), value


@compiled
def scan_rows(data: NDArray[np.uint8], at: int, columns: NDArray[np.int64], row: int) -> tuple[int, int, int]:
    """Read lists of non-negative integers, the first of which begins at ``at``, into ``columns`` (width, capacity).

    Returns:
        (DONE, position after the outer list, row after the last), (FULL, position of the next row, row after the last)
        or (REFUSED, …) when a row has another width or holds anything but such integers.
    """
    width, capacity = columns.shape
    while row < capacity:
        if byte_at(data, at) != _OPEN:
            return REFUSED, at, row
        at += 1
        for k in range(width):
            at = blank(data, at)
            begin = at
            value = 0
            digit = byte_at(data, at) - 48
            while 0 <= digit <= 9:
                value = value * 10 + digit
                at += 1
                digit = byte_at(data, at) - 48
            size = at - begin
            if size == 0 or size > _MAX_DIGITS or (size > 1 and byte_at(data, begin) == 48):
                return REFUSED, at, row
            columns[k, row] = value
            at = blank(data, at)
            if byte_at(data, at) != (_CLOSE if k == width - 1 else _COMMA):
                return REFUSED, at, row
            at += 1
        row += 1
        at = blank(data, at)
        byte = byte_at(data, at)
        if byte == _CLOSE:
            return DONE, at + 1, row
        if byte != _COMMA:
            return REFUSED, at, row
        at = blank(data, at + 1)
    return FULL, at, row


@inlined
def _is(data: NDArray[np.uint8], at: int, words: NDArray[np.int64], which: int) -> bool:
    """Whether the text of entry ``which`` of ``words`` (see :func:`entry`) and a quote lie at ``at``."""
    if (eight(data, at) ^ words[which, 0]) & words[which, 1]:
        return False
    size = words[which, 3]
    return bool(size < 8 or eight(data, at + size - 7) == words[which, 2])


@compiled
def entry(words: NDArray[np.int64], which: int, data: NDArray[np.uint8], at: int, size: int) -> None:
    """Make entry ``which`` of ``words`` the text of ``size`` bytes at ``at``, which a quote follows: its first eight
    bytes, the mask of those that count, its last eight (quote included), its size. Texts of up to 15 bytes fit."""
    words[which, 0] = eight(data, at)
    words[which, 1] = -1 if size >= 7 else (1 << 8 * (size + 1)) - 1
    words[which, 2] = eight(data, at + size - 7) if size >= 8 else 0
    words[which, 3] = size


@inlined
def _key(data: NDArray[np.uint8], at: int, keys: NDArray[np.int64], guess: int) -> tuple[int, int]:
    """(position after the quote that ends the key, index of the key); REFUSED for an unknown key.

    ``guess`` is tried first: machine-written objects have their keys in one order.
    """
    n = len(keys)
    which = guess
    for _ in range(n):
        if _is(data, at, keys, which):
            return at + keys[which, 3] + 1, which
        which += 1
        if which == n:
            which = 0
    return REFUSED, 0


@inlined
def _text(data: NDArray[np.uint8], at: int, texts: NDArray[np.int64]) -> tuple[int, int]:
    """(position after the closing quote, number of the text); new texts are added to ``texts``.

    The first free entry of ``texts`` has size -1; a fifth column holds the place of the text. REFUSED for escapes, for
    other than printable ASCII, for texts that are too long, or a full table.
    """
    if byte_at(data, at) != _QUOTE:
        return REFUSED, 0
    begin = at + 1
    for which in range(MAX_TEXTS):
        if texts[which, 3] < 0:
            at = begin
            while byte_at(data, at) != _QUOTE:
                byte = byte_at(data, at)
                if byte == _BACKSLASH or byte < 32 or byte > 126:
                    return REFUSED, 0
                at += 1
            if at - begin > MAX_TEXT_BYTES:
                return REFUSED, 0
            entry(texts, which, data, begin, at - begin)
            texts[which, 4] = begin
            return at + 1, which
        if _is(data, begin, texts, which):
            return begin + texts[which, 3] + 1, which
    return REFUSED, 0


@inlined
def _triple(data: NDArray[np.uint8], at: int, cells: NDArray[np.int32]) -> int:
    """Position after ``[a, b, c]``, three 32-bit integers that go into ``cells``; REFUSED for anything else."""
    if byte_at(data, at) != _OPEN:
        return REFUSED
    at = blank(data, at + 1)
    for k in range(3):
        at, value = _number(data, at)
        if at == REFUSED or not -_INT32_LIMIT <= value < _INT32_LIMIT:
            return REFUSED
        cells[k] = value
        at = blank(data, at)
        if byte_at(data, at) != (_COMMA if k < 2 else _CLOSE):
            return REFUSED
        at += 1
        if k < 2:
            at = blank(data, at)
    return at


@compiled
def _clear(
    keys: int,
    kinds: NDArray[np.int64],
    places: NDArray[np.int64],
    ids: NDArray[np.uint64],
    has_id: NDArray[np.bool_],
    triples: NDArray[np.int32],
    columns: NDArray[np.int64],
    first: int,
    after: int,
) -> None:
    """Fill rows ``first`` to ``after`` of the keys in a bit mask with what stands for a key that is not named."""
    for key in range(len(kinds)):
        if keys >> key & 1:
            if kinds[key] == TRIPLE:
                triples[places[key], first:after, :] = -1
            elif kinds[key] == ID:
                ids[first:after] = 0
                has_id[first:after] = False
            else:
                columns[places[key], first:after] = -1


@compiled
def scan_objects(
    data: NDArray[np.uint8],
    at: int,
    keys: NDArray[np.int64],
    kinds: NDArray[np.int64],
    places: NDArray[np.int64],
    required: int,
    texts: NDArray[np.int64],
    ever: NDArray[np.int64],
    ids: NDArray[np.uint64],
    has_id: NDArray[np.bool_],
    triples: NDArray[np.int32],
    columns: NDArray[np.int64],
    row: int,
) -> tuple[int, int, int]:
    """Read objects, the first of which begins at ``at``, from ``row`` on, to the end of the list they lie in.

    ``keys`` holds the known keys (:func:`entry`); key k is of ``kinds[k]`` and fills slot ``places[k]`` of
    ``columns`` (slots, capacity) or ``triples`` (slots, capacity, 3). Every object must have the keys of the bit mask
    ``required``. ``ever[0]`` is the bit mask of keys that any object named so far: slots of the others stay untouched.

    Returns:
        As :func:`scan_rows`.
    """
    n_keys, capacity = len(kinds), columns.shape[1]
    cleared = row
    while row < capacity:
        if row == cleared:
            cleared = min(row + _BLOCK_ROWS, capacity)
            _clear(ever[0] & ~required, kinds, places, ids, has_id, triples, columns, row, cleared)
        if byte_at(data, at) != _BEGIN:
            return REFUSED, at, row
        at = blank(data, at + 1)
        seen, guess = 0, 0
        while True:
            if byte_at(data, at) != _QUOTE:
                return REFUSED, at, row
            at, key = _key(data, at + 1, keys, guess)
            if at == REFUSED or seen >> key & 1:
                return REFUSED, at, row
            seen |= 1 << key
            if not ever[0] >> key & 1:
                _clear(1 << key, kinds, places, ids, has_id, triples, columns, 0, cleared)
                ever[0] |= 1 << key
            guess = key + 1 if key + 1 < n_keys else 0
            at = blank(data, at)
            if byte_at(data, at) != _COLON:
                return REFUSED, at, row
            at = blank(data, at + 1)
            kind, place = word(kinds, key), word(places, key)
            if kind == NUMBER and byte_at(data, at) != _N:
                at, columns[place, row] = _number(data, at)
            elif kind == TEXT:
                at, columns[place, row] = _text(data, at, texts)
            elif byte_at(data, at) == _N:
                at = _null(data, at, required >> key & 1)
            elif kind == TRIPLE:
                at = _triple(data, at, triples[place, row])
            else:
                at, ids[row] = _identity(data, at)
                has_id[row] = True
            if at == REFUSED:
                return REFUSED, at, row
            at = blank(data, at)
            byte = byte_at(data, at)
            if byte == _END:
                break
            if byte != _COMMA:
                return REFUSED, at, row
            at = blank(data, at + 1)
        if seen & required != required:
            return REFUSED, at, row
        row += 1
        at = blank(data, at + 1)
        byte = byte_at(data, at)
        if byte == _CLOSE:
            return DONE, at + 1, row
        if byte != _COMMA:
            return REFUSED, at, row
        at = blank(data, at + 1)
    return FULL, at, row


@compiled
def _null(data: NDArray[np.uint8], at: int, required: int) -> int:
    """Position after ``null``; REFUSED for anything else and for keys that must have a value."""
    if required or byte_at(data, at + 1) != 117 or byte_at(data, at + 2) != 108 or byte_at(data, at + 3) != 108:
        return REFUSED
    return at + 4


@compiled
def skip(data: NDArray[np.uint8], at: int) -> int:
    """Position after the value that begins at ``at``, by brackets and quotes alone; REFUSED when the text ends first.

    Unlike the scanners this checks nothing: the caller has the value decoded.
    """
    depth = 0
    while True:
        byte = byte_at(data, at)
        if byte == _QUOTE:
            at += 1
            while byte_at(data, at) != _QUOTE:
                if byte_at(data, at) == _BACKSLASH:
                    at += 1
                if byte_at(data, at) == 0:
                    return REFUSED
                at += 1
        elif byte in (_OPEN, _BEGIN):
            depth += 1
        elif byte in (_CLOSE, _END):
            if depth == 0:
                return at
            depth -= 1
            if depth == 0:
                return at + 1
        elif byte == _COMMA and depth == 0:
            return at
        elif byte == 0:
            return REFUSED
        at += 1


@compiled
def split(data: NDArray[np.uint8], at: int, bounds: NDArray[np.int64]) -> tuple[int, int, int]:
    """Begin and end of the elements of a list, the first of which begins at ``at``, into ``bounds`` (capacity, 2).

    Returns:
        (DONE, position after the list, elements), (FULL, position of the next element, elements) or (REFUSED, …) when
        the text ends first. As :func:`skip` this checks nothing.
    """
    count = 0
    while count < len(bounds):
        at = blank(data, at)
        if byte_at(data, at) == _CLOSE:
            return DONE, at + 1, count
        end = skip(data, at)
        if end <= at:
            return REFUSED, at, count
        bounds[count, 0], bounds[count, 1] = at, end
        count += 1
        at = blank(data, end)
        if byte_at(data, at) == _COMMA:
            at += 1
        elif byte_at(data, at) != _CLOSE:
            return REFUSED, at, count
    return FULL, at, count
