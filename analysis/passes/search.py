"""Which pass is the first that contains, changes or drops something?

Patterns run on RE2, whose time is linear in the text whatever the pattern, so no pattern can hold up the server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import re2

from analysis.errors import ParameterError
from analysis.passes.dump import Dump
from analysis.passes.listing import PassEntry, PassList

MAX_PATTERN_CHARS = 1_000
MAX_EXAMPLES = 20
"""Matching lines that a pass's result carries; ``lines`` counts all."""


@dataclass(frozen=True, slots=True)
class PassHits:
    """One pass: how many lines match, how many of them are new or gone since the pass before (counted by text).

    ``examples`` are (line, text) of the first ``MAX_EXAMPLES``; texts are cut to 500 characters.
    """

    index: int
    name: str
    file: str
    lines: int
    new: int
    gone: int
    examples: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Search:
    """Positions in ``passes`` (``None`` for no such pass).

    Attributes:
        contains: the first pass with a matching line.
        changes: the first pass, after the one where it appears, whose matching lines differ from the pass before.
        drops: the first pass without a matching line after one with.
    """

    pattern: str
    passes: tuple[PassHits, ...]
    contains: int | None
    changes: int | None
    drops: int | None


def search(
    dump: Dump,
    listing: PassList,
    pattern: str,
    *,
    regex: bool = True,
    ignore_case: bool = False,
    report: Callable[[int, int], None] | None = None,
) -> Search:
    """Looks for a pattern in every line of every pass; equal snapshots are searched once.

    Raises:
        ParameterError: the pattern is empty, too long, or no regular expression of RE2 (which has no lookaround and no
            back references).
    """
    compiled = _compile(pattern, regex, ignore_case)
    known: dict[str, list[tuple[int, str]]] = {}
    hits: list[PassHits] = []
    before: list[tuple[int, str]] = []
    for at, entry in enumerate(listing.passes):
        if report is not None:
            report(at, len(listing.passes))
        found = known.get(entry.sha256)
        if found is None:
            found = list(_lines(compiled, dump.read(entry.file).text))
            known = {entry.sha256: found}  # equal snapshots are neighbours
        hits.append(_hits(entry, found, before))
        before = found
    return Search(pattern, tuple(hits), *_firsts(hits))


def _compile(pattern: str, regex: bool, ignore_case: bool) -> Any:
    if not pattern:
        raise ParameterError("the pattern to search for is empty")
    if len(pattern) > MAX_PATTERN_CHARS:
        raise ParameterError(f"the pattern has {len(pattern)} characters, at most {MAX_PATTERN_CHARS} are searched for")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.max_mem = 8 << 20
    options.literal = not regex
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "not valid"
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ParameterError(f"the pattern is no regular expression: {words}") from error


def _lines(compiled: Any, text: str) -> Iterator[tuple[int, str]]:
    """(line, text) of each matching line; the pattern sees one line at a time."""
    for number, line in enumerate(text.split("\n"), 1):
        if compiled.search(line):
            yield number, line


def _hits(entry: PassEntry, found: list[tuple[int, str]], before: list[tuple[int, str]]) -> PassHits:
    old, new = {line.strip() for _, line in before}, {line.strip() for _, line in found}
    examples = tuple((number, line[:500]) for number, line in islice(found, MAX_EXAMPLES))
    return PassHits(entry.index, entry.name, entry.file, len(found), len(new - old), len(old - new), examples)


def _firsts(hits: list[PassHits]) -> tuple[int | None, int | None, int | None]:
    contains = next((at for at, hit in enumerate(hits) if hit.lines), None)
    if contains is None:
        return None, None, None
    later = range(contains + 1, len(hits))
    changes = next((at for at in later if hits[at].new or hits[at].gone), None)
    drops = next((at for at in later if not hits[at].lines and hits[at - 1].lines), None)
    return contains, changes, drops
