"""Tables as CSV: ``GET /api/r/<run>/table/<analysis>.csv?<view>``, the bytes of the command line when nothing filters."""

from __future__ import annotations

import flask

from analysis.errors import NotFoundError, SwimscopeError
from app.analyses.drawing import csv_response
from app.analyses.views import table_view
from app.server.services import Services
from app.shell.url_state import decode


def register(server: flask.Flask, services: Services) -> None:
    """Serve the chosen table of an analysis with the view's parameters, filters and order."""

    @server.get(f"{services.settings.url_prefix}api/r/<run_key>/table/<name>.csv")
    def table_csv(run_key: str, name: str) -> tuple[flask.Response | str, int] | flask.Response:
        view, _problems = decode(flask.request.args.to_dict())
        try:
            shown = table_view(services, run_key, name, view)
            run_name = services.library.run(run_key).row.name
        except NotFoundError as error:
            return flask.jsonify(error=str(error)), 404
        except SwimscopeError as error:
            return flask.jsonify(error=str(error)), 422
        if not shown.outcome.available:
            return flask.jsonify(error=shown.outcome.reason), 422
        return csv_response(shown, view, f"{run_name}-{name}.csv")
