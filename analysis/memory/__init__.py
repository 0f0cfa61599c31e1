"""The memory reuse map: which tile has which on-chip bytes, on which lines of a pass dump, and why a space is full."""

from analysis.memory.boxes import Box, Unplaced
from analysis.memory.chips import CAPACITY_BYTES, SPACE_ORDER, Chip, capacities, choose_chip
from analysis.memory.compare import PassUse, Rise, SpaceChange, TileChange, compare, history, rises
from analysis.memory.map import FunctionMap, MemoryMap, SpaceUse, open_map
from analysis.memory.neighbours import Neighbours, neighbours
from analysis.memory.occupancy import EarlierEnd, LiveTile, Peak, Plan, live_steps, peak, plan
from analysis.memory.overview import TIGHT_SHARE, is_tight, overview

__all__ = [
    "CAPACITY_BYTES",
    "SPACE_ORDER",
    "TIGHT_SHARE",
    "Box",
    "Chip",
    "EarlierEnd",
    "FunctionMap",
    "LiveTile",
    "MemoryMap",
    "Neighbours",
    "PassUse",
    "Peak",
    "Plan",
    "Rise",
    "SpaceChange",
    "SpaceUse",
    "TileChange",
    "Unplaced",
    "capacities",
    "choose_chip",
    "compare",
    "history",
    "is_tight",
    "live_steps",
    "neighbours",
    "open_map",
    "overview",
    "peak",
    "plan",
    "rises",
]
