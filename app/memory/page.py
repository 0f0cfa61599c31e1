"""What is in on-chip memory? All functions and spaces, one function's map with its source, or two snapshots compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import dcc, html

from analysis.errors import NotFoundError
from analysis.memory.model import FunctionMap
from app.compiler.pending import NotYet
from app.memory import compare, side
from app.memory.asked import Asked, asked, box_ids, stem
from app.memory.keys import ALL_FUNCTIONS, SIDES
from app.memory.overview import overview_grid
from app.server.services import Services
from app.shell.page import Page
from app.shell.url_state import ViewState, pairs
from app.work import waiting
from components import fmt, notices, plot
from components.memory import panels, picture

PAGE = Page("memory", "/r/<run>/memory", "Memory", 51, "m", needs_capture=False)
REBUILD = ("launch", "sel", "dump", "snap", "chip", "mf", "mcmp", "mscale", "mhide", "mbeyond", "vs", "other", "odump")
"""Keys whose change builds the page again; the others are answered by callbacks and in the browser."""
SCOPE = "memory-"
"""Begins the ids of the waiting panel's parts."""
MODEL = "memory-model"
PLOT = "memory-plot"
SIDE = "memory-side"
SIDE_TITLES = {"tile": "Tile", "why": "Why is it full?", "boxes": "All boxes"}
ORIGINS = {"chosen": "chosen", "detected": "detected in the kernels beside the dump", "assumed": "assumed"}


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """Overview, map or comparison; a statement where the run has no dump."""
    try:
        found = asked(services, run_key, view)
        body = _body(services, run_key, view, found)
    except NotYet as wait:
        text = "Read once and kept for everyone."
        shown = waiting.panel(services, wait.title, text, wait.job, SCOPE)
        return shown or html.Div(notices.notice("The map was read but could not be kept", "Reload the page."))
    except NotFoundError as error:
        return html.Div(notices.not_available("The memory map", str(error)), className="page-pad")
    return html.Div(
        [_toolbar(services, run_key, view, found), *_notes(services, run_key, view, found), body],
        className="fill column mem",
    )


def _body(services: Services, run_key: str, view: ViewState, found: Asked) -> Any:
    if view.own_value("mcmp"):
        return compare.content(services, run_key, view, found)
    if found.function is None:
        return overview_grid(services, run_key, view, found)
    return _function(services, run_key, view, found, found.function)


def _toolbar(services: Services, run_key: str, view: ViewState, found: Asked) -> html.Div:
    here = lambda **keys: services.href("memory", run_key, view.with_own(mtile="", mline=0, mzoom=(), **keys))  # noqa: E731
    name = found.function.name if found.function else "All functions"
    back = None
    if found.function is not None or view.own_value("mcmp"):
        back = html.A("All functions", href=here(mf=ALL_FUNCTIONS, mcmp=0), className="button", **{"data-nav": "here"})
    question = "Which tile had which bytes, for how long, and what is full?"
    return html.Div(
        [
            html.H1("Memory"),
            back,
            html.Span(name, className="mem-name", title=name)
            if found.function
            else html.Span(question, className="question"),
            html.Span(className="spacer"),
            _dumps(services, run_key, view, found),
            _menu("Snapshot", stem(found.file), _snapshots(found), lambda value: here(snap=value)),
            _chips(found, here),
            html.A(
                "Compare",
                href=here(mcmp=0 if view.own_value("mcmp") else 1),
                className="button",
                title="Which pass, or which compile, raised a peak?",
                **{"data-nav": "here"} | ({"aria-current": "true"} if view.own_value("mcmp") else {}),
            ),
        ],
        className="toolbar",
    )


def _snapshots(found: Asked) -> list[tuple[str, str]]:
    names = [(stem(item), stem(item)) for item in found.files]
    current = stem(found.file)
    return names if any(value == current for value, _text in names) else [(current, current), *names]


def _dumps(services: Services, run_key: str, view: ViewState, found: Asked) -> Any:
    labels = list(compare.labels(services, run_key))
    if len(labels) < 2:
        return None
    cleared = view.with_own(mtile="", mline=0, mzoom=(), snap="")
    return _menu(
        "Dump",
        found.dump.dump.label,
        [(label, label) for label in labels],
        lambda value: services.href("memory", run_key, cleared.with_own(dump=value)),
    )


def _menu(title: str, current: str, entries: list[tuple[str, str]], href: Any) -> html.Details:
    """A menu of links: one of ``entries`` (value, text) is chosen."""
    links = [
        html.A(
            text,
            href=href(value),
            className="menu-item",
            **{"data-nav": "here"} | ({"aria-current": "true"} if value == current else {}),
        )
        for value, text in entries
    ]
    return html.Details(
        [
            html.Summary([f"{title}: ", html.B(current)], className="button"),
            html.Div(links, className="menu mem-menu"),
        ],
        className="mem-details",
    )


def _chips(found: Asked, here: Any) -> html.Div:
    chip = found.memory.chip
    links = [
        html.A(
            name,
            href=here(chip=name),
            title=f"Capacities of the {name}",
            **{"data-nav": "here"} | ({"aria-current": "true"} if name == chip.name else {}),
        )
        for name in ("910B", "950")
    ]
    says = ORIGINS[chip.origin]
    extra = html.A("detect", href=here(chip=""), **{"data-nav": "here"}) if chip.origin == "chosen" else None
    return html.Div(
        [
            html.Div(links, className="segments", role="group", **{"aria-label": "Chip"}),
            html.Span(says, className="muted mem-origin"),
            extra,
        ],
        className="parameters",
    )


