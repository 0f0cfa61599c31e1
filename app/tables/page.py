"""One page per analysis of the registry: its question, its parameters, its tables, its curves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import html

from analysis import registry
from analysis.entry import Analysis, Parameter
from app.analyses.drawing import csv_href, headline_figures, plot, table_grid
from app.analyses.summaries import summary
from app.analyses.views import TableView, choice_parameters, table_view, url_keys, waiting
from app.server.services import Services
from app.shell import ids
from app.shell.feature import View
from app.shell.frame import ANALYSES_ORDER
from app.shell.page import Page
from app.shell.url_state import ViewState, pairs
from components import grid, notices


def views() -> tuple[View, ...]:
    """A page for every analysis that has none of its own; the tab opens the first of the list on the left."""
    items = [item for item in registry.in_rail() if not item.own_page]
    return tuple(_page(item, item is items[0]) for item in items)


def _page(item: Analysis, first: bool) -> View:
    order = ANALYSES_ORDER if first else -1
    page = Page(item.name, f"/r/<run>/{item.name}", item.title, order)

    def show(services: Services, view: ViewState, run_key: str) -> Any:
        return layout(services, view, run_key, item.name)

    return View(page, show, url_keys(item))


def layout(services: Services, view: ViewState, run_key: str, name: str) -> Any:
    """Rail on the left; headline, parameters, figures, curves and the chosen table on the right."""
    wait = waiting(services, run_key, name, view)
    if wait is not None:
        return html.Div([rail(services, name, view, run_key), wait], className="analysis")
    shown = table_view(services, run_key, name, view)
    main = [
        _toolbar(services, shown, view, run_key),
        *(notices.notice(f"{p.key}={p.text} was not used", p.reason, "warn") for p in shown.problems),
        *(notices.notice(note, level="info") for note in shown.outcome.notes),
    ]
    if shown.outcome.available:
        main += [
            headline_figures(shown),
            *summary(services, shown, view, run_key),
            plot(shown, ids.TABLE_PLOT),
            _table(services, shown, view, run_key),
        ]
    else:
        main.append(html.Div(notices.not_available(shown.analysis.title, shown.outcome.reason), className="page-pad"))
    return html.Div(
        [rail(services, name, view, run_key), html.Div(main, className="analysis-main")], className="analysis"
    )


def rail(services: Services, name: str, view: ViewState, run_key: str) -> html.Nav:
    """The list of analyses; the selection follows every link."""
    carried = ViewState(launch=view.launch, sel=view.sel, hl=view.hl)
    return html.Nav(
        [
            html.A(
                item.title,
                href=services.href(item.name, run_key, carried),
                title=item.question,
                **{"data-follow": "1"} | ({"aria-current": "page"} if item.name == name else {}),
            )
            for item in registry.in_rail()
        ],
        className="rail",
        **{"aria-label": "Analyses"},
    )


def _toolbar(services: Services, shown: TableView, view: ViewState, run_key: str) -> html.Div:
    analysis = shown.analysis
    parts: list[Any] = [
        html.H1(analysis.title),
        html.Span(analysis.question, className="question", title=analysis.question),
        html.Span(className="spacer"),
        html.Div(_parameters(services, analysis, shown.parameters, view, run_key), className="parameters"),
    ]
    return html.Div(parts, className="toolbar")


def _parameters(
    services: Services, analysis: Analysis, values: dict[str, Any], view: ViewState, run_key: str
) -> list[Any]:
    out: list[Any] = []
    for parameter in choice_parameters(analysis):
        current = values.get(parameter.name, parameter.default)
        out.append(_segments(services, analysis, parameter, current, view, run_key))
    for parameter in analysis.parameters:
        key = parameter.url_key
        if parameter.kind == "float" and key:
            box = f"table-{parameter.name.partition('_')[0]}"
            out += [
                html.Label(parameter.label, htmlFor=box),
                grid.url_number(box, key, pairs(view).get(key, ""), parameter.doc),
            ]
        if parameter.kind == "flag" and key:
            on = bool(values.get(parameter.name))
            change: dict[str, Any] = {key: 0 if on else 1, "tab": ""}
            link = services.href(analysis.name, run_key, replace(view, **change))
            out.append(_toggle(parameter.label, on, link, parameter.doc))
    return out


def _segments(
    services: Services, analysis: Analysis, parameter: Parameter, current: Any, view: ViewState, run_key: str
) -> html.Div:
    links = []
    for choice in parameter.choices:
        change: dict[str, Any] = {parameter.url_key: choice, "tab": ""}
        target = replace(view, **change)
        links.append(
            html.A(
                parameter.label_of(choice),
                href=services.href(analysis.name, run_key, target),
                **{"data-nav": "here"} | ({"aria-current": "true"} if choice == current else {}),
            )
        )
    return html.Div(links, className="segments", role="group", title=parameter.doc, **{"aria-label": parameter.doc})


def _toggle(text: str, on: bool, href: str, doc: str) -> html.Div:
    link = html.A(text, href=href, title=doc, **{"data-nav": "here"} | ({"aria-current": "true"} if on else {}))
    return html.Div(link, className="segments")


def _table(services: Services, shown: TableView, view: ViewState, run_key: str) -> Any:
    """The chosen table; a switch above it when there are several."""
    body = table_grid(services, shown, view, ids.TABLE_GRID)
    switch = _table_switch(shown, view, csv_href(services, shown.analysis.name, run_key))
    return html.Div([switch, html.Div(body, className="fill")], className="fill column")


def _table_switch(shown: TableView, view: ViewState, csv: str) -> html.Div:
    links = [
        html.Button(
            f"{title} ({rows:,})",
            className="button table-tab",
            **{
                "data-url-key": "tab",
                "data-url-value": str(at) if at else "",
                "aria-pressed": str(at == shown.at).lower(),
            },
        )
        for at, (title, rows) in enumerate(shown.choices)
    ]
    shown_of = html.Span(className="grid-shown muted", **{"data-for": ids.TABLE_GRID})
    return html.Div(
        [
            *links,
            shown_of,
            html.Span(className="spacer"),
            grid.quick_filter("table-search", ids.TABLE_GRID, view.q, "Search the table"),
            grid.toolbar(ids.TABLE_GRID, csv_href=csv),
        ],
        className="table-switch",
    )
