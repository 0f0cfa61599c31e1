"""A comparison as unified text (for ``patch``), or as JSON hunks with character marks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.passes.comparison import EQUAL, KINDS, MOVED_AWAY, REPLACE, Comparison
from analysis.passes.marks import marks
from analysis.passes.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class _Edit:
    """A run of the text edit: ``left`` and ``right`` are [start, end) indexes; ``same`` says they are equal lines."""

    same: bool
    left: tuple[int, int]
    right: tuple[int, int]


def unified(comparison: Comparison, left: Snapshot, right: Snapshot, names: tuple[str, str], context: int = 3) -> str:
    """A unified diff that turns the left lines into the right ones; "" when they are equal.

    Unified text knows no moves: moved lines and reordered functions are given as removed and added.
    """
    out: list[str] = []
    for hunk in _hunks(_edits(comparison), context):
        a, a_end, b, b_end = hunk[0].left[0], hunk[-1].left[1], hunk[0].right[0], hunk[-1].right[1]
        out.append(f"@@ -{_range(a, a_end)} +{_range(b, b_end)} @@")
        for edit in hunk:
            if edit.same:
                out += [f" {line}" for line in left.lines[edit.left[0] : edit.left[1]]]
            else:
                out += [f"-{line}" for line in left.lines[edit.left[0] : edit.left[1]]]
                out += [f"+{line}" for line in right.lines[edit.right[0] : edit.right[1]]]
    if not out:
        return ""
    return "\n".join([f"--- {names[0]}", f"+++ {names[1]}", *out]) + "\n"


def json_hunks(comparison: Comparison, left: Snapshot, right: Snapshot, context: int = 3) -> dict[str, Any]:
    """``{added, removed, moved, whole, sections, hunks: [{section, rows: [{kind, left, right, moved}]}]}``.

    ``left`` and ``right`` are ``{line, text, marks}`` or ``null``; marks are ``[start, end)`` character positions.
    """
    near = _near(comparison.kind, context)
    starts = [section.first_row for section in comparison.sections]
    hunks: list[dict[str, Any]] = []
    previous = -2
    for row in np.flatnonzero(near).tolist():
        if row != previous + 1:
            at = max(0, int(np.searchsorted(starts, row, side="right")) - 1)
            hunks.append({"section": comparison.sections[at].name, "rows": []})
        hunks[-1]["rows"].append(_json_row(comparison, left, right, row))
        previous = row
    fields = ("left_name", "right_name", "status", "origin", "reordered", "added", "removed", "moved")
    sections = [{name: getattr(s, name) for name in fields} for s in comparison.sections if s.status != "same"]
    return {"added": comparison.added, "removed": comparison.removed, "moved": comparison.moved,
            "whole": comparison.whole or None, "sections": sections, "hunks": hunks}  # fmt: skip


def _json_row(comparison: Comparison, left: Snapshot, right: Snapshot, row: int) -> dict[str, Any]:
    i, j, kind = int(comparison.left[row]), int(comparison.right[row]), int(comparison.kind[row])
    found = marks(left.lines[i], right.lines[j]) if kind == REPLACE else ((), ())
    partner = int(comparison.partner[row])
    other = right if kind == MOVED_AWAY else left
    return {
        "kind": KINDS[kind],
        "left": {"line": int(left.numbers[i]), "text": left.lines[i], "marks": found[0]} if i >= 0 else None,
        "right": {"line": int(right.numbers[j]), "text": right.lines[j], "marks": found[1]} if j >= 0 else None,
        "moved": int(other.numbers[partner]) if partner >= 0 else None,
    }


def _near(kind: NDArray[np.uint8], context: int) -> NDArray[np.bool_]:
    """Rows that changed or stand within ``context`` rows of one that did."""
    changed = np.flatnonzero(kind != EQUAL)
    delta = np.zeros(len(kind) + 1, dtype=np.int64)
    np.add.at(delta, np.maximum(changed - context, 0), 1)
    np.add.at(delta, np.minimum(changed + context + 1, len(kind)), -1)
    return np.cumsum(delta)[:-1] > 0


def _edits(comparison: Comparison) -> list[_Edit]:
    """The comparison in text order: equal rows that rise on both sides, everything else removed and added."""
    rows = comparison.kind == EQUAL
    for section in comparison.sections:
        if section.reordered:
            rows[section.first_row : section.first_row + section.rows] = False
    a, b = comparison.left[rows].tolist(), comparison.right[rows].tolist()
    out: list[_Edit] = []
    lefts, rights = np.sort(comparison.left[comparison.left >= 0]), np.sort(comparison.right[comparison.right >= 0])
    at_a, at_b = _first(lefts), _first(rights)
    end = _first(lefts) + len(lefts), _first(rights) + len(rights)
    for i, j in [*zip(a, b, strict=True), end]:
        if i > at_a or j > at_b:
            out.append(_Edit(False, (at_a, i), (at_b, j)))
        if (i, j) != end or i < end[0]:
            if out and out[-1].same:
                out[-1] = _Edit(True, (out[-1].left[0], i + 1), (out[-1].right[0], j + 1))
            else:
                out.append(_Edit(True, (i, i + 1), (j, j + 1)))
        at_a, at_b = i + 1, j + 1
    return out


def _first(lines: NDArray[np.int32]) -> int:
    return int(lines[0]) if len(lines) else 0


def _hunks(edits: list[_Edit], context: int) -> Iterator[list[_Edit]]:
    hunk: list[_Edit] = []
    for at, edit in enumerate(edits):
        if not edit.same:
            hunk.append(edit)
            continue
        size = edit.left[1] - edit.left[0]
        last = at == len(edits) - 1
        if hunk and not last and size <= 2 * context:
            hunk.append(edit)
            continue
        if hunk:
            hunk += [_part(edit, 0, min(size, context))] if min(size, context) else []
            yield hunk
        hunk = [_part(edit, max(0, size - context), size)] if context and not last else []
    if any(not edit.same for edit in hunk):
        yield hunk


def _part(edit: _Edit, start: int, end: int) -> _Edit:
    a, b = edit.left[0], edit.right[0]
    return _Edit(True, (a + start, a + end), (b + start, b + end))


def _range(start: int, end: int) -> str:
    size = end - start
    return f"{start + 1}" if size == 1 else f"{start + 1 if size else start},{size}"
