"""What stands in the panel beside a trace? Tables of spans, requests, steps and rounds, and what became of every event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from dash import html

from analysis.errors import NotAvailable
from analysis.results import Column
from analysis.traces.find import span_spec
from analysis.traces.model import Trace
from analysis.traces.serving import Requests, Steps, requests, steps
from analysis.traces.statistics import SpanStatistics, span_statistics
from analysis.traces.strace import ROUND_COLUMNS
from app.analyses.rows import grid_columns
from app.server.services import Services
from app.shell.url_state import ViewState
from app.traces.keys import CLOSED, GROUPINGS
from app.traces.opened import Opened
from components import fmt, grid, notices
from components.traces import figures
from components.traces import quality as quality_parts

GRID = "trace-grid"
KEPT_TABLES = 16
BY_TEXT = {
    "name": "Process and name", "worker": "WorkerProcess", "thread_name": "Thread and name", "thread": "Thread",
    "process": "Process",
}  # fmt: skip


def tabs(found: Opened) -> list[tuple[str, str, str]]:
    """(name, text, question) of each tab that the trace has."""
    trace = found.trace
    left = sum(trace.left_out.values())
    out = [("spans", "Spans", "Which spans cost what?")]
    if found.host:
        out.append(("rounds", "Rounds", "What did host, device, orchestrator and scheduler take per run?"))
    else:
        out.append(("requests", "Requests", "How long did each request wait, and how long did each token take?"))
        out.append(("steps", "Steps", "What did each decode step do, and how long were the devices idle after it?"))
    badge = f" ({left:,} left out)" if left else ""
    return [*out, ("quality", f"Data quality{badge}", "What became of every event?")]


def signature(view: ViewState) -> str:
    """What the body depends on."""
    return "|".join(str(view.own_value(key)) for key in ("trace", "xtab", "xby"))


def content(services: Services, found: Opened, view: ViewState) -> Any:
    """The body of the open tab; nothing while the panel is closed."""
    tab = view.own_value("xtab")
    if tab == CLOSED:
        return None
    makers = {"spans": _spans, "requests": _requests, "steps": _steps, "rounds": _rounds, "quality": _quality}
    offered = [name for name, _, _ in tabs(found)]
    return makers[tab if tab in offered else offered[0]](services, found, view)


def _answer(head: list[Any], table: Any = None) -> html.Div:
    parts = [*head, html.Div(table, className="panel-grid") if table is not None else None]
    return html.Div([part for part in parts if part is not None], className="panel-answer")


def _headline(title: str, question: str, with_grid: bool = True) -> html.Div:
    tools = grid.toolbar(GRID) if with_grid else None
    parts = [html.H2(title), html.Span(question, className="question"), tools]
    return html.Div([part for part in parts if part is not None], className="panel-headline")


def _grid(view: ViewState, columns: tuple[Column, ...], rows: list[dict[str, Any]], sort: str, label: str) -> html.Div:
    defs = [
        replace(column, width_px=250) if column.name in ("name", "request_id") else column
        for column in grid_columns(columns)
    ]
    return grid.grid(GRID, defs, rows, row_id="_row", sort=view.sort or sort, filters=view.f, label=label)


def _spans(services: Services, found: Opened, view: ViewState) -> html.Div:
    by = view.own_value("xby")
    key = (found.content, by)
    shown: SpanStatistics = services.caches.get(
        "trace statistics", key, lambda: span_statistics(found.trace, by), KEPT_TABLES
    )
    rows = [row | places(found.trace, row, int(shown.longest[at]), by, at) for at, row in enumerate(shown.to_json())]
    used = [c for c in shown.table.columns if any(row[c.name] is not None for row in rows) and _useful(c, rows)]
    order = ("name", "thread", "count", "mean_us", "total_us", "self_us", "max_us", "min_us", "p50_us", "p95_us")
    used.sort(key=lambda column: order.index(column.name) if column.name in order else len(order))
    note = "Click a row to highlight its spans; a double click goes to the longest. Percentiles are nearest-rank."
    if by == "worker" and not rows:
        return _answer([_headline("Spans", "", False), _by(by), notices.empty("No WorkerProcess span in this trace.")])
    head = [_headline("Spans", ""), _by(by), html.P(note, className="trace-note muted")]
    return _answer(head, _grid(view, tuple(used), rows, "total_us:desc", "Spans"))


def _useful(column: Column, rows: list[dict[str, Any]]) -> bool:
    return column.name != "unmeasured" or any(row["unmeasured"] for row in rows)


def places(trace: Trace, row: Mapping[str, Any], longest: int, by: str, at: int) -> dict[str, Any]:
    """What a row of statistics selects: its spans, and the longest of them."""
    if longest < 0:
        return {"_row": str(at)}
    slices = trace.slices
    lane = int(slices.lane[longest])
    name = -1 if row["name"] is None else int(slices.name[longest])
    spec = span_spec(trace.lanes[lane].process, lane if by in ("thread", "thread_name") else -1, name)
    return {"_row": str(at), "set": {"xsel": spec, "xitem": None}, "locate": _located(longest)}


def _located(index: int) -> dict[str, str]:
    return {"xsel": f"item:s{index}", "xitem": f"s{index}"}


def _by(current: str) -> html.Div:
    buttons = [
        html.Button(
            BY_TEXT[name],
            **{
                "data-url-key": "xby",
                "data-url-value": name,
                "aria-pressed": "true" if name == current else "false",
            },
        )
        for name in GROUPINGS
    ]
    group = html.Div(buttons, className="segments", role="group", **{"aria-label": "Group by"})
    return html.Div([html.Label("Per"), group], className="panel-settings")


def _unavailable(title: str, error: NotAvailable) -> html.Div:
    return _answer([_headline(title, "", False), notices.not_available(title, f"{error}.")])


def _requests(services: Services, found: Opened, view: ViewState) -> html.Div:
    try:
        shown: Requests = services.caches.get(
            "trace requests", found.content, lambda: requests(found.trace), KEPT_TABLES
        )
    except NotAvailable as error:
        return _unavailable("Requests", error)
    rows = _rows(shown.table.to_records(), shown.slices)
    head = [
        _headline("Requests", ""),
        html.P(shown.rule, className="trace-note"),
        figures.distribution_table(shown.distributions()),
        figures.request_plots(shown),
    ]
    return _answer(head, _grid(view, shown.table.columns, rows, "start_us:asc", "Requests"))


def _steps(services: Services, found: Opened, view: ViewState) -> html.Div:
    try:
        shown: Steps = services.caches.get("trace steps", found.content, lambda: steps(found.trace), KEPT_TABLES)
    except NotAvailable as error:
        return _unavailable("Steps", error)
    rows = _rows(shown.table.to_records(), shown.slices)
    rule = (
        "Device: first runner_run begin to last end over all devices of the invocation with the step's number. "
        "Bubble: from there to the next step's first runner_run; 0 where they overlap."
    )
    head = [_headline("Steps", ""), html.P(rule, className="trace-note muted"), figures.step_plot(shown)]
    return _answer(head, _grid(view, shown.table.columns, rows, "start_us:asc", "Steps"))


def _rows(records: list[dict[str, Any]], slices: tuple[int, ...]) -> list[dict[str, Any]]:
    return [
        row | {"_row": str(at), "set": _located(slices[at]), "locate": _located(slices[at])}
        for at, row in enumerate(records)
    ]


def _rounds(_services: Services, found: Opened, view: ViewState) -> html.Div:
    records = found.host["rounds"]
    averages = [
        html.Li(
            f"{name.removesuffix('_us').capitalize()}: mean {fmt.us(each['mean'])} of {each['count']:,} of {each['of']:,}"
        )
        for name, each in found.host["averages"].items()
    ]
    rows = [row | {"_row": str(at)} | _root(found.trace, row) for at, row in enumerate(records)]
    note = "Effective is the union of orchestrator and scheduler time: the two overlap and are not to be added."
    head = [
        _headline("Rounds", ""),
        html.P(note, className="trace-note muted"),
        html.Ul(averages, className="trace-list"),
    ]
    return _answer(head, _grid(view, ROUND_COLUMNS, rows, "", "Rounds"))


def _root(trace: Trace, row: Mapping[str, Any]) -> dict[str, Any]:
    """The span of an invocation: the outermost of its process whose length is the row's host time."""
    if row["host_us"] is None:
        return {}
    pid = {i for i, process in enumerate(trace.processes) if process.pid == str(row["pid"])}
    lanes = [i for i, lane in enumerate(trace.lanes) if lane.process in pid]
    slices = trace.slices
    fits = np.isin(slices.lane, lanes) & (slices.end_ns - slices.start_ns == round(row["host_us"] * 1000))
    for at in np.flatnonzero(fits).tolist():
        if str(trace.event("s", at).get("args", {}).get("inv")) == str(row["inv"]):
            return {"set": _located(at), "locate": _located(at)}
    return {}


def _quality(_services: Services, found: Opened, _view: ViewState) -> html.Div:
    notes = tuple(found.host.get("notes", ()))
    return _answer(
        [_headline("Data quality", "What became of every event?", False), quality_parts.panel(found.trace, notes)]
    )
