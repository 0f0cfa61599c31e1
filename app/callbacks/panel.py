"""Callbacks of the performance panel: the body of the open tab, and blocks of rows for long tables."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, no_update

from analysis.errors import SwimscopeError
from app.callbacks.tables import block
from app.panel.content import content
from app.panel.view import Panels, read_tab
from app.services import Services
from app.url_state import decode
from components import notices, panel


def register(app: Dash, services: Services) -> None:
    """Answer the panel's requests; assets/js/panel asks only while the panel is open."""
    panels = Panels(services)

    @app.callback(
        Output(panel.BODY, "children"),
        Input(panel.REQUEST, "data"),
        prevent_initial_call=True,
    )
    def show(request: dict[str, Any] | None) -> Any:
        if not request:
            return no_update
        try:
            return content(services, panels, request)
        except SwimscopeError as error:
            return panel.answer(int(request["n"]), "error", [notices.notice("No table", str(error), "warn")])

    @app.callback(
        Output(panel.GRID, "getRowsResponse"),
        Input(panel.GRID, "getRowsRequest"),
        State(panel.REQUEST, "data"),
        prevent_initial_call=True,
    )
    def rows(asked: dict[str, Any] | None, request: dict[str, Any] | None) -> Any:
        if not asked or not request:
            return no_update
        tab = read_tab(decode(request["query"])[0])
        return block(panels.table_view(request["run"], tab), asked, "")
