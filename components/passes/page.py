"""How does the pass page look before it knows a dump? The skeleton that ``assets/js/passes`` fills."""

from __future__ import annotations

from typing import Any

from dash import html

FILTERS = (("all", "All"), ("changed", "Changed"), ("noop", "No-op"), ("warnings", "With warnings"))
LAYOUTS = (("split", "Side by side"), ("stacked", "Stacked"))
DRAWER = (
    ("warnings", "Warnings"),
    ("functions", "Functions"),
    ("problems", "Dump problems"),
    ("reports", "Reports"),
    ("tools", "Other tools"),
)
"""Tabs below the code: value of ``tab`` and text."""


def skeleton(reports: Any, report_id: str) -> html.Div:
    """The whole page; ``reports`` fills its drawer tab, in the element called ``report_id``."""
    return html.Div(
        [_passes(), html.Section([_toolbar(), _code(), _drawer(reports, report_id)], className="ir-main")],
        id="ir",
        className="ir",
    )


def _passes() -> html.Aside:
    return html.Aside(
        [
            html.H1("Passes", className="ir-h1"),
            html.Div(_select("ir-dump", "Pass dump"), id="ir-dump-box", hidden=True),
            _search_box("ir-find", "Find a pass by name"),
            _buttons("ir-filters", "Which passes", "pf", FILTERS),
            html.Div(
                [
                    _search_box("ir-q", "Search the text of all passes"),
                    _switch("ir-re", "re", ".*", "Regular expression"),
                    _switch("ir-case", "case", "Aa", "Upper and lower case differ"),
                ],
                className="ir-row",
            ),
            html.Div(id="ir-found", className="ir-found", role="status"),
            _search_box("ir-name", "History of a name (or double-click one in the code)"),
            html.Div(id="ir-history", className="ir-found", role="status"),
            html.Div(id="ir-list", className="ir-list", role="listbox", tabIndex=0, **{"aria-label": "Passes"}),
        ],
        className="ir-side",
        **{"aria-label": "Passes of the dump"},
    )


def _search_box(box_id: str, text: str) -> Any:
    return html.Div(
        # Dash would keep the value of a dcc.Input; this one belongs to the browser side.
        className="ir-box",
        id=f"{box_id}-box",
        **{"data-input": box_id, "data-text": text},
    )


def _toolbar() -> html.Div:
    return html.Div(
        [
            _button("ir-prev", "‹", "Pass before ([)"),
            _button("ir-next", "›", "Next pass (])"),
            html.H2(id="ir-title", className="ir-title"),
            html.Span(id="ir-counts", className="ir-counts"),
            html.Span(className="spacer"),
            html.Label(["compared with", _select("ir-vs", "Pass to compare with")], className="ir-label"),
            html.Label(["of", _select("ir-other", "Run to compare with")], className="ir-label"),
            html.Label(["dump", _select("ir-odump", "Pass dump of that run")], id="ir-odump-box", className="ir-label", hidden=True),
            html.Label(["function", _select("ir-fn", "Function")], className="ir-label"),
            html.Label(["second pane", _select("ir-fn2", "Function of the second pane")], className="ir-label"),
            _buttons("ir-layout", "Layout", "lay", LAYOUTS),
            _switch("ir-whole", "ctx", "Whole file", "Show equal lines too (w)"),
            _button("ir-memory", "Memory map", "Map of on-chip memory of this function, or of all"),
            _switch("ir-struct", "struct", "Structure only", "Hide memory and layout annotations on both sides (s)"),
            _button("ir-up", "↑", "Change before (k)"),
            _button("ir-down", "↓", "Next change (j)"),
        ],
        className="toolbar ir-toolbar",
    )  # fmt: skip


def _code() -> html.Div:
    return html.Div(
        [
            html.Div(id="ir-notes", className="ir-notes", role="status"),
            html.Div(id="ir-wait", className="ir-wait", hidden=True, role="status"),
            html.Div(
                [
                    html.Div([html.Span(id=f"ir-name-{side}"), _button(f"ir-copy-{side}", "Copy", f"Copy the {side} side, the whole snapshot")],
                             className="ir-head")
                    for side in ("left", "right")
                ],
                className="ir-heads",
            ),
            html.Div([_pane(0), _pane(1)], className="ir-panes"),
        ],
        className="ir-code",
    )  # fmt: skip


def _pane(number: int) -> html.Div:
    label = "Differences" if number == 0 else "Differences of the second function"
    stage = html.Div(html.Div(className="ir-stage"), className="ir-extent")
    return html.Div(
        [
            html.Div(className="ir-pane-name"),
            html.Div(stage, className="ir-scroll", tabIndex=0, role="region", **{"aria-label": label}),
            html.Div(className="ir-ruler", **{"aria-hidden": "true"}),
        ],
        className="ir-pane",
        hidden=number > 0,
        **{"data-pane": str(number)},
    )


def _drawer(reports: Any, report_id: str) -> html.Div:
    tabs = [
        html.Button(text, className="button quiet ir-tab", **{"data-tab": key, "aria-expanded": "false"})
        for key, text in DRAWER
    ]
    return html.Div(
        [
            html.Div(tabs, className="ir-tabs", role="group", **{"aria-label": "More about this pass and dump"}),
            html.Div(id="ir-drawer", className="ir-drawer", hidden=True, tabIndex=0, role="region", **{"aria-label": "Details"}),
            html.Div(reports, id=report_id, className="ir-reports", hidden=True),
        ],
        className="ir-below",
    )  # fmt: skip


def _buttons(group_id: str, label: str, key: str, options: tuple[tuple[str, str], ...]) -> html.Div:
    buttons = [
        html.Button(text, className="ir-choice", **{"data-key": key, "data-value": value, "aria-pressed": "false"})
        for value, text in options
    ]
    return html.Div(buttons, id=group_id, className="ir-choices", role="group", **{"aria-label": label})


def _switch(button_id: str, key: str, text: str, title: str) -> html.Button:
    return html.Button(
        text, id=button_id, className="button ir-switch", title=title,
        **{"data-switch": key, "aria-pressed": "false", "aria-label": title},
    )  # fmt: skip


def _button(button_id: str, text: str, title: str) -> html.Button:
    return html.Button(text, id=button_id, className="button ir-button", title=title, **{"aria-label": title})


def _select(box_id: str, label: str) -> html.Span:
    """Where the browser puts a select: its options come with the dump."""
    return html.Span(className="ir-select", **{"data-select": box_id, "data-text": label})
