"""Which two snapshots, which function and which rows does a URL ask for?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from analysis.errors import NotFoundError
from analysis.passes.comparison import Comparison
from analysis.passes.listing import PassEntry, PassList, first_selection, level_conflict
from analysis.passes.rows import Side, View
from analysis.passes.snapshot import Snapshot
from app.compiler.keys import WHOLE_FILE
from app.passes import kept
from app.runs import dumps
from app.runs.dumps import OpenDump
from app.server.services import Services
from app.shell.url_state import ViewState

_LINE = re.compile(r"([LR])(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Asked:
    """Two snapshots of one or two dumps; ``notes`` say what is not as asked.

    Attributes:
        dump, listing: those of the right side.
        source, source_listing: those of the left side; the same ones unless another dump was asked for.
        left, right: the passes.
        alone: there is nothing to compare with, so both sides are the same text.
    """

    dump: OpenDump
    listing: PassList
    source: OpenDump
    source_listing: PassList
    left: PassEntry
    right: PassEntry
    alone: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pane:
    """The rows of one pane: ``function`` is the one that is shown, "" for the whole file; ``whole`` is every row."""

    view: View
    function: str
    comparison: Comparison
    whole: Comparison
    left: Snapshot
    right: Snapshot
    anchor: int | None = None
    notes: tuple[str, ...] = field(default=())


def opened(services: Services, run_key: str, view: ViewState) -> tuple[OpenDump, PassList]:
    """The dump that a URL names, and its pass list.

    Raises:
        NotFoundError: no such run or dump.
        NotYet: a child is reading it.
    """
    dump = dumps.choose(services.library.run(run_key), services.settings, view.own_value("dump"))
    return dump, kept.of(services).listing(dump)


def asked(services: Services, run_key: str, view: ViewState) -> Asked:
    """The two snapshots that a URL names.

    Raises:
        NotFoundError: no such run, dump or pass.
        NotYet: a child is reading a dump.
    """
    dump, listing = opened(services, run_key, view)
    right, notes = _right(listing, view.own_value("pass"))
    other = view.own_value("other")
    if other:
        source = dumps.choose(services.library.run(other), services.settings, view.own_value("odump"))
        source_listing = kept.of(services).listing(source)
        wanted = view.own_value("vs") or right.name
        conflict = level_conflict(source_listing, listing)
        notes += [conflict] if conflict else []
    else:
        source, source_listing, wanted = dump, listing, view.own_value("vs")
    left = _pass(source_listing, wanted, right.index) if wanted else _before(listing, right)
    return Asked(dump, listing, source, source_listing, left or right, right, left is None, tuple(notes))


def pane(services: Services, asked: Asked, view: ViewState, names: dict[str, int], second: bool = False) -> Pane:
    """The rows of the first or the ``second`` pane.

    Args:
        names: function id by name, to follow the selection.

    Raises:
        NotYet: a child is comparing the two.
    """
    structure = bool(view.own_value("struct"))
    whole = kept.of(services).comparison((asked.source, asked.left), (asked.dump, asked.right), structure)
    left = kept.of(services).snapshot(asked.source, asked.left, structure)
    right = kept.of(services).snapshot(asked.dump, asked.right, structure)
    wanted = view.own_value("fn2") if second else _function(view, names)
    comparison, function, notes = whole, "", ()  # type: Comparison, str, tuple[str, ...]
    if wanted:
        try:
            comparison = whole.only(wanted)
            function = comparison.sections[0].name
        except NotFoundError:
            notes = (f"{wanted} is not in this pass: the whole file is shown",)
    context = None if asked.alone or view.own_value("ctx") < 0 else view.own_value("ctx")
    stacked = view.own_value("lay") == "stacked"
    row = _row(comparison, left, right, view.own_value("line"))
    folds = frozenset(int(text) for text in view.own_value("unf") if text.isdecimal() and len(text) < 10)
    key = (left.sha256, right.sha256, structure, function, context, stacked, folds, row)

    def build() -> View:
        def rows(opened: frozenset[int]) -> View:
            return View(comparison, left, right, context=context, opened=opened, stacked=stacked)

        made = rows(folds)
        hiding = [first for first, count in made.folds if row is not None and first <= row < first + count]
        return rows(folds | set(hiding)) if hiding else made

    shown = kept.of(services).view(key, build)
    anchor = None if row is None else shown.position_of_row(row)
    return Pane(shown, function, comparison, whole, left, right, anchor, notes)


def _function(view: ViewState, names: dict[str, int]) -> str:
    chosen: str = view.own_value("fn")
    if chosen:
        return "" if chosen == WHOLE_FILE else chosen
    return next((name for name, func_id in names.items() if view.sel == f"func:{func_id}"), "")


def _right(listing: PassList, wanted: str) -> tuple[PassEntry, list[str]]:
    if not listing.passes:
        raise NotFoundError(f"{listing.label}: {_why_empty(listing)}")
    if wanted:
        return _pass(listing, wanted, -1), []
    return listing.passes[first_selection([entry.changed for entry in listing.passes]) or 0], []


def _why_empty(listing: PassList) -> str:
    return "; ".join(problem.message for problem in listing.problems[:5]) or "there is no snapshot here"


def _pass(listing: PassList, wanted: str, near: int) -> PassEntry:
    """The pass of that file, number or name; of several with that name the one whose number is nearest to ``near``."""
    found = [p for p in listing.passes if wanted in (p.file.removesuffix(".py"), p.file)]
    found = found or [p for p in listing.passes if wanted == p.name or (wanted.isdecimal() and int(wanted) == p.index)]
    if not found:
        raise NotFoundError(f"{listing.label}: no pass {wanted[:100]}; it has {len(listing.passes):,} others")
    return min(found, key=lambda entry: abs(entry.index - near))


def _before(listing: PassList, entry: PassEntry) -> PassEntry | None:
    at = listing.passes.index(entry)
    return listing.passes[at - 1] if at else None


def _row(comparison: Comparison, left: Snapshot, right: Snapshot, line: str) -> int | None:
    """The comparison row of ``L88`` or ``R120``."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    side: Side = "left" if match[1] == "L" else "right"
    return View(comparison, left, right, context=None).row_of_line(side, int(match[2]))
