"""How long does each function take? The functions table, and one function's durations as histogram and over time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import html

from analysis.capture import Capture
from analysis.registry import FUNCTIONS
from app.analyses.drawing import csv_href, table_grid
from app.analyses.views import TableView, table_view, waiting
from app.server.services import Services
from app.shell import ids
from app.shell.page import Page
from app.shell.url_state import ViewState
from components import cards, grid, notices
from components.plot import graph

PAGE = Page(FUNCTIONS.name, "/r/<run>/functions", FUNCTIONS.title, 20, "f")
NAMING = ("missing_deps", "unresolved_function", "graph_nodes", "missing_name_map")
"""Findings of the import that explain a row without a function id or name."""


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """The table on the left, the selected function on the right; names alone when there is nothing to time."""
    capture = services.library.capture(run_key, view.launch)
    wait = waiting(services, run_key, FUNCTIONS.name, view)
    if wait is not None:
        return wait
    shown = table_view(services, run_key, FUNCTIONS.name, replace(view, tab=""))
    if not shown.outcome.available:
        return _names_only(capture)
    return html.Div(
        [
            _toolbar(services, view, run_key),
            *_unnamed(capture),
            html.Div([_table(services, shown, view), _selected_panel()], className="split"),
        ],
        className="fill column",
    )


def _toolbar(services: Services, view: ViewState, run_key: str) -> html.Div:
    return html.Div(
        [
            html.H1(FUNCTIONS.title),
            html.Span(FUNCTIONS.question, className="question"),
            html.Span(className="spacer"),
            grid.quick_filter("functions-search", ids.FUNCTIONS_GRID, view.q, "Search functions"),
            grid.toolbar(ids.FUNCTIONS_GRID, csv_href=csv_href(services, FUNCTIONS.name, run_key)),
        ],
        className="toolbar",
    )


def _unnamed(capture: Capture) -> list[html.Div]:
    """Why records have no function, or functions no name: one notice, or none when all are known."""
    unresolved = bool((capture.records.func_id < 0).any())
    codes = [code for code in NAMING if unresolved or code == "missing_name_map"]
    reasons = [found.message for found in capture.meta.notices if found.code in codes]
    return [notices.notice("Some functions have no name", ". ".join(reasons) + ".")] if reasons else []


def _table(services: Services, shown: TableView, view: ViewState) -> html.Div:
    return html.Div(table_grid(services, shown, view, ids.FUNCTIONS_GRID), className="split-main")


def _selected_panel() -> html.Aside:
    """Filled by the callback for the function that the URL selects."""
    return html.Aside(
        [
            html.Div(id=ids.FUNCTIONS_SELECTED, className="split-head"),
            cards.panel("Durations", html.Div(graph(ids.FUNCTIONS_HISTOGRAM, themed=True), className="side-plot")),
            cards.panel(
                "Records over time", html.Div(graph(ids.FUNCTIONS_OVER_TIME, themed=True), className="side-plot")
            ),
        ],
        className="split-side",
        **{"aria-label": "Selected function"},
    )


def _names_only(capture: Capture) -> html.Div:
    """What can be said without records: which file is missing, and the names there are."""
    missing = (
        "There is no swimlane file (chip_swimlane_records.json) beside the name map, so durations cannot be computed. "
        "Run with swimlane capture at level 1 or above."
        if not capture.meta.has_records_file
        else "The swimlane file holds no task record, so there is nothing to time."
    )
    rows = [{"func_id": str(i), "name": name} for i, name in sorted(capture.meta.func_names.items())]
    columns = [
        grid.GridColumn("func_id", "Func id", "text", "Function id of the name map", 100),
        grid.GridColumn("name", "Name", "text", "Name of the name map", flex=1),
    ]
    names = grid.grid(ids.FUNCTIONS_GRID, columns, rows, row_id="func_id", label="Function names")
    return html.Div(
        [
            html.Div(html.H1("Functions"), className="toolbar"),
            html.Div(notices.not_available("Function performance", missing), className="page-pad"),
            html.Div(names if rows else notices.empty("No name map either: no names to list."), className="fill"),
        ],
        className="fill column",
    )
