from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

from components.theme import FUNCTION_COLORS, SURFACES, function_color, function_color_index, plotly_template

TOKENS = (Path(__file__).parents[2] / "assets" / "00-tokens.css").read_text()
BLOCKS = {
    "light": "".join(re.findall(r":root \{(.*?)\}", TOKENS, re.S)),
    "dark": "".join(re.findall(r'\[data-theme="dark"\] \{(.*?)\}', TOKENS, re.S)),
}


def variables(theme: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): ([^;]+);", BLOCKS[theme]))


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_css_holds_the_same_colours(theme: str) -> None:
    found = variables(theme)
    assert [found[f"fn-{at}"] for at in range(24)] == list(FUNCTION_COLORS[theme])
    for name, color in SURFACES[theme].items():
        assert found[name] == color


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_aa_contrast_on_every_surface(theme: str) -> None:
    found = variables(theme)
    for surface in ("bg", "panel", "panel-2", "hover", "selected"):
        for text in ("text", "muted"):
            assert contrast(found[text], found[surface]) >= 4.5, f"{text} on {surface}"
    for name in ("accent", "danger", "warn", "ok"):
        assert contrast(found[name], found["panel"]) >= 4.5, name
    for name in ("danger", "warn", "ok"):
        assert contrast(found[name], found[f"{name}-soft"]) >= 4.5, f"{name} on {name}-soft"
    assert contrast(found["accent-text"], found["accent"]) >= 4.5
    assert contrast(found["focus"], found["panel"]) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_24_colours_are_distinct(theme: str) -> None:
    colors = FUNCTION_COLORS[theme]
    assert len(set(colors)) == len(colors) == 24


def test_a_colour_depends_on_the_name_only() -> None:
    assert function_color_index("QK") == zlib.crc32(b"QK") % 24
    assert function_color("QK") == FUNCTION_COLORS["light"][zlib.crc32(b"QK") % 24]
    assert function_color_index("größe") == zlib.crc32("größe".encode()) % 24


def test_figures_are_transparent_and_use_system_fonts() -> None:
    layout = plotly_template("dark")
    assert layout["paper_bgcolor"] == "rgba(0,0,0,0)"
    assert layout["font"]["color"] == SURFACES["dark"]["text"]
    assert "http" not in str(layout)
