"""Callbacks of the function page: the selected function's plots."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, html

from analysis import selection
from analysis.capture import Capture
from analysis.errors import NotFoundError
from analysis.measures.function_records import FunctionRecords, function_records, longest_function
from app.server.services import Services
from app.shell import ids, selecting
from app.shell.url_state import ViewState, decode
from components import figures, notices

MAX_POINTS = 4_000
"""Points of the plot over time: 4,000 SVG markers draw in about half a second."""


def register(app: Dash, services: Services) -> None:
    """Draw the function that ``sel`` names, or that the selected task runs, or the one with the most time."""
    selecting.selects(app, ids.FUNCTIONS_OVER_TIME, "clickData", "ofPoint")

    @app.callback(
        Output(ids.FUNCTIONS_SELECTED, "children"),
        Output(ids.FUNCTIONS_HISTOGRAM, "figure"),
        Output(ids.FUNCTIONS_OVER_TIME, "figure"),
        Input(ids.VIEW, "data"),
        State(ids.RUN, "data"),
    )
    def draw(query: dict[str, str], run: dict[str, Any]) -> Any:
        view, _problems = decode(query)
        capture = services.library.capture(run["key"], view.launch)
        func_id = selected_function(capture, view.sel)
        try:
            found = function_records(capture, func_id, max_points=MAX_POINTS)
        except NotFoundError as error:
            return notices.notice("Nothing to draw", str(error)), *figures.empty_figures(2)
        return headline(services, run["key"], view, found), *figures.function_figures(found)


def selected_function(capture: Capture, sel: str) -> int:
    """The function a selection means; by default the one with the longest total execution."""
    found = selection.parse(sel)
    if found is not None and found.kind == "func":
        return found.number
    task = selection.task_of(capture, sel)
    if task >= 0 and int(capture.tasks.n_records[task]):
        return int(capture.tasks.func_id[task])
    return longest_function(capture)


def headline(services: Services, run_key: str, view: ViewState, found: FunctionRecords) -> Any:
    """Name, count, and links to the same function in the other views."""
    target = ViewState(launch=view.launch, sel=f"func:{found.func_id}", hl=f"func:{found.func_id}")
    points = notices.shown_of(len(found.start_us), found.n_total, "records")
    return [
        html.Div(
            [html.Span(className="fn-swatch", style={"background": figures.function_css(found.name)}), found.name]
        ),
        html.Div(
            [
                points,
                None if found.exact else html.Span(" are points: the longest of each slice", className="muted"),
            ]
        ),
        html.Div(
            [
                html.A(text, href=services.href(page, run_key, target), **{"data-follow": "1", "data-keys": "sel,hl"})
                for text, page in (("Show in swimlane", "swimlane"), ("Show in graph", "graph"))
            ],
            className="link-row",
        ),
    ]
