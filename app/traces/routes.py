"""Routes of the trace page under ``/api/trace/<run>``: what to draw, what is selected, what a search finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flask
import numpy as np

from analysis.errors import InputError, NotFoundError
from analysis.timeline.find import cell_summary, item_name, matches_in_order, nearest, neighbour_in_lane
from analysis.traces import find
from analysis.traces.timeline import KIND_LETTERS, counter_steps, trace_view_info, with_moments
from app.server.services import Services
from app.timeline.answers import (
    file_response,
    file_stem,
    mark_bins,
    ordinal,
    place_of,
    query_window,
    window_response,
)
from app.traces.request import TraceRequest, read_request

MAX_LINES = 1_500
MAX_MOMENTS = 2_000
"""Instants of a window that are drawn as markers; more are density."""
MAX_COUNTERS = 64
"""Counter series of one answer."""
MAX_NAMES = 6
"""Names that a measured range lists."""


def register(server: flask.Flask, services: Services) -> None:
    """Add the routes; every answer is a function of the trace's content and the query."""
    base = f"{services.settings.url_prefix}api/trace/<run>"

    def route(path: str, answer: Callable[[TraceRequest], Any]) -> None:
        def handle(run: str) -> flask.Response:
            made = answer(read_request(services, run, flask.request.args))
            return made if isinstance(made, flask.Response) else flask.jsonify(made)

        server.add_url_rule(f"{base}/{path}", f"trace-{path}", handle)

    for path, answer in ANSWERS.items():
        route(path, answer)


def info(request: TraceRequest) -> dict[str, Any]:
    """What the page must know before it draws."""
    return trace_view_info(request.trace, request.index)


def window(request: TraceRequest) -> flask.Response:
    """Bars and density of a window; instants are bars as long as a picture can show them."""
    highlight = request.highlighted() if request.text("hl") else None
    index, at = highlight or (request.index, request.opened.moments)
    t0, t1 = request.window()
    result = with_moments(index, at, query_window(request, index), t0, t1, MAX_MOMENTS)
    return window_response(request, index, result, None)


def describe(request: TraceRequest, position: int) -> dict[str, Any]:
    """One item: where it is drawn, what it is called, and the selection that names it."""
    name = item_name(request.index, position, KIND_LETTERS)
    place = place_of(request.index, position)
    called = find.name_of(request.trace, request.index, position)
    return {"item": name, **place, "name": called, "task_id": None, "label": "", "sel": f"item:{name}"}


def cell(request: TraceRequest) -> dict[str, Any]:
    """Count, busy share and busiest names of one track between two ticks."""
    t0, t1 = request.window()
    names = find.class_names(request.trace, request.index)
    found = cell_summary(request.index, request.track(), t0, t1, names)
    classes = [{"name": name, "items": n, "ticks": ticks} for name, n, ticks in found.classes]
    return {"items": found.n_items, "share": found.busy_share, "classes": classes}


def select(request: TraceRequest) -> dict[str, Any]:
    """The items a selection outlines, its bounds, and the flows of one item."""
    index, spec = request.index, request.text("sel")
    answer: dict[str, Any] = {"n_total": 0, "items": [], "lines": [], "n_lines": 0, "n_hidden": 0}
    try:
        at = np.flatnonzero(find.selected(request.trace, index, spec, request.text("q")))
    except NotFoundError as error:
        return answer | {"reason": str(error)}
    first = at[np.argsort(index.start_ticks[at], kind="stable")[0]]
    answer |= {"n_total": len(at), "first": describe(request, int(first))}
    answer["bounds"] = [int(index.start_ticks[at].min()), int(index.end_ticks[at].max())]
    if not spec.startswith("item:"):
        return answer
    track = int(index.track_of(at)[0])
    ticks = (int(part[at[0]]) for part in (index.start_ticks, index.middle_ticks, index.end_ticks))
    answer["items"] = [[track, *ticks, item_name(index, int(at[0]), KIND_LETTERS)]]
    return answer | _flows(request, int(at[0]))


