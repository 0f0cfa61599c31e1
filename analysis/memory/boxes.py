"""Which bytes does each tile own, from which line to which? The reference's boxes, merged, and how they overlap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from analysis.capture import I8, Bool
from analysis.memory.chips import Chip, space_rank
from analysis.memory.model import Box, Space, box_order
from analysis.memory.source import Function, Tile

_COMPACT_EVERY = 256


def reference_boxes(function: Function) -> tuple[Box, ...]:
    """The boxes the reference draws: tiles with one constant address, merged, with views and conflicts marked."""
    constant = [tile for tile in function.tiles.values() if len(tile.offsets) == 1]
    boxes = sorted(_merged(_box(function, tile) for tile in constant), key=box_order)
    return tuple(_marked(boxes))


def _box(function: Function, tile: Tile) -> Box:
    first, last = function.mentions.get(tile.name, (tile.line, tile.line))
    start, end = min(first, tile.line), max(last, tile.end_line)
    return Box(
        tile.name, tile.space, tile.base, tile.offsets[0], tile.size, start, end, tile.shape, tile.dtype, tile.op
    )


def _merged(boxes: Iterable[Box]) -> list[Box]:
    """Tiles of one (space, base, offset, size) become one box when the next starts at or before the current end."""
    groups: dict[tuple[str, str, int, int], list[Box]] = {}
    for box in boxes:
        groups.setdefault((box.space, box.base, box.offset, box.size), []).append(box)
    out: list[Box] = []
    for group in groups.values():
        group.sort(key=lambda box: box.start_line)
        current, names, end = group[0], [], group[0].end_line
        for box in group[1:]:
            if box.start_line <= end:
                names.append(box.name)
                end = max(end, box.end_line)
                continue
            out.append(replace(current, aliases=tuple(names), end_line=end))
            current, names, end = box, [], box.end_line
        out.append(replace(current, aliases=tuple(names), end_line=end))
    return out


def _marked(boxes: list[Box]) -> list[Box]:
    """``boxes`` with views and conflicts: overlap in address and lines, by space."""
    out: list[Box] = []
    spaces: dict[str, list[Box]] = {}
    for box in boxes:
        spaces.setdefault(box.space, []).append(box)
    for group in spaces.values():
        view, touch, overlap = _overlaps(group)
        kinds = [
            "overlap" if o else "touch" if t else "" for t, o in zip(touch.tolist(), overlap.tolist(), strict=True)
        ]
        out += [
            replace(box, view=is_view, conflict_kind=kind)
            for box, is_view, kind in zip(group, view.tolist(), kinds, strict=True)
        ]
    return out


def _overlaps(group: list[Box]) -> tuple[Bool, Bool, Bool]:
    """Per box: it is a view; it touches another base's box in one line; it overlaps one in more."""
    n = len(group)
    lo: I8 = np.array([box.offset for box in group], np.int64)
    hi: I8 = np.array([box.end for box in group], np.int64)
    start: I8 = np.array([box.start_line for box in group], np.int64)
    end: I8 = np.array([box.end_line for box in group], np.int64)
    codes = {base: at for at, base in enumerate(dict.fromkeys(box.base for box in group))}
    base: I8 = np.array([codes[box.base] for box in group], np.int64)
    view, touch, overlap = (np.zeros(n, bool) for _ in range(3))
    order = np.argsort(start, kind="stable")
    active: I8 = np.zeros(0, np.int64)
    for step, at in enumerate(order.tolist()):
        if step % _COMPACT_EVERY == 0:
            active = active[end[active] >= start[at]]
        near = active[(end[active] >= start[at]) & (lo[active] < hi[at]) & (hi[active] > lo[at])]
        same = base[near] == base[at]
        sizes, own = hi[near] - lo[near], hi[at] - lo[at]
        view[near[same & (sizes < own)]] = True
        view[at] |= bool((same & (sizes > own)).any())
        other = near[~same]
        once = np.minimum(end[other], end[at]) == start[at]
        touch[other[once]] = overlap[other[~once]] = True
        touch[at] |= bool(once.any())
        overlap[at] |= bool((~once).any())
        active = np.append(active, at)
    return view, touch, overlap


def spaces_of(boxes: tuple[Box, ...], chip: Chip, unassigned: tuple[str, ...]) -> tuple[Space, ...]:
    """How full each space is, in the order of the spaces; counts the reference's boxes."""
    groups: dict[str, list[Box]] = {}
    for box in boxes:
        groups.setdefault(box.space, []).append(box)
    return tuple(
        Space(
            space,
            None if space in unassigned else max(box.end for box in group),
            chip.capacity_bytes(space),
            len(group),
            len({box.base for box in group}),
            sum(box.size for box in group),
        )
        for space, group in sorted(groups.items(), key=lambda item: space_rank(item[0]))
    )


def unassigned_spaces(boxes: tuple[Box, ...]) -> tuple[str, ...]:
    """Spaces of a function whose offsets are all 0 although two or more bases are in one of them."""
    if any(box.offset for box in boxes):
        return ()
    bases: dict[str, set[str]] = {}
    for box in boxes:
        bases.setdefault(box.space, set()).add(box.base)
    return tuple(bases) if any(len(found) > 1 for found in bases.values()) else ()
