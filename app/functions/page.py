"""How long does each function take? The functions table, and one function's durations as histogram and over time."""

from __future__ import annotations

from typing import Any

from dash import html

from analysis.capture import Capture
from app.server.services import Services
from app.shell import ids
from app.shell.page import Page
from app.shell.url_state import ViewState
from app.tables import page as tables
from app.tables import rows as table_rows
from app.tables import views as table_page
from app.tables.views import TableView
from components import cards, grid, notices
from components.plot import graph

PAGE = Page("functions", "/r/<run>/functions", "Functions", 20, "f")
NAMING = ("missing_deps", "unresolved_function", "graph_nodes", "missing_name_map")
"""Findings of the import that explain a row without a function id or name."""


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """The table on the left, the selected function on the right; names alone when there is nothing to time."""
    capture = services.library.capture(run_key, view.launch)
    wait = table_page.waiting(services, run_key, "functions", view)
    if wait is not None:
        return wait
    shown = table_page.table_view(services, run_key, "functions", view)
    if not shown.outcome.available:
        return _names_only(capture)
    return html.Div(
        [
            _toolbar(services, view, run_key),
            *_unnamed(capture),
            html.Div([_table(shown, view), _selected_panel()], className="split"),
        ],
        className="fill column",
    )


def _toolbar(services: Services, view: ViewState, run_key: str) -> html.Div:
    return html.Div(
        [
            html.H1("Functions"),
            html.Span("How long does each function take, and how much of its time is execution?", className="question"),
            html.Span(className="spacer"),
            grid.quick_filter("functions-search", ids.FUNCTIONS_GRID, view.q, "Search functions"),
            grid.toolbar(ids.FUNCTIONS_GRID, csv_href=tables.csv_href(services, "functions", run_key)),
        ],
        className="toolbar",
    )


def _unnamed(capture: Capture) -> list[html.Div]:
    """Why records have no function, or functions no name: one notice, or none when all are known."""
    unresolved = bool((capture.records.func_id < 0).any())
    codes = [code for code in NAMING if unresolved or code == "missing_name_map"]
    reasons = [found.message for found in capture.meta.notices if found.code in codes]
    return [notices.notice("Some functions cannot be told by name", ". ".join(reasons) + ".")] if reasons else []


def _table(shown: TableView, view: ViewState) -> html.Div:
    return html.Div(table_grid(shown, view, ids.FUNCTIONS_GRID), className="split-main")


def table_grid(shown: TableView, view: ViewState, grid_id: str, narrow: bool = False) -> html.Div:
    """The functions with their total below; ``narrow``: columns for a small place."""
    table = dict(shown.outcome.tables)["Functions"]
    total = dict(shown.outcome.tables)["TOTAL"].to_records()
    columns = [grid.function_column(c) if c.name == "name" else c for c in table_rows.grid_columns(table.columns)]
    return grid.grid(
        grid_id,
        table_rows.narrow(columns) if narrow else columns,
        table_rows.rows(table, table_rows.selection_of("functions", {})),
        row_id="_row",
        sort=view.sort or "total_us:desc",
        filters=view.f,
        label="Functions",
        options={"pinnedBottomRowData": [row | {"name": "TOTAL", "_row": "total"} for row in total]},
    )


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
