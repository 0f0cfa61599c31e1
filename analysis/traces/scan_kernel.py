# ruff: noqa: SIM109 - compiled code: a tuple test is slower than comparisons
"""The compiled scanner of Chrome trace events: text in, one row of numbers per event out, byte by byte.

It is lenient: whatever stands between two events is found by its brackets, a broken event is reported as one and never
takes its neighbours along. Only the keys that place an event are read (``ph name cat pid tid ts dur id id2 bp``, and the
values of a counter); all else is skipped and read again from the file when a page asks for it.

Times are decimals: whole µs as an integer and the fraction in 10^-9 µs, rounded to whole ns. Start and end are rounded
each for itself, so a span that ends with its parent in the file does so here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.jit import byte_at, compiled, inlined

WHOLE, FRACTION, LENGTH, PHASE, NAME, CATEGORY, PID, TID, ID, FLAGS, OFFSET, SIZE = range(12)
"""Columns of a row: whole µs, ns within it (0 to 1000), length in ns, phase letter, interned texts, flags, place."""
COLUMNS = 12
HAS_TIME, HAS_LENGTH, TIME_TEXT, BAD_NAME, LONG_NAME, ENCLOSING = 1, 2, 4, 8, 16, 32
SLOW, NEGATIVE, BAD_LENGTH, BAD_TIME, BAD_JSON, NOT_OBJECT, BAD_VALUE = 64, 128, 256, 512, 1024, 2048, 4096
"""What is odd about a row. ``SLOW``: a number that only the exact decimal reader understands."""
MORE, END, FULL, GROW, STUCK = 0, 1, 2, 3, 4
"""How a scan ended: needs more text, at the list's end, out of rows, out of room for texts, event too long."""
STRINGS, BYTES, SAMPLES = 0, 1, 2
"""Positions in the counters array."""
NAME_BYTES = 4096
"""Longer names are told apart by their first bytes only."""
RESYNC_BYTES = 1 << 20
MAX_WHOLE_DIGITS = 18
MAX_LENGTH_US = 4_000_000_000_000_000
_CUT, _BAD = -1, -2
_QUOTE, _BACKSLASH, _COMMA, _COLON, _BEGIN, _END, _OPEN, _CLOSE = 34, 92, 44, 58, 123, 125, 91, 93
_COUNTER = 67


@inlined
def _blank(data: NDArray[np.uint8], at: int, n: int) -> int:
    while at < n:
        byte = byte_at(data, at)
        if byte != 32 and byte != 10 and byte != 13 and byte != 9:
            break
        at += 1
    return at


@inlined
def _text_end(data: NDArray[np.uint8], at: int, n: int) -> int:
    """Position of the closing quote of a text whose first byte is at ``at``."""
    while at < n:
        byte = byte_at(data, at)
        if byte == _QUOTE:
            return at
        at += 2 if byte == _BACKSLASH else 1
    return _CUT


@compiled
def matched(data: NDArray[np.uint8], at: int, n: int, limit: int) -> int:
    """End of the object or list that begins at ``at``, found by its brackets; only JSON's own letters may stand outside texts."""
    depth = 0
    kinds = np.zeros(64, np.uint8)
    begin = at
    while at < n:
        if at - begin > limit:
            return _BAD
        byte = byte_at(data, at)
        if byte == _QUOTE:
            at = _text_end(data, at + 1, n)
            if at < 0:
                return _CUT if n - begin <= limit else _BAD
        elif byte == _BEGIN or byte == _OPEN:
            if depth < 64:
                kinds[depth] = byte
            depth += 1
        elif byte == _END or byte == _CLOSE:
            depth -= 1
            if depth < 64 and kinds[depth] != byte - 2:
                return _BAD
            if depth == 0:
                return at + 1
        elif byte > 57 and byte != _COLON and not _literal(byte):
            return _BAD
        at += 1
    return _CUT


@inlined
def _literal(byte: int) -> bool:
    """Whether a letter occurs in true, false, null, NaN, Infinity or an exponent."""
    lower = byte | 32
    return (
        lower == 97 or lower == 101 or lower == 102 or lower == 105 or lower == 108 or lower == 110
        or lower == 114 or lower == 115 or lower == 116 or lower == 117 or lower == 121
    )  # fmt: skip


@inlined
def _skip(data: NDArray[np.uint8], at: int, n: int) -> int:
    """End of the value at ``at``."""
    byte = byte_at(data, at)
    if byte == _QUOTE:
        end = _text_end(data, at + 1, n)
        return end + 1 if end >= 0 else _CUT
    if byte == _BEGIN or byte == _OPEN:
        return _nested(data, at, n)
    begin = at
    while at < n:
        byte = byte_at(data, at)
        if byte == _COMMA or byte == _END or byte == _CLOSE or byte <= 32:
            return at if at > begin else _BAD
        if byte == _QUOTE or byte == _COLON or byte == _BEGIN or byte == _OPEN:
            return _BAD
        at += 1
    return _CUT


