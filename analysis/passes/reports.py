"""What did the compiler hint at, and what did its text reports say of memory? Tables with function and line.

Sources: ``report/perf_hints.log`` (FORMATS-2.md section 7.6) and ``report/memory_after_<Pass>.txt`` of older builds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import InputError, readable
from analysis.passes.functions import FunctionTable
from analysis.passes.text import decode, split_lines
from analysis.results import Column, Table

_HINT = re.compile(r"\[perf_hint (PH[-A-Z0-9]+)\] (\w+): ")
_PLACE = re.compile(r"(.*):(\d{1,9}):(\d{1,9})\s*\Z")
_MOVES = re.compile(r"moves (\d{1,18})B")
_TIMES = re.compile(r"\((\d{1,9}) occurrences")
_OPERATION = re.compile(r"\b((?:tile|tensor|system)\.\w+)")
_SECTION = re.compile(r"--- (.+?) ---\s*\Z")
_SPACES = re.compile(r"(\w+)\s*\|\s*([\d.]+) ([KMG]?B)\s*\|\s*([\d.]+) ([KMG]?B)\s*\|\s*([\d.]+)%\s*\|\s*(\d+)\s*\Z")
_MOST_CHARS = 100_000
_UNITS = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}

HINT_COLUMNS = (
    Column("code", "text", "code of the hint, as PH001"),
    Column("rule", "text", "rule that found it"),
    Column("message", "text", "the compiler's words"),
    Column("operation", "text", "operation that the message names"),
    Column("file", "text", "source file, or <string> for a position in the text of the IR"),
    Column("line", "count", "line from 1; missing without a position"),
    Column("column", "count", "column from 1; missing without a position"),
    Column("function", "text", "function of the IR at that line; known only for <string>"),
    Column("moved_bytes", "count", "bytes that the transfer moves each time, as the message says"),
    Column("occurrences", "count", "hits at this place that the compiler merged (1 when it says none)"),
    Column("repeats", "count", "equal hints in the log: it is appended to by each compile"),
)
MEMORY_COLUMNS = (
    Column("pass_name", "text", "pass after which the report was written"),
    Column("function", "text", "function"),
    Column("space", "text", "memory space"),
    Column("used_bytes", "count", "bytes used, rounded by the report to 0.1 of its unit"),
    Column("limit_bytes", "count", "capacity of the space, rounded likewise"),
    Column("share", "share", "used / limit, as the report prints it"),
    Column("memrefs", "count", "allocations"),
    Column("line", "count", "line of the report, from 1"),
)


@dataclass(frozen=True, slots=True)
class Report:
    """A table of one file, and how many of its lines could not be read as part of it."""

    file: str
    table: Table
    unread_lines: int


def report_files(path: str | Path) -> tuple[Path, ...]:
    """Hint logs and memory reports in ``report`` beside a dump, or in or beside a run directory, sorted."""
    root = Path(path)
    places = dict.fromkeys((root / "report", root.parent / "report"))
    found = [file for place in places for glob in ("perf_hints.log", "memory_after_*.txt") for file in place.glob(glob)]
    return tuple(sorted(file for file in found if file.is_file()))


def read_report(path: str | Path, table: FunctionTable | None = None) -> Report:
    """The table of one report file.

    Args:
        path: one of :func:`report_files`.
        table: functions of the snapshot that ``<string>`` positions are in, to name the function.

    Raises:
        InputError: it cannot be read.
    """
    file = Path(path)
    name = readable(file.name)
    try:
        lines = split_lines(decode(file.read_bytes()).text)
    except OSError as error:
        raise InputError(f"report/{name}", "", f"cannot be read: {error.strerror}") from error
    made, unread = _hints(lines, table) if file.suffix == ".log" else _memory(lines, name)
    return Report(name, made, unread)


def _hints(lines: list[str], table: FunctionTable | None) -> tuple[Table, int]:
    rows: dict[str, int] = {}
    unread = 0
    for line in lines:
        if _HINT.match(line):
            rows[line] = rows.get(line, 0) + 1
        elif line.strip():
            unread += 1
    cells = [(*_hint(line[:_MOST_CHARS], table), count) for line, count in rows.items()]
    return _table(HINT_COLUMNS, cells), unread


def _hint(line: str, table: FunctionTable | None) -> tuple[object, ...]:
    head = _HINT.match(line)
    if head is None:
        raise ValueError("not a hint")
    message, at, where = line[head.end() :].rpartition(" at ")
    place = _PLACE.match(where) if at else None
    if place is None:
        message, file, number, column = line[head.end() :], "", None, None
    else:
        file, number, column = place[1], int(place[2]), int(place[3])
    operation, moves, times = _OPERATION.search(message), _MOVES.search(message), _TIMES.search(message)
    function = _function(table, number) if file == "<string>" and table is not None and number else ""
    return (head[1], head[2], message, operation[1] if operation else "", file, number, column, function,
            int(moves[1]) if moves else None, int(times[1]) if times else 1)  # fmt: skip


def _function(table: FunctionTable, number: int) -> str:
    return next((f.name for f in table.functions if f.start_line <= number <= f.end_line), "")


def _memory(lines: list[str], name: str) -> tuple[Table, int]:
    pass_name = name.removeprefix("memory_after_").removesuffix(".txt")
    function, rows, unread = "", [], 0
    for number, line in enumerate(lines, 1):
        text = line[:_MOST_CHARS].strip()
        section, row = _SECTION.match(text), _SPACES.match(text)
        if section:
            function = section[1]
        elif row:
            used, limit = (round(float(row[i]) * _UNITS[row[i + 1]]) for i in (2, 4))
            rows.append((pass_name, function, row[1], used, limit, float(row[6]) / 100, int(row[7]), number))
        elif text and function and not text.startswith(("Space", "---", "Buffers", "Name", "-")) and "[" not in text:
            unread += 1
    return _table(MEMORY_COLUMNS, rows), unread


def _table(columns: tuple[Column, ...], rows: Iterable[tuple[object, ...]]) -> Table:
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    data = {}
    for column, values in zip(columns, cells, strict=True):
        data[column.name] = np.array(values, dtype=float) if column.unit == "share" else list(values)
    return Table(columns, data)
