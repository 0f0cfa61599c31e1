"""What happened to each request? An id for every one, its time in the figures, a line in the log."""

from __future__ import annotations

import logging
import re
import secrets
import sys
import time
from datetime import UTC, datetime
from typing import Any

import flask
import orjson
from dash import Dash

from app.server import figures
from app.server.settings import Settings

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
log = logging.getLogger("swimscope.requests")
log.setLevel(logging.WARNING)  # until configure_logs asks for a line per request


def register(server: flask.Flask) -> None:
    """Give every request an id and a beginning; to be called before anything that may answer it."""

    @server.before_request
    def begin() -> None:
        given = flask.request.headers.get("X-Request-Id", "")
        flask.g.request_id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        flask.g.began_s = time.perf_counter()

    @server.after_request
    def end(response: flask.Response) -> flask.Response:
        response.headers["X-Request-Id"] = flask.g.request_id
        _count(server, response.status_code, time.perf_counter() - flask.g.began_s)
        return response


def watch_callbacks(app: Dash, settings: Settings) -> None:
    """Let the figures tell callbacks apart, and the captures that are open."""
    app.server.extensions["swimscope-outputs"] = (f"{settings.url_prefix}_dash-update-component", app.callback_map)


def _count(server: flask.Flask, status: int, taken_s: float) -> None:
    request = flask.request
    route = request.url_rule.rule if request.url_rule else "none"
    method = request.method if request.method in METHODS else "other"
    figures.REQUESTS.labels(method, route, str(status)).inc()
    figures.REQUEST_SECONDS.labels(route).observe(taken_s)
    address, outputs = server.extensions["swimscope-outputs"]
    if request.path == address and status < 400:
        output = str((request.get_json(silent=True) or {}).get("output"))
        figures.CALLBACK_SECONDS.labels(output if output in outputs else "unknown").observe(taken_s)
    figures.OPEN_CAPTURES.set(server.extensions["swimscope"].library.open_captures)
    said = {"method": method, "path": request.path, "status": status, "ms": round(1_000 * taken_s, 1)}
    log.info("%s %s %s %s ms", *said.values(), extra={"facts": said | {"user": flask.g.get("user", "")}})


class JsonLines(logging.Formatter):
    """A log record as one JSON object: time, level, logger, message, request id, and what else the record brings."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "pid": record.process,
        }
        if flask.has_request_context() and "request_id" in flask.g:
            entry["request_id"] = flask.g.request_id
        entry |= getattr(record, "facts", {})
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(entry, default=str).decode()


def configure_logs(settings: Settings) -> None:
    """Log to the standard error as ``log_format`` says; JSON has a line for every request."""
    handler = logging.StreamHandler(sys.stderr)
    json_lines = settings.log_format == "json"
    handler.setFormatter(
        JsonLines() if json_lines else logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s")
    )
    level = settings.log_level.upper()
    logging.basicConfig(level=level, handlers=[handler], force=True)
    log.setLevel(level if json_lines or level == "DEBUG" else max(logging.WARNING, logging.getLevelName(level)))
