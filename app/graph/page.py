"""How do the tasks depend on each other? The task dependency graph, at any size."""

from __future__ import annotations

from typing import Any

import dash_cytoscape as cyto
from dash import dcc, html

from analysis.graph import prepared
from app.graph import picture, side
from app.server.services import Services
from app.shell.page import Page
from app.shell.url_state import ViewState
from app.work import waiting
from components.dag import page as dag_page
from components.dag.elements import elements
from components.dag.style import stylesheet
from components.notices import not_available, notice

PAGE = Page("graph", "/r/<run>/graph", "Task graph", 40, "d")

CY, HUD, MODES, PICTURE_KEY, NOTES, SIDE, STYLES, LIT = (
    "graph-cy",
    "graph-hud",
    "graph-modes",
    "graph-picture-key",
    "graph-notes",
    "graph-side",
    "graph-styles",
    "graph-lit",
)
TABS = (("", "Details"), ("text", "Feeds and uses"), ("groups", "Groups"), ("omitted", "Omitted"))


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """Toolbar, picture and panel; progress while a large graph is prepared; a statement where there is no graph."""
    wait = preparing(services, view, run_key)
    if wait is not None:
        # Another edge mode, Back included, need not wait for this one.
        return html.Div(wait, **{"data-rebuild": "launch,mode"})
    try:
        drawn, problem = picture.possible(services, run_key, view)
    except picture.NotAvailable as error:
        return html.Div(not_available("The task graph", error.reason), className="page-pad")
    return html.Div(
        [
            dcc.Store(id=PICTURE_KEY, data=picture.picture_key(services, drawn.capture, view)),
            dcc.Store(id=STYLES, data=styles(drawn.direction)),
            dcc.Store(id=LIT, data=picture.lit(services, drawn.capture, view)),
            _toolbar(view),
            _second_bar(view, drawn),
            html.Div(notes(drawn, problem), id=NOTES, className="graph-notes"),
            html.Div([_canvas(drawn), _panel(services, view, run_key)], className="graph-main"),
        ],
        className="graph-page",
    )


def is_prepared(services: Services, view: ViewState, run_key: str) -> bool:
    """Does the view's edge mode need no long computation: is the capture small, or was it prepared before?"""
    capture = services.library.capture(run_key, view.launch)
    small = len(capture.records) <= services.settings.inline_analysis_records
    return small or not len(capture.edges) or prepared.ready(services.store, capture, view.mode)


def preparing(services: Services, view: ViewState, run_key: str) -> Any | None:
    """The panel to show while a large graph is prepared for the view's edge mode, or None when it is."""
    if is_prepared(services, view, run_key):
        return None
    capture = services.library.capture(run_key, view.launch)
    job = services.library.job(run_key, view.launch, prepared.JOB, {"mode": view.mode})
    text = f"{len(capture.tasks):,} tasks, {len(capture.edges):,} edges; prepared once and kept for everyone."
    return waiting.panel(services, f"Preparing the task graph ({view.mode})", text, job)


def styles(direction: str) -> dict[str, Any]:
    """The stylesheet of either theme; the browser picks."""
    return {"dir": direction, "light": stylesheet("light", direction), "dark": stylesheet("dark", direction)}


def notes(drawn: picture.Picture, problem: str) -> list[Any]:
    """What the page has to say about the picture and the data."""
    found = [notice("Not as asked", problem, "warn")] if problem else []
    return found + [html.Div(text, className="graph-note") for text in drawn.notes]


