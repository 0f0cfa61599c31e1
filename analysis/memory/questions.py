"""What does a map answer? Who is above and below, why a space is full, what would free it, and what changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.errors import ParameterError
from analysis.memory.chips import space_rank
from analysis.memory.model import Box, FunctionMap, MemoryMap
from analysis.results import Column, Table

OVERVIEW_COLUMNS = (
    Column("function", "text", "Function that owns a map."),
    Column("type", "text", "AIC, AIV or InCore."),
    Column("space", "text", "Memory space."),
    Column("used_bytes", "count", "High-water mark: largest offset + size."),
    Column("capacity_bytes", "count", "Size of the space on the chip; empty when unknown."),
    Column("share", "share", "Used part of the capacity."),
    Column("tiles", "count", "Boxes after merging."),
    Column("bases", "count", "Different buffers."),
    Column("reuse_ratio", "share", "Sum of the box sizes over the high-water mark."),
    Column("conflicts", "count", "Boxes whose bytes another buffer owns in more than one shared line."),
)
ALIVE_COLUMNS = (
    Column("name", "text", "Tile, with the number of its aliases."),
    Column("base", "text", "Its buffer."),
    Column("offset_bytes", "count", "Where it begins."),
    Column("size_bytes", "count", "Its size."),
    Column("start_line", "index", "First line."),
    Column("end_line", "index", "Last line."),
    Column("op", "text", "What made it."),
)
COMPARE_COLUMNS = (
    Column("function", "text", "Function of either map."),
    Column("space", "text", "Memory space."),
    Column("before_bytes", "count", "High-water mark of the first map; empty when it has none."),
    Column("after_bytes", "count", "High-water mark of the second map; empty when it has none."),
    Column("change_bytes", "count", "Second minus first; empty when one is missing."),
    Column("tile", "text", "The tile that ends at the second map's high-water mark."),
)

_MOST_ALIVE = 300
"""With more boxes alive at once the last one to go is the largest, not the smallest that is enough."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Who had a box's bytes: the last before it, the next after it, and in the same lines those beside it in address.

    ``idle_lines`` is the number of lines between its last use and the next owner's first; None without one.
    """

    before: Box | None
    after: Box | None
    below: Box | None
    above: Box | None
    idle_lines: int | None


def neighbours(function: FunctionMap, box: Box) -> Neighbours:
    """The boxes next to ``box`` in time (same bytes) and in address (same lines)."""
    same = [other for other in function.boxes if other.space == box.space and other is not box]
    bytes_too = [other for other in same if other.offset < box.end and other.end > box.offset]
    before = [other for other in bytes_too if other.end_line <= box.start_line and other.start_line < box.start_line]
    after = [other for other in bytes_too if other.start_line >= box.end_line and other.end_line > box.end_line]
    beside = [other for other in same if other.start_line <= box.end_line and other.end_line >= box.start_line]
    below = [other for other in beside if other.end <= box.offset]
    above = [other for other in beside if other.offset >= box.end]
    following = min(after, key=lambda other: other.start_line, default=None)
    return Neighbours(
        max(before, key=lambda other: other.end_line, default=None),
        following,
        max(below, key=lambda other: other.end, default=None),
        min(above, key=lambda other: other.offset, default=None),
        None if following is None else following.start_line - box.end_line,
    )


@dataclass(frozen=True, slots=True)
class Peak:
    """Why a space is full.

    Args:
        line: the first line at which the most bytes are alive; ``alive_bytes`` counts each byte once. While addresses are
            not assigned every base counts as bytes of its own: what the planner had to place.
        used_bytes: the high-water mark, at least ``alive_bytes``: what is between them is lost to placement. None while
            addresses are not assigned.
        alive: the boxes alive at ``line``, largest first.
    """

    space: str
    line: int
    alive_bytes: int
    used_bytes: int | None
    alive: tuple[Box, ...]
    assigned: bool = True

    @property
    def table(self) -> Table:
        """:data:`ALIVE_COLUMNS`, largest first."""
        return box_table(self.alive)


def peak(function: FunctionMap, space: str) -> Peak | None:
    """The line of ``space`` at which most bytes are alive, and who owns them; None when the space has no box."""
    boxes = [box for box in function.boxes if box.space == space]
    if not boxes:
        return None
    assigned = space not in function.unassigned
    best_line, best = 0, -1
    for line, active in _moments(boxes):
        alive = _covered(active, assigned)
        if alive > best:
            best_line, best = line, alive
    alive_boxes = [box for box in boxes if box.start_line <= best_line <= box.end_line]
    alive_boxes.sort(key=lambda box: (-box.size, box.offset))
    used = max(box.end for box in boxes) if assigned else None
    return Peak(space, best_line, best, used, tuple(alive_boxes), assigned)


def _moments(boxes: list[Box]) -> Iterable[tuple[int, list[Box]]]:
    """Every line at which a box begins, with the boxes alive there: alive bytes can rise at no other line."""
    order = sorted(boxes, key=lambda box: box.start_line)
    active: list[Box] = []
    at = 0
    while at < len(order):
        line = order[at].start_line
        active = [box for box in active if box.end_line >= line]
        while at < len(order) and order[at].start_line == line:
            active.append(order[at])
            at += 1
        yield line, active


def _covered(boxes: list[Box], assigned: bool = True) -> int:
    """Bytes that at least one of ``boxes`` owns; without addresses each base is bytes of its own."""
    if not assigned:
        bases: dict[str, list[Box]] = {}
        for box in boxes:
            bases.setdefault(box.base, []).append(box)
        return sum(_covered(group) for group in bases.values())
    total, reached = 0, 0
    for box in sorted(boxes, key=lambda box: box.offset):
        total += max(0, box.end - max(box.offset, reached))
        reached = max(reached, box.end)
    return total


def to_free(found: Peak, target_bytes: int) -> tuple[Box, ...]:
    """Boxes that would have to end before the peak line so that at most ``target_bytes`` are alive: fewest, largest first.

    Raises:
        ParameterError: ``target_bytes`` is negative.
    """
    if target_bytes < 0:
        raise ParameterError(f"the size must be 0 bytes or more, not {target_bytes:,}")
    left = list(found.alive)
    ended: list[Box] = []
    while left and (alive := _covered(left, found.assigned)) > target_bytes:
        excess = alive - target_bytes
        rest = (
            {}
            if len(left) > _MOST_ALIVE
            else {at: _covered([o for o in left if o is not box], found.assigned) for at, box in enumerate(left)}
        )
        enough = [box for at, box in enumerate(left) if rest.get(at, alive) <= target_bytes]
        # The last one to go is the smallest that is enough; until then the largest.
        chosen = min(enough, key=lambda box: box.size) if enough else max(left, key=lambda box: (box.size, -excess))
        left.remove(chosen)
        ended.append(chosen)
    return tuple(ended)


def overview(memory: MemoryMap) -> Table:
    """One row per function and space, the tightest first: :data:`OVERVIEW_COLUMNS`."""
    rows = [(function, space) for function in memory.functions for space in function.spaces]
    rows.sort(
        key=lambda row: (-(row[1].share if row[1].share is not None else -1.0), row[0].name, space_rank(row[1].space))
    )
    clashes = [
        sum(box.space == space.space and box.conflict_kind == "overlap" for box in function.boxes)
        for function, space in rows
    ]
    return Table(
        OVERVIEW_COLUMNS,
        {
            "function": [function.name for function, _ in rows],
            "type": [function.type for function, _ in rows],
            "space": [space.space for _, space in rows],
            "used_bytes": [space.used_bytes for _, space in rows],
            "capacity_bytes": [space.capacity_bytes for _, space in rows],
            "share": [space.share for _, space in rows],
            "tiles": [space.tiles for _, space in rows],
            "bases": [space.bases for _, space in rows],
            "reuse_ratio": [space.reuse_ratio for _, space in rows],
            "conflicts": clashes,
        },
    )


def box_table(boxes: tuple[Box, ...]) -> Table:
    """``boxes`` as rows of :data:`ALIVE_COLUMNS`, in their order."""
    return Table(
        ALIVE_COLUMNS,
        {
            "name": [box.name + (f" +{len(box.aliases)}" if box.aliases else "") for box in boxes],
            "base": [box.base for box in boxes],
            "offset_bytes": [box.offset for box in boxes],
            "size_bytes": [box.size for box in boxes],
            "start_line": [box.start_line for box in boxes],
            "end_line": [box.end_line for box in boxes],
            "op": [box.op for box in boxes],
        },
    )


def compare(before: MemoryMap, after: MemoryMap) -> Table:
    """High-water marks of two maps per function and space, the largest rise first: :data:`COMPARE_COLUMNS`."""
    marks = [_marks(memory) for memory in (before, after)]
    keys = list(dict.fromkeys((*marks[0], *marks[1])))
    rows = []
    for key in keys:
        old, new = (mark.get(key) for mark in marks)
        change = None if old is None or new is None else new - old
        rows.append((*key, old, new, change, _topmost(after, *key)))
    rows.sort(key=lambda row: (-(row[4] if row[4] is not None else row[3] or 0), row[0], space_rank(row[1])))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COMPARE_COLUMNS)
    return Table(COMPARE_COLUMNS, {c.name: list(cells) for c, cells in zip(COMPARE_COLUMNS, columns, strict=True)})


def _marks(memory: MemoryMap) -> dict[tuple[str, str], int | None]:
    return {(f.name, s.space): s.used_bytes for f in memory.functions for s in f.spaces}


def _topmost(memory: MemoryMap, function: str, space: str) -> str:
    boxes = [box for f in memory.functions if f.name == function for box in f.boxes if box.space == space]
    return max(boxes, key=lambda box: box.end).name if boxes else ""
