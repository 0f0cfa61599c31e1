"""What does the browser fetch first? A page that is one large figure names plotly in its headers."""

from __future__ import annotations

import flask

from app.settings import Settings
from app.url_state import decode_path

PLOTLY = "_dash-component-suites/plotly/package_data/plotly.min.js"


def register(server: flask.Flask, settings: Settings) -> None:
    """Add ``Link: rel=preload`` to the document of the swimlane: its 1.4 MB script then arrives beside the others."""

    @server.after_request
    def preload(response: flask.Response) -> flask.Response:
        place = decode_path(flask.request.path, settings.url_prefix)
        if response.mimetype == "text/html" and place is not None and place.page == "swimlane":
            response.headers["Link"] = f"<{settings.url_prefix}{PLOTLY}>; rel=preload; as=script"
        return response
