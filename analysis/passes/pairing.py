"""Which function of one snapshot is which of the other, and what did the pass do to it?"""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.passes.align import operation
from analysis.passes.snapshot import Snapshot

Status = Literal["same", "changed", "added", "removed", "renamed", "outlined"]

RENAMED_SHARE = 0.6
"""Share of lines (without those that name the function) that a removed and an added function must have in common."""
OUTLINED_SHARE = 0.5
"""Share of the operations of an added function that the function it is called from must have held before."""
_MOST_PAIRS = 10_000


@dataclass(frozen=True, slots=True)
class Pair:
    """One section of a comparison: a function on both sides, or on one (index -1 on the other).

    ``origin`` is the former name of a renamed function, or the function that an outlined one was taken from.
    ``reordered`` marks a pair whose order among the functions changed.
    """

    left: int
    right: int
    status: Status
    origin: str = ""
    reordered: bool = False


def pair_sections(left: Snapshot, right: Snapshot) -> list[Pair]:
    """Sections in the order they are shown: as on the right, removed ones where they stood on the left.

    Both sides must have usable function tables.
    """
    a, b = left.sections(), right.sections()
    by_name = {name: at for at, (name, _, _) in enumerate(a)}
    partner = [by_name.get(name, -1) for name, _, _ in b]
    _pair_short_names(a, b, partner)
    former = _pair_renamed(left, right, a, b, partner)
    origins = _outlined(left, right, a, b, partner)
    stay = _longest_rising([i for i in partner if i >= 0])
    taken = set(partner)
    out: list[Pair] = []
    emitted = 0

    def removed_before(end: int) -> None:
        nonlocal emitted
        while emitted < end:
            if emitted not in taken:
                out.append(Pair(emitted, -1, "removed"))
            emitted += 1

    anchor = len(a)
    anchors: list[int] = []  # per right section the next left one that keeps its order
    for i in reversed(partner):
        anchor = i if i in stay else anchor
        anchors.append(anchor)
    for j, i in enumerate(partner):
        removed_before(anchors[-1 - j])
        if i < 0:
            out.append(Pair(-1, j, "outlined" if j in origins else "added", origins.get(j, "")))
            continue
        same = left.lines[a[i][1] : a[i][2]] == right.lines[b[j][1] : b[j][2]]
        status: Status = "renamed" if j in former else "same" if same else "changed"
        out.append(Pair(i, j, status, former.get(j, ""), i not in stay))
    removed_before(len(a))
    return out


def _pair_short_names(a: list[tuple[str, int, int]], b: list[tuple[str, int, int]], partner: list[int]) -> None:
    """Functions of a class that got another name keep their own."""
    taken = set(partner)
    free = [i for i in range(len(a)) if i not in taken]
    short = Counter(a[i][0].rpartition(".")[2] for i in free)
    places = {a[i][0].rpartition(".")[2]: i for i in free}
    wanted = Counter(name.rpartition(".")[2] for j, (name, _, _) in enumerate(b) if partner[j] < 0)
    for j, (name, _, _) in enumerate(b):
        key = name.rpartition(".")[2]
        if partner[j] < 0 and key and short[key] == wanted[key] == 1:
            partner[j] = places[key]


def _pair_renamed(
    left: Snapshot, right: Snapshot, a: list[tuple[str, int, int]], b: list[tuple[str, int, int]], partner: list[int]
) -> dict[int, str]:
    """Pairs the most similar removed and added functions; returns the former name by right index."""
    taken = set(partner)
    gone = [i for i in range(len(a)) if i not in taken and a[i][0]]
    new = [j for j, i in enumerate(partner) if i < 0 and b[j][0]]
    if not gone or not new or len(gone) * len(new) > _MOST_PAIRS:
        return {}
    old_lines = {i: _body(left.lines, a[i]) for i in gone}
    new_lines = {j: _body(right.lines, b[j]) for j in new}
    scored = sorted(((_likeness(old_lines[i], new_lines[j]), i, j) for i in gone for j in new), reverse=True)
    former: dict[int, str] = {}
    used: set[int] = set()
    for score, i, j in scored:
        if score >= RENAMED_SHARE and i not in used and j not in former:
            used.add(i)
            former[j] = a[i][0]
            partner[j] = i
    return former


def _body(lines: list[str], section: tuple[str, int, int]) -> set[str]:
    own = section[0].rpartition(".")[2]
    return {line.strip() for line in lines[section[1] : section[2]] if line.strip() and own not in line}


def _likeness(a: set[str], b: set[str]) -> float:
    return len(a & b) / max(1, len(a | b))


def _outlined(
    left: Snapshot, right: Snapshot, a: list[tuple[str, int, int]], b: list[tuple[str, int, int]], partner: list[int]
) -> dict[int, str]:
    """Added functions that an older one now calls and held the operations of; the older one's name by right index."""
    new = {b[j][0].rpartition(".")[2]: j for j, i in enumerate(partner) if i < 0 and b[j][0]}
    if not new:
        return {}
    name = re.compile(r"[^\W\d]\w*")
    found: dict[int, str] = {}
    for j, i in enumerate(partner):
        if i < 0 or not a[i][0]:
            continue
        called = new.keys() & {word for line in right.lines[b[j][1] + 1 : b[j][2]] for word in name.findall(line)}
        held = _operations(left.lines, a[i]) if called else Counter[str]()
        for callee in called:
            its = _operations(right.lines, b[new[callee]])
            if sum((its & held).values()) >= OUTLINED_SHARE * max(1, sum(its.values())):
                found.setdefault(new[callee], a[i][0])
    return found


def _operations(lines: list[str], section: tuple[str, int, int]) -> Counter[str]:
    found = Counter(operation(line).rpartition(".")[2] for line in lines[section[1] : section[2]])
    for quiet in ("", "function", "func_attr"):
        del found[quiet]
    return found


def _longest_rising(values: Sequence[int]) -> set[int]:
    """The values of a longest rising subsequence of distinct numbers."""
    ends: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for k, value in enumerate(values):
        place = bisect.bisect_left(ends, value)
        before.append(at[place - 1] if place else -1)
        if place == len(ends):
            ends.append(value)
            at.append(k)
        else:
            ends[place], at[place] = value, k
    out: set[int] = set()
    k = at[-1] if at else -1
    while k >= 0:
        out.add(values[k])
        k = before[k]
    return out
