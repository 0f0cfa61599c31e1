"""Callbacks of the trace page: the details follow the focus that the browser reports, the panel follows the URL."""

from __future__ import annotations

import json
from typing import Any

from dash import Dash, Input, Output, State
from dash.exceptions import PreventUpdate

from analysis.errors import SwimscopeError
from analysis.traces import find
from analysis.traces.model import NO_LENGTH, OPEN, TICKS_PER_US
from analysis.traces.timeline import KIND_LETTERS
from app.server.services import Services
from app.shell import ids
from app.shell.url_state import decode
from app.traces import panel
from app.traces.opened import Opened, opened
from components import notices
from components.traces import details
from components.traces import page as parts

_MARKS = {OPEN: "begun and never ended: drawn to the last time of its lane", NO_LENGTH: "without a length"}


def register(app: Dash, services: Services) -> None:
    """Details of what ``trace-focus`` names; the body of the open tab."""

    @app.callback(Output("trace-details", "children"), Input("trace-focus", "data"), prevent_initial_call=True)
    def show(focus: dict[str, Any] | None) -> Any:
        if not focus or not focus["item"]:
            return details.empty()
        try:
            return details_of(opened(services, services.library.run(focus["run"]), focus["trace"]), focus["item"])
        except SwimscopeError as error:
            return notices.notice("No details", str(error), "warn")

    @app.callback(
        Output(parts.BODY, "children"),
        Output(parts.SIGNATURE, "data"),
        Input(ids.VIEW, "data"),
        State(ids.RUN, "data"),
        State(parts.SIGNATURE, "data"),
        prevent_initial_call=True,
    )
    def refill(query: dict[str, str] | None, run: dict[str, Any], signature: str) -> Any:
        view, _problems = decode(query)
        if panel.signature(view) == signature:
            raise PreventUpdate
        found = opened(services, services.library.run(run["key"]), view.own_value("trace"))
        return panel.content(services, found, view), panel.signature(view)


def details_of(found: Opened, name: str) -> Any:
    """The panel for item ``name`` (``s12``).

    Raises:
        NotFoundError: the trace has no such item.
        InputError: the file changed since it was opened.
    """
    trace, index = found.trace, found.index
    position = find.item_at(trace, index, f"item:{name}")
    number, is_slice = int(index.index[position]), name[0] == "s"
    table: Any = trace.slices if is_slice else trace.instants
    lane = trace.lanes[int(table.lane[number])]
    event = trace.event(name[0], number)
    start, end = int(index.start_ticks[position]), int(index.end_ticks[position])
    category = int(table.category[number])
    facts = [("Process", trace.processes[lane.process].name), ("Lane", lane.label)]
    facts += [("Category", trace.categories[category])] if category >= 0 and trace.categories[category] else []
    facts.append(("Start" if is_slice else "Time", _us(start)))
    if is_slice:
        own = int(trace.slices.self_ns[number])
        facts += [("Duration", _us(end - start)), ("Self", _us(own)), ("Depth", str(int(trace.slices.depth[number])))]
        parent = int(trace.slices.parent[number])
        facts += [("Inside", trace.names[trace.slices.name[parent]])] if parent >= 0 else []
        facts += [("Note", text) for mark, text in _MARKS.items() if trace.slices.marks[number] & mark]
    arguments = event.get("args")
    if not isinstance(arguments, dict):
        arguments = {} if arguments is None else {"args": arguments}
    known = ("name", "cat", "ph", "ts", "dur", "pid", "tid", "args")
    facts += [
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in event.items()
        if key not in known
    ]
    title = find.name_of(trace, index, position)
    return details.details(title, facts, arguments, _flows(found, position))


def _us(ns: int) -> str:
    return f"{ns / TICKS_PER_US:,.3f} µs"


def _flows(found: Opened, position: int) -> list[tuple[str, list[tuple[str, str]]]]:
    lines = find.flow_lines(found.trace, found.index, position)
    out = []
    for side, title, ends in ((0, "Flows in", lines.source), (1, "Flows out", lines.target)):
        chosen = ends[lines.side == side].tolist()
        pairs = [
            (find.name_of(found.trace, found.index, at), f"{KIND_LETTERS[0]}{int(found.index.index[at])}")
            for at in chosen
        ]
        out.append((title, pairs))
    return out
