"""What does the panel beside the graph show for a view? Details, neighbours in words, groups, omitted edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import html

from analysis import selection
from analysis.capture import Capture, TaskKind
from analysis.errors import SwimscopeError
from analysis.graph import prepared
from analysis.graph import text as graph_text
from analysis.graph.neighbourhood import adjacency
from analysis.graph.summary import Group, group_exec_us
from app.graph import picture
from app.server.services import Services
from app.shell.url_state import ViewState
from components.dag import details as dag_details
from components.dag.elements import KIND_TEXT, depth_text
from components.grid import GridColumn, grid
from components.notices import empty, not_available, shown_of

MAX_ROWS = 5_000
"""Rows a table of the panel holds; the CSV beside it holds all."""

NEIGHBOUR_COLUMNS = (
    GridColumn("label", "Task", "text", "Ring & Task ID", 80),
    GridColumn("name", "Function", "text", flex=1, width_px=110),
    GridColumn("distance", "Steps", "count", "Edges between the two", 70),
    GridColumn("wait_us", "Wait µs", "us", "start of the later − end of the earlier; negative is a violation", 100),
    GridColumn("sources", "Source", "text", "Why the edge exists (direct neighbours)", 100),
    GridColumn("tensors", "Tensors", "text", "Tensors on the edge (direct neighbours)", 90),
    GridColumn("task_id", "Task id", "id", hide=True),
)
EDGE_COLUMNS = (
    GridColumn("pred_label", "From", "text", width_px=80),
    GridColumn("pred_name", "Function", "text", flex=1, width_px=90),
    GridColumn("succ_label", "To", "text", width_px=80),
    GridColumn("succ_name", "Function", "text", flex=1, width_px=90),
    GridColumn("annotations", "Rows", "count", "Rows of deps.json behind the edge", 70),
)
GROUP_COLUMNS = (
    GridColumn("name", "Function", "text", flex=1, width_px=110),
    GridColumn("depth", "Depth", "text", "Longest path that ends at its tasks", 80),
    GridColumn("tasks", "Tasks", "count", width_px=75),
    GridColumn("exec_us", "Exec µs", "us", "Execution of all records together", 110),
    GridColumn("kind", "Kind", "text", width_px=70, hide=True),
)


def content(services: Services, view: ViewState, run_key: str) -> Any:
    """The panel's body for the open tab."""
    try:
        capture = services.library.capture(run_key, view.launch)
        picture.require_graph(capture)
        if view.tab == "text":
            return _text(services, capture, view, run_key)
        if view.tab == "groups":
            return _groups(services, capture, view)
        if view.tab == "omitted":
            return _omitted(services, capture, view, run_key)
        return _details(services, capture, view, run_key)
    except SwimscopeError as error:
        return not_available("The panel", str(error))


def _details(services: Services, capture: Capture, view: ViewState, run_key: str) -> Any:
    word, _, rest = view.node.partition(":")
    if word == "edge":
        ends = [selection.task_with_id(capture, part) for part in rest.split("-")]
        edge = graph_text.edge_index(capture, *ends) if len(ends) == 2 and min(ends) >= 0 else -1
        return dag_details.edge_panel(capture, edge) if edge >= 0 else empty("The file holds no such edge.")
    if word == "grp":
        return _group(services, capture, view, rest)
    task = selection.task_of(capture, view.sel)
    if task < 0:
        return _nothing(capture, view)
    links = adjacency(capture)
    rows = dag_details.LIST_ROWS
    return dag_details.task_panel(
        capture,
        task,
        prepared.marks(services.store, capture),
        graph_text.neighbour_rows(capture, task, "feeds", 1, links, rows),
        graph_text.neighbour_rows(capture, task, "uses", 1, links, rows),
        services.href(
            "swimlane", run_key, ViewState(sel=f"task:{int(capture.tasks.task_id[task])}", launch=view.launch)
        ),
    )


def _group(services: Services, capture: Capture, view: ViewState, key: str) -> Any:
    scene, _ = picture.scene_of(services, capture, view, None)
    found: tuple[Group, int] | None = next(
        ((group, int(scene.group_hidden[at])) for at, group in enumerate(scene.groups) if group.key == key), None
    )
    if found is None:
        return empty("This group is open, or not part of the picture.")
    return dag_details.group_panel(capture, prepared.parts(services.store, capture), *found)


def _nothing(capture: Capture, view: ViewState) -> html.Div:
    nodes = np.flatnonzero(capture.tasks.in_graph)
    kinds = np.bincount(capture.tasks.kind[nodes], minlength=len(TaskKind))
    rows = [[KIND_TEXT[kind], f"{int(kinds[kind]):,}"] for kind in TaskKind if kinds[kind]]
    text = {
        "func": "The tasks of the selected function are highlighted.",
        "path": "The tasks of the selected path are highlighted.",
        "task": "This capture holds no task with the selected id.",
    }.get(
        found.kind if (found := selection.parse(view.sel)) else "",
        "Click a task, a group or a line; or search. Press ? for the keys.",
    )
    parts = [html.H2("Nothing is open"), html.P(text, className="muted"), html.H3("Tasks by kind")]
    parts.append(dag_details.table(["Kind", "Tasks"], rows, "Tasks by kind", wrap=True))
    return html.Div(parts, className="details")


