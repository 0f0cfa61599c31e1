"""Which URL keys say what the memory page shows? Snapshots are named by their file without ``.py``, as on the pass page."""

from __future__ import annotations

from analysis.memory.chips import CAPACITY_BYTES
from app.compiler import keys as passes_keys
from app.shell.url_state import Key, choice_codec, integer_codec, list_codec, text_codec

MAX_NAME = passes_keys.MAX_NAME
ALL_FUNCTIONS = "*"
"""Value of ``mf`` for the overview even though a function is selected."""
SIDES = ("tile", "why", "boxes")
"""Tabs beside the picture: one tile, why a space is full, every box as a table."""
_NAME = text_codec(MAX_NAME)
_SHARED = {key.name: key for key in passes_keys.KEYS}

KEYS: tuple[Key, ...] = (
    _SHARED["dump"],
    _SHARED["vs"],
    _SHARED["other"],
    _SHARED["odump"],
    Key("snap", _NAME, "", "Snapshot whose map is shown; by default the one after AllocateMemoryAddr."),
    Key(
        "chip", choice_codec("", *CAPACITY_BYTES), "", "Chip whose capacities count; detected by default.", follow=True
    ),
    Key("mf", _NAME, "", "Function whose map is shown; by default the selected one, * for all functions."),
    Key("mcmp", integer_codec(0, 1), 0, "1: the comparison of two snapshots."),
    Key("mscale", choice_codec("used", "capacity"), "used", "How wide a panel is: what is used, or the whole space."),
    Key("mhide", list_codec(64), (), "Spaces that are not drawn."),
    Key("mbeyond", integer_codec(0, 1), 1, "0: boxes beyond the reference are not drawn."),
    Key("mtile", _NAME, "", "Box that is selected: name of its first tile, #2 for the second box of that name."),
    Key("mline", integer_codec(0, 10_000_000), 0, "Line of the snapshot that is selected."),
    Key("mzoom", list_codec(40), (), "Axes that are zoomed: axis:low:high, the space's name or y."),
    Key("mside", choice_codec(*SIDES), "tile", "What is shown below the source."),
    Key("mspace", text_codec(100), "", "Space of which the page says why it is full; by default the tightest."),
    Key("mgoal", integer_codec(0, 1 << 40), 0, "Bytes that the alive tiles of that space should fit into."),
)
