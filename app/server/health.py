"""Is the server up? ``GET /health``."""

from __future__ import annotations

import flask

from app.server.services import Services


def register(server: flask.Flask, services: Services) -> None:
    """Answer 200 with the state of the scan, and have the scan started."""

    @server.get(f"{services.settings.url_prefix}health")
    def health() -> flask.Response:
        services.library.start()
        state = services.library.state
        return flask.jsonify(status="ok", scan_complete=state.complete, runs=state.seen)
