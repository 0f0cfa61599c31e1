"""One page per analysis of the registry: its question, its parameters, its tables, its curves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import html

from analysis import registry
from analysis.registry import Analysis, Parameter
from app.server.services import Services
from app.shell import frame as shell
from app.shell import ids
from app.shell.feature import View
from app.shell.page import Page
from app.shell.url_state import ViewState, pairs
from app.swimlane.panel import summaries as story
from app.tables import rows as table_rows
from app.tables import views as table_page
from app.tables.views import TableView
from components import figures as plots
from components import fmt, grid, notices

RAIL = (
    "functions",
    "critical-path",
    "path-difference",
    "gaps",
    "chains",
    "early-dispatch",
    "markers",
    "overhead",
    "utilisation",
    "cores",
    "setup",
    "range",
    "edges",
)
"""Order of the list on the left."""
GROUP_TAB = "critical-path"
"""The page the ``Analyses`` tab opens."""
SEGMENT_LABELS = {
    "observed": "Observed",
    "static": "Static",
    "imported-observed": "Imported observed",
    "imported-static": "Imported static",
    "setup": "Longest setup",
    "share": "Largest share",
    "full": "Full",
    "reduced": "Reduced",
    "omitted": "Omitted",
    "reduced-df": "Reduced DF",
    "omitted-df": "Omitted DF",
}


def views() -> tuple[View, ...]:
    """A page for every analysis but functions, which has a page of its own."""
    return tuple(_page(item) for item in registry.ANALYSES if item.name != "functions")


def _page(item: Analysis) -> View:
    order = shell.ANALYSES_ORDER if item.name == GROUP_TAB else -1
    page = Page(item.name, f"/r/<run>/{item.name}", item.title, order)

    def show(services: Services, view: ViewState, run_key: str) -> Any:
        return layout(services, view, run_key, item.name)

    return View(page, show, table_page.url_keys(item))


def layout(services: Services, view: ViewState, run_key: str, name: str) -> Any:
    """Rail on the left; headline, parameters, figures, curves and the chosen table on the right."""
    wait = table_page.waiting(services, run_key, name, view)
    if wait is not None:
        return html.Div([rail(services, name, view, run_key), wait], className="analysis")
    shown = table_page.table_view(services, run_key, name, view)
    main = [
        _toolbar(services, shown, view, run_key),
        *(notices.notice(f"{p.key}={p.text} was not used", p.reason, "warn") for p in shown.problems),
        *(notices.notice(note, level="info") for note in shown.outcome.notes),
    ]
    if shown.outcome.available:
        main += [
            figures(shown),
            *story.summary(services, shown, view, run_key),
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
                registry.find(item).title,
                href=services.href(item, run_key, carried),
                title=registry.find(item).question,
                **{"data-follow": "1"} | ({"aria-current": "page"} if item == name else {}),
            )
            for item in RAIL
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


def csv_href(services: Services, name: str, run_key: str) -> str:
    """Where the CSV of a table lies; grid.js adds the current query."""
    return f"{services.settings.url_prefix}api/r/{run_key}/table/{name}.csv"


def _parameters(
    services: Services, analysis: Analysis, values: dict[str, Any], view: ViewState, run_key: str
) -> list[Any]:
    out: list[Any] = []
    for parameter in table_page.choice_parameters(analysis):
        current = values.get(parameter.name, parameter.default)
        out.append(_segments(services, analysis, parameter, current, view, run_key))
    for parameter in analysis.parameters:
        if parameter.kind == "float":
            value = "" if view.thr is None else pairs(ViewState(thr=view.thr))["thr"]
            out += [
                html.Label("Threshold (µs)", htmlFor="table-threshold"),
                grid.url_number("table-threshold", "thr", value, parameter.doc),
            ]
        if parameter.kind == "flag" and parameter.name in table_page.URL_KEY:
            on = bool(values.get(parameter.name))
            link = services.href(analysis.name, run_key, replace(view, untimed=0 if on else 1, tab=""))
            out.append(_toggle("Through untimed tasks", on, link, parameter.doc))
    return out


def _segments(
    services: Services, analysis: Analysis, parameter: Parameter, current: Any, view: ViewState, run_key: str
) -> html.Div:
    key = table_page.URL_KEY[parameter.name]
    links = []
    for choice in parameter.choices:
        change: dict[str, Any] = {key: choice, "tab": ""}
        target = replace(view, **change)
        links.append(
            html.A(
                SEGMENT_LABELS.get(choice, choice),
                href=services.href(analysis.name, run_key, target),
                **{"data-nav": "here"} | ({"aria-current": "true"} if choice == current else {}),
            )
        )
    return html.Div(links, className="segments", role="group", title=parameter.doc, **{"aria-label": parameter.doc})


def _toggle(text: str, on: bool, href: str, doc: str) -> html.Div:
    link = html.A(text, href=href, title=doc, **{"data-nav": "here"} | ({"aria-current": "true"} if on else {}))
    return html.Div(link, className="segments")


def figures(shown: TableView) -> Any:
    """The few numbers of an outcome, in one line."""
    lines = _FIGURES.get(shown.analysis.name, lambda numbers: [])(shown.outcome.numbers)
    if not lines:
        return None
    return html.Div([html.Span([f"{name} ", html.B(value)]) for name, value in lines], className="figures")


def _path_figures(numbers: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("tasks on the path", fmt.count(numbers["tasks"])),
        ("length", fmt.us(numbers["length_us"])),
        ("compute", fmt.us(numbers["compute_us"])),
        ("stall", fmt.us(numbers["stall_us"])),
        ("makespan", fmt.us(numbers["makespan_us"])),
        ("compute share of the makespan", fmt.percent(numbers["compute_share"])),
        ("happens-before edges kept", fmt.count(numbers["hb_edges"])),
    ]


def _overhead_figures(numbers: dict[str, Any]) -> list[tuple[str, str]]:
    if "window_us" not in numbers:
        return []
    return [
        ("window", fmt.us(numbers["window_us"])),
        ("every type at once in overhead", fmt.percent(numbers["all_share"])),
        ("every type that has ready work", fmt.percent(numbers["has_share"])),
    ]


_FIGURES = {"critical-path": _path_figures, "overhead": _overhead_figures}


def plot(shown: TableView, plot_id: str) -> Any:
    """The curves of an outcome, where it has any."""
    if not shown.outcome.curves:
        return None
    title = "busy cores" if shown.analysis.name == "utilisation" else "share of time"
    return html.Div(plots.curves(plot_id, shown.outcome.curves, title), className="analysis-plot")


def _table(services: Services, shown: TableView, view: ViewState, run_key: str) -> Any:
    """The chosen table; a switch above it when there are several."""
    body = table_grid(services, shown, view, ids.TABLE_GRID)
    switch = _table_switch(shown, view, csv_href(services, shown.analysis.name, run_key))
    return html.Div([switch, html.Div(body, className="fill")], className="fill column")


def is_long(services: Services, shown: TableView) -> bool:
    """Whether the chosen table is too long to send whole."""
    return len(shown.table) > services.settings.grid_client_rows


def table_grid(services: Services, shown: TableView, view: ViewState, grid_id: str, narrow: bool = False) -> html.Div:
    """The grid of the chosen table; with ``thr``, gaps above it are marked. ``narrow``: columns for a small place."""
    infinite = is_long(services, shown)
    pick = table_rows.selection_of(shown.analysis.name, shown.parameters)
    columns = table_rows.grid_columns(shown.table.columns, {} if view.thr is None else {"gap_us": view.thr})
    columns = [grid.function_column(c) if c.name == "name" and _names_functions(shown) else c for c in columns]
    return grid.grid(
        grid_id,
        table_rows.narrow(columns) if narrow else columns,
        None if infinite else table_rows.rows(shown.table, pick),
        row_id="_row",
        infinite=infinite,
        sort=view.sort,
        filters=view.f,
        label=shown.title,
        options={"localeText": {"noRowsToShow": "No rows: nothing to list for this capture and these settings."}},
    )


def _names_functions(shown: TableView) -> bool:
    """Whether the table's ``name`` column holds functions, which have a colour."""
    return shown.analysis.name != "markers"


def _table_switch(shown: TableView, view: ViewState, csv: str) -> html.Div:
    links = [
        html.Button(
            f"{title} ({len(item):,})",
            className="button table-tab",
            **{
                "data-url-key": "tab",
                "data-url-value": str(at) if at else "",
                "aria-pressed": str(at == shown.at).lower(),
            },
        )
        for at, (title, item) in enumerate(shown.outcome.tables)
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