def _text(services: Services, capture: Capture, view: ViewState, run_key: str) -> Any:
    task = selection.task_of(capture, view.sel)
    if task < 0:
        return empty("Select or search a task: this lists who feeds it and who uses it, at any depth.")
    links = adjacency(capture)
    task_id = int(capture.tasks.task_id[task])
    label = f"{capture.task_name(task)} {capture.meta.task_label(task_id)}"
    parts: list[Any] = []
    for side, title in (("feeds", f"Who feeds {label}?"), ("uses", f"Who uses {label}?")):
        rows, total = graph_text.neighbour_rows(capture, task, side, view.gdepth, links, MAX_ROWS)
        csv = _api(services, run_key, "neighbours", view, task=str(task_id), side=side, depth=str(view.gdepth))
        head = [
            html.H3(title),
            shown_of(len(rows), total, "task" if total == 1 else "tasks"),
            html.A("CSV", href=csv, className="button", download=""),
        ]
        body = [_neighbour(capture, row) for row in rows]
        table = grid(f"graph-{side}", NEIGHBOUR_COLUMNS, body, row_id="task_id", label=title)
        parts += [html.Div(head, className="side-head"), html.Div(table, className="side-grid")]
    return html.Div(parts, className="side-text")


def _neighbour(capture: Capture, row: graph_text.NeighbourRow) -> dict[str, Any]:
    task_id = int(capture.tasks.task_id[row.task])
    return {
        "task_id": str(task_id),
        "sel": f"task:{task_id}",
        "label": capture.meta.task_label(task_id),
        "name": capture.task_name(row.task),
        "distance": row.distance,
        "wait_us": row.wait_us,
        "sources": " ".join(row.sources) or None,
        "tensors": " ".join(row.tensors) or None,
    }


def _groups(services: Services, capture: Capture, view: ViewState) -> Any:
    scene, _ = picture.scene_of(services, capture, view, None)
    if not scene.groups:
        return empty(
            "Every task of the picture is drawn one by one. “Show: Summary” groups them by function and depth."
        )
    parts = prepared.parts(services.store, capture)
    rows = [
        {
            "key": group.key,
            "node": f"grp:{group.key}",
            "name": group.name,
            "kind": group.kind.name,
            "depth": depth_text(group),
            "tasks": group.n_tasks,
            "exec_us": group_exec_us(capture, parts, group),
        }
        for group in scene.groups
    ]
    opened = [
        html.Button(f"× {item}", className="link-button", title="Close it again", **{"data-graph": f"close:{item}"})
        for item in view.exp
    ]
    head = html.Div([html.Span("Opened: ", className="muted"), *opened], className="side-head") if opened else None
    table = grid("graph-groups", GROUP_COLUMNS, rows, row_id="key", label="Groups of the picture")
    return html.Div([head, html.Div(table, className="side-grid")], className="side-text")


def _omitted(services: Services, capture: Capture, view: ViewState, run_key: str) -> Any:
    mode = "omitted-df" if view.mode.endswith("-df") else "omitted"
    found = picture.mode_edges(services, capture, mode)
    labels = [(int(capture.edges.pred[edge]), int(capture.edges.succ[edge])) for edge in found.edge[:MAX_ROWS].tolist()]
    ids = capture.tasks.task_id
    rows = [
        {
            "key": f"{int(ids[pred])}-{int(ids[succ])}",
            "node": f"edge:{int(ids[pred])}-{int(ids[succ])}",
            "sel": f"task:{int(ids[succ])}",
            "pred_label": capture.meta.task_label(int(ids[pred])),
            "succ_label": capture.meta.task_label(int(ids[succ])),
            "pred_name": capture.task_name(pred),
            "succ_name": capture.task_name(succ),
            "annotations": int(capture.edges.ann_offsets[edge + 1] - capture.edges.ann_offsets[edge]),
        }
        for edge, (pred, succ) in zip(found.edge[:MAX_ROWS].tolist(), labels, strict=True)
    ]
    title = "Edges that Reduced DF leaves out" if mode == "omitted-df" else "Edges that Reduced leaves out"
    csv = _api(services, run_key, "export.csv", view, mode=mode)
    head = [
        html.H3(title),
        shown_of(len(rows), len(found.edge), "edge" if len(found.edge) == 1 else "edges"),
        html.A("CSV", href=csv, className="button", download=""),
    ]
    body = [html.Div(text, className="graph-note") for text in found.notes]
    if rows:
        body.append(
            html.Div(grid("graph-omitted", EDGE_COLUMNS, rows, row_id="key", label=title), className="side-grid")
        )
    else:
        body.append(empty("No edge is redundant." if found.is_dag else "None: the graph has a cycle."))
    return html.Div([html.Div(head, className="side-head"), *body], className="side-text")


def _api(services: Services, run_key: str, what: str, view: ViewState, **query: str) -> str:
    pairs = query | ({"launch": str(view.launch)} if view.launch else {})
    text = "&".join(f"{key}={value}" for key, value in pairs.items())
    return f"{services.settings.url_prefix}api/graph/{run_key}/{what}?{text}"
