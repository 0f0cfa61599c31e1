"""Which passes changed something, by how much, and what happened to the functions?

Snapshots are compared in the order of the list, each with the one before it; changed means the text differs (line ends
and a missing last newline are no change). Definitions: ALGORITHMS.md, "IR trace".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from analysis.errors import InputError
from analysis.passes.comparison import compare
from analysis.passes.dump import Dump, PassFile, Problem
from analysis.passes.functions import FunctionReader, FunctionTable
from analysis.passes.logs import Warning, warnings
from analysis.passes.snapshot import snapshot
from analysis.passes.text import Decoded, split_lines

HUGE_LINE_CHARS = 1_000_000
_EXPLICIT = re.compile(
    r"pl\.Mem\.Vec,\s*pl\.TileView\(\s*blayout=pl\.TileLayout\.row_major,\s*slayout=pl\.TileLayout\.none_box,\s*fractal=512"
)
Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function that a pass added, removed, renamed or outlined; ``origin`` is its former name or its source."""

    name: str
    status: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class PassEntry:
    """One pass of the list.

    Attributes:
        index, name, file: as in the dump; the frontend is number 0.
        changed: its text differs from the pass before.
        added, removed, moved: lines; a moved line counts as neither added nor removed.
        functions: functions of this snapshot, empty when it does not parse (``table.error`` says why).
        function_changes: what the pass did to them.
        warnings: of its log.
        sha256: of its text with LF line ends.
        line_count: lines of the snapshot.
    """

    index: int
    name: str
    file: str
    changed: bool
    added: int
    removed: int
    moved: int
    table: FunctionTable
    function_changes: tuple[FunctionChange, ...]
    warnings: tuple[Warning, ...]
    sha256: str
    line_count: int

    @property
    def functions(self) -> tuple[str, ...]:
        """Qualified names, in source order."""
        return tuple(f.name for f in self.table.functions)


@dataclass(frozen=True, slots=True)
class PassList:
    """Every pass of a dump; ``level`` is ``EXPLICIT``, ``CONCISE`` or "" when no tile with a layout says which."""

    label: str
    passes: tuple[PassEntry, ...]
    problems: tuple[Problem, ...]
    level: str

    @property
    def line_count(self) -> int:
        """Lines of all snapshots."""
        return sum(p.line_count for p in self.passes)

    def to_json(self) -> list[dict[str, Any]]:
        """``[{index, name, changed, added, removed, functions, warnings}]`` and what else an entry holds."""
        return [_json(entry) for entry in self.passes]

    def to_bytes(self) -> bytes:
        """For a cache on disk; :func:`list_from_bytes` reads it."""
        return msgspec.msgpack.encode(self)


def list_from_bytes(data: bytes) -> PassList | None:
    """A stored list, or ``None`` when it is damaged or of another version: make it again."""
    try:
        return msgspec.msgpack.decode(data, type=PassList)
    except msgspec.DecodeError:
        return None


def list_passes(dump: Dump, report: Report | None = None) -> PassList:
    """Reads every snapshot once, two at a time in memory. ``report(done, all)`` is told the progress and may raise."""
    reader = FunctionReader()
    problems = list(dump.problems)
    entries: list[PassEntry] = []
    before: tuple[Decoded, FunctionTable] | None = None
    explicit = concise = False
    for at, item in enumerate(dump.passes):
        if report is not None:
            report(at, len(dump.passes))
        try:
            text = dump.read(item.file)
        except InputError as error:
            problems.append(Problem("unreadable", item.file, str(error)))
            continue
        same = before is not None and before[0].sha256 == text.sha256
        table = before[1] if same and before is not None else reader.read(text.text)
        problems += _content_problems(item, text, table)
        found = _EXPLICIT.search(text.text) is not None if not same else explicit
        explicit, concise = explicit or found, concise or "pl.Tile[" in text.text
        entries.append(_entry(dump, item, before, text, table, problems))
        before = (text, table)
    level = "EXPLICIT" if explicit else "CONCISE" if concise else ""
    if level == "CONCISE":
        words = "a concise dump: layouts that follow from the memory space are not printed"
        problems.append(Problem("concise", "", words))
    return PassList(dump.label, tuple(entries), tuple(problems), level)


