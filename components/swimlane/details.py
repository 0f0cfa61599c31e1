"""How do the facts of one item and its task look? The panel below the swimlane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import html

from analysis.timeline.details import ItemFacts, Neighbour, TaskFacts
from components import fmt

Us = Callable[[int], float]
Href = Callable[[str], str]
_STAMP_NAMES = {
    "dispatch": "Dispatch",
    "receive": "Receive",
    "start": "Start",
    "end": "End",
    "finish": "FIN",
}
_DIFFERENCE_HINTS = {
    "duration": "end - start",
    "setup": "start - receive",
    "head": "start - dispatch",
    "propagation": "receive - dispatch",
    "tail": "finish - end",
    "latency": "finish - dispatch",
}
SHOWN_NEIGHBOURS = 60
SHOWN_ARGUMENTS = 60
SHOWN_BLOCKS = 60

VIOLATION = "starts before its predecessor ended: happens-before violation (an early receive alone is none)"


def empty() -> html.Div:
    """Nothing is selected."""
    return html.Div("Select a record to see its stamps, neighbours and arguments.", className="empty")


def details(item: ItemFacts | None, task: TaskFacts | None, us: Us, links: dict[str, str]) -> html.Div:
    """The panel: the item (or the task as a whole), its neighbours, its arguments; ``links`` are name → href."""
    columns = [_identity(item, task, links)]
    stamps = item.stamps_ticks if item else task.stamps_ticks if task else ()
    columns.append(_stamps(stamps, item.differences_ticks if item else (), us, whole_task=item is None))
    if task and task.has_graph:
        columns.append(_neighbours("Fan-in", "wait after its end", task.predecessors, task.n_predecessors, us))
        columns.append(_neighbours("Fan-out", "its wait after our end", task.successors, task.n_successors, us))
        columns.append(_arguments(task))
    elif task:
        columns.append(_unknown_graph())
    return html.Div(columns, className="swim-columns")


def _identity(item: ItemFacts | None, task: TaskFacts | None, links: dict[str, str]) -> html.Div:
    title = item.title if item else task.name if task else ""
    facts = [*(item.facts if item else ()), *(task.facts if task else ())]
    rows = [_fact(name, value) for name, value in facts]
    head: list[Any] = [html.Strong(title)]
    if task:
        head.append(html.Span(task.label, className="badge mono"))
    body: list[Any] = [html.Div(head, className="swim-row"), html.Dl([part for row in rows for part in row])]
    if task and task.n_blocks > 1:
        body.append(_blocks(item, task))
    if links:
        body.append(
            html.Div(
                [html.A(text, href=href, **{"data-follow": "1", "data-keys": "sel"}) for text, href in links.items()],
                className="swim-row",
            )
        )
    return html.Div(body, className="swim-column swim-identity")


def _blocks(item: ItemFacts | None, task: TaskFacts) -> html.Details:
    buttons = [
        html.Button(
            str(number + 1),
            className="swim-block",
            **{
                "data-sel": f"task:{task.task_id}",
                "data-item": name,
                "aria-label": f"Block {number + 1}",
                "aria-pressed": str(bool(item and item.name == name)).lower(),
            },
        )
        for number, name in enumerate(task.blocks[:SHOWN_BLOCKS])
    ]
    more = task.n_blocks - len(buttons)
    rest = [html.Span(f"and {more:,} more", className="muted")] if more else []
    return html.Details(
        [html.Summary(f"{task.n_blocks:,} blocks"), html.Div([*buttons, *rest], className="swim-blocks")]
    )


def _fact(name: str, value: str | int | None) -> tuple[html.Dt, html.Dd]:
    text = fmt.MISSING_TEXT if value is None else value if isinstance(value, str) else str(value)
    return html.Dt(name), html.Dd(text, title="not captured" if value is None else None)


def _stamps(
    stamps: tuple[tuple[str, int | None], ...],
    differences: tuple[tuple[str, int | None], ...],
    us: Us,
    whole_task: bool,
) -> html.Div:
    rows = [
        html.Tr([html.Th(_STAMP_NAMES[name], scope="row"), _time(ticks, us), _ticks(ticks)]) for name, ticks in stamps
    ]
    rows += [
        html.Tr(
            [html.Th(name.capitalize(), scope="row", title=_DIFFERENCE_HINTS[name]), _time(ticks, us), _ticks(ticks)],
            className="swim-difference",
        )
        for name, ticks in differences
    ]
    note = "earliest start, latest end over its blocks" if whole_task else "from capture zero; differences below"
    head = html.Tr([html.Th(""), html.Th("µs"), html.Th("ticks")])
    table = html.Table([html.Thead(head), html.Tbody(rows)], className="swim-stamps")
    return html.Div([html.H3("Stamps", title=note), table], className="swim-column")


def _time(ticks: int | None, us: Us) -> html.Td:
    if ticks is None:
        return html.Td(fmt.MISSING_TEXT, title="not captured")
    return html.Td(f"{us(ticks):,.3f}")


def _ticks(ticks: int | None) -> html.Td:
    return html.Td(fmt.MISSING_TEXT if ticks is None else f"{ticks:,}", className="muted")


def _neighbours(title: str, hint: str, rows: tuple[Neighbour, ...], total: int, us: Us) -> html.Div:
    lines = [
        html.Li(
            [
                html.Button(
                    [html.Span(row.name, className="swim-name"), html.Span(row.label, className="mono")],
                    className="swim-link",
                    **{"data-sel": f"task:{row.task_id}"},
                ),
                html.Span(", ".join([*row.sources, *row.tensors]), className="muted"),
                html.Span(
                    "not timed" if row.wait_ticks is None else f"{us(row.wait_ticks):+,.3f} µs",
                    className="swim-wait violation" if row.violation else "swim-wait",
                    title=VIOLATION if row.violation else hint,
                ),
            ]
        )
        for row in rows[:SHOWN_NEIGHBOURS]
    ]
    more = total - len(lines)
    if more > 0:
        lines.append(html.Li(f"and {more:,} more: see the graph page", className="muted"))
    body = html.Ul(lines, className="swim-neighbours") if lines else html.P("none", className="muted")
    return html.Div([html.H3(f"{title} ({total:,})", title=hint), body], className="swim-column swim-wide")


def _unknown_graph() -> html.Div:
    body = html.P("not captured: no deps.json names this task", className="muted")
    return html.Div([html.H3("Fan-in, fan-out and arguments"), body], className="swim-column swim-wide")


def _arguments(task: TaskFacts) -> html.Div:
    names = ("#", "Direction", "Tensor", "Type", "Shape", "")
    rows = [html.Tr([html.Td(cell) for cell in row]) for row in task.arguments[:SHOWN_ARGUMENTS]]
    more = len(task.arguments) - len(rows)
    body: list[Any] = [html.H3(f"Arguments ({len(task.arguments)})")]
    if rows:
        head = html.Thead(html.Tr([html.Th(name) for name in names]))
        body.append(html.Table([head, html.Tbody(rows)], className="swim-arguments"))
    else:
        body.append(html.P("none in deps.json", className="muted"))
    if more > 0:
        body.append(html.P(f"and {more} more", className="muted"))
    return html.Div(body, className="swim-column")
