"""What stands in the panel for a tab? The page's own table with its parameters, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html

from analysis.capture import Capture
from analysis.entry import Parameter
from app.analyses.drawing import headline_figures, is_long, plot, table_grid
from app.analyses.summaries import summary
from app.analyses.views import TableView, choice_parameters, url_keys, waiting
from app.server.services import Services
from app.shell.url_state import ViewState, decode, pairs
from app.swimlane.panel import overview
from app.swimlane.panel.tabs import OVERVIEW, Panels, Tab, content_key, read_tab
from components import fmt, grid, notices
from components.swimlane import panel

WINDOW_WORDS = {
    "measured": "the measured range",
    "visible": "the visible window",
    "whole": "the whole run: zoom or measure (Alt+drag) to look at a part",
}


def content(services: Services, panels: Panels, request: Mapping[str, Any]) -> html.Div:
    """The answer to the panel's request ``{n, run, query}``.

    Raises:
        SwimscopeError: no such run or tab, or the capture cannot be read.
    """
    view, _problems = decode(request["query"])
    tab, run_key, number = read_tab(view), request["run"], int(request["n"])
    if tab.name == OVERVIEW:
        return panel.answer(number, OVERVIEW, overview.content(services, tab.view, run_key))
    wait = None if tab.window else waiting(services, run_key, tab.name, tab.view, panel.SCOPE)
    if wait is not None:
        return panel.answer(number, f"{tab.name}-waiting", [wait])
    shown = panels.table_view(run_key, tab)
    parts = [_headline(services, tab, shown, run_key), *_settings(services, tab, shown, run_key)]
    parts += [notices.notice(f"{p.key}={p.text} was not used", p.reason, "warn") for p in shown.problems]
    parts += [notices.notice(note, level="info") for note in shown.outcome.notes]
    if not shown.outcome.available:
        parts.append(notices.not_available(shown.analysis.title, shown.outcome.reason))
        return panel.answer(number, f"{tab.name}-none", parts)
    parts += [
        headline_figures(shown),
        *summary(services, shown, tab.view, run_key),
        plot(shown, panel.PLOT),
        _switch(services, tab, shown, run_key),
        html.Div(
            table_grid(services, shown, tab.view, panel.GRID, narrow=True),
            className="panel-grid",
            key=content_key(tab, shown, is_long(services, shown)),
        ),
    ]
    return panel.answer(number, tab.name, [part for part in parts if part is not None])


def _headline(services: Services, tab: Tab, shown: TableView, run_key: str) -> Any:
    """The link carries what the panel's tab shows; the rest of the view follows by itself."""
    keys = sorted({*url_keys(shown.analysis), "sort", "f", "q"} - {"launch"})
    href = services.href(tab.name, run_key, tab.view)
    return panel.headline(shown.analysis.title, shown.analysis.question, href, ",".join(keys))


def _settings(services: Services, tab: Tab, shown: TableView, run_key: str) -> list[Any]:
    """The parameters of the analysis, and the window it looks at."""
    parts: list[Any] = [_choice(parameter, shown) for parameter in choice_parameters(shown.analysis)]
    for parameter in shown.analysis.parameters:
        if parameter.kind == "flag" and parameter.url_key:
            on = bool(shown.parameters.get(parameter.name))
            parts.append(panel.toggle(parameter.url_key, parameter.label, on, parameter.doc))
        if parameter.marks:
            parts += _threshold(tab.view, parameter.url_key)
    if tab.window:
        capture = services.library.capture(run_key, tab.view.launch)
        words = f"Over {WINDOW_WORDS[tab.window]}{_window_text(capture, tab)}"
        parts.append(html.Span(words, className="panel-window"))
    return [html.Div(parts, className="panel-settings")] if parts else []


def _choice(parameter: Parameter, shown: TableView) -> Any:
    items = [(choice, parameter.label_of(choice)) for choice in parameter.choices]
    current = str(shown.parameters.get(parameter.name, parameter.default))
    return panel.choices(parameter.url_key, items, current, str(parameter.default), parameter.doc)


def _threshold(view: ViewState, key: str) -> list[Any]:
    box = grid.url_number("panel-threshold", key, pairs(view).get(key, ""), "Gaps above it are red")
    return [html.Label("Red above (µs)", htmlFor="panel-threshold"), box]


def _window_text(capture: Capture, tab: Tab) -> str:
    """The bounds of the window in µs; nothing when it is the whole run."""
    if tab.view.t0 is None or tab.view.t1 is None:
        return ""
    first, last = capture.meta.us(tab.view.t0), capture.meta.us(tab.view.t1)
    return f": {fmt.us(first)} to {fmt.us(last)}, {fmt.us(last - first)} long"


def _switch(services: Services, tab: Tab, shown: TableView, run_key: str) -> html.Div:
    csv = f"{services.settings.url_prefix}api/r/{run_key}/panel.csv"
    shown_of = html.Span(className="grid-shown muted", **{"data-for": panel.GRID})
    return html.Div(
        [
            panel.sections(tab.name, shown.choices, shown.at),
            shown_of,
            html.Span(className="spacer"),
            grid.toolbar(panel.GRID, csv_href=csv),
        ],
        className="table-switch",
    )
