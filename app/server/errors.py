"""What is answered when a request or callback fails? One shape for every route; pages keep what they show."""

from __future__ import annotations

import logging
import secrets
from typing import Any

import flask
from dash import Dash, no_update, set_props
from dash.exceptions import DependencyException
from werkzeug.exceptions import HTTPException

from analysis.errors import NotFoundError, SwimscopeError
from analysis.files import NoRoomError
from app.server import callback_bodies
from app.server.access.roles import ForbiddenError
from app.server.places import Places
from app.server.settings import Settings
from app.shell import ids
from components.notices import notice

log = logging.getLogger("swimscope")


def on_error(error: Exception) -> Any:
    """Dash's error handler: an expected error says what to do, any other is logged under an id and named by it."""
    set_props(ids.NOTICES, {"children": describe(error)})
    return no_update


def describe(error: Exception) -> Any:
    """The notice for ``error``; logs it when it is a bug."""
    if isinstance(error, SwimscopeError):
        return notice("The last action failed", shown(str(error)), "error")
    return notice(
        "Something went wrong on the server",
        f"The page keeps what it shows. The server's log has the details under {logged(error)}.",
        "error",
    )


def shown(text: str) -> str:
    """``text`` of a message with paths from the root's name on."""
    places = flask.current_app.extensions.get("swimscope-places") if flask.has_app_context() else None
    return places.shown(text) if places is not None else text


def logged(error: Exception) -> str:
    """Log a bug; returns the id its details stand under."""
    error_id = secrets.token_hex(4)
    log.error("error %s", error_id, exc_info=error)
    return error_id


def status_of(error: SwimscopeError) -> int:
    """404 for what does not exist, 403 for what this user may not see, 507 for a full disk, 422 for what cannot be answered."""
    if isinstance(error, NotFoundError):
        return 404
    if isinstance(error, ForbiddenError):
        return 403
    return 507 if isinstance(error, NoRoomError) else 422


def register(app: Dash, settings: Settings) -> None:
    """Every failing request is answered in one shape: ``{"error": text}`` under ``api/`` and for callbacks.

    Routes need no error handling of their own: what they raise arrives here.
    """
    server, prefix = app.server, settings.url_prefix
    update = f"{prefix}_dash-update-component"
    server.extensions["swimscope-places"] = Places.of(settings)

    @server.route(f"{prefix}api/", defaults={"rest": ""})
    @server.route(f"{prefix}api/<path:rest>")
    def no_such_address(rest: str) -> Any:
        return {"error": f"there is no address api/{rest}"}, 404

    @server.before_request
    def known_callback() -> Any:
        """Refuse a callback request that no page of ours sends, before Dash or a callback trips over it."""
        if flask.request.path != update or flask.request.method != "POST":
            return None
        wrong = callback_bodies.problem(app, flask.request.get_json(silent=True))
        if not wrong:
            return None
        log.warning("refused a callback request from %s: %s", flask.request.remote_addr, wrong)
        return {"error": f"this is not a callback of this application ({wrong}); reload the page"}, 400

    @server.errorhandler(Exception)
    def failed(error: Exception) -> Any:
        plain = flask.request.path.startswith((f"{prefix}api/", update))
        if isinstance(error, SwimscopeError):
            return {"error": shown(str(error))}, status_of(error)
        if isinstance(error, HTTPException):
            return ({"error": error.description or error.name}, error.code or 500) if plain else error
        if isinstance(error, RecursionError):
            return {"error": "the request is nested too deep"}, 400
        if isinstance(error, DependencyException):  # a script of Dash that does not exist
            return {"error": "there is no such file"}, 404
        text = f"something went wrong on the server; its log has the details under {logged(error)}"
        return ({"error": text}, 500) if plain else (text + "\n", 500, {"Content-Type": "text/plain; charset=utf-8"})
