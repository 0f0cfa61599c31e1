"""How is an analysis drawn, on its page and in the panel? Its figures, its curves, its table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flask
from dash import html

from analysis.shown import Quantity
from app.analyses import rows
from app.analyses.views import TableView, marked_above, selected_rows
from app.server.services import Services
from app.shell.url_state import ViewState
from components import figures, fmt, grid

_WRITTEN: dict[str, Callable[[Any], str]] = {
    "count": fmt.count,
    "us": fmt.us,
    "duration": fmt.duration_us,
    "share": fmt.percent,
}


def written(part: str | Quantity) -> str:
    """A number in its unit, or the text as it is."""
    return part if isinstance(part, str) else _WRITTEN[part.unit](part.value)


def headline_figures(shown: TableView) -> Any:
    """The few numbers of an outcome, in one line; nothing where it has none."""
    numbers = shown.outcome.numbers
    lines = [
        html.Span([f"{figure.label} ", html.B(_WRITTEN[figure.unit](numbers[figure.name]))])
        for figure in shown.analysis.figures
        if figure.name in numbers
    ]
    return html.Div(lines, className="figures") if lines else None


def plot(shown: TableView, plot_id: str) -> Any:
    """The curves of an outcome, where it has any."""
    if not shown.outcome.curves:
        return None
    body = figures.curves(plot_id, shown.outcome.curves, shown.analysis.curves_title)
    return html.Div(body, className="analysis-plot")


def csv_href(services: Services, name: str, run_key: str) -> str:
    """Where the CSV of a table is; grid.js adds the current query."""
    return f"{services.settings.url_prefix}api/r/{run_key}/table/{name}.csv"


def csv_response(shown: TableView, view: ViewState, name: str) -> flask.Response:
    """The chosen table as a file, with the filters and the order of ``view``."""
    text = shown.table.take(selected_rows(shown, view)).to_csv()
    response = flask.Response(text, mimetype="text/csv; charset=utf-8")
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response


def is_long(services: Services, shown: TableView) -> bool:
    """Whether the chosen table is too long to send whole."""
    return len(shown.table) > services.settings.grid_client_rows and shown.total is None


def table_grid(services: Services, shown: TableView, view: ViewState, grid_id: str, narrow: bool = False) -> html.Div:
    """The grid of the chosen table; cells above a limit of the URL are marked. ``narrow``: columns for a small place."""
    infinite = is_long(services, shown)
    columns = rows.grid_columns(shown.table.columns, marked_above(shown.analysis, view))
    if shown.analysis.names_functions:
        columns = [grid.function_column(column) if column.name == "name" else column for column in columns]
    options: dict[str, Any] = {
        "localeText": {"noRowsToShow": "No rows: nothing to list for this capture and these settings."}
    }
    if shown.total is not None:
        last = [row | {"name": shown.analysis.total, "_row": "total"} for row in shown.total.to_records()]
        options["pinnedBottomRowData"] = last
    return grid.grid(
        grid_id,
        rows.narrow(columns) if narrow else columns,
        None if infinite else rows.rows(shown.table, rows.selection_of(shown.analysis, shown.parameters)),
        row_id="_row",
        infinite=infinite,
        sort=view.sort or shown.analysis.default_sort,
        filters=view.f,
        label=shown.title,
        options=options,
    )
