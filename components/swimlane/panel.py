"""How is the performance panel built? Tabs, a handle, and a body that the server fills for the open tab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

REQUEST = "panel-request"
BODY = "panel-body"
GRID = "panel-grid"
PLOT = "panel-plot"
SCOPE = "panel-"
"""Begins the ids of what waits inside the panel."""
CLOSED = "none"
"""Value of ``tab`` in the URL for a panel that the user closed where it would be open by itself."""


def panel(tabs: Sequence[tuple[str, str, str]], tab: str, by_itself: bool = True) -> list[Any]:
    """Children of the swimlane's side: a strip that opens the panel, the handle, the tabs, the body.

    Args:
        tabs: (name, text, what it answers) of each tab.
        tab: ``tab`` of the URL; "" leaves it to the width of the window whether the panel is open.
        by_itself: a wide window opens the panel; not where its first tab would take long.
    """
    state = {"": "auto" if by_itself else "closed", CLOSED: "closed"}.get(tab, "open")
    return [
        dcc.Store(id=REQUEST),
        html.Div(
            [_opener(), _handle(), html.Div([_head(tabs), _body()], className="panel-column")],
            id="panel",
            className="perf-panel",
            **{"data-state": state, "data-by-itself": "yes" if by_itself else "no"},
        ),
    ]


def _opener() -> html.Button:
    return html.Button(
        html.Span("Performance"),
        id="panel-open",
        className="panel-opener",
        title="Open the performance panel (t)",
        **{"aria-controls": "panel-body", "aria-expanded": "false"},
    )


def _handle() -> html.Div:
    return html.Div(
        id="panel-handle",
        className="panel-handle",
        role="separator",
        tabIndex=0,
        **{"aria-label": "Width of the performance panel", "aria-orientation": "vertical", "aria-valuenow": "0"},
    )


def _head(tabs: Sequence[tuple[str, str, str]]) -> html.Div:
    buttons = [
        html.Button(
            text,
            id=f"panel-tab-{name}",
            className="panel-tab",
            role="tab",
            title=question,
            tabIndex=-1,
            **{"data-panel-tab": name, "aria-selected": "false", "aria-controls": BODY},
        )
        for name, text, question in tabs
    ]
    close = html.Button(
        "×",
        id="panel-close",
        className="button quiet icon",
        title="Close the performance panel (t)",
        **{"aria-label": "Close the performance panel"},
    )
    return html.Div(
        [html.Div(buttons, className="panel-tabs", role="tablist", **{"aria-label": "Performance panel"}), close],
        className="panel-top",
    )


def _body() -> html.Div:
    return html.Div(id=BODY, className="perf-body", role="tabpanel", tabIndex=-1, **{"aria-label": "Performance"})


def answer(number: int, key: str, parts: Sequence[Any]) -> html.Div:
    """The body of one tab; ``number`` says to the browser which of its requests this answers, ``key`` what to keep."""
    return html.Div(list(parts), className="panel-answer", key=key, **{"data-n": str(number)})


def choices(url_key: str, items: Sequence[tuple[str, str]], current: str, default: str, label: str) -> html.Div:
    """Buttons that set one key of the URL; the default value removes it."""
    buttons = [
        html.Button(
            text,
            **{
                "data-url-key": url_key,
                "data-url-value": "" if value == default else value,
                "aria-pressed": str(value == current).lower(),
            },
        )
        for value, text in items
    ]
    return html.Div(buttons, className="segments", role="group", title=label, **{"aria-label": label})


def toggle(url_key: str, text: str, on: bool, doc: str) -> html.Button:
    """A button that puts 1 under a key of the URL, or takes it out."""
    state = {"data-url-key": url_key, "data-url-value": "" if on else "1", "aria-pressed": str(on).lower()}
    return html.Button(text, className="button", title=doc, **state)


def sections(name: str, titles: Sequence[tuple[str, int]], at: int) -> html.Div:
    """A switch between the tables of one analysis; nothing when there is only one."""
    buttons = [
        html.Button(
            f"{title} ({rows:,})",
            className="button table-tab",
            **{"data-panel-tab": f"{name}.{n}" if n else name, "aria-pressed": str(n == at).lower()},
        )
        for n, (title, rows) in enumerate(titles)
    ]
    return html.Div(buttons if len(buttons) > 1 else [], className="panel-sections")


def headline(title: str, question: str, href: str, own_keys: str) -> html.Div:
    """What the tab answers, and the way to the page of its own."""
    link = html.A(
        "Open as page",
        href=href,
        className="panel-page-link",
        title="The same table on a page of its own",
        **{"data-follow": "1", "data-keys": own_keys},
    )
    head = [html.H2(title), html.Span(question, className="question", title=question), link]
    return html.Div(head, className="panel-headline")


def bars(parts: Sequence[tuple[str, str, float, str]], label: str) -> html.Div:
    """One bar divided by share, with its legend.

    Args:
        parts: (name, css colour, share 0..1, text of the value) in drawing order.
        label: accessible description.
    """
    pieces = [
        html.Span(style={"width": f"{100 * share:.3f}%", "background": colour}, title=f"{name}: {text}")
        for name, colour, share, text in parts
        if share > 0
    ]
    legend = [
        html.Li([html.Span(className="fn-swatch", style={"background": colour}), f"{name} ", html.B(text)])
        for name, colour, _share, text in parts
    ]
    words = ", ".join(f"{name} {text}" for name, _colour, _share, text in parts)
    bar = html.Div(pieces, className="share-bar", role="img", **{"aria-label": f"{label}: {words}"})
    return html.Div([bar, html.Ul(legend, className="share-legend")], className="shares")
