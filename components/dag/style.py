"""How do the nodes and lines of the dependency graph look, in either theme?

Shape and fill tell the kind; the same table draws the legend and the SVG export.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.capture import TaskKind
from analysis.graph.layout import Sizes
from components.theme import SURFACES, Theme

SIZES = Sizes()


@dataclass(frozen=True, slots=True)
class KindLook:
    """Cytoscape shape, and (fill, border) per theme."""

    shape: str
    light: tuple[str, str]
    dark: tuple[str, str]
    dashed: bool = False

    def colors(self, theme: Theme) -> tuple[str, str]:
        """(fill, border) in ``theme``."""
        return self.light if theme == "light" else self.dark


LOOKS: dict[TaskKind, KindLook] = {
    TaskKind.AIC: KindLook("rectangle", ("#dfeafb", "#3b6fb6"), ("#1d2f4a", "#6ea4f5")),
    TaskKind.AIV: KindLook("ellipse", ("#dcf1e8", "#2e8f6e"), ("#17382d", "#4fbf98")),
    TaskKind.MIX: KindLook("hexagon", ("#eae4fb", "#7a5fc0"), ("#302a4d", "#a68ee8")),
    TaskKind.ALLOC: KindLook("barrel", ("#f6ead2", "#a06c12"), ("#3b2f19", "#d9a74a")),
    TaskKind.DUMMY: KindLook("cut-rectangle", ("#eef1f4", "#7b8694"), ("#232a33", "#8a97a6"), dashed=True),
    TaskKind.GRAPH: KindLook("octagon", ("#fbe3ee", "#b83a72"), ("#43233a", "#e078ab")),
    TaskKind.UNKNOWN: KindLook("rhomboid", ("#ffffff", "#7b8694"), ("#171c24", "#8a97a6"), dashed=True),
}


def stylesheet(theme: Theme, direction: str) -> list[dict[str, Any]]:
    """Cytoscape stylesheet for a theme and a direction (``lr`` or ``tb``)."""
    colors = SURFACES[theme]
    return [
        *_node_rules(theme, colors),
        *_line_rules(colors, direction),
        {"selector": ".dim", "style": {"opacity": 0.16}},
        {"selector": "edge.dim", "style": {"opacity": 0.07}},
        {"selector": "node.before", "style": {"border-color": colors["accent"], "border-width": 3}},
        {"selector": "node.after", "style": {"border-color": colors["ok"], "border-width": 3}},
        {"selector": "edge.before", "style": _lit(colors["accent"])},
        {"selector": "edge.after", "style": _lit(colors["ok"])},
        {"selector": "node.hit", "style": {"border-color": colors["warn"], "border-width": 4}},
        {"selector": "node.focus", "style": _focus(colors["text"], 4)},
        {"selector": "node.here", "style": _focus(colors["danger"], 4)},
        {"selector": "edge.here", "style": _lit(colors["danger"]) | {"width": 3.5}},
    ]


def _focus(color: str, width: int) -> dict[str, Any]:
    return {"border-color": color, "border-width": width, "border-style": "solid", "z-index": 30}


def _lit(color: str) -> dict[str, Any]:
    return {"line-color": color, "target-arrow-color": color, "color": color, "width": 2.4, "z-index": 20, "opacity": 1}


def _node_rules(theme: Theme, colors: dict[str, str]) -> list[dict[str, Any]]:
    base = {
        "width": SIZES.node_width,
        "height": SIZES.node_height,
        "label": "data(label)",
        "font-family": "system-ui, sans-serif",
        "font-size": 10.5,
        "min-zoomed-font-size": 5,
        "color": colors["text"],
        "text-wrap": "wrap",
        "text-valign": "center",
        "text-halign": "center",
        "line-height": 1.15,
        "border-width": 1.4,
        "z-index": 10,
        "overlay-opacity": 0,
    }
    rules = [{"selector": "node", "style": base}]
    for kind, look in LOOKS.items():
        fill, border = look.colors(theme)
        style: dict[str, Any] = {"shape": look.shape, "background-color": fill, "border-color": border}
        if look.dashed:
            style["border-style"] = "dashed"
        rules.append({"selector": f"node.{kind.name.lower()}", "style": style})
    picture = {
        "background-image": "data(ports)",
        "background-image-containment": "over",
        "background-clip": "none",
        "background-width": SIZES.node_width + 40,
        "background-height": SIZES.node_height + 16,
        "background-offset-x": 0,
        "background-position-x": "50%",
        "background-position-y": "50%",
        "bounds-expansion": 22,
    }
    return [
        *rules,
        {"selector": "node[ports]", "style": picture},
        {
            "selector": "node.group",
            "style": {
                "shape": "round-rectangle",
                "border-style": "double",
                "border-width": 4,
                "font-size": 13,
                "min-zoomed-font-size": 4,
            },
        },
    ]


def _line_rules(colors: dict[str, str], direction: str) -> list[dict[str, Any]]:
    leave, enter = ("90deg", "270deg") if direction == "lr" else ("180deg", "0deg")
    base = {
        "curve-style": "straight",
        "source-endpoint": leave,
        "target-endpoint": enter,
        "line-color": colors["muted"],
        "target-arrow-color": colors["muted"],
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.8,
        "target-distance-from-node": 6,
        "width": 1.1,
        "opacity": 0.62,
        "overlay-opacity": 0,
    }
    many = {
        "width": "mapData(n, 1, 3000, 1.2, 3.2)",
        "label": "data(text)",
        "font-size": 9.5,
        "min-zoomed-font-size": 6,
        "color": colors["muted"],
        "text-background-color": colors["panel"],
        "text-background-opacity": 0.85,
        "text-background-padding": "1px",
    }
    bent = {
        "curve-style": "segments",
        "edge-distances": "node-position",
        "segment-weights": "data(w)",
        "segment-distances": "data(d)",
    }
    loop = {
        "curve-style": "bezier",
        "source-endpoint": "outside-to-node",
        "target-endpoint": "outside-to-node",
        "line-color": colors["danger"],
        "target-arrow-color": colors["danger"],
    }
    step = {
        "curve-style": "straight",
        "line-style": "dotted",
        "line-color": colors["accent"],
        "target-arrow-color": colors["accent"],
        "width": 2,
        "opacity": 0.9,
    }
    return [
        {"selector": "edge", "style": base},
        {"selector": "edge[text]", "style": many},
        {"selector": "edge.explicit", "style": {"line-style": "dashed"}},
        {"selector": "edge.bent", "style": bent},
        {"selector": "edge.late", "style": {"line-color": colors["danger"], "target-arrow-color": colors["danger"]}},
        {"selector": "edge.loop", "style": loop},
        {"selector": "edge.step", "style": step},
        {"selector": "edge.core-wait", "style": {"line-color": colors["warn"], "target-arrow-color": colors["warn"]}},
    ]
