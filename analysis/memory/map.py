"""Which tile has which on-chip bytes, on which lines, and how full is each memory space?

>>> drawn = open_map(Path("build/passes_dump"))          # doctest: +SKIP
>>> drawn.function("softmax").spaces[0].used_bytes       # doctest: +SKIP

Definitions: docs/ALGORITHMS.md, "Memory map".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis.errors import InputError, NotFoundError
from analysis.memory.boxes import Box, Unplaced, beyond_boxes, reference_boxes, unplaced_tiles
from analysis.memory.chips import Chip, capacities, choose_chip, space_rank
from analysis.memory.snapshots import ADDRESS_PASS, choose, read
from analysis.memory.source import FunctionSource, Unparsed, functions, no_collection
from analysis.memory.tiles import scan


@dataclass(frozen=True, slots=True)
class SpaceUse:
    """One memory space of one function.

    ``used_bytes`` is the high-water mark of the reference boxes, max(offset + size); ``None`` while addresses are not
    assigned. ``used_with_beyond_bytes`` counts the boxes beyond the reference too. ``capacity_bytes`` is ``None`` for a
    space the chip table does not know. ``tiles`` counts reference boxes after merging (0: the space holds only boxes
    beyond the reference), ``bases`` their distinct allocations, ``reuse_ratio`` is the sum of box sizes per used byte.
    """

    space: str
    used_bytes: int | None
    used_with_beyond_bytes: int | None
    capacity_bytes: int | None
    tiles: int
    bases: int
    reuse_ratio: float | None

    @property
    def share(self) -> float | None:
        """Used bytes per byte of capacity; ``None`` if either is unknown."""
        if self.used_bytes is None or self.capacity_bytes is None:
            return None
        return self.used_bytes / self.capacity_bytes


@dataclass(frozen=True, slots=True)
class FunctionMap:
    """The map of one function. ``start_line`` is that of its first decorator; ``boxes`` holds the reference boxes first,
    then those beyond, each part by space, offset and start. ``assigned`` is false while every offset is 0 though a space
    has several bases: then offsets mean nothing and only sizes and lines do."""

    name: str
    function_type: str
    start_line: int
    end_line: int
    assigned: bool
    spaces: tuple[SpaceUse, ...]
    boxes: tuple[Box, ...]
    unplaced: tuple[Unplaced, ...]

    def tiles_on_line(self, line: int) -> tuple[Box, ...]:
        """Boxes in use on ``line``."""
        return tuple(box for box in self.boxes if box.start_line <= line <= box.end_line)

    def box(self, name: str) -> Box:
        """The first box of that tile, by label or alias.

        Raises:
            NotFoundError: no box has the name.
        """
        for box in self.boxes:
            if box.name == name or name in box.aliases:
                return box
        raise NotFoundError(f"function {self.name} has no box of a tile {name}")


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """All maps of a snapshot. ``source`` is the snapshot's name, ``notes`` say in sentences what is missing, assumed or
    not as expected; ``unparsed`` are pieces of the file that are no valid Python."""

    source: str
    pass_name: str
    chip: Chip
    functions: tuple[FunctionMap, ...]
    unparsed: tuple[Unparsed, ...]
    notes: tuple[str, ...]
    path: Path

    def function(self, name: str) -> FunctionMap:
        """The map of one function.

        Raises:
            NotFoundError: no function of that name owns a map.
        """
        for function in self.functions:
            if function.name == name:
                return function
        raise NotFoundError(f"{self.source}: no function {name} with a memory map (only AIC, AIV and InCore have one)")

    def to_json(self, function: str | None = None) -> dict[str, Any]:
        """The documented JSON of the command line, of one function or of all; lines 1-based, ends inclusive."""
        chosen = self.functions if function is None else (self.function(function),)
        return {"functions": [_function_json(each) for each in chosen]}


def open_map(
    path: Path,
    chip: str | None = None,
    *,
    pass_name: str | None = None,
    capacity_bytes: Mapping[str, int] | None = None,
) -> MemoryMap:
    """Draw the map of a snapshot file, a ``passes_dump*`` directory or a case that holds one.

    Args:
        path: the file or directory; of a directory the highest-numbered AllocateMemoryAddr is drawn.
        chip: ``910B`` or ``950``; ``None``: detected from the case's ``*.pto`` files, else assumed.
        pass_name: draw this pass of a directory instead.
        capacity_bytes: sizes per space that override the chip's.

    Raises:
        NotFoundError: path, dump, snapshot or pass does not exist.
        AmbiguousError: the directory holds several dumps.
        InputError: the file is unreadable, or states an impossible number.
        ParameterError: unknown chip, or a capacity that is no positive number of bytes.
    """
    chosen = choose(path, pass_name)
    decided = choose_chip(chip, chosen.case)
    drawn = map_text(read(chosen.path), chosen.path.name, decided, capacities(decided.name, capacity_bytes))
    assumed = decided.note if decided.origin == "assumed" else ""
    open_pass = "" if chosen.reason else f"; open the snapshot of {ADDRESS_PASS}"
    notes = tuple(note for note in (chosen.reason, assumed, *_notes(*drawn, open_pass)) if note)
    return MemoryMap(chosen.path.name, chosen.pass_name, decided, *drawn, notes, chosen.path)


def map_text(
    text: str, source: str, chip: Chip, capacity_bytes: Mapping[str, int]
) -> tuple[tuple[FunctionMap, ...], tuple[Unparsed, ...]]:
    """Maps of the functions in a snapshot's text, and the pieces that cannot be parsed.

    Raises:
        InputError: nothing can be parsed, or a number is impossible.
    """
    maps: list[FunctionMap] = []
    broken: list[Unparsed] = []
    with no_collection():
        for found in functions(text, source):
            if isinstance(found, Unparsed):
                broken.append(found)
            else:
                drawn = _map(found, source, capacity_bytes)
                if drawn is not None:
                    maps.append(drawn)
    return tuple(maps), tuple(broken)


def _map(found: FunctionSource, source: str, capacity_bytes: Mapping[str, int]) -> FunctionMap | None:
    node, shift = found.node, found.line_shift
    try:
        facts = scan(node, shift, source)
        if not facts.tiles:
            return None
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) + shift
        last = (node.end_lineno or node.lineno) + shift
        reference = reference_boxes(facts, source)
        beyond = beyond_boxes(facts, reference, found.function_type, last, source)
    except RecursionError as error:
        raise InputError(source, f"function {found.name[:80]}", "nested too deeply") from error
    assigned = _assigned(reference)
    if not assigned:  # offsets mean nothing, so tiles that seem to share bytes need not
        reference = [replace(box, conflict_kind="") for box in reference]
        beyond = [replace(box, conflict_kind="") for box in beyond]
    spaces = _spaces(reference, beyond, capacity_bytes, assigned)
    boxes = (*reference, *beyond)
    unplaced = tuple(unplaced_tiles(facts, boxes))
    return FunctionMap(found.name, found.function_type, first, last, assigned, spaces, boxes, unplaced)


def _assigned(boxes: list[Box]) -> bool:
    """Are there addresses: an offset above 0, or no space in which two bases would share offset 0?"""
    if any(box.offset for box in boxes):
        return True
    bases: dict[str, str] = {}
    return all(bases.setdefault(box.space, box.base) == box.base for box in boxes)


def _spaces(
    reference: list[Box], beyond: list[Box], capacity_bytes: Mapping[str, int], assigned: bool
) -> tuple[SpaceUse, ...]:
    names = sorted({box.space for box in (*reference, *beyond)}, key=space_rank)
    out = []
    for space in names:
        mine = [box for box in reference if box.space == space]
        every = [*mine, *(box for box in beyond if box.space == space)]
        used = max((box.end_offset for box in mine), default=None) if assigned else None
        both = max(box.end_offset for box in every) if assigned else None
        ratio = sum(box.size_bytes for box in mine) / used if used else None
        bases = len({box.base for box in mine})
        out.append(SpaceUse(space, used, both, capacity_bytes.get(space), len(mine), bases, ratio))
    return tuple(out)


def _notes(maps: tuple[FunctionMap, ...], broken: tuple[Unparsed, ...], open_pass: str) -> list[str]:
    notes = [f"lines {b.start_line} to {b.end_line} cannot be read: {b.reason}" for b in broken[:20]]
    if len(broken) > 20:
        notes.append(f"{len(broken) - 20} more parts cannot be read")
    if not maps:
        notes.append(f"no function of type AIC, AIV or InCore binds a tile in this snapshot{open_pass}")
    elif not any(function.boxes for function in maps):
        notes.append(f"no tile has a MemRef yet{open_pass}")
    elif without := sum(not function.assigned for function in maps):
        notes.append(f"addresses are not assigned in {without} of {len(maps)} functions{open_pass}")
    return notes


def _function_json(function: FunctionMap) -> dict[str, Any]:
    return {
        "name": function.name,
        "type": function.function_type,
        "spaces": [
            {
                "space": use.space,
                "used_bytes": use.used_bytes,
                "capacity_bytes": use.capacity_bytes,
                "tiles": use.tiles,
                "bases": use.bases,
            }
            for use in function.spaces
            if use.tiles
        ],
        "boxes": [_box_json(box, function.assigned) for box in function.boxes],
    }


def _box_json(box: Box, assigned: bool) -> dict[str, Any]:
    return {
        "name": box.name,
        "aliases": list(box.aliases),
        "space": box.space,
        "base": box.base,
        "offset": box.offset if assigned else None,
        "size": box.size_bytes,
        "start_line": box.start_line,
        "end_line": box.end_line,
        "view": box.view,
        "conflict": box.conflict,
        "conflict_kind": box.conflict_kind or None,
        "beyond_reference": box.beyond_reference,
    }
