"""The panel beside the graph: one task, one group or one edge, in full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import html

from analysis.capture import Capture, TaskKind
from analysis.graph.prepared import Marks
from analysis.graph.summary import Group, Partition, group_exec_us
from analysis.graph.text import NeighbourRow, annotation_rows, arg_rows, wait_us
from analysis.timeline.details import TaskFacts, task_facts
from components import fmt
from components.dag.elements import KIND_TEXT, depth_text
from components.notices import empty

LIST_ROWS = 12
"""Neighbours listed in the panel; the tab "Feeds and uses" lists all."""


def pick(text: str, sel: str, title: str = "") -> html.Button:
    """A button that selects something (``sel`` in the URL)."""
    return html.Button(text, className="link-button", title=title, **{"data-set": f"sel={sel}"})


def task_button(capture: Capture, task: int) -> html.Button:
    """``t12`` as a button that selects the task."""
    task_id = int(capture.tasks.task_id[task])
    return pick(capture.meta.task_label(task_id), f"task:{task_id}", f"Task id {task_id}")


def facts(rows: list[tuple[str, Any]]) -> html.Dl:
    """Names and values; a missing value is an en dash."""
    cells = []
    for name, value in rows:
        cells += [html.Dt(name), html.Dd(fmt.MISSING_TEXT if value is None else value)]
    return html.Dl(cells, className="facts")


def table(head: list[str], rows: list[list[Any]], label: str, wrap: bool = False) -> html.Div:
    """A small plain table that scrolls inside its panel, or wraps its cells."""
    cells = [html.Tr([html.Td(fmt.MISSING_TEXT if cell is None else cell) for cell in row]) for row in rows]
    parts = [html.Thead(html.Tr([html.Th(text, scope="col") for text in head])), html.Tbody(cells)]
    return html.Div(
        html.Table(parts, className="small-table wrap" if wrap else "small-table", **{"aria-label": label}),
        className="table-scroll",
    )


def task_panel(
    capture: Capture,
    task: int,
    marks: Marks,
    feeds: tuple[list[NeighbourRow], int],
    uses: tuple[list[NeighbourRow], int],
    swimlane_href: str,
) -> html.Div:
    """Everything known about one task; ``feeds`` and ``uses`` are its direct neighbours and how many there are."""
    known = task_facts(capture, task)
    return html.Div(
        [
            html.H2([known.name, " ", html.Span(known.label, className="muted")]),
            html.Div(_buttons(known, swimlane_href), className="button-row"),
            facts(
                [
                    ("Task", known.label),
                    ("Task id", html.Span(known.task_id, className="id")),
                    ("Function id", known.func_id),
                    ("Kind", KIND_TEXT[TaskKind[known.kind.upper()]]),
                    ("Kernel ids", " · ".join(f"{slot} {kernel}" for slot, kernel in known.kernels) or None),
                    ("Blocks (block_num)", known.block_num),
                    ("Submit order", known.submit_order),
                    ("Scope", known.scope),
                    ("Markers", " · ".join(_marked(task, marks)) or None),
                ]
            ),
            html.H3("Timing"),
            _timing(known, capture.meta.us),
            *_side(capture, "Fed by", "No task feeds it.", feeds),
            *_side(capture, "Used by", "No task uses it.", uses),
            html.H3("Arguments"),
            _arguments(capture, task, bool(capture.tasks.listed[task])),
        ],
        className="details",
    )


def _buttons(known: TaskFacts, swimlane_href: str) -> list[Any]:
    task = f"task:{known.task_id}"
    buttons: list[Any] = [
        html.Button("Expand neighbours", className="button", **{"data-graph": f"expand:{task}"}),
        html.Button("Only its neighbourhood", className="button", **{"data-graph": f"around:{task}"}),
    ]
    if known.n_records:
        link = {"data-follow": "1", "data-keys": "sel"}
        buttons.append(html.A("Show in swimlane", href=swimlane_href, className="button", **link))
    return buttons


def _marked(task: int, marks: Marks) -> list[str]:
    pairs = ((marks.fire, "🔥 may be dispatched early"), (marks.star, "⭐ all its predecessors are 🔥"))
    return [text for members, text in pairs if task in members]


def _timing(known: TaskFacts, us: Callable[[int], float]) -> Any:
    if not known.n_records:
        return empty("Not captured: the task has no record in the swimlane file.")
    stamps = dict(known.stamps_ticks)
    start, end = stamps["start"], stamps["end"]

    def written(ticks: int | None) -> str | None:
        return None if ticks is None else fmt.us(us(ticks))

    lines: list[tuple[str, Any]] = [
        (name.capitalize(), written(stamps[name])) for name in ("dispatch", "start", "end", "finish")
    ]
    length = None if start is None or end is None else fmt.us(us(end - start))
    return facts([*lines, ("First start to last end", length), ("Records (blocks)", known.n_records)])


def _side(capture: Capture, title: str, nothing: str, found: tuple[list[NeighbourRow], int]) -> list[Any]:
    rows, total = found
    heading = html.H3([title, " ", html.Span(fmt.plural(total, "task"), className="muted")])
    if not total:
        return [heading, empty(nothing)]
    cells = [
        [
            task_button(capture, row.task),
            capture.task_name(row.task),
            " ".join(row.sources) or None,
            " ".join(row.tensors) or None,
            wait_cell(row.wait_us),
        ]
        for row in rows[:LIST_ROWS]
    ]
    parts = [heading, table(["Task", "Function", "Source", "Tensors", "Wait"], cells, title)]
    if total > LIST_ROWS:
        more = f"All {total:,} with search and CSV"
        parts.append(html.Button(more, className="link-button", **{"data-set": "tab=text"}))
    return parts


def wait_cell(wait: float | None) -> Any:
    """Wait after the predecessor's end; a negative one (happens-before violation) is marked."""
    if wait is None:
        return None
    return html.Span(fmt.us(wait), className="bad" if wait < 0 else "", title="start of the later − end of the earlier")


