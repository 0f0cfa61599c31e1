"""Callbacks of the pass page: the reports, which are tables, come when their tab is opened."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State
from dash.exceptions import PreventUpdate

from app.passes import page, reports
from app.server.services import Services
from app.shell import ids
from app.shell.url_state import decode


def register(app: Dash, services: Services) -> None:
    """Fill the reports once."""

    @app.callback(
        Output(page.REPORTS, "children"),
        Input(ids.VIEW, "data"),
        State(ids.RUN, "data"),
        State(page.REPORTS, "children"),
        prevent_initial_call=True,
    )
    def fill(query: dict[str, str] | None, run: dict[str, Any], shown: Any) -> Any:
        view = decode(query)[0]
        if view.tab != "reports" or isinstance(shown, list):
            raise PreventUpdate
        return reports.content(services, run["key"], view)
