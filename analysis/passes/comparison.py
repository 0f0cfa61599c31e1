"""What changed from one snapshot to another, line for line?

A :class:`Comparison` is a few integer arrays, small enough to keep for every pair of passes and to store by content
(:func:`comparison_key`); texts, folds and character marks are added for the rows on the screen only
(:mod:`analysis.passes.rows`). Definitions: ALGORITHMS.md, "IR trace"; FIELD-FACTS.md, "IR trace".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from analysis.errors import NotFoundError
from analysis.passes import align
from analysis.passes.pairing import Pair, Status, pair_sections
from analysis.passes.snapshot import Snapshot

EQUAL, REPLACE, DELETE, INSERT, MOVED_AWAY, MOVED_HERE = range(6)
KINDS = ("equal", "replace", "delete", "insert", "moved_away", "moved_here")
VERSION = 1
"""Part of :func:`comparison_key`: raise it when rows of the same texts come out differently."""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one function (or of the part before the first): names per side, what happened, and its counts."""

    left_name: str
    right_name: str
    status: Status
    origin: str
    reordered: bool
    first_row: int
    rows: int
    added: int = 0
    removed: int = 0
    moved: int = 0

    @property
    def name(self) -> str:
        """The name to show: that of the right side where there is one."""
        return self.right_name or self.left_name


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows of two snapshots side by side; each line of either side is in exactly one row.

    Attributes:
        left, right: int32 per row, index (from 0) into the snapshot's lines, -1 for none.
        kind: uint8 per row, an index into ``KINDS``.
        partner: int32 per row, for a moved line its index on the other side, else -1.
        sections: tile the rows, in order.
        left_sha256, right_sha256, structure: what was compared.
        whole: why the texts were compared as one section ("" when by function).
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    kind: NDArray[np.uint8]
    partner: NDArray[np.int32]
    sections: tuple[Section, ...]
    left_sha256: str
    right_sha256: str
    structure: bool
    whole: str = ""

    @property
    def row_count(self) -> int:
        """Rows of the unfolded, side-by-side view."""
        return len(self.kind)

    @property
    def added(self) -> int:
        """Lines of the right side without an equal or moved line on the left."""
        return int(np.count_nonzero((self.kind == INSERT) | (self.kind == REPLACE)))

    @property
    def removed(self) -> int:
        """Lines of the left side without an equal or moved line on the right."""
        return int(np.count_nonzero((self.kind == DELETE) | (self.kind == REPLACE)))

    @property
    def moved(self) -> int:
        """Lines that are elsewhere on the right, in no other way changed than in indentation."""
        return int(np.count_nonzero(self.kind == MOVED_HERE))

    @property
    def changes(self) -> NDArray[np.int64]:
        """First row of each run of changed rows: the stops of ``j`` and ``k``."""
        changed = self.kind != EQUAL
        return np.flatnonzero(changed & ~np.concatenate(([False], changed[:-1])))

    def only(self, function: str) -> Comparison:
        """The rows of one function, named as on either side (qualified, or short when only one is meant).

        Raises:
            NotFoundError: neither side has it; the caller may fall back to the whole file.
        """
        exact = [s for s in self.sections if function and function in (s.left_name, s.right_name)]
        short = [
            s for s in self.sections if function in {n.rpartition(".")[2] for n in (s.left_name, s.right_name) if n}
        ]
        found = exact or (short if len(short) == 1 else [])
        if not found:
            raise NotFoundError(f"no function {function!r} on either side of this comparison")
        parts = [np.arange(s.first_row, s.first_row + s.rows) for s in found]
        rows = np.concatenate(parts)
        starts = np.cumsum([0, *map(len, parts)]).tolist()
        sections = tuple(replace(s, first_row=at) for s, at in zip(found, starts, strict=False))
        return replace(self, left=self.left[rows], right=self.right[rows], kind=self.kind[rows],
                       partner=self.partner[rows], sections=sections)  # fmt: skip

    def to_bytes(self) -> bytes:
        """For a cache on disk; see :func:`from_bytes`."""
        arrays = [array.tobytes() for array in (self.left, self.right, self.kind, self.partner)]
        texts = (self.left_sha256, self.right_sha256, self.structure, self.whole)
        return msgspec.msgpack.encode(_Stored(VERSION, arrays, self.sections, texts))


