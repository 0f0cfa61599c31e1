"""Through which passes did a name go: where was it created, changed, split, renamed and dropped?

A name is a value, tile, function or statement label: any identifier of the snapshots. Compilers append to names
(``x`` → ``x__ssa_v0`` → ``x__ssa_v0_mat``, ``kernel`` → ``kernel_aic``), so names built from the followed one in this
way are its descendants and are followed with it. What happened is read from one snapshot and the next:

* created: the first pass that has it; dropped: gone without a successor;
* renamed: gone, and as many descendants are new; or its defining line is paired with one that defines another name by
  the same operation; or the pass renamed the function. The new name is followed from there on;
* split: more names are alive than before; changed: the lines that mention it differ; same: they do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.errors import NotFoundError, ParameterError
from analysis.passes.align import operation
from analysis.passes.comparison import REPLACE, compare
from analysis.passes.dump import Dump
from analysis.passes.listing import PassEntry, PassList
from analysis.passes.snapshot import snapshot

Event = Literal["absent", "created", "same", "changed", "split", "renamed", "dropped"]
_DEFINITION = re.compile(r"\s*(\w+)\s*(?::[^=]*)?=(?!=)")
_DESCENDANT = r"(?:__\w+|_\d+|_(?:incore|aic|aiv|spmd|group|cluster)\w*)?"
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_MOST_NAME_CHARS = 1_000
MAX_NAMES = 50
"""Descendants that a step lists; ``name_count`` counts all."""


@dataclass(frozen=True, slots=True)
class Step:
    """One pass: what happened, the names alive in it, the line (from 1) of the first mention (0 for none), mentions."""

    index: int
    name: str
    file: str
    event: Event
    names: tuple[str, ...]
    name_count: int
    line: int
    mentions: int


@dataclass(frozen=True, slots=True)
class History:
    """The steps of ``name`` in the order of the passes; ``function`` limits it to one function ("" for all)."""

    name: str
    function: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """Lines of one snapshot that mention a followed name (stripped), the names, and the line of the first mention."""

    names: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    first: int = 0


def history(
    dump: Dump,
    listing: PassList,
    name: str,
    *,
    function: str = "",
    report: Callable[[int, int], None] | None = None,
) -> History:
    """Follows ``name`` (or a qualified function name) through all passes.

    Raises:
        ParameterError: it is no identifier.
        NotFoundError: no pass mentions it.
    """
    short = name.rpartition(".")[2]
    if len(short) > _MOST_NAME_CHARS or not _IDENTIFIER.fullmatch(short):
        raise ParameterError(f"{name[:100]!r} is not a name of a value, tile or function")
    followed, steps, seen = [short], [], _Seen()
    before: PassEntry | None = None
    for at, entry in enumerate(listing.passes):
        if report is not None:
            report(at, len(listing.passes))
        now = seen
        if before is None or entry.sha256 != before.sha256:
            text = dump.read(entry.file).text
            renamed = [c for c in entry.function_changes if c.status == "renamed" and _short(c.origin) in followed]
            followed += [_short(c.name) for c in renamed]
            now = _seen(text, followed, _span(entry, function))
            if seen.names and not now.names and before is not None:
                heirs = _heirs(dump, before, entry, seen.names)
                followed += heirs
                now = _seen(text, heirs, _span(entry, function)) if heirs else now
        event = _event(seen, now)
        steps.append(Step(entry.index, entry.name, entry.file, event, now.names[:MAX_NAMES], len(now.names), now.first,
                          len(now.lines)))  # fmt: skip
        seen, before = now, entry
    if not any(step.mentions for step in steps):
        raise NotFoundError(f"{listing.label}: no pass mentions {short[:100]}")
    return History(name, function, tuple(steps))


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _span(entry: PassEntry, function: str) -> tuple[int, int] | None:
    """Lines of the function, all lines without one, ``None`` where the pass does not have it."""
    if not function or not entry.table.usable:
        return 1, entry.line_count
    found = entry.table.find(function)
    return (found.start_line, found.end_line) if found is not None else None


def _seen(text: str, followed: Sequence[str], span: tuple[int, int] | None) -> _Seen:
    if span is None or not any(name in text for name in followed):
        return _Seen()
    each = [re.escape(name) + (r"(?:_\w*)?" if "__" in name else _DESCENDANT) for name in dict.fromkeys(followed)]
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(each)})(?!\w)")
    names: dict[str, None] = {}
    lines: list[str] = []
    first = 0
    for number, line in enumerate(text.split("\n")[span[0] - 1 : span[1]], span[0]):
        found = pattern.findall(line) if any(name in line for name in followed) else ()
        if found:
            first = first or number
            names.update(dict.fromkeys(found))
            lines.append(line.strip())
    return _Seen(tuple(names), tuple(lines), first)


def _event(before: _Seen, now: _Seen) -> Event:
    if not now.names:
        return "dropped" if before.names else "absent"
    if not before.names:
        return "created"
    if before.lines == now.lines:
        return "same"
    if len(set(now.names)) > len(set(before.names)):
        return "split"
    return "renamed" if not set(before.names) & set(now.names) else "changed"


def _heirs(dump: Dump, before: PassEntry, after: PassEntry, names: tuple[str, ...]) -> list[str]:
    """New names whose definition is paired with the definition of a name that is gone, by the same operation."""
    left, right = (snapshot(dump.read(p.file).text, p.table, sha256=p.sha256) for p in (before, after))
    made = compare(left, right)
    gone = set(names)
    known = {match[1] for line in left.lines if (match := _DEFINITION.match(line))}
    out: list[str] = []
    for row in np.flatnonzero(made.kind == REPLACE).tolist():
        old, new = left.lines[made.left[row]], right.lines[made.right[row]]
        defined, defines = _DEFINITION.match(old), _DEFINITION.match(new)
        if not defined or not defines or defines[1] in known:
            continue
        if defined[1] in gone and operation(old) and operation(old) == operation(new):
            out.append(defines[1])
    return list(dict.fromkeys(out))