def _flows(request: TraceRequest, position: int) -> dict[str, Any]:
    found = find.flow_lines(request.trace, request.index, position)
    source, target = request.index.track_of(found.source), request.index.track_of(found.target)
    hidden = request.hidden()
    shown = np.flatnonzero(~(hidden[source] | hidden[target])) if len(source) else source
    lines = [
        [int(source[i]), int(found.from_ns[i]), int(target[i]), int(found.to_ns[i]), int(found.side[i]), 0]
        for i in shown[:MAX_LINES]
    ]
    outgoing = int(found.side.sum())
    return {
        "lines": lines,
        "n_lines": len(shown),
        "n_hidden": len(found.side) - len(shown),
        "n_predecessors": len(found.side) - outgoing,
        "n_successors": outgoing,
    }


def search(request: TraceRequest) -> dict[str, Any]:
    """How many items a text finds, where (bins of the span), and the one at ordinal ``at`` (wrapping)."""
    index = request.index
    at = matches_in_order(index, find.matching(request.trace, index, request.text("q")))
    number = ordinal(request, index, at)
    answer: dict[str, Any] = {"count": len(at), "marks": mark_bins(index, at), "at": number}
    return answer | ({"item": describe(request, int(at[number]))} if number >= 0 else {})


def marks(request: TraceRequest) -> dict[str, Any]:
    """Where in the span the highlighted items are, and how many."""
    try:
        mask = find.selected(request.trace, request.index, request.text("hl"), request.text("q"))
    except NotFoundError as error:
        return {"reason": str(error)}
    at = np.flatnonzero(mask)
    return {"count": len(at), "marks": mark_bins(request.index, at)}


def item(request: TraceRequest) -> dict[str, Any]:
    """One item by name, or the neighbour of it that ``step`` (next, prev) names."""
    position = request.item_of(KIND_LETTERS)
    step = {"next": 1, "prev": -1}.get(request.text("step"), 0)
    if position >= 0 and step:
        position = neighbour_in_lane(request.index, position, step)
    return {"found": position >= 0} | (describe(request, position) if position >= 0 else {})


def near(request: TraceRequest) -> dict[str, Any]:
    """The item of ``tracks`` nearest to tick ``t``."""
    position = nearest(request.index, request.tracks("tracks"), request.integer("t"))
    return {"found": position >= 0} | (describe(request, position) if position >= 0 else {})


def range_of(request: TraceRequest) -> dict[str, Any]:
    """What a measured range holds: a sentence and a table."""
    found = find.range_spans(request.trace, *request.window())
    rows = [[name, count, us] for name, count, us in found.names[:MAX_NAMES]]
    facts = f"{found.spans:,} spans ({found.whole:,} whole), {found.instants:,} instants"
    table = {"columns": ["Name", "Spans", "Time inside"], "rows": rows, "of": len(found.names)}
    return {"facts": facts, "table": table}


def counters(request: TraceRequest) -> dict[str, Any]:
    """Steps of the counter series that ``series`` lists (``0,3``) in a window; values of a cell with low and high."""
    t0, t1 = request.window()
    points = int(max(min(request.number("px"), 4_000), 16))
    numbers = [part for part in request.text("series").split(",") if part][:MAX_COUNTERS]
    if not all(part.isdecimal() and int(part) < len(request.trace.counters) for part in numbers):
        raise InputError("request", "series", "not numbers of counter series of this trace")
    return {"series": [_steps(request, int(part), t0, t1, points) for part in numbers]}


def _steps(request: TraceRequest, number: int, t0: int, t1: int, points: int) -> dict[str, Any]:
    found = counter_steps(request.trace, number, t0, t1, points)
    exact = bool(found["exact"][0])
    bounds = {} if exact else {key: found[key].tolist() for key in ("low", "high")}
    return {"n": number, "time": found["time_ns"].tolist(), "value": found["value"].tolist(), "exact": exact} | bounds


def visible_csv(request: TraceRequest) -> flask.Response:
    """CSV of every item in view."""
    table = find.visible_table(request.trace, request.index, request.tracks("tracks"), *request.window())
    return file_response(table.to_csv(), "text/csv; charset=utf-8", f"{file_stem(request.trace.label)}-visible.csv")


ANSWERS: dict[str, Callable[[TraceRequest], Any]] = {
    "info": info, "window": window, "cell": cell, "select": select, "search": search, "marks": marks, "item": item,
    "near": near, "range": range_of, "counters": counters, "visible.csv": visible_csv,
}  # fmt: skip