class _Stored(msgspec.Struct, array_like=True):
    version: int
    arrays: list[bytes]
    sections: tuple[Section, ...]
    texts: tuple[str, str, bool, str]


def from_bytes(data: bytes) -> Comparison | None:
    """A stored comparison, or ``None`` when another version wrote it or it is damaged: compute it again."""
    try:
        stored = msgspec.msgpack.decode(data, type=_Stored)
        left, right, kind, partner = stored.arrays
        made = Comparison(
            np.frombuffer(left, np.int32),
            np.frombuffer(right, np.int32),
            np.frombuffer(kind, np.uint8),
            np.frombuffer(partner, np.int32),
            stored.sections,
            *stored.texts,
        )
    except (msgspec.DecodeError, ValueError):
        return None
    sizes = {len(made.left), len(made.right), len(made.kind), len(made.partner)}
    return made if stored.version == VERSION and len(sizes) == 1 else None


def comparison_key(left_sha256: str, right_sha256: str, structure: bool = False) -> str:
    """The name under which to keep a comparison: by content, so equal snapshots share it across dumps and runs."""
    return f"passes-{VERSION}-{left_sha256}-{right_sha256}{'-structure' if structure else ''}"


def compare(left: Snapshot, right: Snapshot) -> Comparison:
    """Aligns two snapshots: lines of each function (or of the whole files), then moved blocks, then pairs of lines."""
    why = _whole(left, right)
    if why:
        pairs = [(Pair(0, 0, "changed" if left.lines != right.lines else "same"),
                  (0, len(left.lines), 0, len(right.lines)), "", "")]  # fmt: skip
    else:
        a, b = left.sections(), right.sections()
        pairs = [(p, (*_extent(a, p.left), *_extent(b, p.right)), _name(a, p.left), _name(b, p.right))
                 for p in pair_sections(left, right)]  # fmt: skip
    blocks = [_blocks(left, right, span) for _, span, _, _ in pairs]
    spans = [gap for section in blocks for same, gap in section if not same]
    moves = align.moved(left.lines, right.lines, spans)
    rows = _Rows(left, right, moves)
    sections = []
    for (pair, _, left_name, right_name), section in zip(pairs, blocks, strict=True):
        first = len(rows.kind)
        for same, span in section:
            rows.add(same, span)
        kind = np.array(rows.kind[first:], dtype=np.uint8)
        counts = np.bincount(kind, minlength=len(KINDS)).tolist()
        sections.append(Section(left_name, right_name, pair.status, pair.origin, pair.reordered, first, len(kind),
                                counts[INSERT] + counts[REPLACE], counts[DELETE] + counts[REPLACE],
                                counts[MOVED_HERE]))  # fmt: skip
    return rows.comparison(tuple(sections), why)


def _whole(left: Snapshot, right: Snapshot) -> str:
    """Why the functions cannot be compared one by one, or ""."""
    for side, snapshot in (("left", left), ("right", right)):
        if snapshot.table.error:
            return f"the {side} side is not valid Python ({snapshot.table.error})"
        if snapshot.table.repeated:
            return f"the {side} side defines {snapshot.table.repeated[0]} more than once"
    return "" if left.table.functions or right.table.functions else "neither side defines a function"


def _extent(sections: list[tuple[str, int, int]], at: int) -> tuple[int, int]:
    return sections[at][1:] if at >= 0 else (0, 0)


def _name(sections: list[tuple[str, int, int]], at: int) -> str:
    return sections[at][0] if at >= 0 else ""