def _toolbar(view: ViewState) -> html.Div:
    shows = [(key, text, f"Show: {text}") for key, text in dag_page.SHOWS]
    return html.Div(
        [
            dcc.Input(
                id="graph-search",
                type="search",
                className="input search",
                placeholder="Function, t12, r1t12 or a task id",
                value=view.q,
                debounce=False,
                autoComplete="off",
            ),
            html.Span(id="graph-found", className="muted", **{"aria-live": "polite"}),
            html.Button("‹", className="button quiet", title="Previous match (Shift+Enter)", **{"data-graph": "prev"}),
            html.Button("›", className="button quiet", title="Next match (Enter)", **{"data-graph": "next"}),
            dag_page.segments("show", "Show", shows, view.show, "graph-shows"),
            html.Span(className="spacer"),
            html.Details(
                [
                    html.Summary("Export", className="button"),
                    html.Div(
                        [
                            html.Button(text, className="menu-item", **{"data-graph": f"export:{kind}"})
                            for kind, text in (
                                ("png", "PNG of the picture"),
                                ("svg", "SVG of the picture"),
                                ("csv", "CSV: edges of this mode"),
                                ("dot", "DOT: whole graph in this mode"),
                                ("graphml", "GraphML: whole graph in this mode"),
                                ("gexf", "GEXF: whole graph in this mode"),
                            )
                        ],
                        className="menu",
                    ),
                ],
                className="graph-export",
            ),
        ],
        className="toolbar",
    )


def _second_bar(view: ViewState, drawn: picture.Picture) -> html.Div:
    depth = [(key, text, "Steps that are highlighted before and after a task") for key, text in dag_page.DEPTHS]
    steps = [(key, text, "Steps that expanding a task draws") for key, text in dag_page.DEPTHS[1:]]
    ways = [("lr", "→", "Left to right (key t)"), ("tb", "↓", "Top to bottom (key t)")]
    modes = html.Div(
        html.Div(dag_page.mode_buttons(view.mode, drawn.mode_counts), id=MODES, className="segments"),
        className="segments-box",
        role="group",
        **{"aria-label": "Edges"},
    )
    return html.Div(
        [
            modes,
            dag_page.segments("dir", "Direction", ways, view.dir, "graph-dirs"),
            dag_page.segments("depth", "Highlight", depth, str(view.depth), "graph-depths"),
            dag_page.segments("gdepth", "Expand by", steps, str(view.gdepth), "graph-steps"),
        ],
        className="toolbar toolbar-second",
    )


def _canvas(drawn: picture.Picture) -> html.Div:
    buttons = (("zoom-in", "+", "Zoom in (+)"), ("zoom-out", "−", "Zoom out (−)"), ("fit", "Fit", "Fit (f)"))
    return html.Div(
        [
            cyto.Cytoscape(
                id=CY,
                elements=elements(drawn.capture, drawn.scene, drawn.layout, drawn.marks),
                layout={"name": "preset", "fit": True, "padding": 30},
                stylesheet=stylesheet("light", drawn.direction),
                style={"width": "100%", "height": "100%"},
                minZoom=0.02,
                maxZoom=4,
                boxSelectionEnabled=False,
                autoRefreshLayout=False,
            ),
            html.Div(
                tabIndex=0,
                id="graph-keys",
                role="application",
                className="graph-keys",
                **{"aria-label": "Task graph. Arrow keys walk along edges, Enter selects, x expands."},
            ),
            html.Div(dag_page.hud(drawn.scene, drawn.mode), id=HUD, className="graph-hud"),
            html.Div(
                [
                    html.Button(text, className="button", title=title, **{"data-graph": name, "aria-label": title})
                    for name, text, title in buttons
                ],
                className="graph-zoom",
            ),
            dag_page.legend(drawn.early_known),
            html.Div(id="graph-live", className="off-screen", **{"aria-live": "polite"}),
            html.Div(id="graph-tip", className="graph-tip", hidden=True),
            html.Div(id="graph-menu", className="menu graph-menu", hidden=True, role="menu"),
        ],
        className="graph-canvas",
    )


def _panel(services: Services, view: ViewState, run_key: str) -> html.Aside:
    tabs = [
        html.Button(
            text,
            className="side-tab",
            **{"data-set": f"tab={key}", "aria-pressed": "true" if key == view.tab else "false"},
        )
        for key, text in TABS
    ]
    return html.Aside(
        [
            html.Div(tabs, className="side-tabs", id="graph-tabs"),
            html.Div(side.content(services, view, run_key), id=SIDE, className="side-body"),
        ],
        className="graph-side",
        **{"aria-label": "Details"},
    )
