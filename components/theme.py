"""Which colour does a thing have, and how do figures look?

A function's colour depends on its name only (``crc32(name) % 24``), so it is the same on every page, in every run and
in the browser (``assets/js/01-theme.js`` uses the same rule). The 24 colours alternate lightness within eight hues so that
neighbours differ for people with colour-vision deficiencies too.
"""

from __future__ import annotations

import zlib
from typing import Any, Literal

Theme = Literal["light", "dark"]

FUNCTION_COLORS: dict[str, tuple[str, ...]] = {
    "light": (
        "#3b6fb6", "#e08a1e", "#2e8f6e", "#c2477f", "#7a5fc0", "#97a51f", "#2a9fb8", "#c9553a",
        "#8fb4e8", "#f3c178", "#8fd0b6", "#eba6c6", "#bdaaf0", "#cfd67a", "#90d5e4", "#eda592",
        "#1f4478", "#96580a", "#145843", "#7f2450", "#483484", "#5f690c", "#12626f", "#83301b",
    ),
    "dark": (
        "#5c93dc", "#e89a35", "#3fae88", "#d9669a", "#9a80dc", "#afbd38", "#3fb6cf", "#dd6f53",
        "#a9c8f2", "#f6cf93", "#a4dcc5", "#f2bbd5", "#cdbdf6", "#dbe190", "#a8e0ec", "#f3b9a9",
        "#3a68a8", "#b4761f", "#27795d", "#a53f70", "#6650ad", "#7c8820", "#24808f", "#a84b33",
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


def function_color_index(name: str) -> int:
    """Palette index of function ``name``: crc32 of its UTF-8 bytes modulo 24."""
    return zlib.crc32(name.encode("utf-8")) % 24


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
