"""What did a pass, or another compile, do to the memory: which peak rose, and which tile raised it?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from analysis.errors import InputError, NotFoundError
from analysis.memory.boxes import Box
from analysis.memory.chips import choose_chip, space_rank
from analysis.memory.map import FunctionMap, MemoryMap, SpaceUse, open_map
from analysis.memory.occupancy import peak
from analysis.memory.snapshots import dump_directory, snapshots

Change: TypeAlias = Literal["added", "removed", "grown", "shrunk", "moved", "longer", "shorter"]


@dataclass(frozen=True, slots=True)
class TileChange:
    """One tile that differs: ``before``/``after`` is ``None`` where the map has no box of that name; a tile that became
    an alias of another is found in that box. ``changes`` lists what differs; lines are compared by their number, relative
    to the function's first line."""

    name: str
    changes: tuple[Change, ...]
    before: Box | None
    after: Box | None


@dataclass(frozen=True, slots=True)
class SpaceChange:
    """One space of one function in two maps; ``None`` where a map has no such function, space or addresses.

    ``raised_by`` are the tiles in use at the peak of the second map that were added, grew or live longer, largest first.
    """

    function: str
    space: str
    used_before_bytes: int | None
    used_after_bytes: int | None
    live_before_bytes: int | None
    live_after_bytes: int | None
    tiles: tuple[TileChange, ...]
    raised_by: tuple[TileChange, ...]

    @property
    def used_change_bytes(self) -> int | None:
        """After minus before of the high-water mark; ``None`` if either is unknown."""
        if self.used_before_bytes is None or self.used_after_bytes is None:
            return None
        return self.used_after_bytes - self.used_before_bytes

    @property
    def live_change_bytes(self) -> int | None:
        """After minus before of the most live bytes; ``None`` if either is unknown."""
        if self.live_before_bytes is None or self.live_after_bytes is None:
            return None
        return self.live_after_bytes - self.live_before_bytes


@dataclass(frozen=True, slots=True)
class PassUse:
    """One snapshot of a history: per (function, space) the used bytes (``None``: no addresses) and the most live bytes.

    ``changed`` is false if the file equals the snapshot before it byte for byte; ``problem`` says why it has no map.
    """

    number: int
    pass_name: str
    file: str
    changed: bool
    uses: Mapping[tuple[str, str], tuple[int | None, int]]
    problem: str


@dataclass(frozen=True, slots=True)
class Rise:
    """A pass after which more bytes are live in a space than after the pass before it."""

    function: str
    space: str
    number: int
    pass_name: str
    before_bytes: int
    after_bytes: int
    before_number: int


def compare(before: MemoryMap, after: MemoryMap) -> tuple[SpaceChange, ...]:
    """Two maps by function and space, functions in the order of the second map, removed ones last."""
    old = {function.name: function for function in before.functions}
    new = {function.name: function for function in after.functions}
    out = []
    for name in [*new, *(name for name in old if name not in new)]:
        a, b = old.get(name), new.get(name)
        spaces = {use.space for function in (a, b) if function for use in function.spaces}
        out += [_space(name, space, a, b) for space in sorted(spaces, key=space_rank)]
    return tuple(out)


