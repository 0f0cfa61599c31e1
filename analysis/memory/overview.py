"""Which function is the tightest?"""

from __future__ import annotations

import math
from typing import Any

from analysis.memory.boxes import ConflictKind
from analysis.memory.map import FunctionMap, MemoryMap, SpaceUse
from analysis.memory.occupancy import peak
from analysis.results import Column, Table

TIGHT_SHARE = 0.95
"""From this share of the capacity on a space is marked red, as the field's tool does."""

COLUMNS = (
    Column("function", "text", "Function that owns the map."),
    Column("type", "text", "AIC, AIV or InCore."),
    Column("space", "text", "Memory space on the chip."),
    Column(
        "used_bytes", "count", "High-water mark in bytes: max(offset + size); empty while addresses are not assigned."
    ),
    Column("capacity_bytes", "count", "Size of the space on this chip in bytes; empty if the chip table has none."),
    Column("share", "share", "Used bytes per byte of capacity."),
    Column("live_bytes", "count", "Most bytes in use on one line, boxes beyond the reference included."),
    Column("tiles", "count", "Boxes after merging tiles that continue in the same bytes."),
    Column("bases", "count", "Allocations that hold them."),
    Column("reuse_ratio", "share", "Sum of the sizes of the boxes per used byte; above 1 bytes are reused."),
    Column("beyond_tiles", "count", "Boxes that the field's tool leaves out."),
    Column("conflicts", "count", "Boxes that share bytes and lines with a box of another base."),
    Column("touches", "count", "Boxes that share bytes and just one line with a box of another base."),
    Column("unplaced_tiles", "count", "Tiles of the space without known bytes."),
    Column("start_line", "index", "First line of the function."),
    Column("end_line", "index", "Last line of the function."),
)


def overview(drawn: MemoryMap) -> Table:
    """One row per function and space, the tightest first (unknown shares after them by live bytes)."""
    rows = [(use, _cells(function, use)) for function in drawn.functions for use in function.spaces]
    rows.sort(key=lambda row: (row[0].share is None, -(row[0].share or 0.0), -row[1]["live_bytes"]))
    data = {column.name: [cells[column.name] for _, cells in rows] for column in COLUMNS}
    return Table(COLUMNS, data)


def is_tight(share: float | None) -> bool:
    """Is the share one to mark red?"""
    return share is not None and not math.isnan(share) and share >= TIGHT_SHARE


def _cells(function: FunctionMap, use: SpaceUse) -> dict[str, Any]:
    boxes = [box for box in function.boxes if box.space == use.space]

    def flagged(kind: ConflictKind) -> int:
        return sum(box.conflict_kind == kind for box in boxes)

    return {
        "function": function.name,
        "type": function.function_type,
        "space": use.space,
        "used_bytes": use.used_bytes,
        "capacity_bytes": use.capacity_bytes,
        "share": use.share,
        "live_bytes": peak(function, use.space).live_bytes,
        "tiles": use.tiles,
        "bases": use.bases,
        "reuse_ratio": use.reuse_ratio,
        "beyond_tiles": sum(box.beyond_reference for box in boxes),
        "conflicts": flagged("overlap"),
        "touches": flagged("touch"),
        "unplaced_tiles": sum(tile.space == use.space for tile in function.unplaced),
        "start_line": function.start_line,
        "end_line": function.end_line,
    }
