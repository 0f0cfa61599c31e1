"""Which content is an answer from? A run may be rewritten while a page shows it, and a page must not mix two contents.

Every answer about a capture names its content in the header ``Swimscope-Content`` as ``<run>.<launch>.<capture id>``. A
page sends the names it was built from back in the same header (or as ``content=`` in the query): it then gets answers from
that very content as long as the store has it, and ``Swimscope-Content-State`` says how it stands: ``current``,
``changed`` (the files now hold something else) or ``gone`` (the files are no longer there).
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Literal

import flask

State = Literal["current", "changed", "gone"]
HEADER = "Swimscope-Content"
STATE_HEADER = "Swimscope-Content-State"
MAX_CHARS = 2_000
_ORDER: tuple[State, ...] = ("current", "changed", "gone")
_expected: ContextVar[dict[tuple[str, str], str] | None] = ContextVar("expected", default=None)
_seen: ContextVar[dict[str, State] | None] = ContextVar("seen", default=None)


def expected(run_key: str, launch: int) -> str:
    """The capture id that the page behind the current request was built from, "" when it names none."""
    return (_expected.get() or {}).get((run_key, str(launch)), "")


def answered(run_key: str, launch: int, capture_id: str, state: State) -> None:
    """Note what the current request is answered from; outside of a request nothing happens."""
    seen = _seen.get()
    if seen is not None:
        seen[f"{run_key}.{launch}.{capture_id}"] = state


def register(server: flask.Flask) -> None:
    """Read what each request expects, and say in each answer what it is from."""

    @server.before_request
    def read_expected() -> None:
        given = flask.request.headers.get(HEADER) or flask.request.args.get("content") or ""
        found = {}
        for name in given[:MAX_CHARS].split():
            parts = name.split(".")
            if len(parts) == 3 and parts[2].isalnum():
                found[parts[0], parts[1]] = parts[2]
        _expected.set(found)
        _seen.set({})

    @server.after_request
    def name_content(response: flask.Response) -> flask.Response:
        seen = _seen.get()
        if seen:
            response.headers[HEADER] = " ".join(seen)
            response.headers[STATE_HEADER] = max(seen.values(), key=_ORDER.index)
        return response

    @server.teardown_request
    def forget(_error: BaseException | None) -> None:
        _expected.set(None)
        _seen.set(None)
