"""Routes of the swimlane under ``/api/timeline/<run>``: what to draw, what is selected, what a search finds."""

from __future__ import annotations

import functools
from typing import Any

import flask

from analysis.errors import NotFoundError, ParameterError
from analysis.timeline.message import view_info
from app.server.services import Services
from app.shell.url_state import launch_of
from app.swimlane import answers
from app.swimlane.request import Request, read_request
from app.swimlane.views import Views
from app.timeline.answers import query_window, window_response
from app.work import waiting


def register(server: flask.Flask, services: Services) -> None:
    """Add the routes; every answer is a function of the run's content and the query."""
    views = Views(services)
    base = f"{services.settings.url_prefix}api/timeline/<run>"

    def route(path: str, answer: Any) -> None:
        @functools.wraps(answer)
        def handle(run: str) -> flask.Response:
            if flask.request.args.get("early") == "1" and not _at_once(services, run):
                return flask.make_response({"later": True}, 202)
            made: flask.Response = answer(read_request(views, run, flask.request.args))
            return made

        server.add_url_rule(f"{base}/{path}", f"timeline-{path}", handle)

    route("info", _info)
    route("window", _window)
    for path, answer in answers.JSON_ANSWERS.items():
        route(path, lambda request, answer=answer: flask.jsonify(answer(request)))
    for path, file_answer in answers.FILE_ANSWERS.items():
        route(path, file_answer)


def _at_once(services: Services, run: str) -> bool:
    """A browser asks early, before the page is there: only for what needs no long open."""
    try:
        return waiting.at_once(services, services.library.run(run), launch_of(flask.request.args))
    except (NotFoundError, ParameterError):
        return False  # the page itself says so


def _info(request: Request) -> flask.Response:
    return flask.jsonify(view_info(request.capture, request.index))


def _window(request: Request) -> flask.Response:
    index = request.highlighted() if request.text("hl") else request.index
    return window_response(request, index, query_window(request, index), request.capture)
