"""Through which passes did a name go: where was it created, changed, split, renamed and dropped?

A name is a value, tile, function or statement label: any identifier of the snapshots. Compilers append to names
(``x`` → ``x__ssa_v0`` → ``x__ssa_v0_mat``), so the names that start with the one followed, up to ``_``, are its
descendants. What happened is read from the text of one pass and the next, no data flow is invented:

* created: the first pass that has it; dropped: gone, and nothing descends from it;
* renamed: gone, and exactly one descendant is new (or a function of it was renamed); split: two or more are new;
* changed: the lines that mention it differ; same: they do not; absent: not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from analysis.errors import NotFoundError, ParameterError
from analysis.passes.dump import Dump
from analysis.passes.listing import PassEntry, PassList

Event = Literal["absent", "created", "same", "changed", "split", "renamed", "dropped"]
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
    names: frozenset[str]
    lines: tuple[str, ...]
    first: int
    order: tuple[str, ...]


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
    if not _IDENTIFIER.fullmatch(short) or len(short) > _MOST_NAME_CHARS:
        raise ParameterError(f"{name[:100]!r} is not a name of a value, tile or function")
    steps: list[Step] = []
    before: _Seen | None = None
    digest = ""
    for at, entry in enumerate(listing.passes):
        if report is not None:
            report(at, len(listing.passes))
        if before is None or entry.sha256 != digest:
            now = _seen(dump.read(entry.file).text, short, _span(entry, function))
        else:
            now = before
        steps.append(_step(entry, _event(short, before, now, entry, steps), now))
        before, digest = now, entry.sha256
    if not any(step.mentions for step in steps):
        raise NotFoundError(f"{listing.label}: no pass mentions {short[:100]}")
    return History(name, function, tuple(steps))


def _span(entry: PassEntry, function: str) -> tuple[int, int] | None:
    """Lines of the function, all lines without one, ``None`` where the pass does not have it."""
    if not function or not entry.table.usable:
        return 1, entry.line_count
    found = entry.table.find(function)
    return (found.start_line, found.end_line) if found is not None else None


def _seen(text: str, name: str, span: tuple[int, int] | None) -> _Seen:
    if span is None or name not in text:
        return _Seen(frozenset(), (), 0, ())
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?:_\w*)?(?!\w)")
    names: dict[str, None] = {}
    lines: list[str] = []
    first = 0
    for number, line in enumerate(text.split("\n")[span[0] - 1 : span[1]], span[0]):
        if name not in line:
            continue
        found = pattern.findall(line)
        if found:
            first = first or number
            names.update(dict.fromkeys(found))
            lines.append(line.strip())
    return _Seen(frozenset(names), tuple(lines), first, tuple(names))


def _event(name: str, before: _Seen | None, now: _Seen, entry: PassEntry, steps: list[Step]) -> Event:
    if not now.names:
        return "dropped" if before is not None and before.names else "absent"
    if before is None or not before.names:
        return "created"
    if before is now or before.lines == now.lines:
        return "same"
    renamed = {c.origin.rpartition(".")[2] for c in entry.function_changes if c.status == "renamed"}
    new, gone = now.names - before.names, before.names - now.names
    if gone and new:
        return "split" if len(new) > len(gone) else "renamed"
    if name in renamed:
        return "renamed"
    return "split" if len(new) > 1 and _definitions(now.order, before.names) else "changed"


def _definitions(names: Iterable[str], before: frozenset[str]) -> bool:
    """Are there new names beside one that stays? Then it was split, not renamed."""
    return any(n in before for n in names)


def _step(entry: PassEntry, event: Event, seen: _Seen) -> Step:
    names = seen.order[:MAX_NAMES]
    return Step(entry.index, entry.name, entry.file, event, names, len(seen.order), seen.first, len(seen.lines))
