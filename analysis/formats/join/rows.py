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

from analysis.capture import I8, U8
from analysis.formats.report import Report
from analysis.formats.text.reading import MAX_DAMAGED_ROWS, batches, integer, is_list

STAMP_LIMIT = 1 << 60
"""Stamps, lengths and register ids lie below this (36 years of nanoseconds); sums of a few of them fit in int64."""
_PIECE_BYTES = 1 << 19
_NOT_STRUCTURE = b"0123456789-+.eE \t\r\n"
_NOTHING: I8 = np.zeros(0, np.int64)


@dataclass(frozen=True)
class RowFormat:
    """Which widths a row may have and which column is a full 64-bit id.

    ``columns`` is the number of columns kept: shorter accepted rows are filled with ``fill``, longer rows are cut.
    """

    name: str
    """Key of the list, for the places of findings."""
    widths: tuple[int, ...]
    fill: tuple[int, ...]
    id_column: int | None = None
    stream: str = ""
    """Stream the rows are accounted for."""

    @property
    def columns(self) -> int:
        """Number of columns kept."""
        return len(self.fill)


@dataclass
class RowColumns:
    """Rows as columns: int64 per column, the id column apart as uint64 (empty without one)."""

    columns: list[I8]
    ids: U8


def int_rows(raw: msgspec.Raw | None, form: RowFormat, source: str, report: Report) -> RowColumns:
    """Rows of a section as columns, in file order."""
    if raw is None or bytes(memoryview(raw)[:5]) == b"null":
        return _allocate(0, form)
    if not is_list(raw):
        report.add("wrong_type", 1, form.name)
        return _allocate(0, form)
    text = bytes(memoryview(raw))
    out = _allocate(min(text.count(b"]") - 1, len(text) // (2 * min(form.widths))), form)
    at = 0
    parser = simdjson.Parser()
    for piece in _pieces(text):
        count = _strict(parser, piece, form, out, at)
        if count is None:
            return _concatenate(list(_tolerant_parts(raw, form, source, report)), form)
        at += count
    report.rows(form.stream, at)
    return out


def _tolerant_parts(raw: msgspec.Raw, form: RowFormat, source: str, report: Report) -> Iterator[RowColumns]:
    """The rows that fit, batch by batch; after :data:`MAX_DAMAGED_ROWS` that do not, the rest is only counted."""
    damaged = 0
    for first, count, texts in batches(raw, source, form.name):
        if damaged > MAX_DAMAGED_ROWS:
            report.add("too_many_damaged", count, form.name)
            report.rows(form.stream, count, count)
            continue
        batch = texts()
        part = _tolerant(first, batch, form, report)
        lost = len(batch) - len(part.columns[0])
        damaged += lost
        report.rows(form.stream, len(batch), lost)
        yield part


def arranged(cells: I8, form: RowFormat) -> RowColumns:
    """Columns of rows of one accepted width (width, n), whose ids lie below 2^63."""
    width, n = cells.shape
    fill = [np.full(n, value, np.int64) for value in form.fill[width:]]
    columns = [*cells[: form.columns], *fill]
    if form.id_column is None:
        return RowColumns(columns, np.empty(0, np.uint64))
    ids = columns[form.id_column].view(np.uint64)
    columns[form.id_column] = _NOTHING
    return RowColumns(columns, ids)


def _allocate(n: int, form: RowFormat) -> RowColumns:
    """Columns of length ``n``; those that not every width has hold their fill values."""
    columns = [np.empty(n, np.int64) if k != form.id_column else _NOTHING for k in range(form.columns)]
    for k in range(min(form.widths), form.columns):
        columns[k].fill(form.fill[k])
    return RowColumns(columns, np.empty(0 if form.id_column is None else n, np.uint64))


def _concatenate(parts: list[RowColumns], form: RowFormat) -> RowColumns:
    if not parts:
        return _allocate(0, form)
    columns = [np.concatenate([part.columns[k] for part in parts]) for k in range(form.columns)]
    return RowColumns(columns, np.concatenate([part.ids for part in parts]))


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


def _strict(parser: simdjson.Parser, text: bytes, form: RowFormat, out: RowColumns, at: int) -> int | None:
    """Fill ``out`` from row ``at`` on; number of rows, or None unless every cell is a non-negative integer in range
    and every row has one accepted width."""
    n = text.count(b"]") - 1
    if n <= 0 or at + n > len(out.columns[0]):
        return None if n != 0 or text.strip(b"[] \t\r\n") else 0
    try:
        flat = _flat(parser, text)
    except (ValueError, TypeError, AttributeError, RuntimeError):  # the last: an integer beyond 64 bits
        return None
    width = len(flat) // n
    if len(flat) % n or width not in form.widths or not _rectangular(text, n, width):
        return None
    cells = np.ascontiguousarray(flat.reshape(n, width).T)
    for k in range(min(width, form.columns)):
        if k == form.id_column:
            out.ids[at : at + n] = cells[k]
        elif int(cells[k].max()) >= STAMP_LIMIT:
            return None
        else:
            out.columns[k][at : at + n] = cells[k]
    return n


def _flat(parser: simdjson.Parser, text: bytes) -> U8:
    """All numbers of a JSON list, however nested; the parsed document is let go so that the parser can go on."""
    parsed: Any = parser.parse(text)
    return np.frombuffer(parsed.as_buffer(of_type="u"), np.uint64)


def _rectangular(text: bytes, n: int, width: int) -> bool:
    """Whether ``text``, a list of numbers and lists, is n flat lists of ``width`` numbers each."""
    row = b"[" + b"," * (width - 1) + b"],"
    return text.translate(None, _NOT_STRUCTURE) == b"[" + (row * n)[:-1] + b"]"


def _tolerant(first: int, batch: list[Any], form: RowFormat, report: Report) -> RowColumns:
    rows: list[list[int]] = []
    for at, raw in enumerate(batch, first):
        cells = _cells(raw)
        if cells is None or (len(cells) not in form.widths and len(cells) < max(form.widths)):
            report.add("wrong_type", 1, f"{form.name}[{at}]")
            continue
        if len(cells) > max(form.widths):
            report.add("extra_columns", 1, form.name)
        cells = [*cells[: form.columns], *form.fill[len(cells) :]]
        if all(_fits(value, k == form.id_column) for k, value in enumerate(cells)):
            rows.append(cells)
        else:
            report.add("out_of_range", 1, f"{form.name}[{at}]")
    out = _allocate(len(rows), form)
    for k in range(form.columns):
        if k == form.id_column:
            out.ids[:] = [row[k] for row in rows]
        else:
            out.columns[k][:] = [row[k] for row in rows]
    return out


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
