"""Why is a memory space full, and what would have to end earlier?

*Live bytes* on a line are the bytes that at least one box uses there; aliases and views share bytes and count once. Boxes
beyond the reference count: a value that a loop still needs takes its bytes. The *high-water mark* is an address, so it can
lie above the peak of the live bytes; then the gap is lost to placement and no tile has to end earlier. Where addresses are
not assigned, each base counts as bytes of its own (its largest box).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis.errors import NotFoundError, ParameterError
from analysis.memory.boxes import Box
from analysis.memory.intervals import ByteSet
from analysis.memory.map import FunctionMap

MOST_STEPS = 200
"""A plan to get under a size stops after so many steps and says so; earlier where a space has very many boxes."""
_MOST_WORK = 100_000


@dataclass(frozen=True, slots=True)
class LiveTile:
    """A box in use at the peak. ``last_mention_line`` is its last line that names it (``None``: no line does, as for a
    ring), ``lines_to_last_use`` counts from the peak to it (0: the peak is its last use), ``shared`` is true if another
    box listed before it has all of its bytes (a view or a carried value), so that its end alone frees nothing."""

    box: Box
    last_mention_line: int | None
    lines_to_last_use: int | None
    shared: bool


@dataclass(frozen=True, slots=True)
class EarlierEnd:
    """One step of a plan: all tiles in these bytes (``boxes``, ``base`` of the largest) end before ``before_line``
    instead of on ``end_line``; ``freed_bytes`` are no longer live on that line."""

    base: str
    boxes: tuple[Box, ...]
    end_line: int
    before_line: int
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What would have to end earlier so that never more than ``target_bytes`` are live.

    ``peak_bytes`` is the peak after the steps; ``reached`` is false if it is still above the target: ``reason`` says why.
    The steps take the largest tile at each peak first; a plan of fewer bytes may exist.
    """

    target_bytes: int
    steps: tuple[EarlierEnd, ...]
    peak_bytes: int
    peak_line: int
    reached: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Peak:
    """The fullest line of a space: the first with the most live bytes, and the boxes in use on it, largest first."""

    space: str
    line: int
    end_line: int  # last line of the first stretch at the peak
    live_bytes: int
    used_bytes: int | None
    capacity_bytes: int | None
    tiles: tuple[LiveTile, ...]


def live_steps(function: FunctionMap, space: str) -> tuple[tuple[int, int], ...]:
    """(first line, live bytes) of each stretch of equal live bytes, in order; the last is (line after the end, 0)."""
    return tuple(_live(_placed(function, space)))


def peak(function: FunctionMap, space: str) -> Peak:
    """Which tiles fill the space at its fullest line?

    Raises:
        NotFoundError: the function has no box in the space.
    """
    placed = _placed(function, space)
    line, end, live = _peak(placed)
    use = next(use for use in function.spaces if use.space == space)
    held = [box for box in placed if box.start_line <= line <= box.end_line]
    held.sort(key=lambda box: (-box.size_bytes, box.offset, box.beyond_reference, box.start_line, box.name))
    tiles, covered = [], ByteSet()
    original = {id(p): o for p, o in zip(placed, _of_space(function, space), strict=True)}
    for box in held:
        last = box.mention_lines[-1] if box.mention_lines else None
        to_last = None if last is None else max(0, last - line)
        tiles.append(LiveTile(original[id(box)], last, to_last, covered.covers(box.offset, box.end_offset)))
        covered.add(box.offset, box.end_offset)
    return Peak(space, line, end, live, use.used_bytes, use.capacity_bytes, tuple(tiles))


