"""What is a memory map? Functions, their spaces and the boxes in them; every number checked, nothing guessed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analysis.memory.chips import Chip, space_rank

BEYOND = ("slot", "carried", "back-edge", "ring")
"""Why a box is beyond the reference: one slot of a buffer, a loop-carried value, a value live across a back edge, a ring."""


@dataclass(frozen=True, slots=True)
class Box:
    """Bytes of one space that one or more tiles own for a range of lines.

    Args:
        name: the tile that had them first; ``aliases``: the tiles that took them over without a break.
        base: the buffer the address is relative to; ``offset`` and ``size`` are bytes in the space.
        start_line, end_line: first and last line, both inclusive, 1-based in the snapshot.
        shape: the first tile's dimensions as written; ``op`` what made it (``param`` for a parameter, "" for no call).
        view: a narrower box of the same base lies inside another one's bytes and lines.
        conflict_kind: ``overlap``, ``touch`` (they share one line only) or "".
        beyond: "" for the reference's boxes, else one of :data:`BEYOND`.
        loop: the enclosing loop's lines where the value is live across its back edge.
    """

    name: str
    space: str
    base: str
    offset: int
    size: int
    start_line: int
    end_line: int
    shape: tuple[str, ...] = ()
    dtype: str = ""
    op: str = ""
    aliases: tuple[str, ...] = ()
    view: bool = False
    conflict_kind: str = ""
    beyond: str = ""

    @property
    def conflict(self) -> bool:
        """Whether another base owns some of its bytes in some of its lines."""
        return bool(self.conflict_kind)

    @property
    def end(self) -> int:
        """First byte after it."""
        return self.offset + self.size

    def names(self) -> tuple[str, ...]:
        """Every tile it stands for."""
        return (self.name, *self.aliases)

    def to_json(self, assigned: bool = True) -> dict[str, Any]:
        """The object of the command line; ``offset`` is null while addresses are not ``assigned``."""
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "space": self.space,
            "base": self.base,
            "offset": self.offset if assigned else None,
            "size": self.size,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "op": self.op,
            "view": self.view,
            "conflict": self.conflict,
            "conflict_kind": self.conflict_kind,
            "beyond_reference": bool(self.beyond),
        }


@dataclass(frozen=True, slots=True)
class Space:
    """How full one space of a function is. ``used_bytes`` is the high-water mark, None while addresses are unassigned."""

    space: str
    used_bytes: int | None
    capacity_bytes: int | None
    tiles: int
    bases: int
    sum_bytes: int

    @property
    def share(self) -> float | None:
        """Used part of the capacity; None when either is unknown."""
        return self.used_bytes / self.capacity_bytes if self.used_bytes is not None and self.capacity_bytes else None

    @property
    def reuse_ratio(self) -> float | None:
        """Sum of the box sizes over the high-water mark: 2 means every byte was used twice."""
        return self.sum_bytes / self.used_bytes if self.used_bytes else None

    def to_json(self) -> dict[str, Any]:
        """The object of the command line."""
        return {
            "space": self.space,
            "used_bytes": self.used_bytes,
            "capacity_bytes": self.capacity_bytes,
            "tiles": self.tiles,
            "bases": self.bases,
        }


@dataclass(frozen=True, slots=True)
class FunctionMap:
    """The map of one function: its source lines, spaces and boxes.

    Args:
        boxes: the reference's boxes by space, offset and start line.
        beyond: boxes the reference leaves out, in the same order.
        unassigned: spaces whose offsets are all 0 over several bases: addresses are not assigned yet.
        notes: what could not be placed, and why.
    """

    name: str
    type: str
    start_line: int
    end_line: int
    spaces: tuple[Space, ...]
    boxes: tuple[Box, ...]
    beyond: tuple[Box, ...] = ()
    unassigned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def tightest(self) -> float:
        """The largest known share of a space's capacity; -1 when none is known."""
        return max((s.share for s in self.spaces if s.share is not None), default=-1.0)

    def all_boxes(self) -> tuple[Box, ...]:
        """Reference boxes and those beyond it, in drawing order."""
        return tuple(sorted((*self.boxes, *self.beyond), key=box_order))

    def to_json(self) -> dict[str, Any]:
        """The object of the command line."""
        return {
            "name": self.name,
            "type": self.type,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "spaces": [space.to_json() for space in self.spaces],
            "boxes": [box.to_json(box.space not in self.unassigned) for box in self.all_boxes()],
        }


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """Every function's map of one snapshot.

    Args:
        snapshot: the snapshot's file name.
        pass_name: the pass it was written after; "" when the name does not say.
        chip: whose capacities count, and how that is known.
        reason: why this is less than a map with addresses, and which pass to open; "" for a full map.
        notes: findings about the dump.
    """

    snapshot: str
    pass_name: str
    chip: Chip
    functions: tuple[FunctionMap, ...]
    reason: str = ""
    notes: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """The document of the command line."""
        return {
            "snapshot": self.snapshot,
            "pass": self.pass_name,
            "chip": self.chip.name,
            "chip_origin": self.chip.origin,
            "reason": self.reason,
            "notes": list(self.notes),
            "functions": [function.to_json() for function in self.functions],
        }


def box_order(box: Box) -> tuple[Any, ...]:
    """Boxes are ordered by space, offset, start line."""
    return (space_rank(box.space), box.offset, box.start_line)
