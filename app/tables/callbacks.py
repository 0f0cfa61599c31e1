"""Callbacks of the table pages: blocks of rows for tables too long to send whole."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
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
    """Answer AG Grid's infinite row model; the order of the newest questions is kept, as blocks follow each other."""
    orders = Orders()

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
        return block(shown, request, view.q, orders)


class Orders:
    """Row orders by outcome and question; small, and shared by all people of this process since it holds content only."""

    def __init__(self, keep: int = 6) -> None:
        self._keep = keep
        self._known: OrderedDict[str, NDArray[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def select(self, shown: table_page.TableView, sort: list[tuple[str, str]], filters: Any, search: str) -> Any:
        """:func:`app.tables.query.select` of the chosen table, computed once for a run of blocks."""
        key = json.dumps([shown.key, shown.at, sort, filters, search])
        with self._lock:
            found = self._known.get(key)
        if found is None:
            found = table_query.select(shown.table, sort, filters, search)
            with self._lock:
                self._known[key] = found
                while len(self._known) > self._keep:
                    self._known.popitem(last=False)
        return found


def block(
    shown: table_page.TableView, request: dict[str, Any], search: str, orders: Orders | None = None
) -> dict[str, Any]:
    """Rows ``startRow`` to ``endRow`` of the table in the order and with the filters that the grid asks for."""
    sort = [(str(item["colId"]), str(item["sort"])) for item in request.get("sortModel") or []]
    filters = request.get("filterModel") or {}
    if orders is not None and shown.key:
        chosen = orders.select(shown, sort, filters, search)
    else:
        chosen = table_query.select(shown.table, sort, filters, search)
    part = chosen[int(request["startRow"]) : int(request["endRow"])]
    pick = table_rows.selection_of(shown.analysis.name, shown.parameters)
    rows = table_rows.rows(shown.table.take(part), pick)
    for row, at in zip(rows, part.tolist(), strict=True):
        row["_row"] = str(at)
    return {"rowData": rows, "rowCount": len(chosen)}
