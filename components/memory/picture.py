"""How is a function's memory drawn? Address across, lines down, one panel per space, all boxes of a kind in one path.

The figure holds a handful of filled paths whatever the number of boxes; ``assets/js/memory`` writes the labels over it and
finds the box under the pointer, from :func:`model`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.memory.chips import SPACE_ORDER
from analysis.memory.model import Box, FunctionMap, Space
from components.plot import layout
from components.theme import FUNCTION_COLORS

SPACE_COLORS = {"Vec": 0, "Mat": 2, "Left": 6, "LeftScale": 15, "Right": 4, "RightScale": 19, "Acc": 5, "Bias": 10}
"""Palette index of a space; others share :data:`OTHER_COLORS` in turn."""
OTHER_COLORS = (12, 20, 14, 11)
MIN_SHARE = 0.055
"""A panel is at least this part of the width: its axis says its own scale then."""
GAP = 0.012
KIB = 1024.0
MOST_OUTLINED = 1_000
"""With more boxes of a kind in a panel they have no outlines: plotly draws each outline as an element of its own."""
KINDS = ("even", "odd", "view", "touch", "overlap", "beyond")
"""Look of a box: two tones that alternate by buffer, a view, a touch, a conflict, beyond the reference."""
_ALPHA = {"even": 0.42, "odd": 0.24, "view": 0.10, "touch": 0.30}


def space_color(space: str) -> int:
    """Palette index of a space, known or not."""
    if space in SPACE_COLORS:
        return SPACE_COLORS[space]
    return OTHER_COLORS[sum(space.encode("utf-8", "replace")) % len(OTHER_COLORS)]


def kind_of(box: Box, bases: Mapping[str, int]) -> str:
    """Which of :data:`KINDS` a box is."""
    if box.beyond:
        return "beyond"
    if box.conflict_kind:
        return box.conflict_kind
    if box.view:
        return "view"
    return ("even", "odd")[bases[box.base] % 2]


def panels(function: FunctionMap, hidden: Sequence[str], to_capacity: bool, beyond: bool) -> list[dict[str, Any]]:
    """The spaces that are drawn: name, number of its x axis, bytes across and whether it is drawn wider than to scale."""
    boxes = function.all_boxes() if beyond else function.boxes
    extents: dict[str, int] = {}
    for box in boxes:
        if box.space not in hidden:
            extents[box.space] = max(extents.get(box.space, 0), box.end)
    known = {space.space: space for space in function.spaces}
    if to_capacity:
        for name in extents:
            extents[name] = max(extents[name], (known[name].capacity_bytes or 0) if name in known else 0)
    names = sorted(extents, key=lambda name: (SPACE_ORDER.index(name) if name in SPACE_ORDER else 99, name))
    widths = _widths([extents[name] for name in names])
    out, at = [], 0.0
    scale = max((w / extents[n] for n, (w, wide) in zip(names, widths, strict=True) if not wide), default=0)
    for number, (name, (width, wide)) in enumerate(zip(names, widths, strict=True), 1):
        out.append({"space": name, "axis": "x" if number == 1 else f"x{number}", "bytes": extents[name],
                    "domain": [at, at + width], "times": round(width / extents[name] / scale, 1) if wide and scale else 1})  # fmt: skip
        at += width + GAP
    return out


def _widths(extents: list[int]) -> list[tuple[float, bool]]:
    """Width of each panel and whether it had to be widened: to one byte scale, none below :data:`MIN_SHARE`."""
    room = 1.0 - GAP * (len(extents) - 1)
    wide: set[int] = set()
    while True:
        left = room - MIN_SHARE * len(wide)
        total = sum(e for at, e in enumerate(extents) if at not in wide) or 1
        narrow = {at for at, e in enumerate(extents) if at not in wide and left * e / total < MIN_SHARE}
        if not narrow or len(wide) + len(narrow) == len(extents):
            break
        wide |= narrow
    return [(MIN_SHARE, True) if at in wide else (left * e / total, False) for at, e in enumerate(extents)]


def figure(function: FunctionMap, drawn: list[dict[str, Any]], beyond: bool) -> dict[str, Any]:
    """The figure of ``function``; ``drawn`` as from :func:`panels`."""
    spaces = {space.space: space for space in function.spaces}
    axes: dict[str, Any] = {}
    traces: list[dict[str, Any]] = []
    for panel in drawn:
        axes["xaxis" + panel["axis"][1:]] = _x_axis(panel)
        traces += _box_traces(function, panel, beyond)
        traces += _limits(function, panel, spaces.get(panel["space"]))
    top, bottom = function.start_line - 0.5, function.end_line + 0.5
    base = layout()["yaxis"]
    axes["yaxis"] = {**base, "range": [bottom, top], "title": {**base["title"], "text": "line"}, "tickformat": ",d",
                     "zeroline": False, "anchor": "x"}  # fmt: skip
    return {
        "data": traces,
        "layout": layout(
            **axes,
            hovermode=False,
            dragmode="zoom",
            showlegend=False,
            margin={"l": 56, "r": 14, "t": 8, "b": 42},
            uirevision="memory",
        ),
    }


def _x_axis(panel: dict[str, Any]) -> dict[str, Any]:
    base = layout()["xaxis"]
    times = f" ×{panel['times']:g}" if panel["times"] > 1 else ""
    return {
        **base,
        "domain": panel["domain"],
        "range": [0, panel["bytes"] / KIB],
        "anchor": "y",
        "nticks": max(2, math.ceil((panel["domain"][1] - panel["domain"][0]) * 12)),
        "title": {
            **base["title"],
            "text": plain(panel["space"][:24]) + " (KiB)" * (panel["domain"][1] - panel["domain"][0] > 0.1) + times,
        },
        "zeroline": False,
    }


def _box_traces(function: FunctionMap, panel: dict[str, Any], beyond: bool) -> list[dict[str, Any]]:
    boxes = [box for box in function.boxes if box.space == panel["space"]]
    bases = {name: at for at, name in enumerate(dict.fromkeys(box.base for box in boxes))}
    kinds: dict[str, list[Box]] = {kind: [] for kind in KINDS}
    for box in boxes:
        kinds[kind_of(box, bases)].append(box)
    if beyond:
        kinds["beyond"] = [box for box in function.beyond if box.space == panel["space"]]
    color = space_color(panel["space"])
    order = ("beyond", "even", "odd", "touch", "overlap", "view")
    return [_boxes(kinds[kind], kind, color, panel["axis"]) for kind in order if kinds[kind]]


def _boxes(boxes: list[Box], kind: str, color: int, axis: str) -> dict[str, Any]:
    x: list[float | None] = []
    y: list[float | None] = []
    for box in boxes:
        low, high = box.offset / KIB, box.end / KIB
        top, bottom = box.start_line - 0.5, box.end_line + 0.5
        x += (low, high, high, low, low, None)
        y += (top, top, bottom, bottom, top, None)
    light, mode = _rgb(color), "lines"
    line: dict[str, Any] = {"width": 1, "color": f"rgb({light})"}
    look: dict[str, Any] = {"fillcolor": f"rgba({light}, {_ALPHA.get(kind, 0)})", "meta": {"color": f"--fn-{color}"}}
    if kind == "view":
        line["dash"] = "4px,3px"
    elif kind == "overlap":
        line["width"], look["fillcolor"], look["meta"] = 2, "rgba(208, 48, 32, 0.45)", {"color": "--danger"}
    elif kind == "touch":
        line["width"], line["dash"], look["meta"] = 2, "dot", {"color": "--warn"}
    elif kind == "beyond":
        line["width"], line["dash"] = 1, "dot"
        look["fillcolor"] = "rgba(0,0,0,0)"
        look["fillpattern"] = {"shape": "/", "size": 7, "solidity": 0.12, "fgcolor": f"rgba({light}, 0.8)",
                               "bgcolor": "rgba(0,0,0,0)", "fillmode": "replace"}  # fmt: skip
    if len(boxes) > MOST_OUTLINED and kind in ("even", "odd", "beyond"):
        del look["meta"]  # without outlines there is nothing to restyle
        mode = "none"
    return {"type": "scatter", "mode": mode, "name": kind, "x": x, "y": y, "fill": "toself", "line": line,
            "xaxis": axis, "hoverinfo": "skip"} | look  # fmt: skip


def _limits(function: FunctionMap, panel: dict[str, Any], space: Space | None) -> list[dict[str, Any]]:
    """High-water line and, where it is inside the panel, capacity line."""
    out: list[dict[str, Any]] = []
    y = [function.start_line - 0.5, function.end_line + 0.5]
    if space is None:
        return out
    for name, value, variable, dash in (
        ("high-water mark", space.used_bytes, "--text", "solid"),
        ("capacity", space.capacity_bytes, "--danger", "dash"),
    ):
        if value is not None and value <= panel["bytes"]:
            out.append({"type": "scatter", "mode": "lines", "name": name, "x": [value / KIB] * 2, "y": y,
                        "line": {"width": 1.5, "dash": dash, "color": "#5a6675"}, "meta": {"color": variable},
                        "xaxis": panel["axis"], "hoverinfo": "skip", "cliponaxis": False})  # fmt: skip
    return out


def model(function: FunctionMap, drawn: list[dict[str, Any]], ids: Mapping[str, Box], beyond: bool) -> dict[str, Any]:
    """What the browser knows of the boxes: the panels, and per box its place, words and id, in drawing order."""
    axes = {panel["space"]: at for at, panel in enumerate(drawn)}
    boxes = [
        [
            axes[box.space],
            box.offset,
            box.end,
            box.start_line,
            box.end_line,
            box_id,
            label(box),
            describe(box),
            bool(box.beyond),
        ]
        for box_id, box in ids.items()
        if box.space in axes and (beyond or not box.beyond)
    ]
    return {
        "panels": [{"space": p["space"], "axis": p["axis"], "home": [0, p["bytes"] / KIB]} for p in drawn],
        "home": [function.end_line + 0.5, function.start_line - 0.5],
        "boxes": boxes,
    }


def label(box: Box) -> str:
    """Name with the number of aliases."""
    return box.name[:120] + (f" +{len(box.aliases)}" if box.aliases else "")


def describe(box: Box) -> str:
    """Shape, type, operation and what is special about a box, in a few words."""
    shape = f"[{', '.join(box.shape)}]" if box.shape else ""
    special = {"overlap": "conflict", "touch": "touches another buffer in one line"}.get(box.conflict_kind, "")
    beyond = {"slot": "slot", "carried": "loop-carried", "back-edge": "live across the back edge", "ring": "ring"}
    parts = [f"{shape} {box.dtype}".strip(), box.op, "view" if box.view else "", special, beyond.get(box.beyond, "")]
    return " · ".join(part for part in parts if part)[:300]


def plain(text: str) -> str:
    """Plotly reads a little HTML in titles: names from files must not be any."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _rgb(color: int) -> str:
    text = FUNCTION_COLORS["light"][color]
    return ", ".join(str(int(text[at : at + 2], 16)) for at in (1, 3, 5))
