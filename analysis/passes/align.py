"""Which lines of two texts belong together?

The line alignment is libgit2's (pygit2), the fastest of three compiled libraries on the shared dumps and linear in
memory: the lines' numbers go in as short texts, the hunks come out. Definitions: ALGORITHMS.md, "IR trace".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pygit2
from numpy.typing import NDArray

Span = tuple[int, int, int, int]
"""A part of both texts: left start, left end, right start, right end (from 0, ends excluded)."""

MOVED_CHARS = 20
"""Letters and digits that a block needs to be told as moved; shorter ones (``return x``) repeat by chance."""
_CANDIDATES = 32
_CALL = re.compile(r"(?:^|=\s|return\s|\(\s*)((?:pl|self|[A-Za-z_]\w*)\.[\w.]+)\(")
_WORD = re.compile(r"[^\W_]")


def matches(left: NDArray[np.int32], right: NDArray[np.int32]) -> list[tuple[int, int, int]]:
    """Equal runs (left start, right start, length) of two sequences of line numbers, in order."""
    head = _common(left, right)
    tail = _common(left[head:][::-1], right[head:][::-1])
    a_end, b_end = len(left) - tail, len(right) - tail
    runs = [(0, 0, head)] if head else []
    if head < a_end and head < b_end:
        runs += [(i + head, j + head, n) for i, j, n in _between(left[head:a_end], right[head:b_end])]
    if tail:
        runs.append((a_end, b_end, tail))
    return runs


def _common(left: NDArray[np.int32], right: NDArray[np.int32]) -> int:
    size = min(len(left), len(right))
    differ = np.flatnonzero(left[:size] != right[:size])
    return int(differ[0]) if len(differ) else size


def _between(left: NDArray[np.int32], right: NDArray[np.int32]) -> Iterator[tuple[int, int, int]]:
    patch = pygit2.Patch.create_from(_as_text(left), _as_text(right), context_lines=0, interhunk_lines=0)
    a = b = 0
    for hunk in patch.hunks:
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        if start > a:
            yield a, b, start - a
        b += start - a + hunk.new_lines
        a = start + hunk.old_lines
    if a < len(left):
        yield a, b, len(left) - a


def _as_text(numbers: NDArray[np.int32]) -> bytes:
    return ("\n".join(map(str, numbers.tolist())) + "\n").encode()


def gaps(runs: Iterable[tuple[int, int, int]], left: int, right: int) -> list[Span]:
    """The parts between equal runs, of texts with ``left`` and ``right`` lines."""
    out: list[Span] = []
    a = b = 0
    for i, j, n in [*runs, (left, right, 0)]:
        if i > a or j > b:
            out.append((a, i, b, j))
        a, b = i + n, j + n
    return out


def by_indentation(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of lines that are equal up to indentation; blank lines pair with none."""
    return _pairs([line.strip() for line in left], [line.strip() for line in right])


def by_operation(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of lines that call the same operation."""
    return _pairs([operation(line) for line in left], [operation(line) for line in right])


def operation(line: str) -> str:
    """``pl.tile.add`` of a statement that calls it, "" for a line that calls none."""
    found = _CALL.search(line[:4_000])
    return found.group(1) if found else ""


def numbered(left: Iterable[str], right: Iterable[str]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Both texts as numbers, equal where the lines are equal."""
    known: dict[str, int] = {}
    a = [known.setdefault(line, len(known)) for line in left]
    return np.array(a, dtype=np.int32), np.array([known.setdefault(line, len(known)) for line in right], dtype=np.int32)


def _pairs(left: list[str], right: list[str]) -> list[tuple[int, int]]:
    if not (set(left) & set(right)) - {""}:
        return []
    a, b = numbered(left, right)
    for side, keys, first in ((a, left, -1), (b, right, -1 - len(left))):
        blank = np.flatnonzero([not key for key in keys])
        side[blank] = first - blank  # a number of its own, equal to no other
    return [(i + k, j + k) for i, j, n in matches(a, b) for k in range(n)]


@dataclass(frozen=True, slots=True)
class Moves:
    """Per line of each side the line (from 0) of the other side that it moved to or from, -1 for none."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]


def moved(left: Sequence[str], right: Sequence[str], spans: Iterable[Span]) -> Moves:
    """Blocks of consecutive unpaired lines that occur on the other side as well, whatever their indentation.

    ``spans`` holds what the alignment left unpaired. The longest block is taken at each line; the work is bounded by a
    constant times the lines in ``spans``.
    """
    to_right = np.full(len(left), -1, dtype=np.int32)
    to_left = np.full(len(right), -1, dtype=np.int32)
    left_at = [i for a, b, _, _ in spans for i in range(a, b)]
    right_at = sorted(j for _, _, a, b in spans for j in range(a, b))
    if not left_at or not right_at:
        return Moves(to_right, to_left)
    source = {i: left[i].strip() for i in sorted(left_at)}
    target = {j: right[j].strip() for j in right_at}
    places: dict[str, list[int]] = {}
    for j, text in target.items():
        places.setdefault(text, []).append(j)
    budget = 100 * (len(source) + len(target))
    done = -1
    for i, text in source.items():
        if i <= done or text not in places or not _WORD.search(text):
            continue
        best, at = 0, -1
        for j in [j for j in places[text] if to_left[j] < 0][:_CANDIDATES]:
            size = _run(source, target, to_left, i, j)
            budget -= size + 1
            if size > best:
                best, at = size, j
        if best and _enough(source[i + k] for k in range(best)):
            to_right[i : i + best] = np.arange(at, at + best)
            to_left[at : at + best] = np.arange(i, i + best)
            done = i + best - 1
        if budget < 0:
            break
    return Moves(to_right, to_left)


def _run(source: dict[int, str], target: dict[int, str], used: NDArray[np.int32], i: int, j: int) -> int:
    size = 0
    while (text := source.get(i + size)) is not None and target.get(j + size) == text and used[j + size] < 0:
        size += 1
    return size


def _enough(texts: Iterable[str]) -> bool:
    count = 0
    for text in texts:
        count += len(_WORD.findall(text[:200]))
        if count >= MOVED_CHARS:
            return True
    return False