def plan(function: FunctionMap, space: str, target_bytes: int) -> Plan:
    """What would have to end earlier for ``space`` to get to ``target_bytes`` or below?

    Raises:
        NotFoundError: the function has no box in the space.
        ParameterError: the target is negative.
    """
    if target_bytes < 0:
        raise ParameterError(f"a size in bytes cannot be negative, not {target_bytes}")
    placed = _placed(function, space)
    steps: list[EarlierEnd] = []
    most = min(MOST_STEPS, _MOST_WORK // len(placed) + 1)
    while True:
        line, _, live = _peak(placed)
        if live <= target_bytes:
            return Plan(target_bytes, tuple(steps), live, line, True, "")
        step = _largest_held(placed, line) if len(steps) < most else None
        if step is None:
            full = len(steps) >= most
            reason = (
                f"more than {most} tiles would have to end earlier"
                if full
                else f"the tiles that begin on line {line} take {live} bytes by themselves"
            )
            return Plan(target_bytes, tuple(steps), live, line, False, reason)
        steps.append(step)
        ended = {id(box) for box in step.boxes}
        placed = [replace(box, end_line=line - 1) if id(box) in ended else box for box in placed]


def _largest_held(placed: Sequence[Box], line: int) -> EarlierEnd | None:
    """The bytes in use on ``line`` since an earlier line whose end frees most: boxes that share bytes end together."""
    held = sorted((b for b in placed if b.start_line <= line <= b.end_line), key=lambda b: b.offset)
    best: EarlierEnd | None = None
    group: list[Box] = []
    high = 0
    for box in [*held, None]:
        if group and (box is None or box.offset >= high):
            freed = high - min(b.offset for b in group)
            if all(b.start_line < line for b in group) and (best is None or freed > best.freed_bytes):
                largest = max(group, key=lambda b: b.size_bytes)
                end = max(b.end_line for b in group)
                best = EarlierEnd(largest.base, tuple(group), end, line, freed)
            group = []
        if box is not None:
            high = max(high, box.end_offset) if group else box.end_offset
            group.append(box)
    return best


def _of_space(function: FunctionMap, space: str) -> list[Box]:
    return [box for box in function.boxes if box.space == space]


def _placed(function: FunctionMap, space: str) -> list[Box]:
    """The boxes of a space with addresses; without assigned ones each base gets bytes of its own."""
    boxes = _of_space(function, space)
    if not boxes:
        raise NotFoundError(f"function {function.name} uses no bytes of {space}")
    if function.assigned:
        return [replace(box) for box in boxes]
    need: dict[str, int] = {}
    for box in boxes:
        need[box.base] = max(need.get(box.base, 0), box.end_offset)
    begin, at = 0, {}
    for base, size_bytes in need.items():
        at[base] = begin
        begin += size_bytes
    return [replace(box, offset=box.offset + at[box.base]) for box in boxes]


def _peak(boxes: Sequence[Box]) -> tuple[int, int, int]:
    """(first line, last line, live bytes) of the first stretch with the most live bytes."""
    steps = _live(boxes)
    at = max(range(len(steps)), key=lambda i: steps[i][1])
    end = steps[at + 1][0] - 1 if at + 1 < len(steps) else steps[at][0]
    return steps[at][0], end, steps[at][1]


def _live(boxes: Sequence[Box]) -> list[tuple[int, int]]:
    """Sweep over the lines; a tree over the addresses keeps the bytes that are covered (n boxes: n log n steps)."""
    edges = sorted({edge for box in boxes for edge in (box.offset, box.end_offset)})
    index = {edge: i for i, edge in enumerate(edges)}
    events = [(box.start_line, 1, box) for box in boxes] + [(box.end_line + 1, -1, box) for box in boxes]
    events.sort(key=lambda event: event[0])
    tree = _Cover(edges)
    steps: list[tuple[int, int]] = []
    for i, (line, change, box) in enumerate(events):
        if box.size_bytes:
            tree.change(index[box.offset], index[box.end_offset], change)
        if i + 1 == len(events) or events[i + 1][0] != line:
            live = tree.covered
            if not steps or steps[-1][1] != live:
                steps.append((line, live))
    return steps


class _Cover:
    """Length of the union of intervals between sorted ``edges`` while intervals come and go."""

    def __init__(self, edges: Sequence[int]) -> None:
        self.edges = edges
        self.size = max(1, len(edges) - 1)
        self.count = [0] * (4 * self.size)
        self.length = [0] * (4 * self.size)

    @property
    def covered(self) -> int:
        return self.length[1]

    def change(self, low: int, high: int, by: int, node: int = 1, left: int = 0, right: int = -1) -> None:
        """Add ``by`` to every segment from edge ``low`` to edge ``high`` (depth: log2 of the edges)."""
        if right < 0:
            right = self.size
        if low <= left and right <= high:
            self.count[node] += by
        else:
            middle = (left + right) // 2
            if low < middle:
                self.change(low, high, by, 2 * node, left, middle)
            if high > middle:
                self.change(low, high, by, 2 * node + 1, middle, right)
        if self.count[node]:
            self.length[node] = self.edges[right] - self.edges[left]
        else:
            self.length[node] = self.length[2 * node] + self.length[2 * node + 1] if right - left > 1 else 0
