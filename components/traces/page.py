"""How is the trace page built? The timeline's skeleton with its own choices, the panel beside it, counters below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from components.swimlane.page import Look

BODY, SIGNATURE = "trace-panel-body", "trace-panel-signature"
NO_TRACE = (
    "This run's directory holds no Chrome trace (*.json or *.json.gz with trace events) and no host log (host.<pid>.log, "
    "host_clock_alignment.*.log, or another .log with [STRACE] records). Copy one into it and open this page again"
)
LOOK = Look(
    "trace",
    (("trace", "Trace", "Processes and threads"),),
    (
        ("hl", "Highlight", (("", "Nothing"), ("search", "Search matches"))),
        ("labels-mode", "Labels", (("func", "Name"), ("none", "None"))),
    ),
    (("png", "Picture (PNG)"), ("svg", "Picture (SVG)"), ("csv", "Visible items (CSV)")),
    "Name of a span",
    "Lanes: thread, 0-7, name",
    "trace",
    "spans",
)


def chooser(offered: Sequence[tuple[str, str]], current: str) -> Any:
    """Which trace of the run: a name, or a select where there are several."""
    if len(offered) == 1:
        return html.Span(offered[0][1], className="trace-name mono", title=offered[0][1])
    options = [
        html.Option(text, value=name, **({"selected": "selected"} if name == current else {})) for name, text in offered
    ]
    return html.Label(
        [html.Span("Trace"), html.Select(options, id="trace-choice", className="input")],
        className="swim-choice",
        htmlFor="trace-choice",
    )


def counters() -> html.Div:
    """Where the browser draws the counters over the window of the lanes."""
    return html.Div(
        [
            html.Div("Counters", className="trace-counter-head muted"),
            html.Div(html.Div(id="trace-counter-plot", className="plot"), className="trace-counter-box"),
        ],
        id="trace-counters",
        className="trace-counters",
        role="region",
        tabIndex=0,
        **{"aria-label": "Counters"},
    )


def side(tabs: Sequence[tuple[str, str, str]], tab: str, content: Any, signature: str) -> list[Any]:
    """The panel: a strip that opens it, its tabs, the body.

    Args:
        tabs: (name, text, question) of each tab.
        tab: ``xtab`` of the URL: "" leaves it to the width of the window whether the panel is open.
        content: the body for the tab.
        signature: what the body was made for.
    """
    state = {"": "auto", "none": "closed"}.get(tab, "open")
    current = tab if tab in [name for name, _, _ in tabs] else tabs[0][0]
    buttons = [
        html.Button(
            text,
            className="panel-tab",
            role="tab",
            title=question,
            id=f"trace-tab-{name}",
            **{
                "data-url-key": "xtab",
                "data-url-value": name,
                "aria-selected": "true" if name == current else "false",
                "aria-controls": BODY,
            },
        )
        for name, text, question in tabs
    ]
    return [
        dcc.Store(id=SIGNATURE, data=signature),
        html.Div(
            [
                html.Button(
                    html.Span("Tables"),
                    id="trace-panel-open",
                    className="panel-opener",
                    title="Open the tables of the trace (t)",
                    **{"data-url-key": "xtab", "data-url-value": current},
                ),
                html.Div(
                    [
                        html.Div(
                            [
                                html.Div(buttons, className="panel-tabs", role="tablist", **{"aria-label": "Tables"}),
                                html.Button(
                                    "×",
                                    id="trace-panel-close",
                                    className="button quiet icon",
                                    title="Close the tables (t)",
                                    **{
                                        "data-url-key": "xtab",
                                        "data-url-value": "none",
                                        "aria-label": "Close the tables",
                                    },
                                ),
                            ],
                            className="panel-top",
                        ),
                        html.Div(content, id=BODY, className="perf-body", role="tabpanel", tabIndex=0),
                    ],
                    className="panel-column",
                ),
            ],
            id="trace-panel",
            className="perf-panel",
            **{"data-state": state},
        ),
    ]
