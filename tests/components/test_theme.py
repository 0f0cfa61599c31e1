from __future__ import annotations

import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from components.theme import (
    COLOR_MULTIPLIER,
    FUNCTION_COLORS,
    SURFACES,
    function_color,
    function_color_index,
    plotly_template,
)

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


# Machado, Oliveira, Fernandes 2009, severity 1, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}
TO_LMS = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
TO_LAB = np.array(
    [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.808675766]]
)  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("vision", "least"), [(name, 0.08 if name == "normal" else 0.04) for name in VISION])
def test_the_24_colours_can_be_told_apart(theme: str, vision: str, least: float) -> None:
    srgb = np.array([[int(c[at : at + 2], 16) / 255 for at in (1, 3, 5)] for c in FUNCTION_COLORS[theme]])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ VISION[vision].T, 0, 1)
    oklab = np.cbrt(seen @ TO_LMS.T) @ TO_LAB.T
    distance = np.linalg.norm(oklab[:, None] - oklab[None], axis=2) + 9 * np.eye(24)
    assert distance.min() >= least


def test_a_colour_depends_on_the_name_only() -> None:
    for name in ("QK", "größe", ""):
        expected = (zlib.crc32(name.encode()) * COLOR_MULTIPLIER % 2**32 >> 16) % 24
        assert function_color_index(name) == expected
        assert function_color(name) == FUNCTION_COLORS["light"][expected]


@pytest.mark.parametrize(
    "names",
    [
        ("QK", "SF", "PV", "UP"),
        ("fa_fused_aiv", "fa_fused_aic", "up_proj", "gate_proj", "down_proj", "out_proj", "online_softmax", "q_proj"),
    ],
)
def test_the_functions_people_see_most_share_no_colour(names: tuple[str, ...]) -> None:
    assert len({function_color_index(name) for name in names}) == len(names)


def test_figures_are_transparent_and_use_system_fonts() -> None:
    layout = plotly_template("dark")
    assert layout["paper_bgcolor"] == "rgba(0,0,0,0)"
    assert layout["font"]["color"] == SURFACES["dark"]["text"]
    assert "http" not in str(layout)
