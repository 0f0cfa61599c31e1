"""Boxes of one function: bytes of a space over lines of the source.

Definitions: docs/ALGORITHMS.md, "Memory map". *Reference boxes* are what the field's own tool shows and are compared with
it; boxes *beyond the reference* (loop-carried values, slots, expression offsets, rings, values live across a back edge)
are marked and change nothing about the first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from analysis.errors import InputError
from analysis.memory.chips import space_rank
from analysis.memory.tiles import FunctionFacts, Loop, Memory, Tile

Beyond: TypeAlias = Literal["", "loop_carried", "yield", "back_edge", "slot", "expression", "ring"]
ConflictKind: TypeAlias = Literal["", "touch", "overlap"]
MOST_COMPARISONS = 30_000_000
"""Pairs of boxes of one function that are compared at most; the largest real function needs a few thousand."""


@dataclass(frozen=True, slots=True)
class Box:
    """Bytes ``offset`` … ``offset + size_bytes`` of ``space``, in use from ``start_line`` to ``end_line`` (inclusive).

    ``name`` is the first tile, ``aliases`` are those that continue in the same bytes. ``offset`` is as the dump states it,
    so it means nothing while the function's addresses are not assigned. ``conflict_kind`` is ``touch`` if the box shares
    just one line with each box of another base in its bytes, else ``overlap``. ``beyond`` says why the reference leaves
    the box out, ``""`` if it shows it. ``mention_lines`` are the lines that name the tile or an alias.
    """

    name: str
    aliases: tuple[str, ...]
    space: str
    base: str
    offset: int
    size_bytes: int
    start_line: int
    end_line: int
    shape: tuple[int | str, ...] = ()
    dtype: str = ""
    op: str = ""
    mention_lines: tuple[int, ...] = ()
    beyond: Beyond = ""
    view: bool = False
    conflict_kind: ConflictKind = ""

    @property
    def end_offset(self) -> int:
        """First byte after the box."""
        return self.offset + self.size_bytes

    @property
    def conflict(self) -> bool:
        """Does a tile of another base use these bytes on a line of the box?"""
        return bool(self.conflict_kind)

    @property
    def beyond_reference(self) -> bool:
        """Is the box one that the field's own tool does not show?"""
        return bool(self.beyond)

    def overlaps_bytes(self, other: Box) -> bool:
        """Do both boxes use a byte in common, at any time?"""
        return self.space == other.space and self.offset < other.end_offset and other.offset < self.end_offset


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A tile on the chip whose bytes the dump does not state, and why it has no box."""

    name: str
    space: str
    shape: tuple[int | str, ...]
    dtype: str
    op: str
    start_line: int
    end_line: int
    reason: str


def reference_boxes(facts: FunctionFacts, source: str) -> list[Box]:
    """Boxes as the reference draws them, flags included, by space, offset and start."""
    slots: dict[tuple[str, str, int, int], list[Box]] = {}
    for tile in facts.tiles.values():
        memory = tile.memory
        if memory is not None and memory.exact:
            box = _tile_box(tile, memory, memory.offsets[0], facts, "")
            slots.setdefault((box.space, box.base, box.offset, box.size_bytes), []).append(box)
    merged = [box for same in slots.values() for box in _merge(same)]
    return _ordered(flagged(merged, source))


def _merge(same: list[Box]) -> Iterable[Box]:
    """Tiles of one slot: the next joins when it starts at or before the current end."""
    same.sort(key=lambda box: box.start_line)
    run = [same[0]]
    end = same[0].end_line
    for box in same[1:]:
        if box.start_line <= end:
            run.append(box)
        else:
            yield _joined(run, end)
            run = [box]
            end = box.end_line
        end = max(end, box.end_line)
    yield _joined(run, end)


def _joined(run: list[Box], end: int) -> Box:
    if len(run) == 1:
        return run[0]
    mentions = tuple(sorted({line for box in run for line in box.mention_lines}))
    return replace(run[0], aliases=tuple(box.name for box in run[1:]), end_line=end, mention_lines=mentions)


def flagged(boxes: Sequence[Box], source: str, marked: Sequence[bool] | None = None) -> list[Box]:
    """The boxes with ``view`` and ``conflict_kind``; with ``marked``, only those boxes get flags.

    Raises:
        InputError: so many boxes share lines that comparing them would take minutes.
    """
    shared: list[int] = [0] * len(boxes)  # most lines shared with a box of another base
    views = [False] * len(boxes)
    compared = 0
    active: dict[str, list[int]] = {}
    for i in sorted(range(len(boxes)), key=lambda k: boxes[k].start_line):
        box = boxes[i]
        start, low, high = box.start_line, box.offset, box.end_offset
        alive = [k for k in active.get(box.space, ()) if boxes[k].end_line >= start]
        compared += len(alive)
        if compared > MOST_COMPARISONS:
            raise InputError(source, f"line {start}", "too many tiles in use at once", "The dump is damaged.")
        for k in alive:
            other = boxes[k]
            if low >= other.end_offset or other.offset >= high:
                continue
            if other.base != box.base:
                lines = min(box.end_line, other.end_line) - start + 1
                shared[i], shared[k] = max(shared[i], lines), max(shared[k], lines)
            elif other.size_bytes != box.size_bytes:
                views[i if box.size_bytes < other.size_bytes else k] = True
        alive.append(i)
        active[box.space] = alive
    return [
        replace(box, view=views[i], conflict_kind=_kind(shared[i]))
        if (views[i] or shared[i]) and (marked is None or marked[i])
        else box
        for i, box in enumerate(boxes)
    ]


def _kind(shared_lines: int) -> ConflictKind:
    if not shared_lines:
        return ""
    return "touch" if shared_lines == 1 else "overlap"


def beyond_boxes(
    facts: FunctionFacts, reference: Sequence[Box], function_type: str, end_line: int, source: str
) -> list[Box]:
    """Boxes the reference leaves out, flags included (against both kinds), by space, offset and start."""
    found = [*_slot_boxes(facts, reference), *_carried_boxes(facts), *_ring_boxes(facts, function_type, end_line)]
    found += _back_edges(facts)
    distinct = list(dict.fromkeys(found))
    both = [*reference, *distinct]
    marked = [False] * len(reference) + [True] * len(distinct)
    return _ordered(flagged(both, source, marked)[len(reference) :])


def unplaced_tiles(facts: FunctionFacts, boxes: Sequence[Box]) -> list[Unplaced]:
    """Tiles on the chip that no box stands for, in source order."""
    drawn = {name for box in boxes for name in (box.name, *box.aliases)}
    out = []
    for tile in facts.tiles.values():
        if tile.name in drawn or tile.space == "DDR":
            continue
        start, end = _lines(tile, facts)
        why = (
            "no MemRef: it has no bytes yet" if tile.memory is None else "its offset is an expression of unknown value"
        )
        out.append(Unplaced(tile.name, tile.space, tile.shape, tile.dtype, tile.op, start, end, why))
    return out


def _lines(tile: Tile, facts: FunctionFacts) -> tuple[int, int]:
    mentions = facts.mentions[tile.name]
    return min(mentions), max(tile.def_end_line, max(mentions))


def _tile_box(tile: Tile, memory: Memory, offset: int, facts: FunctionFacts, beyond: Beyond) -> Box:
    start, end = _lines(tile, facts)
    mentions = tuple(sorted(set(facts.mentions[tile.name])))
    return Box(
        tile.name, (), memory.space, memory.base, offset, memory.size_bytes, start, end,
        tile.shape, tile.dtype, tile.op, mentions, beyond,
    )  # fmt: skip


def _slot_boxes(facts: FunctionFacts, reference: Sequence[Box]) -> Iterable[Box]:
    """Tiles whose offset is an expression: one box per slot, or their whole allocation if the slots are not known."""
    lowest: dict[str, int] = {}
    for box in reference:
        lowest[box.base] = min(box.offset, lowest.get(box.base, box.offset))
    for tile in facts.tiles.values():
        memory = tile.memory
        if memory is None or memory.exact:
            continue
        for offset in memory.offsets:
            yield _tile_box(tile, memory, offset, facts, "slot")
        allocated = facts.alloc_bytes.get(memory.base)
        if not memory.offsets and allocated is not None and memory.base in lowest:
            whole = Memory(memory.space, memory.base, (), allocated[1], False)
            yield _tile_box(tile, whole, lowest[memory.base], facts, "expression")


def _carried_boxes(facts: FunctionFacts) -> Iterable[Box]:
    for name, (tile, memory, start, end, is_loop) in _carried(facts).items():
        mentions = tuple(sorted(set(facts.mentions.get(name, ()))))
        last = max(end, mentions[-1]) if mentions else end
        for offset in memory.offsets:
            yield Box(
                name, (), memory.space, memory.base, offset, memory.size_bytes, start, last,
                tile.shape, tile.dtype, "loop-carried" if is_loop else "yield", mentions,
                "loop_carried" if is_loop else "yield",
            )  # fmt: skip


def _carried(facts: FunctionFacts) -> dict[str, tuple[Tile, Memory, int, int, bool]]:
    """Per carried name the tile whose bytes it holds; a chain of carried names leads to the tile at its start."""
    resolved: dict[str, tuple[Tile, Memory, int, int, bool]] = {}
    for carried in facts.carried:
        if carried.name in facts.tiles or carried.name in resolved:
            continue
        tile = facts.tiles.get(carried.carries)
        if tile is None and carried.carries in resolved:
            tile = resolved[carried.carries][0]
        if tile is not None and tile.memory is not None:
            resolved[carried.name] = (tile, tile.memory, carried.start_line, carried.end_line, carried.is_loop)
    return resolved


def _ring_boxes(facts: FunctionFacts, function_type: str, end_line: int) -> Iterable[Box]:
    """Reserved bytes another core writes into; the popped tiles without a MemRef live there."""
    popped = tuple(tile.name for tile in facts.tiles.values() if tile.memory is None and ".tpop_from_" in tile.op)
    for ring in facts.rings:
        space = "Mat" if "v2c" in ring.name or ("c2v" not in ring.name and function_type == "AIC") else "Vec"
        mentions = tuple(sorted(set(facts.mentions.get(ring.name, ()))))
        yield Box(
            ring.name, popped if len(facts.rings) == 1 else (), space, ring.name, ring.offset, ring.size_bytes,
            ring.line, end_line, op="system.reserve_buffer", mention_lines=mentions, beyond="ring",
        )  # fmt: skip


def _back_edges(facts: FunctionFacts) -> Iterable[Box]:
    """A value from before a loop that the loop's body uses is needed again after the back edge: it covers the loop."""
    nest = _Nest(facts.loops)
    if not facts.loops:
        return
    held = {name: (tile, tile.memory, *_lines(tile, facts)) for name, tile in facts.tiles.items()}
    for name, (tile, memory, start, end, _) in _carried(facts).items():
        held[name] = (tile, memory, start, max(end, *facts.mentions.get(name, (end,))))
    for name, (tile, used, start, end) in held.items():
        loop = nest.last_across(start, facts.mentions.get(name, ()))
        if used is None or loop is None or loop.end_line <= end:
            continue
        mentions = tuple(sorted(set(facts.mentions[name])))
        for offset in used.offsets:
            yield Box(
                name, (), used.space, used.base, offset, used.size_bytes, max(start, loop.start_line), loop.end_line,
                tile.shape, tile.dtype, tile.op, mentions, "back_edge",
            )  # fmt: skip


class _Nest:
    """Loops of a function in source order, which is the order of their first lines."""

    def __init__(self, loops: Sequence[Loop]) -> None:
        self.loops = loops
        self.starts = [loop.start_line for loop in loops]
        self.parents: list[int] = []
        stack: list[int] = []
        for i, loop in enumerate(loops):
            while stack and loops[stack[-1]].end_line < loop.start_line:
                stack.pop()
            self.parents.append(stack[-1] if stack else -1)
            stack.append(i)

    def last_across(self, start_line: int, mentions: Iterable[int]) -> Loop | None:
        """The loop that ends last among those whose body mentions a name which is defined before the loop."""
        found: Loop | None = None
        for line in set(mentions):
            at = bisect_right(self.starts, line) - 1
            while at >= 0 and not self.loops[at].start_line <= start_line:
                loop = self.loops[at]
                if loop.body_line <= line <= loop.end_line and (found is None or loop.end_line > found.end_line):
                    found = loop
                at = self.parents[at]
        return found


def _ordered(boxes: Iterable[Box]) -> list[Box]:
    return sorted(boxes, key=lambda box: (space_rank(box.space), box.offset, box.start_line))
