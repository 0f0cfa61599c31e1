"""Callbacks of the table pages: blocks of rows for tables too long to send whole."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, no_update

from app import ids, table_page, table_query, table_rows
from app.services import Services
from app.url_state import decode


def register(app: Dash, services: Services) -> None:
    """Answer AG Grid's infinite row model."""

    @app.callback(
        Output(ids.TABLE_GRID, "getRowsResponse"),
        Input(ids.TABLE_GRID, "getRowsRequest"),
        State(ids.RUN, "data"),
        State(ids.VIEW, "data"),
        prevent_initial_call=True,
    )
    def rows(request: dict[str, Any] | None, run: dict[str, Any], query: dict[str, str]) -> Any:
        if not request:
            return no_update
        view, _problems = decode(query)
        shown = table_page.table_view(services, run["key"], run["page"], view)
        return block(shown, request, view.q)


def block(shown: table_page.TableView, request: dict[str, Any], search: str) -> dict[str, Any]:
    """Rows ``startRow`` to ``endRow`` of the table in the order and with the filters that the grid asks for."""
    sort = [(str(item["colId"]), str(item["sort"])) for item in request.get("sortModel") or []]
    chosen = table_query.select(shown.table, sort, request.get("filterModel") or {}, search)
    first, last = int(request["startRow"]), int(request["endRow"])
    part = chosen[first:last]
    pick = table_rows.selection_of(shown.analysis.name, shown.parameters)
    rows = table_rows.rows(shown.table.take(part), pick)
    for row, at in zip(rows, part.tolist(), strict=True):
        row["_row"] = str(at)
    return {"rowData": rows, "rowCount": len(chosen)}
