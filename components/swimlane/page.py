"""How is the swimlane page built? Its fixed skeleton; assets/js/timeline fills and drives it."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from components.plot import graph

VIEWS = (
    ("worker", "Worker", "One lane per core: when each block ran"),
    ("scheduler", "Scheduler", "One lane per core: dispatch to finish as the scheduler saw it"),
    ("phases", "Phases", "One lane per scheduler thread: what its loop did"),
    ("orch", "Orchestrator", "What the orchestrator submitted, and when"),
)
LABELS = (("func", "Function"), ("id", "Ring & task id"), ("both", "Both"), ("none", "None"))
SETUPS = (("apart", "Apart"), ("in", "In the length"), ("hidden", "Hidden"))
DEPTHS = (("0", "0"), ("1", "1"), ("2", "2"), ("3", "3"), ("5", "5"), ("-1", "all"))
SIDES = (("both", "Both sides"), ("pred", "Predecessors"), ("succ", "Successors"), ("none", "No lines"))
HIGHLIGHTS = (
    ("", "Nothing"),
    ("search", "Search matches"),
    ("path:observed", "Critical path, observed"),
    ("path:static", "Critical path, static"),
    ("path:imported-observed", "Imported path, observed"),
    ("path:imported-static", "Imported path, static"),
    ("chains", "Single-dependency chains"),
    ("early", "Early-dispatch targets"),
)
MARKER_COLORS = (("blue", "Blue"), ("red", "Red"), ("green", "Green"), ("amber", "Amber"))
_CLOCK_HINT = "Host lanes were stamped by the host's clock, all others by the device's; one axis shows both."
EXPORTS = (
    ("png", "Picture (PNG)"),
    ("svg", "Picture (SVG)"),
    ("csv", "Visible items (CSV)"),
    ("trace", "Whole capture for Perfetto (JSON)"),
)


def swimlane(dumps: tuple[str, ...] = (), side: Any = None, clock: str = "") -> html.Div:
    """The whole page: toolbar, overview, lanes, details.

    Args:
        dumps: pass dumps found beside the run.
        side: what stands to the right of the lanes.
        clock: how host stamps relate to the device's axis, where the run has both.
    """
    return html.Div(
        [
            dcc.Store(id="swim-focus"),
            _toolbar(dumps),
            html.Div(
                [
                    html.Div(
                        [_overview(), html.Div(_lanes(), className="swim-middle"), _details(clock)],
                        className="swim-main",
                    ),
                    html.Aside(side, id="swimlane-side", className="swim-side", **{"aria-label": "Performance"}),
                ],
                className="swim-split",
            ),
            html.Div(id="swim-tip", className="swim-tip", hidden=True, role="tooltip"),
            html.Div(id="swim-menu", className="swim-menu", hidden=True, role="menu", **{"aria-label": "Actions"}),
            html.Div(id="swim-live", className="visually-hidden", role="status", **{"aria-live": "polite"}),
            _keys_dialog(),
        ],
        id="swim-root",
        className="swim fill",
        **{"data-busy": "true"},
    )


def _select(name: str, text: str, options: tuple[tuple[str, str], ...]) -> html.Label:
    # A plain select: its state is the URL's, and dcc.Dropdown would send a callback for each change.
    return html.Label([html.Span(text), _PlainSelect(name, options)], className="swim-choice", htmlFor=name)


def _PlainSelect(name: str, options: tuple[tuple[str, str], ...]) -> Any:
    return html.Select([html.Option(label, value=value) for value, label in options], id=name, className="input")


def _button(name: str, text: str, label: str, **extra: Any) -> html.Button:
    return html.Button(text, id=name, className="button", title=label, **{"aria-label": label}, **extra)


def _toolbar(dumps: tuple[str, ...]) -> html.Div:
    tabs = [
        html.Button(title, className="swim-tab", **{"data-view": name, "data-hint": hint, "aria-pressed": "false"})
        for name, title, hint in VIEWS
    ]
    return html.Div(
        [
            html.Div(tabs, className="swim-tabs", role="group", **{"aria-label": "View"}),
            html.Div(
                [
                    dcc.Input(
                        id="swim-search",
                        type="search",
                        className="input",
                        placeholder="Function, t12, r1t12",
                        debounce=False,
                        autoComplete="off",
                    ),
                    html.Span(id="swim-search-count", className="swim-count", **{"aria-live": "polite"}),
                    _button("swim-search-prev", "‹", "Previous match", disabled=True),
                    _button("swim-search-next", "›", "Next match", disabled=True),
                ],
                className="swim-search",
                role="search",
            ),
            _select("swim-hl", "Highlight", HIGHLIGHTS),
            _select("swim-labels-mode", "Labels", LABELS),
            _select("swim-setup", "Setup", SETUPS),
            _select("swim-deps", "Lines", SIDES),
            _select("swim-depth", "Depth", DEPTHS),
            html.Div(
                dcc.Input(id="swim-filter", type="text", className="input", placeholder="Lanes: aic, 0-7, name"),
                className="swim-filter",
            ),
            html.Span(className="spacer"),
            html.Div(
                [
                    _button("swim-zoom-out", "−", "Zoom out"),
                    _button("swim-zoom-in", "+", "Zoom in"),
                    _button("swim-fit", "Fit", "Fit the whole capture"),
                ],
                className="swim-zoom",
            ),
            _export(dumps),
            _button("swim-keys-open", "Keys", "Change the keys of this page"),
        ],
        className="toolbar swim-toolbar",
    )


def _export(dumps: tuple[str, ...]) -> html.Details:
    items: list[Any] = [html.Button(text, className="swim-item", **{"data-export": kind}) for kind, text in EXPORTS]
    if dumps:
        items.append(html.Div("Pass dumps of this run", className="swim-menu-head"))
        items += [html.Code(path, className="swim-path") for path in dumps]
    return html.Details(
        [html.Summary("Export", className="button"), html.Div(items, className="menu")],
        id="swim-export",
        className="swim-export",
    )


def _overview() -> html.Div:
    window = html.Div(
        id="swim-overview-window",
        className="swim-overview-window",
        role="slider",
        tabIndex=0,
        **{"aria-label": "Visible window", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "50"},
    )
    return html.Div(
        [
            html.Div(
                [
                    html.Span(id="swim-lane-count", className="muted"),
                    html.Button("", id="swim-unhide", className="button quiet", hidden=True),
                ],
                className="swim-corner",
            ),
            html.Div(
                [html.Canvas(id="swim-overview-canvas", **{"aria-hidden": "true"}), window],
                id="swim-overview",
                className="swim-overview",
            ),
        ],
        className="swim-head",
    )


def _lanes() -> html.Div:
    plot = html.Div(
        [
            html.Canvas(id="swim-canvas", className="swim-canvas", **{"aria-hidden": "true"}),
            html.Div(
                graph("swim-graph", displayModeBar=False, responsive=False, doubleClick=False),
                className="swim-graph",
                **{"aria-hidden": "true"},
            ),
            html.Div(
                [
                    html.Div(id="swim-hover", className="swim-hover", hidden=True),
                    html.Div(html.Span(), id="swim-measuring", className="swim-measuring", hidden=True),
                ],
                id="swim-overlay",
                className="swim-overlay",
            ),
            html.Div(id="swim-empty", className="swim-empty", hidden=True),
            _measure_card(),
        ],
        id="swim-plot",
        className="swim-plot",
        role="group",
        tabIndex=0,
        **{
            "aria-label": "Swimlane. Arrow keys step through records and lanes, w and s zoom, a and d move, "
            "question mark lists all keys."
        },
    )
    return html.Div(
        [
            html.Div("Markers", className="swim-marker-head muted"),
            html.Div([html.Div(id="swim-markers", className="swim-markers"), _marker_edit()], className="swim-strip"),
            html.Div(id="swim-labels", className="swim-labels"),
            plot,
            html.Div(html.Div(), id="swim-scroll", className="swim-scroll", tabIndex=-1, **{"aria-hidden": "true"}),
        ],
        className="swim-lanes",
    )


def _marker_edit() -> html.Div:
    return html.Div(
        [
            html.Div(id="swim-marker-time", className="mono"),
            html.Label(["Label ", dcc.Input(id="swim-marker-label", type="text", className="input", maxLength=60)]),
            html.Label(["Colour ", _PlainSelect("swim-marker-color", MARKER_COLORS)], htmlFor="swim-marker-color"),
            html.Div(
                [
                    html.Button("Delete", id="swim-marker-delete", className="button"),
                    html.Button("Close", id="swim-marker-close", className="button"),
                ],
                className="swim-row",
            ),
        ],
        id="swim-marker-edit",
        className="swim-marker-edit",
        hidden=True,
        role="dialog",
        **{"aria-label": "Edit marker"},
    )


def _measure_card() -> html.Div:
    return html.Div(
        [
            html.Div(
                [
                    html.Strong(id="swim-measure-length"),
                    html.Button("Zoom", id="swim-measure-zoom", className="button quiet"),
                    html.Button("Mark", id="swim-measure-mark", className="button quiet"),
                    html.Button(
                        "×", id="swim-measure-close", className="button quiet", **{"aria-label": "End measuring"}
                    ),
                ],
                className="swim-row",
            ),
            html.Div(id="swim-measure-body"),
        ],
        id="swim-measure",
        className="swim-measure",
        hidden=True,
        role="region",
        **{"aria-label": "Measured range"},
    )


def _details(clock: str) -> html.Section:
    return html.Section(
        [
            html.Div(
                [
                    html.Span(className="swim-grip", **{"aria-hidden": "true"}),
                    html.Span(id="swim-shown", className="swim-shown"),
                    html.Span(id="swim-lines", className="swim-lines muted"),
                    html.Span(f"Host clock {clock}" if clock else "", className="swim-clock muted", title=_CLOCK_HINT),
                ],
                id="swim-details-handle",
                className="swim-details-handle",
                role="separator",
                tabIndex=0,
                **{"aria-label": "Height of the details panel", "aria-orientation": "horizontal", "aria-valuenow": "0"},
            ),
            html.Div(id="swim-details", className="swim-details"),
        ],
        id="swim-details-box",
        className="swim-details-box",
        **{"aria-label": "Details"},
    )


def _keys_dialog() -> html.Dialog:
    return html.Dialog(
        [
            html.Div(
                [
                    html.H2("Keys of the swimlane", id="swim-keys-title"),
                    html.Button("Close", id="swim-keys-close", className="button quiet"),
                ],
                className="dialog-head",
            ),
            html.Div(
                [
                    html.P("Press a button, then the new key. Delete switches an action off. Kept in this browser."),
                    html.Div(id="swim-keys-list", className="swim-keys-list"),
                    html.Button("Restore all", id="swim-keys-reset", className="button"),
                ],
                className="swim-keys-body",
            ),
        ],
        id="swim-keys",
        className="dialog",
        **{"aria-labelledby": "swim-keys-title"},
    )