@inlined
def _nested(data: NDArray[np.uint8], at: int, n: int) -> int:
    depth = 0
    while at < n:
        byte = byte_at(data, at)
        if byte == _QUOTE:
            at = _text_end(data, at + 1, n)
            if at < 0:
                return _CUT
        elif byte == _BEGIN or byte == _OPEN:
            depth += 1
        elif byte == _END or byte == _CLOSE:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return _CUT


@inlined
def _decimal(data: NDArray[np.uint8], at: int, end: int) -> tuple[int, int, int]:
    """(1, whole µs rounded down, 10^-9 µs) of a plain decimal that fills [at, end); (0, 0, 0) for anything else."""
    negative = at < end and byte_at(data, at) == 45
    if negative:
        at += 1
    begin = at
    whole = 0
    while at < end and 48 <= byte_at(data, at) <= 57 and at - begin <= MAX_WHOLE_DIGITS:
        whole = whole * 10 + byte_at(data, at) - 48
        at += 1
    if at == begin or at - begin > MAX_WHOLE_DIGITS:
        return 0, 0, 0
    fraction, digits = 0, 0
    if at < end and byte_at(data, at) == 46:
        at += 1
        while at < end and 48 <= byte_at(data, at) <= 57:
            if digits < 9:
                fraction = fraction * 10 + byte_at(data, at) - 48
                digits += 1
            at += 1
        if digits == 0:
            return 0, 0, 0
    if at != end:
        return 0, 0, 0
    for _ in range(9 - digits):
        fraction *= 10
    if negative:
        whole = -whole
        if fraction:
            whole -= 1
            fraction = 1_000_000_000 - fraction
    return 1, whole, fraction


@inlined
def _plain_float(data: NDArray[np.uint8], at: int, end: int) -> tuple[int, float]:
    """(1, the nearest float) of a decimal of at most 15 digits; (0, 0.0) for anything else."""
    negative = at < end and byte_at(data, at) == 45
    if negative:
        at += 1
    mantissa, digits, scale, point = 0, 0, 1.0, False
    while at < end:
        byte = byte_at(data, at)
        if 48 <= byte <= 57:
            mantissa = mantissa * 10 + byte - 48
            digits += 1
            if point:
                scale *= 10.0
        elif byte == 46 and not point and digits:
            point = True
        else:
            return 0, 0.0
        at += 1
    if digits == 0 or digits > 15:
        return 0, 0.0
    value = mantissa / scale
    return 1, -value if negative else value


@inlined
def _hash(data: NDArray[np.uint8], at: int, end: int) -> Any:
    value: Any = np.int64(end - at)
    for i in range(at, end):
        value = (value ^ byte_at(data, i)) * np.int64(1099511628211)
    return value ^ (value >> 29)


@compiled
def intern(
    data: NDArray[np.uint8], at: int, end: int, table: NDArray[Any], ends: NDArray[Any], arena: NDArray[Any],
    counts: NDArray[Any],
) -> Any:  # fmt: skip
    """Number of the text data[at:end], new or known; -1 when table or arena have no room for it."""
    mask = len(table) - 1
    size = end - at
    slot = _hash(data, at, end) & mask
    while table[slot] >= 0:
        known = table[slot]
        low = ends[known]
        if ends[known + 1] - low == size:
            i = 0
            while i < size and arena[low + i] == byte_at(data, at + i):
                i += 1
            if i == size:
                return known
        slot = (slot + 1) & mask
    number, used = counts[STRINGS], counts[BYTES]
    if number + 2 > len(ends) - 1 or 2 * (number + 1) > len(table) or used + size > len(arena):
        return -1
    for i in range(size):
        arena[used + i] = byte_at(data, at + i)
    ends[number + 1] = used + size
    counts[STRINGS], counts[BYTES] = number + 1, used + size
    table[slot] = number
    return number


@compiled
def rehash(table: NDArray[Any], ends: NDArray[Any], arena: NDArray[Any], number: int) -> None:
    """Fill an empty ``table`` with the texts that are known."""
    mask = len(table) - 1
    for i in range(number):
        slot = _hash(arena, ends[i], ends[i + 1]) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = i


