"""Callbacks of the table pages: blocks of rows for tables too long to send whole."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, no_update

from app.analyses.blocks import block
from app.analyses.views import table_view
from app.server.services import Services
from app.shell import ids
from app.shell.url_state import decode


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
        return block(services, table_view(services, run["key"], run["page"], view), request, view.q)
