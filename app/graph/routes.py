"""Search, text view and exports of the task graph, as plain routes under ``/api/graph/<run>``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import flask
import numpy as np

from analysis import selection
from analysis.capture import Capture
from analysis.csv_text import csv_chunks
from analysis.errors import LimitError, NotFoundError
from analysis.graph import prepared
from analysis.graph import text as graph_text
from analysis.graph.neighbourhood import adjacency
from analysis.registry import EDGES
from app.graph import picture
from app.server.services import Services
from app.shell.url_state import decode, launch_of
from components.dag.svg import svg
from components.theme import Theme

SEARCH_LIMIT = 500
"""Matches a search hands to the browser; the total is always given."""
ROWS_LIMIT = 1_000_000
"""Rows of a neighbour list."""


def register(server: flask.Flask, services: Services) -> None:
    """``search``, ``neighbours``, ``export.csv|dot|graphml|gexf|svg``; query keys as in the URL of the page."""
    base = f"{services.settings.url_prefix}api/graph/<run_key>"
    routes: dict[str, Callable[[Services, str], Any]] = {
        "search": search,
        "neighbours": neighbours,
        "export.csv": export_csv,
        "export.dot": export_dot,
        "export.graphml": export_xml("graphml", "application/graphml+xml"),
        "export.gexf": export_xml("gexf", "application/gexf+xml"),
        "export.svg": export_svg,
    }
    for name, view in routes.items():
        server.add_url_rule(f"{base}/{name}", f"graph-{name}", _answer(services, view))


def _answer(services: Services, view: Callable[[Services, str], Any]) -> Callable[..., Any]:
    return lambda run_key: view(services, run_key)


def search(services: Services, run_key: str) -> Any:
    """``{total, tasks: [{id, label, name}]}`` for ``q``."""
    capture = _capture(services, run_key)
    found = selection.find_tasks(capture, flask.request.args.get("q", "")[:200])
    tasks = [_task(capture, task) for task in found[:SEARCH_LIMIT].tolist()]
    return flask.jsonify(total=len(found), tasks=tasks)


def neighbours(services: Services, run_key: str) -> Any:
    """Who feeds or uses ``task`` (id) within ``depth``: CSV, or JSON with ``format=json``."""
    capture = _capture(services, run_key)
    picture.require_graph(capture)
    task, side, depth = _asked(capture)
    rows, total = graph_text.neighbour_rows(capture, task, side, depth, adjacency(capture), ROWS_LIMIT)
    if flask.request.args.get("format") == "json":
        return flask.jsonify(total=total, tasks=[_task(capture, row.task) | {"distance": row.distance} for row in rows])
    return _file(
        _rows_csv(capture, rows), f"{side}-{capture.meta.task_label(int(capture.tasks.task_id[task]))}.csv", "text/csv"
    )


def export_csv(services: Services, run_key: str) -> Any:
    """Every edge of ``mode`` as CSV."""
    capture, edges, mode = _edges(services, run_key)
    return _file(graph_text.edges_csv(capture, edges), f"edges-{mode}.csv", "text/csv")


def export_dot(services: Services, run_key: str) -> Any:
    """The whole graph with the edges of ``mode`` as Graphviz DOT."""
    capture, edges, mode = _edges(services, run_key)
    return _file(graph_text.dot(capture, edges), f"graph-{mode}.dot", "text/vnd.graphviz")


def export_xml(form: str, content_type: str) -> Callable[[Services, str], Any]:
    """The whole graph with the edges of ``mode``, names and times, as a file that networkx and graph editors open."""

    def export(services: Services, run_key: str) -> Any:
        view, _ = decode(flask.request.args.to_dict())
        capture = services.library.capture(run_key, view.launch)
        picture.require_graph(capture)
        if len(capture.edges) > prepared.LARGE_EDGES:
            raise LimitError(
                f"the graph has {len(capture.edges):,} edges; up to {prepared.LARGE_EDGES:,} are exported here. "
                f"Run `python -m analysis edges PATH --mode {view.mode} --format {form}` instead"
            )
        found = picture.mode_edges(services, capture, view.mode)
        return _file(EDGES.exported(form, capture, found), f"graph-{view.mode}.{form}", content_type)

    return export


def export_svg(services: Services, run_key: str) -> Any:
    """The picture of the page as SVG; ``theme`` light or dark."""
    args = flask.request.args.to_dict()
    theme: Theme = "dark" if args.pop("theme", "light") == "dark" else "light"
    drawn, _ = picture.possible(services, run_key, decode(args)[0])
    row = services.library.run(run_key).row
    edges = drawn.scene.edges
    title = f"{row.name} · {drawn.mode} · {edges.visible:,} of {edges.total:,} edges"
    text = svg(drawn.capture, drawn.scene, drawn.layout, drawn.marks, theme, drawn.direction, title)
    return _file(text, "graph.svg", "image/svg+xml")


def _edges(services: Services, run_key: str) -> tuple[Capture, Any, str]:
    view, _ = decode(flask.request.args.to_dict())
    capture = services.library.capture(run_key, view.launch)
    picture.require_graph(capture)
    keep = picture.edge_mask(services, capture, view.mode)
    edges = np.arange(len(capture.edges)) if keep is None else np.flatnonzero(keep)
    return capture, edges.astype(np.int32), view.mode


def _capture(services: Services, run_key: str) -> Capture:
    return services.library.capture(run_key, launch_of(flask.request.args))


def _asked(capture: Capture) -> tuple[int, str, int]:
    args = flask.request.args
    text, side, depth = args.get("task", ""), args.get("side", "feeds"), args.get("depth", "1")
    task = capture.task_index(int(text)) if re.fullmatch("[0-9]{1,20}", text) else -1
    if task < 0:
        raise NotFoundError(f"no task with id {text!r} in this capture")
    if side not in ("feeds", "uses") or not re.fullmatch(r"-?[0-9]{1,9}", depth):
        raise NotFoundError("side is feeds or uses, depth a whole number (-1 for all)")
    return task, side, int(depth)


def _task(capture: Capture, task: int) -> dict[str, Any]:
    task_id = int(capture.tasks.task_id[task])
    return {"id": str(task_id), "label": capture.meta.task_label(task_id), "name": capture.task_name(task)}


def _rows_csv(capture: Capture, rows: list[graph_text.NeighbourRow]) -> Iterator[str]:
    def cells(row: graph_text.NeighbourRow) -> list[Any]:
        task = _task(capture, row.task)
        wait = None if row.wait_us is None else round(row.wait_us, 3)
        words = [" ".join(row.sources), " ".join(row.tensors)]
        return [task["id"], task["label"], task["name"], row.distance, *words, wait]

    header = ["task_id", "label", "name", "distance", "sources", "tensors", "wait_us"]
    return csv_chunks([header, *map(cells, rows)])


def _file(text: Iterator[str], name: str, kind: str) -> flask.Response:
    response = flask.Response((piece.encode() for piece in text), mimetype=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