@inlined
def _key(data: NDArray[np.uint8], at: int, end: int) -> int:
    """Column a key fills; COLUMNS + 0 ts, + 1 dur, + 2 args, + 3 bp; -1 for any other key."""
    size = end - at
    a = byte_at(data, at)
    if size == 2:
        b = byte_at(data, at + 1)
        if a == 112 and b == 104:
            return PHASE
        if a == 116 and b == 115:
            return COLUMNS
        if a == 105 and b == 100:
            return ID
        return COLUMNS + 3 if a == 98 and b == 112 else -1
    if size == 3:
        b, c = byte_at(data, at + 1), byte_at(data, at + 2)
        if b == 105 and c == 100:
            if a == 112:
                return PID
            return TID if a == 116 else -1
        if a == 100 and b == 117 and c == 114:
            return COLUMNS + 1
        if a == 105 and b == 100 and c == 50:
            return ID
        return CATEGORY if a == 99 and b == 97 and c == 116 else -1
    if size == 4:
        b, c, d = byte_at(data, at + 1), byte_at(data, at + 2), byte_at(data, at + 3)
        if a == 110 and b == 97 and c == 109 and d == 101:
            return NAME
        return COLUMNS + 2 if a == 97 and b == 114 and c == 103 and d == 115 else -1
    return -1


@inlined
def _time(data: NDArray[np.uint8], at: int, end: int) -> tuple[int, int, int, int]:
    """(1, whole, fraction, flags) of a time that is a number or a text."""
    quoted = byte_at(data, at) == _QUOTE
    if quoted:
        at, end = at + 1, end - 1
    good, whole, fraction = _decimal(data, at, end)
    return good, whole, fraction, (TIME_TEXT if quoted else 0)


@compiled
def event(
    data: NDArray[np.uint8], at: int, n: int, row: NDArray[Any], table: NDArray[Any], ends: NDArray[Any],
    arena: NDArray[Any], counts: NDArray[Any], args: NDArray[Any],
) -> int:  # fmt: skip
    """Fill ``row`` from the event at ``at``; its end, _CUT, _BAD, or -3 for want of room."""
    row[:] = -1
    row[PHASE] = row[LENGTH] = row[WHOLE] = row[FRACTION] = 0
    flags = 0
    start_fraction, long_whole, long_fraction = 0, 0, 0
    args[0] = args[1] = 0
    at = _blank(data, at + 1, n)
    first = True
    while True:
        if at >= n:
            return _CUT
        byte = byte_at(data, at)
        if byte == _END:
            at += 1
            break
        if not first:
            if byte != _COMMA:
                return _BAD
            at = _blank(data, at + 1, n)
            if at >= n:
                return _CUT
            byte = byte_at(data, at)
        first = False
        if byte != _QUOTE:
            return _BAD
        end = _text_end(data, at + 1, n)
        if end < 0:
            return _CUT
        key = _key(data, at + 1, end)
        at = _blank(data, end + 1, n)
        if at >= n:
            return _CUT
        if byte_at(data, at) != _COLON:
            return _BAD
        at = _blank(data, at + 1, n)
        if at >= n:
            return _CUT
        end = _skip(data, at, n)
        if end < 0:
            return end
        byte = byte_at(data, at)
        if key < 0:
            pass
        elif key == COLUMNS:
            good, row[WHOLE], start_fraction, odd = _time(data, at, end)
            flags = (flags & ~BAD_TIME) | odd | (HAS_TIME if good else SLOW)
        elif key == COLUMNS + 1:
            good, long_whole, long_fraction, odd = _time(data, at, end)
            flags |= odd | (HAS_LENGTH if good else SLOW)
        elif key == COLUMNS + 2:
            args[0], args[1] = at, end
        elif key == COLUMNS + 3:
            if end - at == 3 and byte_at(data, at + 1) == 101:
                flags |= ENCLOSING
        elif key == PHASE:
            row[PHASE] = byte_at(data, at + 1) if byte == _QUOTE and end - at == 3 else 0
        else:
            low, high = at, end
            if byte == _QUOTE:
                low, high = at + 1, end - 1
            elif key == NAME or key == CATEGORY:
                if key == NAME:
                    flags |= BAD_NAME
                if byte == 110 or byte == _BEGIN or byte == _OPEN:  # null, an object, a list
                    low = high = -1
            elif byte == 110:
                low = high = -1
            if key == NAME and byte == _QUOTE:
                flags &= ~BAD_NAME
            if high - low > NAME_BYTES:
                high = low + NAME_BYTES
                flags |= LONG_NAME
            row[key] = -1
            if low >= 0:
                row[key] = intern(data, low, high, table, ends, arena, counts)
                if row[key] < 0:
                    return -3
        at = _blank(data, end, n)
    if flags & HAS_LENGTH:
        start_ns = (start_fraction + 500_000) // 1_000_000
        if long_whole < 0:
            flags |= NEGATIVE
        elif long_whole > MAX_LENGTH_US:
            flags |= BAD_LENGTH
        else:
            row[LENGTH] = long_whole * 1000 + (start_fraction + long_fraction + 500_000) // 1_000_000 - start_ns
    row[FRACTION] = (start_fraction + 500_000) // 1_000_000
    row[FLAGS] = flags
    return at


