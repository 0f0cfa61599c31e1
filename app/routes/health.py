"""Is the server up? ``GET /health``."""

from __future__ import annotations

import flask

from app.services import Services


def register(server: flask.Flask, services: Services) -> None:
    """Answer 200 with the state of the scan; reads nothing."""

    @server.get(f"{services.settings.url_prefix}health")
    def health() -> flask.Response:
        state = services.library.state
        return flask.jsonify(status="ok", scan_complete=state.complete, runs=state.seen)