def history(
    path: Path, chip: str | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[PassUse, ...]:
    """Used and live bytes after every pass of a dump, to see which pass raised a peak.

    Args:
        path: a ``passes_dump*`` directory or a case that holds one.
        chip: as for :func:`analysis.memory.map.open_map`.
        progress: called with (snapshots done, of how many) after each; raise in it to stop.

    Raises:
        NotFoundError: no dump, or no snapshot in it.
        AmbiguousError: several dumps.
    """
    if not path.is_dir():
        raise NotFoundError(f"{path.name}: a history needs the directory of a dump")
    found = snapshots(dump_directory(path))
    if not found:
        raise NotFoundError(f"{path.name}: no snapshot (NN_after_<Pass>.py) in this directory")
    directory = found[0].path.parent
    chip = choose_chip(chip, directory.parent if directory.name.startswith("passes_dump") else directory).name
    out: list[PassUse] = []
    seen = b""
    for done, snapshot in enumerate(found, 1):
        digest, problem, uses = b"", "", {}
        try:
            digest = hashlib.blake2b(snapshot.path.read_bytes()).digest()
            same = bool(out) and digest == seen
            uses = dict(out[-1].uses) if same else _uses(open_map(snapshot.path, chip))
            problem = out[-1].problem if same else ""
        except InputError as error:
            same, problem = False, str(error)
        except OSError as error:
            same, problem = False, f"{snapshot.path.name}: cannot be read: {error.strerror}"
        seen = digest
        out.append(PassUse(snapshot.number, snapshot.pass_name, snapshot.path.name, not same, uses, problem))
        if progress is not None:
            progress(done, len(found))
    return tuple(out)


def rises(passes: tuple[PassUse, ...]) -> tuple[Rise, ...]:
    """Every pass that raised the live bytes of a space, in the order of the passes; a first appearance is no rise."""
    out: list[Rise] = []
    last: dict[tuple[str, str], tuple[int, int]] = {}
    for each in passes:
        for (function, space), (_, live) in each.uses.items():
            number, before = last.get((function, space), (-1, live))
            if live > before:
                out.append(Rise(function, space, each.number, each.pass_name, before, live, number))
            last[function, space] = (each.number, live)
    return tuple(out)


def _uses(drawn: MemoryMap) -> dict[tuple[str, str], tuple[int | None, int]]:
    return {
        (function.name, use.space): (use.used_bytes, peak(function, use.space).live_bytes)
        for function in drawn.functions
        for use in function.spaces
    }


def _space(name: str, space: str, before: FunctionMap | None, after: FunctionMap | None) -> SpaceChange:
    uses = [_use(function, space) for function in (before, after)]
    used = [use.used_bytes if use else None for use in uses]
    peaks = [peak(f, space) if f is not None and use else None for f, use in zip((before, after), uses, strict=True)]
    live = [at.live_bytes if at else None for at in peaks]
    tiles = _tile_changes(space, before, after)
    raising = {change.name: change for change in tiles if {"added", "grown", "longer"} & set(change.changes)}
    at_peak = [tile.box for tile in peaks[1].tiles] if peaks[1] is not None else []
    names = dict.fromkeys(name for box in at_peak for name in (box.name, *box.aliases))
    raised = tuple(raising[tile] for tile in names if tile in raising)
    return SpaceChange(name, space, used[0], used[1], live[0], live[1], tiles, raised)


def _use(function: FunctionMap | None, space: str) -> SpaceUse | None:
    return next((use for use in function.spaces if use.space == space), None) if function is not None else None


def _tile_changes(space: str, before: FunctionMap | None, after: FunctionMap | None) -> tuple[TileChange, ...]:
    old, new = _by_name(before, space), _by_name(after, space)
    changes = []
    for name in [*new, *(name for name in old if name not in new)]:
        a, b = old.get(name), new.get(name)
        kinds: list[Change] = []
        if a is None or b is None or before is None or after is None:
            kinds = ["added" if b is not None else "removed"]
        else:
            if a.size_bytes != b.size_bytes:
                kinds.append("grown" if b.size_bytes > a.size_bytes else "shrunk")
            if a.offset != b.offset and before.assigned and after.assigned:
                kinds.append("moved")
            lines = (b.end_line - b.start_line) - (a.end_line - a.start_line)
            if lines:
                kinds.append("longer" if lines > 0 else "shorter")
        if kinds:
            changes.append(TileChange(name, tuple(kinds), a, b))
    return tuple(changes)


def _by_name(function: FunctionMap | None, space: str) -> dict[str, Box]:
    """The first box that stands for each name: reference boxes come before those beyond."""
    found: dict[str, Box] = {}
    for box in function.boxes if function is not None else ():
        if box.space == space:
            for name in (box.name, *box.aliases):
                found.setdefault(name, box)
    return found