def level_conflict(left: PassList, right: PassList) -> str:
    """Why two dumps should not be compared without a warning ("" if they may): they print layouts differently."""
    if not left.level or not right.level or left.level == right.level:
        return ""
    return f"{left.label} is {left.level} and {right.label} is {right.level}: layouts differ though the code may not"


def first_selection(changed: Sequence[bool]) -> int | None:
    """Position of the first changed pass, else of the first; ``None`` for an empty list."""
    return next((at for at, flag in enumerate(changed) if flag), 0 if changed else None)


def nearest_visible(selected: int, visible: Sequence[int]) -> int | None:
    """Where the selection goes when a filter hides it: the nearest visible position, ties to the lower one."""
    return min(visible, key=lambda at: (abs(at - selected), at), default=None)


def _entry(
    dump: Dump,
    item: PassFile,
    before: tuple[Decoded, FunctionTable] | None,
    text: Decoded,
    table: FunctionTable,
    problems: list[Problem],
) -> PassEntry:
    changed = before is not None and before[0].sha256 != text.sha256
    counts, changes = (0, 0, 0), ()  # type: tuple[int, int, int], tuple[FunctionChange, ...]
    if changed and before is not None:
        left = snapshot(before[0].text, before[1], sha256=before[0].sha256)
        made = compare(left, snapshot(text.text, table, sha256=text.sha256))
        counts = made.added, made.removed, made.moved
        told = ("added", "removed", "renamed", "outlined")
        changes = tuple(
            FunctionChange(s.name, s.status, s.origin) for s in made.sections if s.status in told and s.name
        )
    return PassEntry(item.index, item.name, item.file, changed, *counts, table, changes,
                     _warnings(dump, item, problems), text.sha256, text.text.count("\n"))  # fmt: skip


def _warnings(dump: Dump, item: PassFile, problems: list[Problem]) -> tuple[Warning, ...]:
    if item.log is None:
        return ()
    try:
        text = dump.read(item.log)
    except InputError as error:
        problems.append(Problem("unreadable", item.log, str(error)))
        return ()
    if text.bad_byte is not None:
        problems.append(Problem("not-utf-8", item.log, f"{item.log} is not UTF-8 at byte {text.bad_byte}"))
    found, other = warnings(text.text)
    if other:
        problems.append(Problem("log-lines", item.log, f"{item.log}: {other} lines are not of a known form"))
    return found


def _content_problems(item: PassFile, text: Decoded, table: FunctionTable) -> list[Problem]:
    out: list[Problem] = []
    if text.bad_byte is not None:
        words = f"{item.file} is not UTF-8 at byte {text.bad_byte}; such bytes are shown as \N{REPLACEMENT CHARACTER}"
        out.append(Problem("not-utf-8", item.file, words))
    if table.error:
        words = f"{item.file} is not valid Python, so it is compared as a whole and not by function: {table.error}"
        out.append(Problem("unparsable", item.file, words))
    if table.repeated:
        words = f"{item.file} defines {', '.join(table.repeated)} more than once, so it is compared as a whole"
        out.append(Problem("repeated-function", item.file, words))
    if len(text.text) > HUGE_LINE_CHARS:
        longest = max(map(len, split_lines(text.text)))
        if longest > HUGE_LINE_CHARS:
            words = f"{item.file} has a line of {longest:,} characters; rows show a part of it and say so"
            out.append(Problem("huge-line", item.file, words))
    return out


def _json(entry: PassEntry) -> dict[str, Any]:
    return {
        "index": entry.index,
        "name": entry.name,
        "changed": entry.changed,
        "added": entry.added,
        "removed": entry.removed,
        "moved": entry.moved,
        "functions": list(entry.functions),
        "function_changes": [msgspec.to_builtins(change) for change in entry.function_changes],
        "warnings": [msgspec.to_builtins(warning) for warning in entry.warnings],
        "file": entry.file,
        "lines": entry.line_count,
        "sha256": entry.sha256,
        "error": entry.table.error or None,
    }
