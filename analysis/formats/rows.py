"""Lists of number rows (``aicore_tasks``, ``aicpu_tasks``, ``scheduler_tasks.records``) as integer columns.

The strict path parses a few megabytes at a time with simdjson and proves that every row has the same width; anything
unusual (a string id, a negative number, a ragged row) sends that piece through the tolerant path, which decodes row by
row and drops, counts and names what does not fit. Both give the same columns for rows that fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import simdjson
from numpy.typing import NDArray

from analysis.formats.reading import batches, elements, integer, is_list
from analysis.formats.report import Report
from analysis.model import I8, U8

STAMP_LIMIT = 1 << 62
"""Stamps, lengths and register ids lie below this; sums and differences of two of them fit in int64."""
_PIECE_BYTES = 1 << 21
_OPEN, _CLOSE, _COMMA = ord("["), ord("]"), ord(",")


@dataclass(frozen=True)
class RowFormat:
    """Which widths a row may have and which column is a full 64-bit id.

    ``columns`` is the number of columns kept: shorter accepted rows are filled with 0, longer rows are cut.
    """

    name: str
    widths: tuple[int, ...]
    columns: int
    id_column: int | None = None


def int_rows(raw: msgspec.Raw | None, form: RowFormat, source: str, report: Report) -> tuple[I8, U8, NDArray[np.int8]]:
    """Rows of a section as columns.

    Returns:
        (columns, ids, width): int64 of shape (form.columns, n), the id column as uint64 of shape (n,) (empty without
        one), and how many cells each row had in the file.
    """
    if raw is None:
        return np.zeros((form.columns, 0), np.int64), np.zeros(0, np.uint64), np.zeros(0, np.int8)
    if not is_list(raw):
        report.add("wrong_type", 1, form.name)
        return int_rows(None, form, source, report)
    parts: list[tuple[I8, U8, NDArray[np.int8]]] = []
    for piece in _pieces(bytes(memoryview(raw))):
        part = _strict(piece, form)
        if part is None:
            parts = [_tolerant(at, batch, form, source, report) for at, batch in batches(raw, source, form.name)]
            break
        parts.append(part)
    if not parts:
        return int_rows(None, form, source, report)
    columns, ids, widths = zip(*parts, strict=True)
    return np.concatenate(columns, axis=1), np.concatenate(ids), np.concatenate(widths)


def _pieces(text: bytes) -> Iterator[bytes]:
    """The list as shorter lists of about :data:`_PIECE_BYTES`, cut after a "]" that a comma follows.

    Right for flat rows of numbers; anything else makes a piece that the strict path refuses.
    """
    start = 1
    while len(text) - start > _PIECE_BYTES:
        close = text.find(b"]", start + _PIECE_BYTES)
        comma = text.find(b",", close)
        if close < 0 or comma < 0 or text[close + 1 : comma].strip():
            break
        yield b"[" + text[start : close + 1] + b"]"
        start = comma + 1
    yield b"[" + text[start:]


def _strict(text: bytes, form: RowFormat) -> tuple[I8, U8, NDArray[np.int8]] | None:
    """Columns when every cell is a non-negative integer in range and every row has one accepted width."""
    try:
        parsed: Any = simdjson.Parser().parse(text)
        flat = np.frombuffer(parsed.as_buffer(of_type="u"), np.uint64)
    except (ValueError, TypeError, AttributeError):
        return None
    n = text.count(b"]") - 1
    if n == 0 and not len(flat):
        return np.zeros((form.columns, 0), np.int64), np.zeros(0, np.uint64), np.zeros(0, np.int8)
    if n <= 0 or len(flat) % n or len(flat) // n not in form.widths:
        return None
    width = len(flat) // n
    if not _rectangular(text, n, width):
        return None
    table = flat.reshape(n, width)
    keep = min(width, form.columns)
    columns = np.zeros((form.columns, n), np.int64)
    ids = np.zeros(0, np.uint64)
    for at in range(keep):
        column = table[:, at]
        if at == form.id_column:
            ids = column.copy()
        elif int(column.max()) >= STAMP_LIMIT:
            return None
        else:
            columns[at] = column
    return columns, ids, np.full(n, width, np.int8)


def _rectangular(text: bytes, n: int, width: int) -> bool:
    """Whether ``text`` is n flat lists of ``width`` cells each."""
    symbols = np.frombuffer(text, np.uint8)
    opens = np.flatnonzero(symbols == _OPEN)
    closes = np.flatnonzero(symbols == _CLOSE)
    commas = np.flatnonzero(symbols == _COMMA)
    if len(opens) != n + 1 or len(closes) != n + 1 or len(commas) != n * width - 1:
        return False
    # Between two rows lies exactly one comma: the last of each group of ``width``.
    between = commas[width - 1 :: width]
    return bool(
        (opens[1:-1] < closes[:-2]).all() and (closes[:-2] < between).all() and (between < opens[2:]).all()
    ) and (width == 1 or bool((commas[width - 2 :: width] < closes[:-1]).all()))


def _tolerant(
    first: int, batch: bytes | msgspec.Raw, form: RowFormat, source: str, report: Report
) -> tuple[I8, U8, NDArray[np.int8]]:
    rows: list[list[int]] = []
    widths: list[int] = []
    for at, raw in enumerate(elements(batch, source, form.name), first):
        cells = _cells(raw)
        if cells is None or len(cells) < min(form.widths):
            report.add("wrong_type", 1, f"{form.name}[{at}]")
            continue
        if len(cells) > max(form.widths):
            report.add("extra_columns", 1, form.name)
        elif len(cells) not in form.widths:
            report.add("wrong_type", 1, f"{form.name}[{at}]")
            continue
        widths.append(len(cells))
        cells = (cells + [0] * form.columns)[: form.columns]
        if not all(_fits(value, k == form.id_column) for k, value in enumerate(cells)):
            report.add("out_of_range", 1, f"{form.name}[{at}]")
            widths.pop()
            continue
        rows.append(cells)
    columns = np.zeros((form.columns, len(rows)), np.int64)
    ids = np.zeros(0 if form.id_column is None else len(rows), np.uint64)
    for k in range(form.columns):
        if k == form.id_column:
            ids[:] = [row[k] for row in rows]
        else:
            columns[k] = [row[k] for row in rows]
    return columns, ids, np.array(widths, np.int8)


def _fits(value: int, is_id: bool) -> bool:
    return 0 <= value < 2**64 if is_id else -STAMP_LIMIT < value < STAMP_LIMIT


def _cells(raw: msgspec.Raw) -> list[int] | None:
    try:
        decoded: Any = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if not isinstance(decoded, list):
        return None
    cells = [integer(cell) for cell in decoded]
    return None if None in cells else [cell for cell in cells if cell is not None]
