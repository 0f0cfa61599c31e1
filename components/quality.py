"""How is what a capture holds, lacks and got wrong shown? Lists of views, findings and facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dash import html

from analysis.capture import Notice
from components import fmt, notices


@dataclass(frozen=True, slots=True)
class ViewLine:
    """A view: ``href`` is empty when it is not available, ``text`` then says what would bring it."""

    title: str
    href: str
    text: str


def views_list(lines: Sequence[ViewLine]) -> html.Ul:
    """One line per view, available ones as links."""
    return html.Ul([_view_line(line) for line in lines], className="view-list")


def _view_line(line: ViewLine) -> html.Li:
    there = bool(line.href)
    name: Any = html.A(line.title, href=line.href, **_follow(line.href)) if there else html.Span(line.title)
    return html.Li(
        [
            html.Span("●" if there else "○", className="view-dot", **{"aria-hidden": "true"}),
            html.Div([name, html.Span(line.text, className="muted")]),
        ],
        className="view-there" if there else "view-missing",
    )


def _follow(href: str) -> dict[str, str]:
    """Link attributes: the keys that the link itself sets win over the view's."""
    query = href.partition("?")[2]
    own = ",".join(part.partition("=")[0] for part in query.split("&") if part)
    return {"data-follow": "1", "data-keys": own}


def quality_list(found: Sequence[Notice]) -> Any:
    """Every finding: what, how often, where; places beyond the first eight fold away, none is left out."""
    if not found:
        return notices.empty("No finding: nothing dropped, unmatched, out of order or unresolved.")
    return html.Ul([_finding(notice) for notice in found], className="quality-list")


def _finding(notice: Notice) -> html.Li:
    body: list[Any] = [
        html.Div(
            [
                html.Span(notice.message),
                html.Span(notice.code, className="badge mono"),
            ],
            className="quality-line",
        )
    ]
    if notice.detail:
        places = [f"{place}: {count:,}" for place, count in notice.detail.items()]
        if len(places) <= 8:
            body.append(html.Div(", ".join(places), className="quality-places muted"))
        else:
            body.append(
                html.Details(
                    [html.Summary(f"{len(places):,} places"), html.Div(", ".join(places))],
                    className="quality-places muted",
                )
            )
    return html.Li(body)


def quality_badge(found: Sequence[Notice]) -> html.Span:
    """``clean`` or the number of findings."""
    real = [notice for notice in found if notice.count]
    if not real:
        return html.Span("clean", className="badge badge-ok")
    return html.Span(fmt.plural(len(real), "notice"), className="badge badge-warn")


def facts_list(lines: Sequence[tuple[str, str]]) -> html.Dl:
    """Name and value, one per line."""
    return html.Dl([item for name, value in lines for item in (html.Dt(name), html.Dd(value))], className="facts")
