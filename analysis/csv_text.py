"""How is a table written as CSV? One writer for the command line, the pages and every export.

Spreadsheets guess: a text that begins with ``=`` is run as a formula, ``709223E4`` becomes 7.09E+09 and a 64-bit id loses
its last digits. A text cell that would be misread so begins with an apostrophe, which marks it as text. Numbers (Python's
and numpy's) are written as they are, negative ones included.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

MARK = "'"
SAFE_DIGITS = 11
"""Whole numbers up to here are shown by spreadsheets digit by digit; longer ones as 1.2E+11, beyond 15 digits rounded."""
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_NUMBER = re.compile(rf"\d+(\.\d*)?[eE][+-]?\d+|0\d+|\d{{{SAFE_DIGITS + 1},}}")
CHUNK_ROWS = 5_000


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """``rows`` as CSV, the header line among them."""
    return "".join(csv_chunks(rows))


def csv_chunks(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """``rows`` as CSV in pieces of some thousand rows."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for at, row in enumerate(rows, 1):
        writer.writerow([_cell(cell) for cell in row])
        if at % CHUNK_ROWS == 0:
            yield out.getvalue()
            out.seek(0)
            out.truncate()
    yield out.getvalue()


def _cell(cell: Any) -> Any:
    """A cell: missing is empty, yes/no in words, tuples joined by ``;``, texts marked where they would be misread."""
    if isinstance(cell, str):
        return as_text(cell)
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, tuple | list):
        return as_text(";".join("" if part is None else str(part) for part in cell))
    return cell


def as_text(text: str) -> str:
    """``text`` with the mark in front when a spreadsheet would take it for a formula or another number."""
    return MARK + text if _FORMULA.match(text) or _NUMBER.fullmatch(text) else text
