"""How is it shown what became of every event of a trace?"""

from __future__ import annotations

from typing import Any

from dash import html

from analysis.traces.model import Trace
from analysis.traces.rules import Finding
from components import notices


def panel(trace: Trace, notes: tuple[str, ...]) -> html.Div:
    """Events in = shown + left out, then each rule with its count, an example and its place.

    Args:
        notes: further sentences, such as those of a host log.
    """
    shown, left = sum(trace.shown.values()), sum(trace.left_out.values())
    sums = [
        html.Div(notices.shown_of(shown, trace.events_in, "events shown"), className="trace-sum"),
        html.P(f"{trace.events_in:,} events in = {shown:,} shown + {left:,} left out", className="trace-equation"),
        html.Table(
            html.Tbody(
                [_row("shown as", name, count) for name, count in trace.shown.items()]
                + [_row("left out:", name, count) for name, count in trace.left_out.items()]
            ),
            className="trace-counts",
        ),
    ]
    findings: list[Any] = [html.Li(html.Span(note)) for note in notes]
    findings += [_finding(finding) for finding in trace.findings]
    body = html.Ul(findings, className="quality-list") if findings else notices.empty("No rule had to be used.")
    return html.Div([*sums, body], className="trace-quality")


def _row(what: str, name: str, count: int) -> html.Tr:
    return html.Tr([html.Td(f"{what} {name.replace('_', ' ')}"), html.Td(f"{count:,}")])


def _finding(finding: Finding) -> html.Li:
    words = {"left_out": "left out", "repaired": "put right", "note": "note"}[finding.kind]
    level = "badge-warn" if finding.kind == "left_out" else "badge-info"
    head = [
        html.Span(finding.text),
        html.Span(f"{words}: {finding.count:,}" if finding.count else words, className=f"badge {level}"),
    ]
    body: list[Any] = [html.Div(head, className="quality-line")]
    if finding.example:
        place = f"Example at byte {finding.offset:,}: " if finding.offset >= 0 else "Example: "
        body.append(html.Div([place, html.Code(finding.example)], className="quality-places muted"))
    elif finding.offset >= 0:
        body.append(html.Div(f"At byte {finding.offset:,} of the unpacked text.", className="quality-places muted"))
    return html.Li(body)