def _arguments(capture: Capture, task: int, listed: bool) -> Any:
    rows = arg_rows(capture, task)
    if not rows:
        return empty("None in deps.json." if listed else "Unknown: deps.json does not list this task.")
    cells = [
        [
            row["idx"],
            row["direction"],
            f"{row['tensor']}{' (inferred)' if row['inferred'] else ''}" if row["tensor"] else None,
            row["dtype"],
            str(row["shape"]) if row["shape"] else None,
            str(row["strides"]) if row["strides"] else None,
            row["offset"],
        ]
        for row in rows
    ]
    return table(["#", "Direction", "Tensor", "dtype", "Shape", "Strides", "Offset"], cells, "Arguments")


def edge_panel(capture: Capture, edge: int) -> html.Div:
    """Why one edge exists: its annotations."""
    pred, succ = int(capture.edges.pred[edge]), int(capture.edges.succ[edge])
    notes = annotation_rows(capture, edge)
    rows = [
        [
            row["arg"] if row["arg"] >= 0 else None,
            row["source"],
            _flags(row),
            row["overlap"] or None,
            row["tensor"],
            row["producer"],
            row["consumer"],
        ]
        for row in notes
    ]
    ends = [task_button(capture, pred), " → ", task_button(capture, succ)]
    wait = wait_us(capture, pred, succ)
    body: list[Any] = [
        html.H2(["Edge ", *ends]),
        facts(
            [
                ("From", capture.task_name(pred)),
                ("To", capture.task_name(succ)),
                ("Wait after end", wait_cell(wait)),
                ("Annotations", len(notes)),
            ]
        ),
    ]
    if pred == succ:
        body.append(html.P("A self edge: the task names itself as its predecessor.", className="bad"))
    if wait is not None and wait < 0:
        body.append(
            html.P(
                "The later task starts before the earlier one ends: happens-before violation. "
                "An early receive alone (setup before the earlier end) is none.",
                className="bad",
            )
        )
    head = ["Arg", "Source", "Flags", "Overlap", "Tensor", "Produced as", "Consumed as"]
    body.append(table(head, rows, "Annotations") if rows else empty("The file holds no annotation for this edge."))
    if any(not row["authoritative"] for row in notes):
        body.append(
            html.P(
                "Explicit edges are always written as wait and retain: their flags are not authoritative.",
                className="muted",
            )
        )
    return html.Div(body, className="details")


def _flags(row: dict[str, Any]) -> Any:
    if row["flags"] is None or row["authoritative"]:
        return row["flags"]
    return html.Span(f"{row['flags']} *", title="Not authoritative: explicit edges are always written so")


def group_panel(capture: Capture, parts: Partition, group: Group, hidden: int) -> html.Div:
    """What a group stands for."""
    members = parts.order[group.first : group.last]
    exec_us = group_exec_us(capture, parts, group)
    first, last = int(members.min()), int(members.max())
    return html.Div(
        [
            html.H2([group.name, " ", html.Span(fmt.plural(group.n_tasks, "task"), className="muted")]),
            html.Div(
                [
                    html.Button("Open this group", className="button", **{"data-graph": f"expand:{group.key}"}),
                    *(
                        [
                            html.Button(
                                "Highlight function", className="button", **{"data-set": f"sel=func:{group.func_id}"}
                            )
                        ]
                        if group.func_id >= 0
                        else []
                    ),
                ],
                className="button-row",
            ),
            facts(
                [
                    ("Kind", KIND_TEXT[group.kind]),
                    ("Depth in the graph", depth_text(group)),
                    ("Tasks", f"{group.n_tasks:,}"),
                    ("Drawn one by one", f"{group.n_tasks - hidden:,}"),
                    ("Execution together", fmt.duration_us(exec_us) if exec_us is not None else None),
                    ("Lowest id", task_button(capture, first)),
                    ("Highest id", task_button(capture, last)),
                ]
            ),
        ],
        className="details",
    )
