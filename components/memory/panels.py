"""How is what a map says put into words? One tile, why a space is full, spaces, notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from analysis.memory.model import Box, FunctionMap, Space
from analysis.memory.plans import Plan
from analysis.memory.questions import Neighbours, Peak
from components import fmt
from components.memory.picture import label, space_color

FULL_SHARE = 0.95
"""From here on a space counts as full and is drawn red."""
MOST_ROWS = 200
"""Tiles listed at once; the rest is counted."""
MOST_ALIASES = 60
MOST_STEP_BOXES = 20


def space_chips(function: FunctionMap, hidden: Sequence[str], chosen: str) -> html.Div:
    """One chip per space: how full it is, a switch that hides it, and a button that asks why."""
    return html.Div(
        [_space_chip(space, space.space in hidden, hidden, space.space == chosen) for space in function.spaces],
        className="mem-spaces",
        role="group",
        **{"aria-label": "Spaces"},
    )


def _space_chip(space: Space, is_hidden: bool, hidden: Sequence[str], chosen: bool) -> html.Div:
    name = space.space
    after = [other for other in hidden if other != name] if is_hidden else [*hidden, name]
    share = space.share
    width = min(100.0, 100 * share) if share is not None else 0.0
    level = " mem-full" if share is not None and share >= FULL_SHARE else ""
    used = f"{fmt.count(space.used_bytes)} of {fmt.count(space.capacity_bytes)} B"
    if space.capacity_bytes is None:
        used = f"{fmt.count(space.used_bytes)} B, capacity unknown"
    return html.Div(
        [
            html.Button(
                [html.Span(className="fn-swatch", style={"background": f"var(--fn-{space_color(name)})"}), name[:40]],
                className="button mem-space-name",
                title=f"{'Show' if is_hidden else 'Hide'} {name[:40]}",
                **{
                    "data-url-key": "mhide",
                    "data-url-value": ",".join(_item(other) for other in after),
                    "aria-pressed": str(not is_hidden).lower(),
                },
            ),
            html.Span(html.Span(style={"width": f"{width:.1f}%"}), className="mem-bar", **{"aria-hidden": "true"}),
            html.Span([html.B(fmt.percent(share)), f" {used}"], className="mem-space-figures"),
            html.Button(
                "Why?",
                className="button quiet mem-why",
                title=f"Why is {name[:40]} this full?",
                **{"data-space": name[:100]},
            ),
        ],
        className=f"mem-space{level}{' mem-chosen' if chosen else ''}",
    )


def _item(text: str) -> str:
    """One item of a list in the URL, as :func:`app.shell.url_state.list_codec` writes it."""
    return text.replace("%", "%25").replace(",", "%2C")


def legend(function: FunctionMap) -> html.Ul:
    """What the looks in the picture mean; only those that occur."""
    boxes = function.boxes
    entries = [
        ("view", "view", any(box.view for box in boxes)),
        ("touch", "touches in one line", any(box.conflict_kind == "touch" for box in boxes)),
        ("overlap", "conflict", any(box.conflict_kind == "overlap" for box in boxes)),
        ("mark", "high-water mark", True),
        ("capacity", "capacity", True),
    ]
    return html.Ul(
        [html.Li([html.Span(className=f"mem-key mem-key-{name}"), text]) for name, text, occurs in entries if occurs],
        className="mem-legend",
        **{"aria-label": "Legend"},
    )


def tile(box: Box, near: Neighbours, links: Any) -> html.Div:
    """Everything about one box, and who had its bytes before and after."""
    rows: list[tuple[str, Any]] = [
        ("Space", box.space),
        ("Buffer", box.base),
        ("Shape", f"[{', '.join(box.shape)}]" if box.shape else fmt.MISSING_TEXT),
        ("Type", box.dtype or fmt.MISSING_TEXT),
        ("Made by", {"": "no call", "param": "parameter"}.get(box.op, box.op)),
        ("Address", f"{box.offset:,} to {box.end:,} ({hex(box.offset)})"),
        ("Size", f"{box.size:,} B ({fmt.size(box.size)})"),
        ("Lines", f"{box.start_line:,} to {box.end_line:,} ({fmt.plural(box.end_line - box.start_line + 1, 'line')})"),
    ]
    if box.aliases:
        more = f" and {len(box.aliases) - MOST_ALIASES:,} more" if len(box.aliases) > MOST_ALIASES else ""
        rows.append(("Aliases", ", ".join(name[:120] for name in box.aliases[:MOST_ALIASES]) + more))
    rows += [("Bytes before", _owner(near.before)), ("Bytes after", _owner(near.after))]
    if near.idle_lines is not None:
        words = (
            "taken over in the line of its last use"
            if near.idle_lines == 0
            else f"{fmt.plural(near.idle_lines, 'line')} after its last use"
        )
        rows.append(("Next use of the bytes", words))
    rows += [("Below", _owner(near.below)), ("Above", _owner(near.above))]
    return html.Div(
        [
            html.H3(label(box)),
            *(html.P(text, className=f"mem-mark mem-mark-{kind}") for kind, text in _marks(box)),
            html.Dl([part for name, value in rows for part in (html.Dt(name), html.Dd(value))], className="mem-facts"),
            links,
        ]
    )


def _marks(box: Box) -> list[tuple[str, str]]:
    out = []
    if box.conflict_kind == "overlap":
        out.append(("overlap", "Conflict: another buffer owns some of these bytes in some of these lines."))
    if box.conflict_kind == "touch":
        out.append(
            (
                "touch",
                "Touches another buffer: they share bytes in one line only, the last use of one and the first of the other.",
            )
        )
    if box.view:
        out.append(("view", "View: a part of a wider box of the same buffer."))
    if box.beyond:
        why = {
            "slot": "one slot of a buffer with several",
            "carried": "a loop carries the tile on under another name",
            "back-edge": "made before a loop and needed in its next round, so alive to the loop's end",
            "ring": "a ring between AIC and AIV, alive as long as the function runs",
        }[box.beyond]
        out.append(("beyond", f"Beyond the reference: {why}. Not counted in the figures of the space."))
    return out


def _owner(box: Box | None) -> Any:
    if box is None:
        return "none"
    return f"{label(box)} (lines {box.start_line:,} to {box.end_line:,}, {box.size:,} B)"


def why(peak: Peak, space: Space, plan: Plan | None, entry: Any) -> html.Div:
    """The peak of a space, who is alive there, and what would have to end earlier for a smaller one."""
    lost = (peak.used_bytes or 0) - peak.alive_bytes
    unplaced = peak.used_bytes is None
    return html.Div(
        [
            html.H3(f"Why is {peak.space[:40]} this full?"),
            html.P(
                [
                    "Most bytes are alive at ",
                    _line(peak.line),
                    f": {peak.alive_bytes:,} B in ",
                    f"{len(peak.alive):,} {'box' if len(peak.alive) == 1 else 'boxes'}. ",
                    "Addresses are not assigned, so there is no high-water mark."
                    if unplaced
                    else f"The high-water mark is {peak.used_bytes:,} B"
                    + (f" of {space.capacity_bytes:,} B. " if space.capacity_bytes else ", the capacity is unknown. ")
                    + (f"{lost:,} B of it are lost to placement." if lost else "Nothing is lost to placement."),
                ]
            ),
            html.Div([html.Label("Get under (bytes)", htmlFor="mem-goal"), entry], className="mem-goal"),
            _plan(peak, plan),
            html.H4(f"Alive at line {peak.line:,}, largest first"),
            _boxes_table(peak.alive, {box_key(box) for step in (plan.steps if plan else ()) for box in step.boxes}),
        ]
    )


def _plan(peak: Peak, plan: Plan | None) -> Any:
    """The steps of a plan in words."""
    if plan is None:
        return html.P("Type a size to see which tiles would have to end earlier.", className="muted")
    if not plan.steps and plan.reached:
        return html.P(f"{peak.alive_bytes:,} B already fit into {plan.target_bytes:,} B: nothing has to end earlier.")
    steps = [
        html.Li(
            [
                html.B(", ".join(label(box) for box in step.boxes[:MOST_STEP_BOXES])),
                f" and {len(step.boxes) - MOST_STEP_BOXES:,} more" if len(step.boxes) > MOST_STEP_BOXES else "",
                f" ({step.freed_bytes:,} B): before ",
                _line(step.before_line),
                f" instead of on line {step.end_line:,}",
            ]
        )
        for step in plan.steps
    ]
    told = f"To have at most {plan.target_bytes:,} B alive on every line, these would have to end earlier:"
    end = (
        f"Then the peak is {plan.peak_bytes:,} B at line {plan.peak_line:,}. A plan of fewer bytes may exist."
        if plan.reached
        else f"{plan.target_bytes:,} B cannot be reached this way: {plan.reason}. The peak stays at {plan.peak_bytes:,} B."
    )
    return html.Div([html.P(told) if steps else None, html.Ol(steps) if steps else None, html.P(end)], role="status")


def box_key(box: Box) -> tuple[str, int, int, int]:
    """What tells boxes of one function apart."""
    return box.space, box.offset, box.start_line, box.size


def _line(line: int) -> html.Button:
    return html.Button(
        f"line {line:,}",
        className="mem-line-link",
        title="Show this line",
        **{"data-url-key": "mline", "data-url-value": str(line)},
    )


def _boxes_table(boxes: Sequence[Box], marked: set[tuple[str, int, int, int]]) -> Any:
    rows = [
        html.Tr(
            [
                html.Td(label(box)),
                html.Td(f"{box.size:,}", className="num"),
                html.Td(f"{box.offset:,}", className="num"),
                html.Td(f"{box.start_line:,}–{box.end_line:,}", className="num"),
                html.Td(box.op),
            ],
            className="mem-ends" if box_key(box) in marked else "",
        )
        for box in boxes[:MOST_ROWS]
    ]
    head = html.Tr(
        [
            html.Th("Tile"),
            html.Th("Bytes", className="num"),
            html.Th("Offset", className="num"),
            html.Th("Lines", className="num"),
            html.Th("Made by"),
        ]
    )
    table = html.Table([html.Thead(head), html.Tbody(rows)], className="mem-table")
    left = len(boxes) - MOST_ROWS
    return html.Div([table, html.P(f"{left:,} smaller ones are not listed.", className="muted") if left > 0 else None])