def _blocks(left: Snapshot, right: Snapshot, span: align.Span) -> list[tuple[bool, align.Span]]:
    """A section as runs of paired lines (True; equal, or equal up to indentation) and the gaps between (False)."""
    a0, a1, b0, b1 = span
    mine, theirs = left.lines[a0:a1], right.lines[b0:b1]
    if mine == theirs:
        return [(True, span)] if mine else []
    out: list[tuple[bool, align.Span]] = []
    a, b = a0, b0
    for i, j, n in [*align.matches(*align.numbered(mine, theirs)), (a1 - a0, b1 - b0, 0)]:
        if a < a0 + i or b < b0 + j:
            out += _by_indentation(left, right, (a, a0 + i, b, b0 + j))
        a, b = a0 + i + n, b0 + j + n
        if n:
            out.append((True, (a0 + i, a, b0 + j, b)))
    return out


def _by_indentation(left: Snapshot, right: Snapshot, gap: align.Span) -> list[tuple[bool, align.Span]]:
    a, a_end, b, b_end = gap
    out: list[tuple[bool, align.Span]] = []
    for i, j in [*align.by_indentation(left.lines[a:a_end], right.lines[b:b_end]), (a_end - a, b_end - b)]:
        i, j = gap[0] + i, gap[2] + j
        if a < i or b < j:
            out.append((False, (a, i, b, j)))
        if i < a_end:
            out.append((True, (i, i + 1, j, j + 1)))
        a, b = i + 1, j + 1
    return out


class _Rows:
    """Collects rows in order."""

    def __init__(self, left: Snapshot, right: Snapshot, moves: align.Moves) -> None:
        self._sides = left, right
        self._moves = moves
        self._left: list[int] = []
        self._right: list[int] = []
        self.kind: list[int] = []

    def add(self, paired: bool, span: align.Span) -> None:
        a, a_end, b, b_end = span
        if paired:
            left, right = self._sides
            self._left += range(a, a_end)
            self._right += range(b, b_end)
            same = left.lines[a] == right.lines[b]
            self.kind += [EQUAL if same else REPLACE] * (a_end - a)
            return
        for i, j in [*self._operations(span), (a_end, b_end)]:
            self._side_by_side(a, i, b, j)
            if i < a_end:
                self._put(i, j, REPLACE)
            a, b = i + 1, j + 1

    def _operations(self, span: align.Span) -> list[tuple[int, int]]:
        a, a_end, b, b_end = span
        mine = [i for i in range(a, a_end) if self._moves.left[i] < 0]
        theirs = [j for j in range(b, b_end) if self._moves.right[j] < 0]
        if not mine or not theirs:
            return []
        left, right = self._sides
        pairs = align.by_operation([left.lines[i] for i in mine], [right.lines[j] for j in theirs])
        return [(mine[i], theirs[j]) for i, j in pairs]

    def _side_by_side(self, a: int, a_end: int, b: int, b_end: int) -> None:
        """Lines in order; moved ones alone, the others beside each other while both sides have one."""
        while a < a_end or b < b_end:
            if a < a_end and self._moves.left[a] >= 0:
                self._put(a, -1, MOVED_AWAY)
                a += 1
            elif b < b_end and self._moves.right[b] >= 0:
                self._put(-1, b, MOVED_HERE)
                b += 1
            elif a < a_end and b < b_end:
                self._put(a, b, REPLACE)
                a, b = a + 1, b + 1
            elif a < a_end:
                self._put(a, -1, DELETE)
                a += 1
            else:
                self._put(-1, b, INSERT)
                b += 1

    def _put(self, left: int, right: int, kind: int) -> None:
        self._left.append(left)
        self._right.append(right)
        self.kind.append(kind)

    def comparison(self, sections: tuple[Section, ...], why: str) -> Comparison:
        left, right = np.array(self._left, dtype=np.int32), np.array(self._right, dtype=np.int32)
        kind = np.array(self.kind, dtype=np.uint8)
        partner = np.full(len(kind), -1, dtype=np.int32)
        away, here = kind == MOVED_AWAY, kind == MOVED_HERE
        partner[away] = self._moves.left[left[away]]
        partner[here] = self._moves.right[right[here]]
        mine, theirs = self._sides
        return Comparison(left, right, kind, partner, sections, mine.sha256, theirs.sha256, mine.structure, why)
