"""Which pass raised the peak of a space? Maps of consecutive snapshots, one step where a high-water mark changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from analysis.memory.model import MemoryMap
from analysis.memory.questions import topmost
from analysis.results import Column, Table

WALK_COLUMNS = (
    Column("pass", "text", "Snapshot after which the high-water mark is another one."),
    Column("function", "text", "Function that owns the space."),
    Column("space", "text", "Memory space."),
    Column("before_bytes", "count", "High-water mark after the snapshot before; empty when it had none."),
    Column("after_bytes", "count", "High-water mark after this snapshot; empty when it has none."),
    Column("change_bytes", "count", "After minus before; empty when one is missing."),
    Column("tile", "text", "The tile that ends at the high-water mark after the pass."),
)


def walk(maps: Sequence[MemoryMap]) -> Table:
    """Every change of a space's high-water mark from one snapshot to the next: :data:`WALK_COLUMNS`.

    Args:
        maps: the snapshots in the order in which their passes ran.
    """
    rows: list[tuple[object, ...]] = []
    for before, after in pairwise(maps):
        if after.functions == before.functions:
            continue
        old, new = _marks(before), _marks(after)
        for key in dict.fromkeys((*old, *new)):
            first, second = old.get(key), new.get(key)
            if first != second:
                change = None if first is None or second is None else second - first
                rows.append((after.snapshot.removesuffix(".py"), *key, first, second, change, topmost(after, *key)))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(WALK_COLUMNS)
    return Table(WALK_COLUMNS, {c.name: list(cells) for c, cells in zip(WALK_COLUMNS, columns, strict=True)})


def _marks(memory: MemoryMap) -> dict[tuple[str, str], int | None]:
    return {(f.name, s.space): s.used_bytes for f in memory.functions for s in f.spaces}
