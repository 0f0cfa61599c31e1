"""Tables as CSV: ``GET /api/r/<run>/table/<analysis>.csv?<view>``, the bytes of the command line when nothing filters."""

from __future__ import annotations

import flask

from analysis.errors import NotAvailable
from app.analyses.drawing import csv_response
from app.analyses.views import table_view
from app.server.services import Services
from app.shell.url_state import decode


def register(server: flask.Flask, services: Services) -> None:
    """Serve the chosen table of an analysis with the view's parameters, filters and order."""

    @server.get(f"{services.settings.url_prefix}api/r/<run_key>/table/<name>.csv")
    def table_csv(run_key: str, name: str) -> flask.Response:
        view, _problems = decode(flask.request.args.to_dict())
        shown = table_view(services, run_key, name, view)
        if not shown.outcome.available:
            raise NotAvailable(shown.outcome.reason)
        return csv_response(shown, view, f"{services.library.run(run_key).row.name}-{name}.csv")