@compiled
def _samples(
    data: NDArray[np.uint8], at: int, n: int, number: int, table: NDArray[Any], ends: NDArray[Any], arena: NDArray[Any],
    counts: NDArray[Any], series: NDArray[Any], values: NDArray[Any],
) -> int:  # fmt: skip
    """Append the numbers of a counter's arguments; flags to add, or -3 for want of room."""
    flags = 0
    if byte_at(data, at) != _BEGIN:
        return BAD_VALUE
    at = _blank(data, at + 1, n)
    while at < n and byte_at(data, at) == _QUOTE:
        low, high = at + 1, _text_end(data, at + 1, n)
        at = _blank(data, high + 1, n)
        if at >= n or byte_at(data, at) != _COLON:
            return flags | BAD_VALUE
        at = _blank(data, at + 1, n)
        end = _skip(data, at, n)
        if end < 0:
            return flags | BAD_VALUE
        good, value = _plain_float(data, at, end)
        byte = byte_at(data, at)
        if good:
            key = intern(data, low, min(high, low + NAME_BYTES), table, ends, arena, counts)
            used = counts[SAMPLES]
            if key < 0 or used >= len(values):
                return -3
            series[used, 0], series[used, 1], values[used] = number, key, value
            counts[SAMPLES] = used + 1
        elif byte == 45 or 48 <= byte <= 57:
            flags |= SLOW
        else:
            flags |= BAD_VALUE
        at = _blank(data, end, n)
        if at < n and byte_at(data, at) == _COMMA:
            at = _blank(data, at + 1, n)
    return flags


@compiled
def _next_event(data: NDArray[np.uint8], at: int, n: int) -> int:
    """Where ``}, {"`` says that the next event begins, after ``at``."""
    while at < n:
        if byte_at(data, at) == _END:
            i = _blank(data, at + 1, n)
            if i < n and byte_at(data, i) == _COMMA:
                i = _blank(data, i + 1, n)
                if i < n and byte_at(data, i) == _BEGIN:
                    j = _blank(data, i + 1, n)
                    if j < n and byte_at(data, j) == _QUOTE:
                        return i
            if i < n and byte_at(data, i) == _CLOSE:
                return i
        at += 1
    return _CUT


@compiled
def scan(
    data: NDArray[np.uint8], at: int, n: int, base: int, last: bool, max_event: int, rows: NDArray[Any],
    table: NDArray[Any], ends: NDArray[Any], arena: NDArray[Any], counts: NDArray[Any], series: NDArray[Any],
    values: NDArray[Any],
) -> tuple[int, int, int]:  # fmt: skip
    """Read events of a list from ``at`` on: (how it ended, where, rows filled).

    ``base`` is the file offset of ``data[0]``; ``last``: no text follows after ``n``.
    """
    filled = 0
    args = np.zeros(2, np.int64)
    while True:
        while at < n and (byte_at(data, at) <= 32 or byte_at(data, at) == _COMMA):
            at += 1
        if at >= n:
            return MORE, at, filled
        if byte_at(data, at) == _CLOSE:
            return END, at + 1, filled
        if filled == len(rows):
            return FULL, at, filled
        row = rows[filled]
        begin, before = at, counts[SAMPLES]
        if byte_at(data, at) == _BEGIN:
            at = event(data, begin, n, row, table, ends, arena, counts, args)
            if at >= 0 and row[PHASE] == _COUNTER and args[1] > 0:
                more = _samples(data, args[0], n, filled, table, ends, arena, counts, series, values)
                if more < 0:
                    at = -3
                else:
                    row[FLAGS] |= more
                    if more & SLOW:
                        counts[SAMPLES] = before
            if at == -3:
                counts[SAMPLES] = before
                return GROW, begin, filled
        else:
            row[:] = -1
            row[PHASE] = 0
            row[FLAGS] = NOT_OBJECT
            at = _skip(data, begin, n)
            if at == _BAD:
                at = begin + 1
                while at < n and byte_at(data, at) != _BEGIN and byte_at(data, at) != _CLOSE:
                    at += 1
                row[FLAGS] = BAD_JSON
        if at == _CUT and not last and n - begin <= max_event:
            return MORE, begin, filled
        if at < 0:
            cut = at == _CUT
            row[:] = -1
            row[PHASE] = 0
            row[FLAGS] = BAD_JSON
            at = _CUT if cut and n - begin > max_event else matched(data, begin, n, RESYNC_BYTES)
            if at == _CUT and not last and n - begin <= RESYNC_BYTES:
                return MORE, begin, filled
            if at >= 0:
                then = _blank(data, at, n)
                if then < n and byte_at(data, then) != _COMMA and byte_at(data, then) != _CLOSE:
                    at = _CUT
            if at < 0:
                at = _next_event(data, begin + 1, n)
            if at < 0:
                at = n
        row[OFFSET], row[SIZE] = base + begin, at - begin
        filled += 1
