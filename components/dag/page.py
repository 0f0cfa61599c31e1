"""The parts of the graph page round the picture: toolbar, head-up display, legend."""

from __future__ import annotations

from typing import Any

from dash import html

from analysis.graph.scene import Scene
from components import fmt
from components.dag.elements import KIND_TEXT
from components.dag.style import LOOKS

MODES: tuple[tuple[str, str, str], ...] = (
    ("full", "Full", "Every edge of the file"),
    ("reduced", "Reduced", "Without edges that a longer path implies; creator edges stay"),
    ("omitted", "Omitted", "Only the edges that Reduced leaves out"),
    ("reduced-df", "Reduced DF", "Creator edges are dropped too where the data flow covers them"),
    ("omitted-df", "Omitted DF", "Only the edges that Reduced DF leaves out"),
)
SHOWS: tuple[tuple[str, str], ...] = (
    ("auto", "Automatic"),
    ("all", "All tasks"),
    ("summary", "Summary: function × depth"),
    ("path", "Critical path"),
    ("around", "Neighbourhood of the selection"),
)
DEPTHS: tuple[tuple[str, str], ...] = (("0", "0"), ("1", "1"), ("2", "2"), ("3", "3"), ("5", "5"), ("-1", "all"))


def segments(name: str, label: str, options: list[tuple[str, str, str]], value: str, group_id: str) -> html.Div:
    """A row of buttons, one pressed; each writes ``name`` in the URL. ``options``: (value, text, tooltip)."""
    buttons = [
        html.Button(
            text,
            className="segment",
            title=title,
            **{"data-set": f"{name}={key}", "aria-pressed": "true" if key == value else "false"},
        )
        for key, text, title in options
    ]
    return html.Div(
        [html.Span(label, className="segments-label"), html.Div(buttons, className="segments", id=group_id)],
        className="segments-box",
        role="group",
        **{"aria-label": label},
    )


def mode_buttons(mode: str, counts: dict[str, int | None]) -> list[html.Button]:
    """The five edge modes with their counts; keys 1 to 5."""
    return [
        html.Button(
            [label, " ", html.Span("…" if counts.get(key) is None else f"{counts[key]:,}", className="count")],
            className="segment",
            title=f"{title} (key {at})" + ("; counted when opened" if counts.get(key) is None else ""),
            **{"data-set": f"mode={key}", "aria-pressed": "true" if key == mode else "false"},
        )
        for at, (key, label, title) in enumerate(MODES, 1)
    ]


def hud(scene: Scene, mode: str) -> list[Any]:
    """What is shown of how much: nodes, tasks, edges, elements."""
    edges = scene.edges
    tasks = f"{scene.n_represented:,} of {scene.nodes_total:,} tasks"
    by_groups = f" ({scene.n_tasks:,} one by one, {len(scene.groups):,} groups)" if scene.groups else ""
    lines = [
        html.Div([html.Strong(tasks), by_groups], **{"data-tasks": str(scene.n_represented)}),
        html.Div(
            [
                html.Strong(f"{edges.visible:,} of {edges.total:,} edges"),
                f" in {fmt.plural(len(scene.line_pred), 'line')}",
            ],
            **{"data-edges": str(edges.visible)},
        ),
    ]
    gone = [
        (edges.inside, "inside groups"),
        (edges.left_out, f"not in mode {next(text for key, text, _ in MODES if key == mode)}"),
        (edges.outside, "lead outside the picture"),
        (edges.over_cap, "over the element limit"),
    ]
    hidden = " · ".join(f"{count:,} {why}" for count, why in gone if count)
    if hidden:
        lines.append(html.Div(f"Not drawn: {hidden}", className="muted"))
    return lines


def legend(known_early: bool) -> html.Details:
    """What shapes, colours and markers mean."""
    items = [
        html.Li(
            [html.Span(className=f"swatch swatch-{look.shape}", **{"data-kind": kind.name.lower()}), KIND_TEXT[kind]]
        )
        for kind, look in LOOKS.items()
    ]
    early = "" if known_early else " This file predates the key early_dispatch: only alloc tasks are marked."
    more = [
        "Bar under the name: colour of the function, the same on every page.",
        "Doubled outline with ×n: SPMD task with n blocks.",
        "Framed group: stands for many tasks; click opens its details, double click opens it.",
        "Small numbers left and right: how many edges of the file enter and leave the task.",
        f"🔥 early-processable: an alloc task, or marked early_dispatch in deps.json.{early}",
        "⭐ every predecessor is 🔥, at least one is not an alloc.",
        "🔥 and ⭐ describe what the file allows, not what happened in the run.",
        "Dashed line: explicit dependency only. Red line: the later task started before the earlier ended, or a self edge.",
        "Number on a line: edges it stands for. d3–15 on a group: depths 3 to 15.",
        "Dotted steps (critical path): what the path waited for next, orange for its core; not edges of the file.",
    ]
    return html.Details(
        [html.Summary("Legend"), html.Ul(items, className="legend-kinds"), html.Ul([html.Li(text) for text in more])],
        className="graph-legend",
    )
