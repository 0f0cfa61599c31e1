"""What would have to end earlier, in the whole function, for a space to get under a size?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.errors import ParameterError
from analysis.memory.model import Box, FunctionMap
from analysis.memory.questions import Peak, peak

MOST_STEPS = 200
"""A plan stops after so many steps and says so; earlier where a space has very many boxes."""
_MOST_WORK = 100_000


@dataclass(frozen=True, slots=True)
class EarlierEnd:
    """One step: the boxes of one stretch of bytes end before ``before_line`` instead of on ``end_line``.

    ``boxes`` are as they are in the map; their bytes overlap, so they end together. ``freed_bytes`` are free from
    ``before_line`` on.
    """

    boxes: tuple[Box, ...]
    end_line: int
    before_line: int
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps after which no line has more than ``target_bytes`` alive.

    Args:
        steps: in the order in which peaks were lowered; each takes the largest stretch of bytes at the highest peak that
            begins before it. A plan of fewer bytes may exist.
        peak_bytes, peak_line: the highest peak after the steps.
        reached: whether that is at most the target; ``reason`` says why not.
    """

    target_bytes: int
    steps: tuple[EarlierEnd, ...]
    peak_bytes: int
    peak_line: int
    reached: bool
    reason: str


def plan(function: FunctionMap, space: str, target_bytes: int) -> Plan | None:
    """Which tiles would have to end before which line? None when the space has no box.

    :func:`~analysis.memory.questions.to_free` answers for one line, this for every line of the function.

    Raises:
        ParameterError: ``target_bytes`` is negative.
    """
    if target_bytes < 0:
        raise ParameterError(f"the size must be 0 bytes or more, not {target_bytes:,}")
    original = [box for box in function.boxes if box.space == space]
    current = list(original)
    most = min(MOST_STEPS, _MOST_WORK // max(1, len(current)) + 1)
    steps: list[EarlierEnd] = []
    while (found := peak(replace(function, boxes=tuple(current)), space)) is not None:
        if found.alive_bytes <= target_bytes:
            return Plan(target_bytes, tuple(steps), found.alive_bytes, found.line, True, "")
        group = _largest_held(found) if len(steps) < most else None
        if group is None:
            reason = (
                f"the tiles that begin on line {found.line} take {found.alive_bytes:,} bytes with what they overlap"
                if len(steps) < most
                else f"more than {most} tiles would have to end earlier"
            )
            return Plan(target_bytes, tuple(steps), found.alive_bytes, found.line, False, reason)
        ended = {id(box) for box in group}
        at = [i for i, box in enumerate(current) if id(box) in ended]
        freed = max(box.end for box in group) - min(box.offset for box in group)
        last = max(box.end_line for box in group)
        steps.append(EarlierEnd(tuple(original[i] for i in at), last, found.line, freed))
        for i in at:
            current[i] = replace(current[i], end_line=found.line - 1)
    return None


def _largest_held(found: Peak) -> list[Box] | None:
    """The largest stretch of overlapping bytes at the peak whose boxes all began before it."""
    best: list[Box] | None = None
    largest = 0
    for group in _stretches(found):
        size = max(box.end for box in group) - min(box.offset for box in group)
        if size > largest and all(box.start_line < found.line for box in group):
            best, largest = group, size
    return best


def _stretches(found: Peak) -> list[list[Box]]:
    """The boxes alive at the peak, those whose bytes overlap together."""
    groups: list[list[Box]] = []
    base, high = "", -1
    key = (lambda box: ("", box.offset)) if found.assigned else (lambda box: (box.base, box.offset))
    for box in sorted(found.alive, key=key):
        if not groups or box.offset >= high or (not found.assigned and box.base != base):
            groups.append([])
            high = -1
        groups[-1].append(box)
        base, high = box.base, max(high, box.end)
    return groups
