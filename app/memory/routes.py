"""Route of the memory page: ``/api/r/<run>/memory/source`` gives coloured lines of the snapshot the query names."""

from __future__ import annotations

from typing import Any

import flask
import orjson

from analysis.errors import NotFoundError, ParameterError, SwimscopeError
from app.memory import kept
from app.memory.asked import find_file
from app.server.services import Services
from app.shell.url_state import decode
from components.passes.code import MOST_COLOURED_CHARS, line_pieces

MAX_LINES = 400
"""Lines given at once."""
MAX_CHARS = 2_000
"""Characters of a line that are sent; the rest is counted."""


def register(server: flask.Flask, services: Services) -> None:
    """``source?a=FIRST&b=LAST``, lines counted from 1, both inclusive."""

    @server.get(f"{services.settings.url_prefix}api/r/<run_key>/memory/source")
    def memory_source(run_key: str) -> Any:
        given = {key: value for key, value in flask.request.args.items() if key not in ("a", "b")}
        try:
            first, last = _number("a"), _number("b")
            dump, file = find_file(services, run_key, decode(given)[0])
            lines = kept.of(services).text(dump, file).lines
        except NotFoundError as error:
            return {"error": str(error)}, 404
        except SwimscopeError as error:
            return {"error": str(error)}, 422
        last = min(last, first + MAX_LINES - 1)
        shown = [_pieces(line.removesuffix("\r")) for line in lines[max(first, 1) - 1 : last]]
        response = flask.Response(orjson.dumps({"first": max(first, 1), "lines": shown}), mimetype="application/json")
        response.headers["Cache-Control"] = "no-cache"
        return response


def _pieces(line: str) -> list[tuple[str, str]]:
    """Text and colour class of each piece of a line."""
    pieces = line_pieces(line[:MAX_CHARS], colour=len(line) <= MOST_COLOURED_CHARS)
    out = [(text, letter) for text, letter, _marked in pieces]
    return out if len(line) <= MAX_CHARS else [*out, (f"… ({len(line):,} characters)", "c")]


def _number(name: str) -> int:
    text = flask.request.args.get(name, "")
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise ParameterError(f"{name}={text[:40]} is no line number; at most {MAX_LINES} lines are given at once")
    return int(text)
