"""What does the browser get of a dump? Lists, comparisons and rows as JSON values; long names are cut and say so."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from analysis.passes.comparison import KINDS, Section
from analysis.passes.dump import Problem, ToolDump
from analysis.passes.history import History
from analysis.passes.listing import PassEntry, PassList
from analysis.passes.logs import Warning
from analysis.passes.rows import Fold, Line, Row
from analysis.passes.search import PassHits, Search
from analysis.passes.text import MAX_SHOWN_CHARS, shown
from app.compiler.keys import MAX_NAME
from app.passes.asked import Asked, Pane
from components.passes.code import MOST_COLOURED_CHARS, line_pieces

MOST_CHANGES = 3
"""Function changes named per pass in the list; the comparison names all."""
MOST_SECTIONS = 3_000
MOST_WARNINGS = 500
MOST_PROBLEMS = 300
COLOURED_CHARS = 400_000
"""Characters of one answer that are coloured; a screen holds a tenth of it."""
_SHORT = 160


def cut(text: str, most: int = _SHORT) -> str:
    """``text`` as it may be shown, at most ``most`` characters of it."""
    return shown(text) if len(text) <= most else f"{shown(text[:most])}… ({len(text):,} characters)"


def list_message(listing: PassList, tools: tuple[ToolDump, ...]) -> dict[str, Any]:
    """Every pass of the list, what is wrong with the dump, and what other tools dumped."""
    return {
        "dump": listing.label,
        "level": listing.level,
        "lines": listing.line_count,
        "passes": [_pass(entry) for entry in listing.passes],
        "problems": [_problem(problem) for problem in listing.problems[:MOST_PROBLEMS]],
        "problem_count": len(listing.problems),
        "tools": [{"kernel": cut(tool.kernel), "files": list(tool.files)} for tool in tools],
    }


def _pass(entry: PassEntry) -> dict[str, Any]:
    told = [_change(c.name, c.status, c.origin) for c in entry.function_changes[:MOST_CHANGES]]
    return {
        "id": entry.file.removesuffix(".py"),
        "index": entry.index,
        "name": cut(entry.name),
        "changed": entry.changed,
        "added": entry.added,
        "removed": entry.removed,
        "moved": entry.moved,
        "lines": entry.line_count,
        "functions": None if entry.table.error else len(entry.functions),
        "warnings": len(entry.warnings),
        "changes": told,
        "change_count": len(entry.function_changes),
    }


def _change(name: str, status: str, origin: str) -> str:
    short, source = cut(name.rpartition(".")[2], 60), cut(origin.rpartition(".")[2], 60)
    if status == "renamed":
        return f"{source} renamed to {short}"
    return f"{short} outlined from {source}" if status == "outlined" and source else f"{short} {status}"


def _problem(problem: Problem) -> dict[str, str]:
    return {"code": problem.code, "file": cut(problem.file), "text": cut(problem.message, 600)}


def diff_message(asked: Asked, pane: Pane) -> dict[str, Any]:
    """What the browser must know of a comparison before it asks for rows."""
    view, comparison = pane.view, pane.comparison
    notes = [*asked.notes, *pane.notes]
    if asked.alone:
        notes.append("This is the first snapshot: there is nothing before it to compare it with")
    elif not comparison.added and not comparison.removed and not comparison.moved:
        where = f"{pane.function} is" if pane.function else "Both sides are"
        notes.append(
            f"{where} equal: {'annotations apart, ' if comparison.structure else ''}the pass changed nothing here"
        )
    if comparison.whole and not asked.alone:
        notes.append(f"Compared as a whole and not by function: {comparison.whole}")
    return {
        "length": view.length,
        "width": _width(pane),
        "added": comparison.added,
        "removed": comparison.removed,
        "moved": comparison.moved,
        "changes": view.change_positions().tolist(),
        "folds": len(view.folds),
        "sections": [_section(section) for section in pane.whole.sections[:MOST_SECTIONS]],
        "section_count": len(pane.whole.sections),
        "function": cut(pane.function),
        "anchor": pane.anchor,
        "notes": [cut(note, 600) for note in notes],
        "left": _side(asked.source.dump.label, asked.left),
        "right": _side(asked.dump.dump.label, asked.right),
        "warnings": [_warning(w, _position(pane, w.line)) for w in asked.right.warnings[:MOST_WARNINGS]],
        "warning_count": len(asked.right.warnings),
    }


def _side(label: str, entry: PassEntry) -> dict[str, Any]:
    return {"dump": label, "id": entry.file.removesuffix(".py"), "file": entry.file, "index": entry.index,
            "name": cut(entry.name), "lines": entry.line_count}  # fmt: skip


def _section(section: Section) -> dict[str, Any]:
    name = section.name
    return {
        "name": cut(name),
        "id": name if len(name) <= MAX_NAME else "",
        "status": section.status,
        "origin": cut(section.origin),
        "reordered": section.reordered,
        "added": section.added,
        "removed": section.removed,
        "moved": section.moved,
    }


def _width(pane: Pane) -> int:
    """Characters of the longest line that may be shown; escapes can make a line longer, so there is some to spare."""
    return min(MAX_SHOWN_CHARS, max((len(line) for side in (pane.left, pane.right) for line in side.lines), default=0))


def _warning(warning: Warning, at: int | None) -> dict[str, Any]:
    return {"line": warning.line, "column": warning.column, "severity": warning.severity, "check": cut(warning.check),
            "text": cut(warning.text, 600), "function": cut(warning.function), "at": at}  # fmt: skip


def _position(pane: Pane, line: int) -> int | None:
    row = pane.view.row_of_line("right", line) if line else None
    return None if row is None else pane.view.position_of_row(row)


def rows_message(asked: Asked, pane: Pane, start: int, end: int) -> dict[str, Any]:
    """Display rows ``start`` to ``end``: ``{start, length, rows}``.

    A row is ``[kind, left, right, moved, warnings]`` with ``kind`` an index into ``KINDS``; a side is ``[line, pieces,
    characters left out before, after]`` or null. A fold is ``{fold: [row, rows, left line, right line]}``.
    """
    told: dict[int, list[str]] = defaultdict(list)
    for warning in asked.right.warnings[:MOST_WARNINGS]:
        told[warning.line].append(cut(warning.text, 600))
    found = pane.view.slice(start, end)
    chars = sum(len(line.text) for row in found if isinstance(row, Row) for line in (row.left, row.right) if line)
    colour = chars <= COLOURED_CHARS
    return {"start": start, "length": pane.view.length, "rows": [_row(row, told, colour) for row in found]}


def _row(row: Row | Fold, told: dict[int, list[str]], colour: bool) -> Any:
    if isinstance(row, Fold):
        return {"fold": [row.row, row.rows, row.left_number, row.right_number]}
    warnings = told.get(row.right.number, []) if row.right else []
    return [KINDS.index(row.kind), _line(row.left, colour), _line(row.right, colour), row.moved, warnings]


def _line(line: Line | None, colour: bool) -> Any:
    if line is None:
        return None
    pieces = line_pieces(line.text, line.marks, colour and len(line.text) <= MOST_COLOURED_CHARS)
    return [line.number, pieces, line.hidden_before, line.hidden_after]


def search_message(found: Search) -> dict[str, Any]:
    """Hits per pass, and the first passes that contain, change and drop the pattern."""
    return {
        "contains": found.contains,
        "changes": found.changes,
        "drops": found.drops,
        "passes": [_hits(hits) for hits in found.passes],
    }


def _hits(hits: PassHits) -> dict[str, Any]:
    first = hits.examples[0] if hits.examples else None
    return {"lines": hits.lines, "new": hits.new, "gone": hits.gone, "line": first[0] if first else 0,
            "text": cut(first[1].strip()) if first else ""}  # fmt: skip


def history_message(found: History) -> dict[str, Any]:
    """What happened to the name in each pass."""
    steps = [
        {"event": step.event, "names": [cut(name, 80) for name in step.names[:8]], "name_count": step.name_count,
         "line": step.line, "mentions": step.mentions}
        for step in found.steps
    ]  # fmt: skip
    return {"name": cut(found.name), "steps": steps}
