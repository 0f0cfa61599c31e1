"""How is what a capture holds, lacks and got wrong shown? Lists of views, findings and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dash import html

from analysis.capture import Capture, FlagStream, Flaw, Notice
from components import fmt, notices

MAX_FLAGGED = 200
"""Rows with impossible stamps that are listed one by one."""


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


def flagged_rows(capture: Capture) -> list[Any]:
    """The rows that are in no figure because their stamps cannot be right, each with its stamps; none: nothing."""
    table = capture.flagged
    if not len(table):
        return []
    lines = [_flagged(capture, row) for row in range(min(len(table), MAX_FLAGGED))]
    if len(table) > MAX_FLAGGED:
        lines.append(html.Li(f"and {len(table) - MAX_FLAGGED:,} more: python -m analysis info lists their places"))
    kept = "They are included here." if capture.meta.includes_flagged else "They are in no figure and no picture."
    title = f"{fmt.plural(len(table), 'row')} with impossible stamps. {kept}"
    return [html.Details([html.Summary(title), html.Ul(lines)], className="quality-places")]


def _flagged(capture: Capture, row: int) -> html.Li:
    table, meta = capture.flagged, capture.meta
    stream = FlagStream(int(table.stream[row]))
    place = {FlagStream.RECORD: "core", FlagStream.PHASE: "scheduler", FlagStream.ORCH: "orchestrator"}[stream]
    what = meta.task_label(int(table.task_id[row])) if table.has_task[row] else meta.phase_kinds[int(table.kind[row])]
    why = "ends before it starts" if table.flaw[row] == Flaw.NEGATIVE else "far away from the run"
    start, end = (int(ticks) + meta.zero_ticks for ticks in (table.start_ticks[row], table.end_ticks[row]))
    return html.Li(f"{place} {int(table.place[row])}, {what}: {why} (start {start:,}, end {end:,} as in the file)")


def stream_rows(streams: Mapping[str, tuple[int, int, int]]) -> list[Any]:
    """Rows of the files per stream: shown, left out, of other launches; nothing when all are shown."""
    if not any(left_out or elsewhere for _, left_out, elsewhere in streams.values()):
        return []
    lines = []
    for name, (in_file, left_out, elsewhere) in streams.items():
        other = f", {elsewhere:,} in other launches" if elsewhere else ""
        shown = in_file - left_out - elsewhere
        lines.append(html.Li(f"{name}: {in_file:,} in the file, {shown:,} shown, {left_out:,} left out{other}"))
    return [html.Details([html.Summary("Rows of the files, per stream"), html.Ul(lines)], className="quality-places")]


def quality_badge(found: Sequence[Notice]) -> html.Span:
    """``clean`` or the number of findings."""
    real = [notice for notice in found if notice.count]
    if not real:
        return html.Span("clean", className="badge badge-ok")
    return html.Span(fmt.plural(len(real), "notice"), className="badge badge-warn")


def facts_list(lines: Sequence[tuple[str, str]]) -> html.Dl:
    """Name and value, one per line."""
    return html.Dl([item for name, value in lines for item in (html.Dt(name), html.Dd(value))], className="facts")
