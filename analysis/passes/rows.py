"""Which rows are on the screen? Folds, stacking and the text of a few rows at a time, for a page that draws lazily."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.errors import ParameterError
from analysis.passes.comparison import DELETE, EQUAL, INSERT, KINDS, MOVED_AWAY, MOVED_HERE, REPLACE, Comparison
from analysis.passes.marks import Marks, marks
from analysis.passes.snapshot import Snapshot
from analysis.passes.text import MAX_SHOWN_CHARS

Side = Literal["left", "right"]
MAX_ROWS = 400
"""Rows that one call of :meth:`View.slice` gives at most."""
_LEAD = 200


@dataclass(frozen=True, slots=True)
class Line:
    """One side of a row: the file's line number, its text (raw: draw it with :func:`analysis.passes.text.pieces`).

    Only ``MAX_SHOWN_CHARS`` of a longer line are in ``text``, around its first mark; ``hidden_before`` and
    ``hidden_after`` count the characters left out. ``marks`` are positions in ``text``.
    """

    number: int
    text: str
    marks: Marks = ()
    hidden_before: int = 0
    hidden_after: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """``kind`` is one of ``KINDS``; ``moved`` the line number on the other side of a moved line; ``row`` its number."""

    row: int
    kind: str
    left: Line | None
    right: Line | None
    moved: int | None = None


@dataclass(frozen=True, slots=True)
class Fold:
    """``rows`` equal rows that are hidden, from ``row`` on; add ``row`` to ``opened`` to show them."""

    row: int
    rows: int
    left_number: int
    right_number: int


def folds(kind: NDArray[np.uint8], context: int) -> list[tuple[int, int]]:
    """(first row, rows) hidden in equal runs, so that ``context`` rows stay visible beside each change.

    A run in the middle folds only if longer than twice the context; the edges fold too; 0 hides every equal row.

    Raises:
        ParameterError: a negative context.
    """
    if context < 0:
        raise ParameterError(f"context is {context}, it must be 0 or more")
    equal = np.concatenate(([False], kind == EQUAL, [False]))
    edges = np.flatnonzero(equal[1:] != equal[:-1]).reshape(-1, 2)
    out = []
    for start, end in edges.tolist():
        first = start if start == 0 else start + context
        last = end if end == len(kind) else end - context
        if last > first:
            out.append((first, last - first))
    return out


class View:
    """The display rows of one comparison: unfolded or folded, side by side or stacked.

    Args:
        comparison: what to show (:meth:`Comparison.only` for one function).
        left, right: the snapshots it was made from.
        context: equal rows kept beside a change; ``None`` shows the whole file.
        opened: first rows of folds that the user opened.
        stacked: one column; the removed lines of a change above the added ones.

    Attributes:
        length: display rows; positions are 0 to ``length - 1``.
        folds: (first row, rows) of what is hidden.
    """

    def __init__(
        self,
        comparison: Comparison,
        left: Snapshot,
        right: Snapshot,
        *,
        context: int | None = 3,
        opened: Collection[int] = (),
        stacked: bool = False,
    ) -> None:
        if (comparison.left_sha256, comparison.right_sha256) != (left.sha256, right.sha256):
            raise ValueError("a comparison is shown with the snapshots it was made from")
        self.comparison, self.left, self.right = comparison, left, right
        hidden = [] if context is None else [fold for fold in folds(comparison.kind, context) if fold[0] not in opened]
        self.folds = hidden
        self._row, self._side = _units(comparison.kind, stacked)
        visible = np.ones(comparison.row_count, dtype=bool)
        self._fold = np.zeros(comparison.row_count, dtype=np.int32)
        for first, rows in hidden:
            visible[first + 1 : first + rows] = False
            self._fold[first] = rows
        keep = visible[self._row]
        self._row, self._side = self._row[keep], self._side[keep]
        self.length = len(self._row)

    def slice(self, start: int, end: int) -> list[Row | Fold]:
        """Display rows ``start`` to ``end`` (cut to what exists).

        Raises:
            ParameterError: more than ``MAX_ROWS`` rows are asked for.
        """
        if end - start > MAX_ROWS:
            raise ParameterError(f"{end - start} rows asked for at once, at most {MAX_ROWS} are given")
        span = slice(max(0, start), max(0, end))
        return [
            self._unit(row, side) for row, side in zip(self._row[span].tolist(), self._side[span].tolist(), strict=True)
        ]

    def position_of_row(self, row: int) -> int:
        """Display position of a comparison row, or of the fold that hides it."""
        return int(self.positions_of(np.array([row]))[0])

    def row_of_line(self, side: Side, number: int) -> int | None:
        """The comparison row that shows line ``number`` of the file on ``side``; ``None`` when it is not part of it."""
        snapshot = self.left if side == "left" else self.right
        indexes = self.comparison.left if side == "left" else self.comparison.right
        if number < 1 or not len(snapshot.lines):
            return None
        found = np.flatnonzero(indexes == snapshot.line_of(number))
        return int(found[0]) if len(found) else None

    def positions_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """:meth:`position_of_row` of many rows at once."""
        if not self.length:
            return np.zeros(len(rows), dtype=np.int64)
        order = np.argsort(self._row, kind="stable")
        known = self._row[order]
        last = np.maximum(np.searchsorted(known, rows, side="right") - 1, 0)
        return order[np.searchsorted(known, known[last])].astype(np.int64)

    def change_positions(self) -> NDArray[np.int64]:
        """Display position of each run of changed rows: the stops of ``j`` and ``k``."""
        return self.positions_of(self.comparison.changes)

    def next_change(self, position: int, step: int = 1) -> int | None:
        """Display position of the next (``step`` 1) or previous (-1) run of changed rows; ``None`` at the end."""
        at = self.change_positions()
        found = at[at > position] if step > 0 else at[at < position][::-1]
        return int(found[0]) if len(found) else None

    def _unit(self, row: int, side: int) -> Row | Fold:
        shown = self.comparison
        i, j, kind = int(shown.left[row]), int(shown.right[row]), int(shown.kind[row])
        if self._fold[row]:
            return Fold(row, int(self._fold[row]), int(self.left.numbers[i]), int(self.right.numbers[j]))
        left, right = (self.left.lines[i] if i >= 0 else None), (self.right.lines[j] if j >= 0 else None)
        mine: Marks = ()
        theirs: Marks = ()
        if kind == REPLACE and left is not None and right is not None:
            mine, theirs = marks(left, right)
        partner, moved = int(shown.partner[row]), None
        if partner >= 0:
            moved = int((self.right if kind == MOVED_AWAY else self.left).numbers[partner])
        return Row(
            row,
            KINDS[kind],
            _line(self.left, i, left, mine) if left is not None and side != 2 else None,
            _line(self.right, j, right, theirs) if right is not None and side != 1 else None,
            moved,
        )


def _units(kind: NDArray[np.uint8], stacked: bool) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """Row and side (0 both, 1 left, 2 right) of each display row, before folding."""
    rows = np.arange(len(kind), dtype=np.int32)
    if not stacked:
        return rows, np.zeros(len(kind), dtype=np.int8)
    equal = kind == EQUAL
    run = np.cumsum(equal | np.concatenate(([True], equal[:-1]))) if len(kind) else rows
    lone_left = rows[np.isin(kind, (REPLACE, DELETE, MOVED_AWAY))]
    lone_right = rows[np.isin(kind, (REPLACE, INSERT, MOVED_HERE))]
    row = np.concatenate([rows[equal], lone_left, lone_right])
    side = np.repeat(np.array([0, 1, 2], dtype=np.int8), [int(equal.sum()), len(lone_left), len(lone_right)])
    order = np.lexsort((row, side, run[row]))
    return row[order], side[order]


def _line(snapshot: Snapshot, at: int, text: str, found: Marks) -> Line:
    number = int(snapshot.numbers[at])
    if len(text) <= MAX_SHOWN_CHARS:
        return Line(number, text, found)
    start = max(0, found[0][0] - _LEAD) if found and found[0][0] > MAX_SHOWN_CHARS - _LEAD else 0
    end = min(len(text), start + MAX_SHOWN_CHARS)
    cut = tuple((max(a, start) - start, min(b, end) - start) for a, b in found if a < end and b > start)
    return Line(number, text[start:end], cut, start, len(text) - end)
