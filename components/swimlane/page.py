"""How is the swimlane page built? Its fixed skeleton; assets/js/timeline fills and drives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dash import dcc, html

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


Choice = tuple[str, str, tuple[tuple[str, str], ...]]
"""Last part of the id of a select, its text, and its options (value, text)."""


@dataclass(frozen=True, slots=True)
class Look:
    """What differs between timelines of different data.

    Args:
        name: begins every id; the second timeline of a page needs another.
        views: (name, text, what it shows) of each view; one needs no tabs.
        choices: the selects of the toolbar.
        exports: (kind, text) of the export menu.
        search: example of what can be searched for.
        lanes: example of a lane filter.
        whole: what all of it is called.
        items: what its items are called.
    """

    name: str
    views: tuple[tuple[str, str, str], ...]
    choices: tuple[Choice, ...]
    exports: tuple[tuple[str, str], ...]
    search: str
    lanes: str
    whole: str
    items: str


CHIP = Look(
    "swim",
    VIEWS,
    (
        ("hl", "Highlight", HIGHLIGHTS),
        ("labels-mode", "Labels", LABELS),
        ("setup", "Setup", SETUPS),
        ("deps", "Lines", SIDES),
        ("depth", "Depth", DEPTHS),
    ),
    EXPORTS,
    "Function, t12, r1t12",
    "Lanes: aic, 0-7, name",
    "capture",
    "records",
)


def swimlane(
    dumps: tuple[tuple[str, str], ...] = (),
    side: Any = None,
    clock: str = "",
    look: Look = CHIP,
    first: Any = None,
    below: Any = None,
    data: Mapping[str, str] | None = None,
) -> html.Div:
    """The whole page: toolbar, overview, lanes, details.

    Args:
        dumps: pass dumps found beside the run: name and link.
        side: what stands to the right of the lanes.
        clock: how host stamps are placed on the device's axis, where the run has both.
        look: what data it is for.
        first: what the toolbar begins with.
        below: what stands between the lanes and the details.
        data: what the scripts must know of it, as data attributes of the root.
    """
    name = look.name
    return html.Div(
        [
            dcc.Store(id=f"{name}-focus"),
            _toolbar(look, dumps, first),
            html.Div(
                [
                    html.Div(
                        [
                            _overview(name),
                            html.Div(_lanes(look), className="swim-middle"),
                            below,
                            _details(name, clock),
                        ],
                        className="swim-main",
                    ),
                    html.Aside(side, id="swimlane-side", className="swim-side", **{"aria-label": "Performance"}),
                ],
                className="swim-split",
            ),
            html.Div(id=f"{name}-tip", className="swim-tip", hidden=True, role="tooltip"),
            html.Div(id=f"{name}-menu", className="swim-menu", hidden=True, role="menu", **{"aria-label": "Actions"}),
            html.Div(id=f"{name}-live", className="visually-hidden", role="status", **{"aria-live": "polite"}),
            _keys_dialog(name),
        ],
        id=f"{name}-root",
        className="swim fill",
        **{"data-busy": "true"} | {f"data-{key}": text for key, text in (data or {}).items()},
    )


def _select(control: str, text: str, options: tuple[tuple[str, str], ...]) -> html.Label:
    # A plain select: its state is the URL's, and dcc.Dropdown would send a callback for each change.
    return html.Label([html.Span(text), _PlainSelect(control, options)], className="swim-choice", htmlFor=control)


def _PlainSelect(control: str, options: tuple[tuple[str, str], ...]) -> Any:
    return html.Select([html.Option(label, value=value) for value, label in options], id=control, className="input")


def _button(control: str, text: str, label: str, **extra: Any) -> html.Button:
    return html.Button(text, id=control, className="button", title=label, **{"aria-label": label}, **extra)


def _toolbar(look: Look, dumps: tuple[tuple[str, str], ...], first: Any) -> html.Div:
    name = look.name
    tabs = [
        html.Button(title, className="swim-tab", **{"data-view": view, "data-hint": hint, "aria-pressed": "false"})
        for view, title, hint in look.views
    ]
    return html.Div(
        [
            first,
            html.Div(tabs, className="swim-tabs", role="group", **{"aria-label": "View"}) if len(tabs) > 1 else None,
            html.Div(
                [
                    dcc.Input(
                        id=f"{name}-search",
                        type="search",
                        className="input",
                        placeholder=look.search,
                        debounce=False,
                        autoComplete="off",
                    ),
                    html.Span(id=f"{name}-search-count", className="swim-count", **{"aria-live": "polite"}),
                    _button(f"{name}-search-prev", "‹", "Previous match", disabled=True),
                    _button(f"{name}-search-next", "›", "Next match", disabled=True),
                ],
                className="swim-search",
                role="search",
            ),
            *(_select(f"{name}-{part}", text, options) for part, text, options in look.choices),
            html.Div(
                dcc.Input(id=f"{name}-filter", type="text", className="input", placeholder=look.lanes),
                className="swim-filter",
            ),
            html.Span(className="spacer"),
            html.Div(
                [
                    _button(f"{name}-zoom-out", "−", "Zoom out"),
                    _button(f"{name}-zoom-in", "+", "Zoom in"),
                    _button(f"{name}-fit", "Fit", f"Fit the whole {look.whole}"),
                ],
                className="swim-zoom",
            ),
            _export(look, dumps),
            _button(f"{name}-keys-open", "Keys", "Change the keys of this page"),
        ],
        className="toolbar swim-toolbar",
    )


def _export(look: Look, dumps: tuple[tuple[str, str], ...]) -> html.Details:
    items: list[Any] = [
        html.Button(text, className="swim-item", **{"data-export": kind}) for kind, text in look.exports
    ]
    if dumps:
        items.append(html.Div("Pass dumps of this run", className="swim-menu-head"))
        items += [
            html.A(label, href=href, className="swim-path", **{"data-follow": "1", "data-keys": "dump"})
            for label, href in dumps
        ]
    return html.Details(
        [html.Summary("Export", className="button"), html.Div(items, className="menu")],
        id=f"{look.name}-export",
        className="swim-export",
    )


def _overview(name: str) -> html.Div:
    window = html.Div(
        id=f"{name}-overview-window",
        className="swim-overview-window",
        role="slider",
        tabIndex=0,
        **{"aria-label": "Visible window", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "50"},
    )
    return html.Div(
        [
            html.Div(
                [
                    html.Span(id=f"{name}-lane-count", className="muted"),
                    html.Button("", id=f"{name}-unhide", className="button quiet", hidden=True),
                ],
                className="swim-corner",
            ),
            html.Div(
                [html.Canvas(id=f"{name}-overview-canvas", **{"aria-hidden": "true"}), window],
                id=f"{name}-overview",
                className="swim-overview",
            ),
        ],
        className="swim-head",
    )


def _lanes(look: Look) -> html.Div:
    name = look.name
    plot = html.Div(
        [
            html.Canvas(id=f"{name}-canvas", className="swim-canvas", **{"aria-hidden": "true"}),
            html.Div(
                html.Div(html.Div(), id=f"{name}-graph", className="plot"),
                className="swim-graph",
                **{"aria-hidden": "true"},
            ),
            html.Div(
                [
                    html.Div(id=f"{name}-hover", className="swim-hover", hidden=True),
                    html.Div(html.Span(), id=f"{name}-measuring", className="swim-measuring", hidden=True),
                ],
                id=f"{name}-overlay",
                className="swim-overlay",
            ),
            html.Div(id=f"{name}-empty", className="swim-empty", hidden=True),
            _measure_card(name),
        ],
        id=f"{name}-plot",
        className="swim-plot",
        role="group",
        tabIndex=0,
        **{
            "aria-label": f"Swimlane. Arrow keys step through {look.items} and lanes, w and s zoom, a and d move, "
            "question mark lists all keys."
        },
    )
    return html.Div(
        [
            html.Div("Markers", className="swim-marker-head muted"),
            html.Div(
                [html.Div(id=f"{name}-markers", className="swim-markers"), _marker_edit(name)], className="swim-strip"
            ),
            html.Div(id=f"{name}-labels", className="swim-labels"),
            plot,
            html.Div(html.Div(), id=f"{name}-scroll", className="swim-scroll", tabIndex=-1, **{"aria-hidden": "true"}),
        ],
        className="swim-lanes",
    )


def _marker_edit(name: str) -> html.Div:
    return html.Div(
        [
            html.Div(id=f"{name}-marker-time", className="mono"),
            html.Label(["Label ", dcc.Input(id=f"{name}-marker-label", type="text", className="input", maxLength=60)]),
            html.Label(
                ["Colour ", _PlainSelect(f"{name}-marker-color", MARKER_COLORS)], htmlFor=f"{name}-marker-color"
            ),
            html.Div(
                [
                    html.Button("Delete", id=f"{name}-marker-delete", className="button"),
                    html.Button("Close", id=f"{name}-marker-close", className="button"),
                ],
                className="swim-row",
            ),
        ],
        id=f"{name}-marker-edit",
        className="swim-marker-edit",
        hidden=True,
        role="dialog",
        **{"aria-label": "Edit marker"},
    )


def _measure_card(name: str) -> html.Div:
    return html.Div(
        [
            html.Div(
                [
                    html.Strong(id=f"{name}-measure-length"),
                    html.Button("Zoom", id=f"{name}-measure-zoom", className="button quiet"),
                    html.Button("Mark", id=f"{name}-measure-mark", className="button quiet"),
                    html.Button(
                        "×", id=f"{name}-measure-close", className="button quiet", **{"aria-label": "End measuring"}
                    ),
                ],
                className="swim-row",
            ),
            html.Div(id=f"{name}-measure-body"),
        ],
        id=f"{name}-measure",
        className="swim-measure",
        hidden=True,
        role="region",
        **{"aria-label": "Measured range"},
    )


def _details(name: str, clock: str) -> html.Section:
    return html.Section(
        [
            html.Div(
                [
                    html.Span(className="swim-grip", **{"aria-hidden": "true"}),
                    html.Span(id=f"{name}-shown", className="swim-shown"),
                    html.Span(id=f"{name}-lines", className="swim-lines muted"),
                    html.Span(f"Host clock {clock}" if clock else "", className="swim-clock muted", title=_CLOCK_HINT),
                ],
                id=f"{name}-details-handle",
                className="swim-details-handle",
                role="separator",
                tabIndex=0,
                **{"aria-label": "Height of the details panel", "aria-orientation": "horizontal", "aria-valuenow": "0"},
            ),
            html.Div(id=f"{name}-details", className="swim-details"),
        ],
        id=f"{name}-details-box",
        className="swim-details-box",
        **{"aria-label": "Details"},
    )


def _keys_dialog(name: str) -> html.Dialog:
    return html.Dialog(
        [
            html.Div(
                [
                    html.H2("Keys of the swimlane", id=f"{name}-keys-title"),
                    html.Button("Close", id=f"{name}-keys-close", className="button quiet"),
                ],
                className="dialog-head",
            ),
            html.Div(
                [
                    html.P("Press a button, then the new key. Delete switches an action off. Kept in this browser."),
                    html.Div(id=f"{name}-keys-list", className="swim-keys-list"),
                    html.Button("Restore all", id=f"{name}-keys-reset", className="button"),
                ],
                className="swim-keys-body",
            ),
        ],
        id=f"{name}-keys",
        className="dialog",
        **{"aria-labelledby": f"{name}-keys-title"},
    )
