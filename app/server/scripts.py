"""How do scripts get to the browser early and at little cost? Most of the time to a first picture is theirs."""

from __future__ import annotations

import hashlib
from pathlib import Path

import flask

from app.server.settings import Settings
from app.shell.url_state import decode_path

PLOTLY = "_dash-component-suites/plotly/package_data/plotly.min.js"
"""Where dcc.Graph looks for plotly.js, below the prefix."""
PLOTLY_FILE = "vendor/plotly-cartesian.min.js"
"""plotly.js' own cartesian bundle, of the version that plotly.py carries: a third of its size."""
OURS = "assets/scripts.js"
BUNDLE = "scripts.js"
"""The bundle of ``assets/js``, made by ``make scripts``."""


def register(server: flask.Flask, settings: Settings, assets: Path) -> str:
    """Serve our bundle and plotly.js, and name plotly.js in the headers of the swimlane.

    Returns:
        The address of our scripts; it changes with their content.
    """
    plotly_address = f"{settings.url_prefix}{PLOTLY}"
    ours = (assets / BUNDLE).read_bytes()
    plotly = (assets / PLOTLY_FILE).read_bytes()

    @server.get(plotly_address)
    def plotly_script() -> flask.Response:
        return _script(plotly)

    @server.get(f"{settings.url_prefix}{OURS}")
    def our_scripts() -> flask.Response:
        return _script(ours)

    @server.after_request
    def preload(response: flask.Response) -> flask.Response:
        place = decode_path(flask.request.path, settings.url_prefix)
        if response.mimetype == "text/html" and place is not None and place.page == "swimlane":
            response.headers["Link"] = f"<{plotly_address}>; rel=preload; as=script"
        return response

    return f"{settings.url_prefix}{OURS}?m={hashlib.sha256(ours).hexdigest()[:16]}"


def _script(content: bytes) -> flask.Response:
    response = flask.Response(content, mimetype="text/javascript")
    response.add_etag()
    response.make_conditional(flask.request)
    return response
