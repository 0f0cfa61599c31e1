"""Answers to the swimlane's questions as plain JSON values; all numbers come from ``analysis``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import flask
import numpy as np

from analysis import selection
from analysis.errors import NotAvailable, NotFoundError
from analysis.measures.chains import single_dependency_chains
from analysis.measures.ranges import range_statistics
from analysis.timeline.details import maximum_lead
from analysis.timeline.find import (
    cell_summary,
    class_names,
    item_name,
    matches_in_order,
    nearest,
    neighbour_in_lane,
    visible_table,
)
from analysis.timeline.highlight import search_items
from analysis.timeline.items import ItemTitles
from analysis.timeline.lines import dependency_lines
from analysis.timeline.query import LodIndex
from app.swimlane.request import Request
from app.timeline.answers import file_response, file_stem, mark_bins, ordinal, place_of

MAX_SELECTED = 4_000
"""Outlined items of one selection; the answer says how many there are."""
MAX_LINES = 1_500


def describe(request: Request, index: LodIndex, position: int) -> dict[str, Any]:
    """One item: where it is drawn, what it is called."""
    task = int(index.task[position])
    task_id = int(request.capture.tasks.task_id[task]) if task >= 0 else None
    cls = int(index.cls[position])
    return {
        "item": item_name(index, position),
        **place_of(index, position),
        "name": ItemTitles(request.capture, index.class_kind, index.class_value).of(cls, task),
        "task_id": None if task_id is None else str(task_id),
        "label": "" if task_id is None else request.capture.meta.task_label(task_id),
    }


def cell(request: Request) -> dict[str, Any]:
    """Count, busy share and busiest functions of one track between two ticks."""
    t0, t1 = request.window()
    found = cell_summary(request.index, request.track(), t0, t1, class_names(request.capture, request.index))
    return {
        "items": found.n_items,
        "share": found.busy_share,
        "classes": [{"name": name, "items": n, "ticks": ticks} for name, n, ticks in found.classes],
    }


def select(request: Request) -> dict[str, Any]:
    """The items a selection outlines, its bounds, and the dependency lines of a task."""
    spec = request.text("sel")
    index = request.index
    answer: dict[str, Any] = {"n_total": 0, "items": [], "lines": [], "n_lines": 0, "n_hidden": 0}
    try:
        at = np.flatnonzero(request.views.highlight_mask(request.capture, index, spec))
    except (NotFoundError, NotAvailable) as error:
        return answer | {"reason": str(error)}
    hidden = request.hidden()
    answer["n_total"] = len(at)
    if len(at):
        answer["bounds"] = [int(index.start_ticks[at].min()), int(index.end_ticks[at].max())]
        first = at[np.argsort(index.start_ticks[at], kind="stable")[0]]
        answer["first"] = describe(request, index, int(first))
    task = selection.task_of(request.capture, spec, selection.OF_A_TASK)
    if task < 0:
        return answer
    tracks = index.track_of(at)
    answer["items"] = [
        [int(tracks[i]), int(index.start_ticks[p]), int(index.middle_ticks[p]), int(index.end_ticks[p]),
         item_name(index, int(p))]
        for i, p in enumerate(at[:MAX_SELECTED])
    ]  # fmt: skip
    answer["label"] = request.capture.meta.task_label(int(request.capture.tasks.task_id[task]))
    answer["name"] = request.capture.task_name(task)
    depth, sides = request.depth(), request.text("deps") or "both"
    found = dependency_lines(request.capture, index, task, depth, sides, hidden, MAX_LINES)
    ends = index.track_of(found.from_item), index.track_of(found.to_item)
    answer["lines"] = [
        [int(ends[0][i]), int(index.end_ticks[found.from_item[i]]), int(ends[1][i]),
         int(index.start_ticks[found.to_item[i]]), int(found.side[i]), int(found.violation[i])]
        for i in range(len(found.side))
    ]  # fmt: skip
    answer |= {"n_lines": found.n_total, "n_hidden": found.n_hidden}
    answer |= {"n_predecessors": found.n_predecessors, "n_successors": found.n_successors}
    return answer


def search(request: Request) -> dict[str, Any]:
    """How many items a text finds, where (bins of the span), and the one at ordinal ``at`` (wrapping)."""
    index, text = request.index, request.text("q")
    at = matches_in_order(index, search_items(request.capture, index, text))
    answer: dict[str, Any] = {"count": len(at), "marks": mark_bins(index, at), "at": -1}
    if len(at):
        tasks = index.task[at]
        answer["tasks"] = len(np.unique(tasks[tasks >= 0]))
        answer["at"] = ordinal(request, index, at)
        if answer["at"] >= 0:
            answer["item"] = describe(request, index, int(at[answer["at"]]))
    return answer


def marks(request: Request) -> dict[str, Any]:
    """Where in the span the highlighted items are, and how many there are."""
    index = request.index
    try:
        at = np.flatnonzero(request.views.highlight_mask(request.capture, index, request.text("hl"), request.text("q")))
    except (NotFoundError, NotAvailable) as error:
        return {"reason": str(error)}
    return {"count": len(at), "marks": mark_bins(index, at)}


def item(request: Request) -> dict[str, Any]:
    """One item by name, or the neighbour of it that ``step`` (next, prev) names."""
    position = request.item()
    step = {"next": 1, "prev": -1}.get(request.text("step"), 0)
    if position >= 0 and step:
        position = neighbour_in_lane(request.index, position, step)
    return {"found": position >= 0} | (describe(request, request.index, position) if position >= 0 else {})


def near(request: Request) -> dict[str, Any]:
    """The item of ``tracks`` nearest to tick ``t``."""
    position = nearest(request.index, request.tracks("tracks"), request.integer("t"))
    return {"found": position >= 0} | (describe(request, request.index, position) if position >= 0 else {})


def range_of(request: Request) -> dict[str, Any]:
    """Statistics of a measured range."""
    t0, t1 = request.window()
    try:
        found = range_statistics(request.capture, t0, t1).to_json()
    except NotAvailable as error:
        return {"reason": str(error)}
    return {"available": True, **found}


def lead(request: Request) -> dict[str, Any]:
    """The maximum lead interval of a task, or why there is none."""
    task = request.task()
    try:
        dispatch, last_fin = maximum_lead(request.capture, task)
    except NotAvailable as error:
        return {"available": False, "reason": str(error)}
    return {"available": True, "dispatch": dispatch, "last_fin": last_fin}


def chain(request: Request) -> dict[str, Any]:
    """The first task of the single-dependency chain a task belongs to, or why there is none."""
    task = request.task()
    try:
        found = single_dependency_chains(request.capture)
    except NotAvailable as error:
        return {"reason": str(error)}
    at = np.flatnonzero(found.members == task)
    if not len(at):
        return {"reason": "The task is in no chain: it or its neighbour has several dependencies."}
    row = int(np.searchsorted(found.offsets, at[0], side="right")) - 1
    first = int(found.members[found.offsets[row]])
    return {"first": str(int(request.capture.tasks.task_id[first]))}


def visible_csv(request: Request) -> flask.Response:
    """CSV of every item in view."""
    t0, t1 = request.window()
    index = request.highlighted() if request.text("hl") else request.index
    tracks = request.tracks("tracks")
    table = visible_table(request.capture, index, tracks, t0, t1)
    return file_response(table.to_csv(), "text/csv; charset=utf-8", f"{_stem(request)}-visible.csv")


def trace_json(request: Request) -> flask.Response:
    """The whole capture as Perfetto (Chrome trace) JSON, streamed."""
    from analysis.export.trace import iter_trace

    chunks: Iterator[bytes] = iter_trace(request.capture)
    return file_response(chunks, "application/json", f"{_stem(request)}-trace.json")


def _stem(request: Request) -> str:
    return file_stem(request.views.services.library.run(request.run).row.name)


JSON_ANSWERS: dict[str, Callable[[Request], dict[str, Any]]] = {
    "cell": cell, "select": select, "search": search, "marks": marks, "item": item, "near": near,
    "range": range_of, "lead": lead, "chain": chain,
}  # fmt: skip
FILE_ANSWERS: dict[str, Callable[[Request], flask.Response]] = {
    "visible.csv": visible_csv,
    "trace.json": trace_json,
}
