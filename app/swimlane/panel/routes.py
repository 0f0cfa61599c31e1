"""The panel's table as CSV (the bytes of the page and of the command line), and what a row's menu draws."""

from __future__ import annotations

from typing import Any

import flask

from analysis.errors import NotAvailable
from app.analyses.drawing import csv_response
from app.analyses.views import selected_rows, table_view
from app.server.services import Services
from app.shell.url_state import decode
from app.swimlane.panel import drawings
from app.swimlane.panel.rows import row_of
from app.swimlane.panel.tabs import Panels, read_tab


def register(server: flask.Flask, services: Services) -> None:
    """Under ``/api/r/<run>/``: ``panel.csv?<view>``, ``draw/gap|lead?task=<id>`` and ``row/<page>?<view>``."""
    panels = Panels(services)
    base = f"{services.settings.url_prefix}api/r/<run_key>/"

    @server.get(base + "panel.csv")
    def panel_csv(run_key: str) -> Any:
        return _csv(services, panels, run_key)

    @server.get(base + "draw/<kind>")
    def draw(run_key: str, kind: str) -> Any:
        return flask.jsonify(drawings.drawing(services, run_key, kind, flask.request.args))

    @server.get(base + "row/<page>")
    def row(run_key: str, page: str) -> Any:
        return flask.jsonify(row=_row(services, panels, run_key, page))


def _row(services: Services, panels: Panels, run_key: str, page: str) -> int:
    """Where the selection stands in the table that a page, or the panel of the swimlane, shows; -1 for nowhere."""
    view = decode(flask.request.args.to_dict())[0]
    if page == "swimlane":
        tab = read_tab(view)
        view, shown = tab.view, panels.table_view(run_key, tab)
    else:
        shown = table_view(services, run_key, page, view)
    if not shown.outcome.available:
        return -1
    return row_of(shown.table, selected_rows(shown, view), view.sel)


def _csv(services: Services, panels: Panels, run_key: str) -> Any:
    tab = read_tab(decode(flask.request.args.to_dict())[0])
    shown = panels.table_view(run_key, tab)
    if not shown.outcome.available:
        raise NotAvailable(shown.outcome.reason)
    return csv_response(shown, tab.view, f"{services.library.run(run_key).row.name}-{tab.name}.csv")
