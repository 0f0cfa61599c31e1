"""Which rank was late, which was slow, and with what? The ranks page of a run tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import dcc, html

from analysis.errors import NotFoundError
from analysis.ranks.compare import (
    Axis,
    dispatch_table,
    heat,
    median_rank,
    order,
    place,
    straggler_table,
)
from analysis.ranks.tree import Dispatch
from analysis.results import Table
from app.analyses import rows
from app.ranks.gather import Gathered, gather, member_key, tree_root
from app.server.services import Services
from app.shell.page import Page
from app.shell.url_state import ViewState
from components import cards, fmt, grid, notices, ranks
from components.plot import graph

PAGE = Page("ranks", "/r/<run>/ranks", "Ranks", 45, "k", needs_capture=False)
TICK = "ranks-tick"
TICK_MS = 1_000
WAITING = "ranks-waiting"
FIRST = (
    "rank", "dispatch", "slowest", "excess_us", "spent_on", "start_skew_us", "end_skew_us", "skew_pm_us", "makespan_us",
)  # fmt: skip
"""Columns that decide, before the others."""
LABELS = {
    "start_skew_us": "Start (µs)",
    "end_skew_us": "End (µs)",
    "skew_pm_us": "± (µs)",
    "dispatches": "Runs",
    "mean_excess_us": "Mean (µs)",
    "worst_excess_us": "Worst (µs)",
}
"""Short heads for columns whose tooltip says the rest."""


def offered(services: Services, run_key: str) -> bool:
    """Whether the run is a capture of a rank tree."""
    try:
        return tree_root(services.library.run(run_key)) is not None
    except NotFoundError:
        return False


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """Dispatches and stragglers on the left, the chosen dispatch on one axis on the right."""
    found = gather(services, run_key)
    return html.Div(
        [
            dcc.Interval(id=TICK, interval=TICK_MS, disabled=not found.waiting),
            dcc.Store(id=WAITING, data=found.waiting),
            _toolbar(found, view),
            *_problems(found),
            html.Div(
                [_tables(services, found, view, run_key), _chosen(services, found, view, run_key)], className="split"
            ),
        ],
        className="fill column ranks-page",
    )


def _toolbar(found: Gathered, view: ViewState) -> html.Div:
    read = len(found.facts)
    words = f"{len(found.tree.ranks):,} ranks, {len(found.tree.dispatches):,} dispatches, {read:,} captures read"
    if found.waiting:
        words += f", {found.waiting:,} still to be read"
    return html.Div(
        [
            html.H1("Ranks"),
            html.Span("Which rank was late, which was slow, and with what?", className="question"),
            html.Span(words, className="muted", role="status"),
            html.Span(className="spacer"),
            html.Label("Align by hand on task", htmlFor="ranks-align"),
            grid.url_number("ranks-align", "align", view.own_value("align"), "A task label, such as r0t4"),
        ],
        className="toolbar",
    )


def _problems(found: Gathered) -> list[Any]:
    if not found.problems:
        return []
    title = f"{fmt.plural(len(found.problems), 'finding')} about this tree"
    lines = html.Ul([html.Li(text) for text in found.problems[:200]])
    return [notices.notice(title, level="warn", extra=html.Details([html.Summary("Which"), lines]))]


def _tables(services: Services, found: Gathered, view: ViewState, run_key: str) -> html.Div:
    by_hand = view.own_value("align")
    shown = dispatch_table(found.tree, found.facts, by_hand)
    links = [services.href(PAGE.name, run_key, view.with_own(dispatch=d.key)) for d in found.tree.dispatches]
    return html.Div(
        [
            html.H2("Dispatches"),
            html.Div(_grid("ranks-dispatches", shown, "Dispatches", links), className="ranks-grid"),
            html.H2("Stragglers"),
            html.Div(
                _grid("ranks-stragglers", straggler_table(found.tree, found.facts), "Stragglers", None),
                className="ranks-grid",
            ),
            cards.panel(
                "Excess over the dispatch's median, rank × dispatch",
                html.Div(
                    graph(
                        "ranks-heat",
                        ranks.heat_figure(
                            found.tree.ranks, [d.key for d in found.tree.dispatches], heat(found.tree, found.facts)
                        ),
                        themed=True,
                    ),
                    className="ranks-plot",
                ),
            ),
        ],
        className="split-main scroll",
    )


def _grid(grid_id: str, table: Table, label: str, links: list[str] | None) -> html.Div:
    found = rows.narrow(rows.grid_columns(table.columns))
    found = [replace(column, label=LABELS.get(column.name, column.label)) for column in found]
    columns = sorted(found, key=lambda column: FIRST.index(column.name) if column.name in FIRST else len(FIRST))
    data = [row | {"_row": str(at)} for at, row in enumerate(table.to_records())]
    if links is not None:
        data = [row | {"href": link} for row, link in zip(data, links, strict=True)]
    return grid.grid(grid_id, columns, data, row_id="_row", label=label)


def _chosen(services: Services, found: Gathered, view: ViewState, run_key: str) -> html.Aside:
    """The chosen dispatch: its axis, its utilisation lanes, its ranks with links to their swimlanes."""
    dispatch = chosen(found, view.own_value("dispatch"))
    axis = place(dispatch, found.facts, view.own_value("align"))
    if not axis.ranks:
        text = "None of its captures has been read yet." if found.waiting else "None of its captures has task records."
        return html.Aside([html.H2(dispatch.key), notices.empty(text)], className="split-side")
    curves = {item.rank: found.facts[dispatch.key, item.rank].busy for item in axis.ranks}
    return html.Aside(
        [
            html.H2(dispatch.key),
            html.P([html.Strong("Axis: "), axis.words], className="ranks-axis"),
            cards.panel(
                "Busy cores of each rank",
                html.Div(graph("ranks-lanes", ranks.lanes_figure(axis, curves), themed=True), className="ranks-plot"),
            ),
            html.Div(_side_by_side(services, dispatch, axis, run_key), className="link-row"),
            _rank_table(services, dispatch, axis, run_key),
        ],
        className="split-side ranks-side",
        **{"aria-label": f"Dispatch {dispatch.key}"},
    )


def chosen(found: Gathered, key: str) -> Dispatch:
    """The dispatch that the URL names, else the one with the largest excess."""
    named = [dispatch for dispatch in found.tree.dispatches if dispatch.key == key]
    if named:
        return named[0]
    table = dispatch_table(found.tree, found.facts)
    excess = [cell if cell is not None else -1.0 for cell in table.cells("excess_us")]
    return found.tree.dispatches[max(range(len(excess)), key=excess.__getitem__)]


def _swimlane(services: Services, dispatch: Dispatch, rank: str, run_key: str) -> str:
    run = services.library.run(run_key)
    member = next(member for member in dispatch.members if member.rank == rank)
    return services.href("swimlane", member_key(run, member), ViewState())


def _side_by_side(services: Services, dispatch: Dispatch, axis: Axis, run_key: str) -> list[Any]:
    slowest = max(axis.ranks, key=lambda item: item.makespan_ns).rank
    pairs = (("Swimlane of the slowest rank", slowest), ("Swimlane of the median rank", median_rank(axis)))
    return [html.A(f"{text} ({rank})", href=_swimlane(services, dispatch, rank, run_key)) for text, rank in pairs]


def _rank_table(services: Services, dispatch: Dispatch, axis: Axis, run_key: str) -> html.Table:
    first = min(axis.ranks, key=lambda item: item.start_ns)
    head = ("Rank", "Start", "±", "Against the first", "Makespan")
    body = []
    for item in sorted(axis.ranks, key=lambda item: (item.start_ns, item.rank)):
        against = "" if item is first or not axis.comparable else order(item, first)
        body.append(
            html.Tr(
                [
                    html.Td(html.A(item.rank, href=_swimlane(services, dispatch, item.rank, run_key))),
                    html.Td(fmt.us((item.start_ns - first.start_ns) / 1000) if axis.comparable else "–"),
                    html.Td(fmt.us(max(item.earlier_ns, item.later_ns) / 1000) if axis.comparable else "–"),
                    html.Td(against),
                    html.Td(fmt.us(item.makespan_ns / 1000)),
                ]
            )
        )
    return html.Table(
        [html.Thead(html.Tr([html.Th(text) for text in head])), html.Tbody(body)], className="facts-table"
    )
