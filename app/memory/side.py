"""What stands below the source? The selected tile, why a space is full, or every box as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import dcc, html

from analysis.memory.model import Box, FunctionMap
from analysis.memory.plans import plan
from analysis.memory.questions import ALIVE_COLUMNS, box_table, neighbours, peak
from app.analyses import rows as table_rows
from app.memory.asked import Asked, box_ids, stem
from app.server.services import Services
from app.shell.url_state import ViewState
from components import grid, notices
from components.memory import panels

BOXES_GRID = "memory-boxes"


def content(services: Services, run_key: str, view: ViewState, found: Asked) -> Any:
    """The open tab."""
    function = found.function
    if function is None:
        return None
    tab = view.own_value("mside")
    if tab == "why":
        return _why(view, function)
    if tab == "boxes":
        return _boxes(services, run_key, view, function)
    return _tile(services, run_key, view, found, function)


def _tile(services: Services, run_key: str, view: ViewState, found: Asked, function: FunctionMap) -> Any:
    links = _links(services, run_key, view, found, function)
    chosen, line = view.own_value("mtile"), view.own_value("mline")
    ids = box_ids(function)
    if chosen:
        box = ids.get(chosen)
        if box is None:
            text = f"{chosen[:100]} is not in this function after {stem(found.file)}"
            return html.Div([notices.notice("That tile is not here", text, "warn"), links])
        return panels.tile(box, neighbours(function, box), links)
    if line:
        return html.Div([_at_line(line, ids), links])
    return html.Div([html.P("Choose a box or a line of the source.", className="muted"), links])


def _at_line(line: int, ids: dict[str, Box]) -> html.Div:
    alive = [(box_id, box) for box_id, box in ids.items() if box.start_line <= line <= box.end_line]
    alive.sort(key=lambda item: (item[1].space, -item[1].size))
    rows = [
        html.Li(
            html.Button(
                f"{panels.label(box)} · {box.space} · {box.size:,} B",
                className="mem-line-link",
                **{"data-url-key": "mtile", "data-url-value": box_id},
            )
        )
        for box_id, box in alive[: panels.MOST_ROWS]
    ]
    left = len(alive) - len(rows)
    more = html.P(f"{left:,} more are alive there.", className="muted") if left else None
    return html.Div([html.H3(f"Alive at line {line:,}"), html.Ul(rows) if rows else html.P("No tile."), more])


def _links(services: Services, run_key: str, view: ViewState, found: Asked, function: FunctionMap) -> html.Div:
    """The same function, and line, in the pass trace, the swimlane and the function page."""
    box = box_ids(function).get(view.own_value("mtile"))
    line = view.own_value("mline") or (box.start_line if box else function.start_line)
    there = ViewState(launch=view.launch, sel=view.sel).with_own(
        **{
            "dump": view.own_value("dump"),
            "pass": stem(found.file)[:400],
            "fn": function.name[:400],
            "line": f"R{line}",
        }
    )
    links = [html.A("In the passes", href=services.href("passes", run_key, there), **{"data-nav": "page"})]
    func_id = found.ids.get(function.name)
    if func_id is not None:
        target = ViewState(launch=view.launch, sel=f"func:{func_id}", hl=f"func:{func_id}")
        links += [
            html.A(text, href=services.href(page, run_key, target), **{"data-nav": "page"})
            for text, page in (("Records in the swimlane", "swimlane"), ("Durations", "functions"))
        ]
    note = None if func_id is not None else _why_no_records(found, function)
    return html.Div([html.Div(links, className="link-row"), note], className="mem-links")


def _why_no_records(found: Asked, function: FunctionMap) -> html.P:
    why = (
        f"the run's name map has no function {function.name[:120]}"
        if found.ids
        else "the run has no name map with function ids"
    )
    return html.P(f"No link to records: {why}.", className="muted")


def _why(view: ViewState, function: FunctionMap) -> Any:
    names = [space.space for space in function.spaces]
    wanted = view.own_value("mspace")
    tightest = max(function.spaces, key=lambda s: s.share if s.share is not None else -1.0, default=None)
    name = wanted if wanted in names else tightest.space if tightest else ""
    space = next((item for item in function.spaces if item.space == name), None)
    top = peak(function, name) if space else None
    if space is None or top is None:
        return notices.empty("This function has boxes beyond the reference only: there is no peak to explain.")
    goal = view.own_value("mgoal")
    entry = dcc.Input(
        id="mem-goal", type="text", inputMode="numeric", value=str(goal) if goal else "",
        placeholder=str(top.alive_bytes // 2), className="input number url-value url-value-mgoal", debounce=True,
    )  # fmt: skip
    return panels.why(top, space, plan(function, name, goal) if goal else None, entry)


def _boxes(services: Services, run_key: str, view: ViewState, function: FunctionMap) -> html.Div:
    ids = box_ids(function)
    rows = box_table(tuple(ids.values())).to_records()
    for row, (box_id, box) in zip(rows, ids.items(), strict=True):
        shown = replace(view.with_own(mtile=box_id, mline=0, mside="tile"), f="", sort="")
        row |= {"_row": box_id, "space": box.space, "href": services.href("memory", run_key, shown)}
    columns = [grid.GridColumn("space", "Space", "text", "Memory space", 80), *table_rows.grid_columns(ALIVE_COLUMNS)]
    columns = [replace(c, extra={"cellRenderer": "swimscope_link"}) if c.name == "name" else c for c in columns]
    return html.Div(grid.grid(BOXES_GRID, columns, rows, row_id="_row", label="All boxes"), className="mem-boxes")
