"""Callbacks of the table pages: blocks of rows for tables too long to send whole."""

from __future__ import annotations

import json
from typing import Any

from dash import Dash, Input, Output, State, no_update
from numpy.typing import NDArray

from app.server.services import Services
from app.shell import ids
from app.shell.url_state import decode
from app.tables import query as table_query
from app.tables import rows as table_rows
from app.tables import views as table_page


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
        return block(services, shown, request, view.q)


KEPT_ORDERS = 8
"""Row orders kept in a process: blocks of one order follow each other."""


def block(services: Services, shown: table_page.TableView, request: dict[str, Any], search: str) -> dict[str, Any]:
    """Rows ``startRow`` to ``endRow`` of the table in the order and with the filters that the grid asks for."""
    sort = [(str(item["colId"]), str(item["sort"])) for item in request.get("sortModel") or []]
    filters = request.get("filterModel") or {}
    chosen: NDArray[Any] = services.caches.get(
        "row orders",
        json.dumps([shown.key, shown.at, sort, filters, search]),
        lambda: table_query.select(shown.table, sort, filters, search),
        KEPT_ORDERS,
    )
    part = chosen[int(request["startRow"]) : int(request["endRow"])]
    pick = table_rows.selection_of(shown.analysis.name, shown.parameters)
    rows = table_rows.rows(shown.table.take(part), pick)
    for row, at in zip(rows, part.tolist(), strict=True):
        row["_row"] = str(at)
    return {"rowData": rows, "rowCount": len(chosen)}
