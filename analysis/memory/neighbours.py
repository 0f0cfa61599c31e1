"""Who had these bytes before, who gets them next, and how long does a tile still matter?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from analysis.memory.boxes import Box
from analysis.memory.intervals import ByteSet
from analysis.memory.map import FunctionMap


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The boxes around one box in the same bytes.

    ``before`` are the boxes that end last before it, at most one per byte range they give up, latest first; ``after`` the
    first ones to follow; ``at_the_same_time`` those in the same bytes on a line of it (views, conflicts, carried values).
    ``idle_before_lines``/``idle_after_lines`` count the lines between for which nobody has the bytes (``None``: nobody
    before or after). ``lines_to_last_use`` is the distance from the first line to the last that names the tile (``None``:
    no line does); ``longest_idle`` the (line, next line) of the longest stretch between two mentions.
    """

    before: tuple[Box, ...]
    after: tuple[Box, ...]
    at_the_same_time: tuple[Box, ...]
    idle_before_lines: int | None
    idle_after_lines: int | None
    lines_to_last_use: int | None
    longest_idle: tuple[int, int] | None


def neighbours(function: FunctionMap, box: Box) -> Neighbours:
    """Who uses the bytes of ``box`` before, after and beside it? Nobody, while addresses are not assigned."""
    beside: list[Box] = []
    earlier: list[Box] = []
    later: list[Box] = []
    for other in function.boxes if function.assigned else ():
        if other == box or not box.overlaps_bytes(other):
            continue
        if other.end_line < box.start_line:
            earlier.append(other)
        elif other.start_line > box.end_line:
            later.append(other)
        else:
            beside.append(other)
    earlier.sort(key=lambda other: (-other.end_line, other.offset))
    later.sort(key=lambda other: (other.start_line, other.offset))
    before, after = _nearest(earlier), _nearest(later)
    lines = box.mention_lines
    gaps = list(pairwise(lines))
    return Neighbours(
        before,
        after,
        tuple(beside),
        box.start_line - before[0].end_line - 1 if before else None,
        after[0].start_line - box.end_line - 1 if after else None,
        lines[-1] - box.start_line if lines else None,
        max(gaps, key=lambda gap: gap[1] - gap[0]) if gaps else None,
    )


def _nearest(sorted_boxes: list[Box]) -> tuple[Box, ...]:
    """The nearest boxes, each in bytes that no nearer one has."""
    kept: list[Box] = []
    taken = ByteSet()
    for box in sorted_boxes:
        if not taken.meets(box.offset, box.end_offset):
            kept.append(box)
            taken.add(box.offset, box.end_offset)
    return tuple(kept)
