"""Which colour does a thing have, and how do figures look?

A function's colour depends on its name only (a hash of its crc32), so it is the same on every page, in every run and
in the browser (``assets/js/core/colour.js`` uses the same rule).

The 24 colours were chosen by farthest-point search in OKLab under normal vision and simulated protanopia, deuteranopia and
tritanopia, in both themes at once: no two are closer than 0.08 for normal vision and 0.04 for any of the three
(``tests/components/test_theme.py`` measures it; a hand-picked set of eight hues in three shades came down to 0.008).
"""

from __future__ import annotations

import zlib
from typing import Any, Literal

Theme = Literal["light", "dark"]

FUNCTION_COLORS: dict[str, tuple[str, ...]] = {
    "light": (
        "#0559d2", "#de602f", "#339852", "#b4065f", "#b775e4", "#56a7a2", "#cf961d", "#610372",
        "#154a06", "#d8c44b", "#6c6599", "#adb2ea", "#3414a1", "#23d891", "#6a39a8", "#8baf64",
        "#813236", "#805b2c", "#016763", "#aa6d80", "#35507b", "#8b84ba", "#6d0b47", "#7bc9b9",
    ),
    "dark": (
        "#3b82f8", "#fc8155", "#5cb773", "#dd4883", "#d192fd", "#76c1bc", "#e7b04a", "#8f41a0",
        "#45763a", "#e9d667", "#8f88bc", "#c1c7fd", "#5851d0", "#54eba7", "#8f64d0", "#a4c880",
        "#ad5c5e", "#a58054", "#428e8a", "#c98d9e", "#5d78a5", "#a8a1d6", "#9d4272", "#93dccd",
    ),
}  # fmt: skip

SURFACES: dict[str, dict[str, str]] = {
    "light": {
        "panel": "#ffffff",
        "text": "#1c2430",
        "muted": "#5a6675",
        "line": "#d9dee5",
        "accent": "#2563c9",
        "danger": "#c2321f",
        "warn": "#8a5a00",
        "ok": "#1d7a4f",
    },
    "dark": {
        "panel": "#171c24",
        "text": "#e4e9f0",
        "muted": "#9aa6b5",
        "line": "#2e3743",
        "accent": "#6ea4f5",
        "danger": "#ff7a66",
        "warn": "#e7b04d",
        "ok": "#55c58f",
    },
}


# Any odd multiplier spreads names over the palette. This one was searched for: the longest-running functions of each
# published PyPTO run (qwen3 decode, paged attention, the runtime's test programs) share no colour with one another.
COLOR_MULTIPLIER = 3693442237


def function_color_index(name: str) -> int:
    """Palette index of function ``name``: crc32 of its UTF-8 bytes, multiplied modulo 2^32; its upper half modulo 24."""
    return (zlib.crc32(name.encode("utf-8")) * COLOR_MULTIPLIER & 0xFFFFFFFF) // 65536 % 24


def function_color(name: str, theme: Theme = "light") -> str:
    """Hex colour of function ``name`` in ``theme``."""
    return FUNCTION_COLORS[theme][function_color_index(name)]


def plotly_template(theme: Theme = "light") -> dict[str, Any]:
    """Layout defaults of a figure: our surfaces, quiet grid lines, system fonts."""
    colors = SURFACES[theme]
    axis = {
        "gridcolor": colors["line"],
        "linecolor": colors["line"],
        "zerolinecolor": colors["line"],
        "tickfont": {"color": colors["muted"], "size": 11},
        "title": {"font": {"color": colors["muted"], "size": 12}},
        "automargin": True,
    }
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": colors["text"]},
        "xaxis": dict(axis),
        "yaxis": dict(axis),
        "margin": {"l": 48, "r": 12, "t": 12, "b": 36},
        "hoverlabel": {"font": {"family": "system-ui, sans-serif", "size": 12}},
        "legend": {"orientation": "h", "y": 1.08, "x": 0, "font": {"size": 11, "color": colors["text"]}},
    }
