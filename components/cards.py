"""How is one figure with its name and its meaning shown? Cards and panels."""

from __future__ import annotations

from typing import Any

from dash import html


def card(label: str, value: str, detail: str = "", *, tooltip: str = "", href: str = "", level: str = "") -> Any:
    """One figure: ``label`` above, ``value`` large, ``detail`` below; a link to the view that explains it."""
    body = [
        html.Div(label, className="card-label"),
        html.Div(value, className="card-value"),
        html.Div(detail, className="card-detail"),
    ]
    classes = f"card {f'card-{level}' if level else ''}".strip()
    if href:
        return html.A(body, href=href, className=classes, title=tooltip, **{"data-follow": "1"})
    return html.Div(body, className=classes, title=tooltip)


def panel(title: str, body: Any, *, extra: Any = None, class_name: str = "") -> html.Section:
    """A framed part of a page with a heading."""
    head = [html.H2(title)] + ([extra] if extra is not None else [])
    return html.Section(
        [html.Div(head, className="panel-head"), html.Div(body, className="panel-body")],
        className=f"panel {class_name}".strip(),
        **{"aria-label": title},
    )
