"""Routes of the pass page under ``/api/r/<run>/passes/``; query keys as in the URL of the page.

An answer that takes long is ``202 {state: "running", title, fraction, stage}`` until it is there; a job that failed or
was cancelled is 409, and ``retry=1`` starts it again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import flask
import orjson

from analysis.errors import InputError, NotFoundError, ParameterError, SwimscopeError
from analysis.passes.dump import tool_dumps
from analysis.passes.rows import MAX_ROWS
from analysis.passes.text import decode as decode_text
from app.compiler.names import function_names
from app.compiler.pending import NotYet
from app.passes import asked as asking
from app.passes import kept, message
from app.runs import dumps
from app.server.services import Services
from app.shell.url_state import ViewState, decode

OTHERS_LIMIT = 2_000
"""Runs offered for a comparison; the number left out is told."""
Answer = Callable[[Services, str, ViewState], Any]


def register(server: flask.Flask, services: Services) -> None:
    """``list``, ``diff``, ``rows``, ``search``, ``history``, ``others``, ``text``, ``tool``; POST ``cancel/<one>``."""
    base = f"{services.settings.url_prefix}api/r/<run_key>/passes"
    answers: dict[str, Answer] = {"list": listing, "diff": diff, "rows": rows, "search": search, "history": history,
                                  "others": others, "text": text, "tool": tool}  # fmt: skip
    for name, answer in answers.items():
        server.add_url_rule(f"{base}/{name}", f"passes-{name}", _handler(services, answer))

    @server.post(f"{base}/cancel/<name>")
    def cancel_pass_job(run_key: str, name: str) -> Any:
        if name not in ("list", "diff", "search", "history"):
            return {"error": f"there is nothing called {name[:40]} to cancel"}, 404
        try:
            answers[name](services, run_key, _view())
        except NotYet as wait:
            kept.of(services).cancel(wait.job)
            return {"cancelled": True}
        except SwimscopeError as error:
            return {"error": str(error)}, 422
        return {"cancelled": False}


def _handler(services: Services, answer: Answer) -> Callable[[str], Any]:
    def handle(run_key: str) -> Any:
        try:
            made = answer(services, run_key, _view())
        except NotYet as wait:
            return _waiting(services, wait)
        except NotFoundError as error:
            return {"error": str(error)}, 404
        except SwimscopeError as error:
            return {"error": str(error)}, 422
        return made if isinstance(made, flask.Response) else _json(made)

    return handle


def _waiting(services: Services, wait: NotYet) -> Any:
    progress = kept.of(services).progress(wait.job, flask.request.args.get("retry") == "1")
    told = {"state": progress.state, "title": wait.title, "fraction": progress.fraction, "stage": progress.stage}
    if progress.state in ("failed", "cancelled"):
        return {**told, "error": progress.message or "Cancelled; nothing was kept"}, 409
    return told, 202


def _json(value: Any) -> flask.Response:
    response = flask.Response(orjson.dumps(value), mimetype="application/json")
    response.headers["Cache-Control"] = "no-cache"
    return response


def _view() -> ViewState:
    given = {key: value for key, value in flask.request.args.items() if key not in ("a", "b", "pane", "retry", "side")}
    return decode(given)[0]


def listing(services: Services, run_key: str, view: ViewState) -> Any:
    """Every pass, what is wrong with the dump, the run's other dumps, ids of function names."""
    run = services.library.run(run_key)
    dump, found = asking.opened(services, run_key, view)
    names = function_names(services, run_key, view.launch)
    more = {"dumps": list(dumps.dump_paths(run, services.settings)), "names": names, "signature": dump.signature}
    return message.list_message(found, tool_dumps(dump.dump.path)) | more


def diff(services: Services, run_key: str, view: ViewState) -> Any:
    """The comparison that a URL names, without its rows."""
    asked, pane = _pane(services, run_key, view)
    return message.diff_message(asked, pane)


def rows(services: Services, run_key: str, view: ViewState) -> Any:
    """Display rows ``a`` to ``b`` of a pane."""
    asked, pane = _pane(services, run_key, view)
    start, end = _number("a"), _number("b")
    if end < start:
        raise ParameterError(f"rows {start} to {end}: the end is before the start")
    return message.rows_message(asked, pane, start, end)


def _pane(services: Services, run_key: str, view: ViewState) -> tuple[asking.Asked, asking.Pane]:
    asked = asking.asked(services, run_key, view)
    names = function_names(services, run_key, view.launch) if view.sel.startswith("func:") else {}
    return asked, asking.pane(services, asked, view, names, flask.request.args.get("pane") == "1")


def _number(name: str) -> int:
    text = flask.request.args.get(name, "")
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise ParameterError(f"{name}={text[:40]} is no row number; at most {MAX_ROWS} rows are given at once")
    return int(text)


def search(services: Services, run_key: str, view: ViewState) -> Any:
    """Where ``q`` occurs."""
    dump, found = asking.opened(services, run_key, view)
    regex, ignore_case = bool(view.own_value("re")), not view.own_value("case")
    return message.search_message(kept.of(services).search(dump, found, view.q, regex, ignore_case))


def history(services: Services, run_key: str, view: ViewState) -> Any:
    """What happened to ``name``."""
    dump, found = asking.opened(services, run_key, view)
    return message.history_message(kept.of(services).history(dump, found, view.own_value("name")))


def others(services: Services, run_key: str, _view: ViewState) -> Any:
    """Runs of the library with a dump to compare with, and the dumps of the one in ``other``."""
    found = [(row.key, f"{row.root}/{row.path}") for row in services.library.runs() if "passes" in row.views]
    chosen = _view.own_value("other")
    labels = list(dumps.dump_paths(services.library.run(chosen), services.settings)) if chosen else []
    return {
        "runs": [{"key": key, "name": name} for key, name in found[:OTHERS_LIMIT] if key != run_key],
        "left_out": max(0, len(found) - OTHERS_LIMIT),
        "dumps": labels,
    }


def text(services: Services, run_key: str, view: ViewState) -> flask.Response:
    """The whole snapshot of one ``side``, as it is on disk with LF line ends."""
    asked = asking.asked(services, run_key, view)
    left = flask.request.args.get("side") == "left"
    dump, entry = (asked.source, asked.left) if left else (asked.dump, asked.right)
    return _plain(dump.dump.read(entry.file).text)


def tool(services: Services, run_key: str, view: ViewState) -> flask.Response:
    """A file that another tool dumped, ``node=KERNEL/FILE``, as text."""
    dump = dumps.choose(services.library.run(run_key), services.settings, view.own_value("dump")).dump
    for base in (dump.path, dump.path.parent):
        for found in tool_dumps(base):
            for file in found.files:
                if view.node == f"{found.kernel}/{file}":
                    return _plain(_read_tool(base, found.kernel, file))
    raise NotFoundError(f"{dump.label}: no file {view.node[:100]} of another tool")


def _read_tool(base: Path, kernel: str, file: str) -> str:
    for place in (base / "ptoas_passes", base.parent / "ptoas_passes"):
        path = place / kernel / file
        if path.is_file():
            try:
                return decode_text(path.read_bytes()).text
            except OSError as error:
                raise InputError(f"{kernel}/{file}", "", f"cannot be read: {error.strerror}") from error
    raise NotFoundError(f"{kernel}/{file} is gone; reload the page")


def _plain(content: str) -> flask.Response:
    response = flask.Response(content.encode("utf-8", "replace"), mimetype="text/plain")
    response.headers["Content-Disposition"] = "inline"
    response.headers["Content-Security-Policy"] = "sandbox"
    return response
