"""The graph as an SVG file: the same shapes, places and colours as on the page, from the same tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

from analysis.capture import Capture, TaskKind
from analysis.graph.layout import Layout
from analysis.graph.prepared import Marks
from analysis.graph.scene import Scene
from components.dag.elements import bends_by_line, elements
from components.dag.style import LOOKS, SIZES
from components.theme import FUNCTION_COLORS, SURFACES, Theme

MARGIN = 40
TITLE = 34
_UNIT: dict[str, tuple[tuple[float, float], ...]] = {
    "rectangle": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "hexagon": ((-1, 0), (-0.5, -1), (0.5, -1), (1, 0), (0.5, 1), (-0.5, 1)),
    "octagon": ((-0.41, -1), (0.41, -1), (1, -0.41), (1, 0.41), (0.41, 1), (-0.41, 1), (-1, 0.41), (-1, -0.41)),
    "cut-rectangle": ((-0.88, -1), (0.88, -1), (1, -0.58), (1, 0.58), (0.88, 1), (-0.88, 1), (-1, 0.58), (-1, -0.58)),
    "rhomboid": ((-1, -1), (0.33, -1), (1, 1), (-0.33, 1)),
}
"""Corners of each polygon on a square from -1 to 1, as Cytoscape draws them."""


def svg(
    capture: Capture, scene: Scene, layout: Layout, marks: Marks, theme: Theme, direction: str, title: str
) -> Iterator[str]:
    """The scene as SVG text, piece by piece."""
    colors = SURFACES[theme]
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN + TITLE
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="system-ui, sans-serif" font-size="10.5">\n'
        f'<rect width="100%" height="100%" fill="{colors["panel"]}"/>\n'
        f'<text x="{MARGIN}" y="28" font-size="15" fill="{colors["text"]}">{escape(title)}</text>\n'
        f'<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 8 4 0 8z" fill="{colors["muted"]}"/></marker></defs>\n'
        f'<g transform="translate({MARGIN} {MARGIN + TITLE})">\n'
    )
    drawn = elements(capture, scene, layout, marks)
    bends = bends_by_line(scene, layout)
    lines = scene.n_nodes + len(scene.line_pred)
    for j, element in enumerate(drawn[scene.n_nodes : lines]):
        yield _line(scene, layout, j, bends.get(j, ()), element, colors, direction)
    for at in range(len(scene.steps)):
        ends = (layout.x[at], layout.y[at], layout.x[at + 1], layout.y[at + 1])
        yield '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" '.format(*ends)
        yield f'stroke="{colors["accent"]}" stroke-width="2" stroke-dasharray="2 3"/>\n'
    for i, element in enumerate(drawn[: scene.n_nodes]):
        yield _node(element, float(layout.x[i]), float(layout.y[i]), theme)
    yield "</g>\n</svg>\n"


def _line(
    scene: Scene,
    layout: Layout,
    j: int,
    bends: tuple[tuple[float, float], ...],
    element: dict[str, Any],
    colors: dict[str, str],
    direction: str,
) -> str:
    start, end = int(scene.line_pred[j]), int(scene.line_succ[j])
    dx, dy = (SIZES.node_width / 2, 0.0) if direction == "lr" else (0.0, SIZES.node_height / 2)
    points = [
        (float(layout.x[start]) + dx, float(layout.y[start]) + dy),
        *bends,
        (float(layout.x[end]) - dx, float(layout.y[end]) - dy),
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    classes = element["classes"].split()
    color = colors["danger"] if "late" in classes or "loop" in classes else colors["muted"]
    dash = ' stroke-dasharray="5 3"' if "explicit" in classes else ""
    text = element["data"].get("text")
    label = ""
    if text:
        x, y = (points[0][0] + points[-1][0]) / 2, (points[0][1] + points[-1][1]) / 2
        label = f'<text x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle" font-size="9" fill="{color}">{text}</text>'
    return (
        f'<polyline points="{path}" fill="none" stroke="{color}" stroke-opacity=".65"{dash} marker-end="url(#a)"/>'
        f"{label}\n"
    )


def _node(element: dict[str, Any], x: float, y: float, theme: Theme) -> str:
    data, colors = element["data"], SURFACES[theme]
    look = LOOKS[TaskKind[data["kind"].upper()]]
    fill, border = look.colors(theme)
    group = "group" in element["classes"].split()
    paint = f'fill="{fill}" stroke="{border}" stroke-width="{3 if group else 1.4}"'
    paint += ' stroke-dasharray="4 3"' if look.dashed and not group else ""
    shape = "round" if group else look.shape
    stack = _shape(shape, x + 5, y + 5, paint + ' opacity=".55"') if data.get("blocks", 1) > 1 else ""
    stripe = ""
    if data["fn"] >= 0:
        color = FUNCTION_COLORS[theme][data["fn"]]
        stripe = f'<rect x="{x - 30:.1f}" y="{y + 14:.1f}" width="60" height="3" fill="{color}"/>'
    first, second = data["label"].split("\n")
    marks = ("🔥" if data.get("fire") else "") + ("⭐" if data.get("star") else "")
    ports = ""
    if not group:
        style = f'font-size="8.5" fill="{colors["muted"]}"'
        ports = (
            f'<text x="{x - SIZES.node_width / 2 - 3:.1f}" y="{y - 6:.1f}" text-anchor="end" {style}>{data["ins"]}</text>'
            f'<text x="{x + SIZES.node_width / 2 + 3:.1f}" y="{y - 6:.1f}" {style}>{data["outs"]}</text>'
        )
    return (
        f"<g><title>{escape(data['name'])}</title>{stack}{_shape(shape, x, y, paint)}{stripe}"
        f'<text x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle" fill="{colors["text"]}">{escape(first)}</text>'
        f'<text x="{x:.1f}" y="{y + 10:.1f}" text-anchor="middle" fill="{colors["text"]}">{escape(second)}</text>'
        f'<text x="{x + 40:.1f}" y="{y - 16:.1f}">{marks}</text>{ports}</g>\n'
    )


def _shape(shape: str, x: float, y: float, paint: str) -> str:
    half_w, half_h = SIZES.node_width / 2, SIZES.node_height / 2
    if shape == "ellipse":
        return f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{half_w}" ry="{half_h}" {paint}/>'
    if shape in _UNIT:
        points = " ".join(f"{x + a * half_w:.1f},{y + b * half_h:.1f}" for a, b in _UNIT[shape])
        return f'<polygon points="{points}" {paint}/>'
    radius = 14 if shape == "barrel" else 7
    return (
        f'<rect x="{x - half_w:.1f}" y="{y - half_h:.1f}" width="{SIZES.node_width}" height="{SIZES.node_height}" '
        f'rx="{radius}" {paint}/>'
    )