def _notes(services: Services, run_key: str, view: ViewState, found: Asked) -> list[Any]:
    notes: list[Any] = []
    if found.memory.reason:
        default = services.href("memory", run_key, view.with_own(snap=""))
        named = any(item.name == "AllocateMemoryAddr" for item in found.dump.dump.passes)
        link = html.A("Open the snapshot after AllocateMemoryAddr", href=default, **{"data-nav": "here"})
        notes.append(notices.notice("This is not a full map", found.memory.reason, "warn", link if named else None))
    notes += [notices.notice("Part of this link was not used", note, "warn") for note in found.notes]
    told = [*found.memory.notes, *(found.function.notes if found.function else ())]
    if told:
        text = "; ".join(told[:8]) + (f"; and {len(told) - 8:,} more" if len(told) > 8 else "")
        notes.append(notices.notice("Not everything is drawn", text))
    return notes


def _function(services: Services, run_key: str, view: ViewState, found: Asked, function: FunctionMap) -> html.Div:
    hidden: tuple[str, ...] = view.own_value("mhide")
    beyond = bool(view.own_value("mbeyond"))
    drawn = picture.panels(function, hidden, view.own_value("mscale") == "capacity", beyond)
    ids = box_ids(function)
    source = pairs(ViewState().with_own(dump=view.own_value("dump"), snap=view.own_value("snap")))
    figure = picture.figure(function, drawn, beyond)
    picture_box: Any = (
        plot.graph(PLOT, figure, themed=True, scrollZoom=True, doubleClick="reset")
        if drawn
        else notices.empty("Every space is hidden: press one above to see it.")
    )
    return html.Div(
        [
            html.Div(
                [
                    _controls(view, function, hidden, beyond),
                    html.Div(
                        [
                            picture_box,
                            html.Div(id="mem-over", className="mem-over", **{"aria-hidden": "true"}),
                            html.Div(id="mem-tip", className="mem-tip", role="status", hidden=True),
                            dcc.Store(id=MODEL, data=picture.model(function, drawn, ids, beyond)),
                        ],
                        id="mem-picture",
                        className="mem-picture",
                        tabIndex=0,
                        role="application",
                        **{
                            "aria-label": f"Memory map of {function.name[:120]}: arrow keys go from box to box, Escape clears",
                        },
                    ),
                ],
                className="mem-main",
            ),
            html.Aside(
                [
                    html.Div(
                        [html.H2("Source"), html.Span(stem(found.file), className="muted mem-file")], className="mem-head"
                    ),
                    html.Div(
                        id="mem-source",
                        className="mem-source",
                        tabIndex=0,
                        role="region",
                        **{
                            "aria-label": "Source: up and down choose a line",
                            "data-first": function.start_line,
                            "data-last": function.end_line,
                            "data-route": f"{services.settings.url_prefix}api/r/{run_key}/memory/source",
                            **{f"data-{key}": text for key, text in source.items()},
                        },
                    ),
                    _tabs(view.own_value("mside")),
                    html.Div(
                        side.content(services, run_key, view, found), id=SIDE, className="mem-side-body", tabIndex=0,
                        role="region", **{"aria-label": "Details"},
                    ),
                ],
                className="mem-side",
                **{"aria-label": "Source and details"},
            ),
        ],
        className="mem-split",
    )  # fmt: skip


def _tabs(current: str) -> html.Div:
    return html.Div(
        [
            html.Button(
                SIDE_TITLES[name],
                className="button mem-tab",
                **{
                    "data-url-key": "mside",
                    "data-url-value": "" if name == "tile" else name,
                    "data-side": name,
                    "aria-pressed": str(name == current).lower(),
                },
            )
            for name in SIDES
        ],
        className="mem-tabs",
        id="mem-tabs",
        role="group",
        **{"aria-label": "Details"},
    )


def _controls(view: ViewState, function: FunctionMap, hidden: tuple[str, ...], beyond: bool) -> html.Div:
    to_capacity = view.own_value("mscale") == "capacity"
    switches = [
        _switch("To used", "mscale", "", not to_capacity, "A panel is as wide as what its space uses"),
        _switch("To capacity", "mscale", "capacity", to_capacity, "A panel is as wide as its space"),
    ]
    if function.beyond:
        text = f"Beyond the reference ({len(function.beyond):,})"
        doc = (
            "Slots, loop-carried values, values live across a back edge and rings: hatched, not counted in the figures"
        )
        switches.append(_switch(text, "mbeyond", "0" if beyond else "", beyond, doc))
    info = f"{function.type} · {fmt.plural(function.end_line - function.start_line + 1, 'line')} · {len(function.boxes):,} boxes"
    return html.Div(
        [
            panels.space_chips(function, hidden, view.own_value("mspace")),
            html.Div(
                [
                    html.Span(info, className="muted"),
                    panels.legend(function),
                    html.Span(className="spacer"),
                    *switches,
                    _reset(),
                ],
                className="mem-switches",
            ),
        ],
        className="mem-controls",
    )


def _switch(text: str, key: str, value: str, on: bool, doc: str) -> html.Button:
    return html.Button(
        text,
        className="button",
        title=doc,
        **{"data-url-key": key, "data-url-value": value, "aria-pressed": str(on).lower()},
    )


def _reset() -> html.Button:
    return html.Button(
        "Whole map", className="button", title="Undo the zoom (0)", **{"data-url-key": "mzoom", "data-url-value": ""}
    )


def function_view(view: ViewState, name: str) -> ViewState:
    """The view of one function's map."""
    return replace(
        view.with_own(mf=name, mtile="", mline=0, mzoom=(), mhide=(), mcmp=0, mspace="", mgoal=0), f="", sort="", q=""
    )
