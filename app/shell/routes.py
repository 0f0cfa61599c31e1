"""Short links: ``POST /api/links`` stores a query, ``GET /api/links/<hash>`` gives it back."""

from __future__ import annotations

import flask
from werkzeug.exceptions import RequestEntityTooLarge

from analysis.errors import LimitError
from app.server.services import Services


def register(server: flask.Flask, services: Services) -> None:
    """Store and read views; a stored view is addressed by its content, so equal views share a link."""
    base = f"{services.settings.url_prefix}api/links"

    @server.post(base)
    def put_link() -> tuple[flask.Response, int]:
        body = flask.request.get_json(silent=True)
        query = body.get("query") if isinstance(body, dict) else None
        if not isinstance(query, dict) or not all(isinstance(v, str) for v in query.values()):
            return flask.jsonify(error='expected {"query": {key: text}}'), 400
        try:
            return flask.jsonify(s=services.links.put(query)), 200
        except LimitError as error:
            raise RequestEntityTooLarge(str(error)) from error

    @server.get(f"{base}/<name>")
    def get_link(name: str) -> flask.Response:
        return flask.jsonify(query=services.links.get(name))
