"""Which characters of two paired lines differ? Each changed piece is a mark of its own."""

from __future__ import annotations

import re

from analysis.passes.align import gaps, matches, numbered

Marks = tuple[tuple[int, int], ...]
"""Rising, disjoint, non-empty [start, end) character positions inside a line."""

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_TOKENS = 20_000
"""A longer differing middle is one mark."""


def marks(left: str, right: str) -> tuple[Marks, Marks]:
    """The differing pieces of both lines; words are compared whole, then narrowed to the part that differs.

    The lines between their marks spell the same text.
    """
    if left == right:
        return (), ()
    head = _word_edge(left, right, _same_start(left, right))
    size = min(len(left), len(right)) - head
    tail = _same_start(left[len(left) - size :][::-1], right[len(right) - size :][::-1])
    tail = _tail_edge(left, right, tail)
    a, b = left[head : len(left) - tail], right[head : len(right) - tail]
    mine, theirs = _TOKEN.findall(a), _TOKEN.findall(b)
    if max(len(mine), len(theirs)) > _MOST_TOKENS:
        return _mark(head, a), _mark(head, b)
    left_at, right_at = _offsets(mine, head), _offsets(theirs, head)
    left_marks: list[tuple[int, int]] = []
    right_marks: list[tuple[int, int]] = []
    for i, i_end, j, j_end in gaps(matches(*numbered(mine, theirs)), len(mine), len(theirs)):
        spans = (left_at[i], left_at[i_end]), (right_at[j], right_at[j_end])
        if i_end - i == j_end - j == 1:
            spans = _narrow(mine[i], theirs[j], *spans)
        _join(left_marks, spans[0])
        _join(right_marks, spans[1])
    return tuple(left_marks), tuple(right_marks)


def _same_start(left: str, right: str) -> int:
    """Length of the common start, by halving, so that it costs a few comparisons of slices."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _is_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def _word_edge(left: str, right: str, head: int) -> int:
    """Back to the start of a word that both lines only begin alike."""
    if _is_word(left, head) or _is_word(right, head):
        floor = max(0, head - 10_000)
        while head > floor and _is_word(left, head - 1):
            head -= 1
    return head


def _tail_edge(left: str, right: str, tail: int) -> int:
    if _is_word(left, len(left) - tail - 1) or _is_word(right, len(right) - tail - 1):
        floor = max(0, tail - 10_000)
        while tail > floor and _is_word(left, len(left) - tail):
            tail -= 1
    return tail


def _offsets(tokens: list[str], start: int) -> list[int]:
    out = [start]
    for token in tokens:
        out.append(out[-1] + len(token))
    return out


def _narrow(a: str, b: str, left: tuple[int, int], right: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Two names without their common start and end; numbers stay whole."""
    if a[0].isdigit() or b[0].isdigit():
        return left, right
    head = _same_start(a, b)
    size = min(len(a), len(b)) - head
    tail = _same_start(a[len(a) - size :][::-1], b[len(b) - size :][::-1])
    return (left[0] + head, left[1] - tail), (right[0] + head, right[1] - tail)


def _mark(start: int, text: str) -> Marks:
    return ((start, start + len(text)),) if text else ()


def _join(out: list[tuple[int, int]], span: tuple[int, int]) -> None:
    if span[0] == span[1]:
        return
    if out and out[-1][1] == span[0]:
        out[-1] = (out[-1][0], span[1])
    else:
        out.append(span)
