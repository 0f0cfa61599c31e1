"""What does the reference leave out? Slots, loop-carried values, values live across a back edge, and rings."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from analysis.memory.model import Box, box_order
from analysis.memory.source import Function, Loop, Tile

_RING_SPACE = {"AIV": "Vec", "AIC": "Mat"}
"""A ring is in the space that its reader pops into."""


def beyond_boxes(function: Function, boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    """Boxes that are drawn apart from the reference's, in drawing order."""
    found = [*_slots(function), *_back_edges(function, boxes), *_carried(function), *_rings(function)]
    return tuple(sorted(found, key=box_order))


def _lines(function: Function, name: str, line: int, end_line: int) -> tuple[int, int]:
    first, last = function.mentions.get(name, (line, line))
    return min(first, line), max(last, end_line)


def _slots(function: Function) -> Iterator[Box]:
    """One box per address of a tile whose address is an expression."""
    for tile in function.tiles.values():
        if len(tile.offsets) > 1:
            start, end = _lines(function, tile.name, tile.line, tile.end_line)
            for offset in tile.offsets:
                yield _placed(tile, tile.name, offset, start, end, "slot")


def _placed(tile: Tile, name: str, offset: int, start: int, end: int, why: str) -> Box:
    return Box(name, tile.space, tile.base, offset, tile.size, start, end, tile.shape, tile.dtype, tile.op, beyond=why)


class _Loops:
    """The loops of a function by start line; loops nest, so the outermost around a line is found by walking in."""

    def __init__(self, loops: list[Loop]) -> None:
        self._loops = sorted(loops, key=lambda loop: (loop.start_line, -loop.end_line))
        self._starts = [loop.start_line for loop in self._loops]

    def widest_after(self, line: int, last: int) -> Loop | None:
        """The outermost loop that starts after ``line`` and holds ``last``."""
        for at in range(bisect_left(self._starts, line + 1), len(self._loops)):
            loop = self._loops[at]
            if loop.start_line > last:
                return None
            if loop.end_line >= last:
                return loop
        return None


def _back_edges(function: Function, boxes: tuple[Box, ...]) -> Iterator[Box]:
    """A tile made before a loop and mentioned in its body is needed until the loop's last round ends.

    The body alone counts: what a loop's first line mentions is read once, before the loop.
    """
    loops = _Loops(function.loops)
    ends = {name: box.end_line for box in boxes for name in box.names()}
    for tile in function.tiles.values():
        start, end = _lines(function, tile.name, tile.line, tile.end_line)
        loop = loops.widest_after(start, end)
        if loop is None or end < loop.body_line or loop.end_line <= ends.get(tile.name, end):
            continue
        for offset in tile.offsets:
            yield _placed(tile, tile.name, offset, end, loop.end_line, "back-edge")


def _carried(function: Function) -> Iterator[Box]:
    """Loop-carried names and tuple yields continue the tile they carry: iter_args through the whole loop."""
    owner: dict[str, Tile] = dict(function.tiles)
    for loop in sorted(function.loops, key=lambda loop: loop.start_line):
        for name, first in loop.carried:
            tile = owner.get(first)
            if tile is not None and name not in function.tiles:
                owner[name] = tile
                for offset in tile.offsets:
                    yield _placed(tile, name, offset, loop.start_line, loop.end_line, "carried")
    for name, value, line in sorted(function.yields, key=lambda item: item[2]):
        tile = owner.get(value)
        if tile is not None and name not in function.tiles and name not in owner:
            owner[name] = tile
            start, end = _lines(function, name, line, line)
            for offset in tile.offsets:
                yield _placed(tile, name, offset, start, end, "carried")


def _rings(function: Function) -> Iterator[Box]:
    """A ring's slots for as long as the function runs; popped tiles are its aliases."""
    space = _RING_SPACE.get(function.type)
    popped = tuple(name for name, _line in function.popped)
    if space is None:
        return
    for ring in function.rings.values():
        size = ring.size // ring.slots
        for slot in range(ring.slots):
            name = ring.name if ring.slots == 1 else f"{ring.name}[{slot}]"
            yield Box(
                name, space, ring.name, ring.offset + slot * size, size, ring.line, function.end_line,
                op="system.reserve_buffer", aliases=popped, beyond="ring",
            )  # fmt: skip
