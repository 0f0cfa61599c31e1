"""What do the scripts share with Python? Numbers and names that both must know, written into one generated module.

``python -m app.server.script_constants`` writes ``assets/js/core/constants.js``; ``tests/app/test_scripts.py`` compares.
"""

from __future__ import annotations

import json
from pathlib import Path

from analysis import registry
from analysis.timeline.items import KIND_LETTERS
from analysis.timeline.message import MARK_BINS
from app.server.scripts import PLOTLY
from app.shell.url_state import MAX_TICKS
from components import theme
from components.swimlane.page import MARKER_COLORS, VIEWS

FILE = Path(__file__).resolve().parents[2] / "assets/js/core/constants.js"


def script() -> str:
    """The text of the module."""
    values = {
        "N_COLOURS": (len(theme.FUNCTION_COLORS["light"]), "colours of functions, --fn-0 and so on"),
        "COLOUR_MULTIPLIER": (theme.COLOR_MULTIPLIER, "of the hash that gives a name its colour"),
        "ITEM_LETTERS": (KIND_LETTERS, "one letter per kind of item of a timeline"),
        "MARK_BINS": (MARK_BINS, "bins of the strip of matches above the lanes"),
        "MARKER_COLOURS": ([name for name, _ in MARKER_COLORS], "names of marker colours in the URL"),
        "MAX_TICKS": (MAX_TICKS, "greatest tick that a URL may name"),
        "PLOTLY_PATH": (PLOTLY, "of plotly.js below the prefix"),
        "TIMELINE_VIEWS": ([list(view[:2]) for view in VIEWS], "names and titles of the views of a capture"),
        "WINDOWED": (
            [item.name for item in registry.in_panel() if item.windowed],
            "tabs of the performance panel that follow the visible window",
        ),
    }
    lines = [
        "// @ts-check",
        "/* What do scripts share with Python? Made by `python -m app.server.script_constants`; do not edit. */",
    ]
    for name, (value, doc) in values.items():
        lines += ["", f"/** {doc} */", f"export const {name} = {json.dumps(value)};"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(script())
