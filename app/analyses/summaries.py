"""What do the numbers of an analysis say at a glance? The lines and shares above its table, on its page and in the panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from analysis import registry
from analysis.shown import Comparison, Part, Quantities, Sentence, Shares
from app.analyses.drawing import written
from app.analyses.views import TableView
from app.server.services import Services
from app.shell.url_state import ViewState
from components import fmt
from components.swimlane.panel import bars
from components.theme import function_color_index

MEANING_COLOURS = {
    "compute": "var(--fn-0)",
    "data-wait": "var(--fn-1)",
    "core-wait": "var(--fn-3)",
    "front-gap": "var(--muted)",
    "idle": "var(--line)",
}
"""What a part of a sum means → its colour; see :class:`analysis.shown.Shares`."""
MOST_PARTS = 7
REST = "all others"


def summary(services: Services, shown: TableView, view: ViewState, run_key: str) -> list[Any]:
    """Lines and share bars of the analysis; nothing where a table says it all."""
    if not shown.outcome.available:
        return []
    capture = services.library.capture(run_key, view.launch)
    marks = {p.name: getattr(view, p.url_key) for p in shown.analysis.parameters if p.marks and p.url_key}
    parts = shown.analysis.summary_of(capture, dict(shown.outcome.tables), shown.parameters | marks)
    drawn = [_drawn(services, part, view, run_key) for part in parts]
    drawn = [part for part in drawn if part is not None]
    return [html.Div(drawn, className="summary")] if drawn else []


def _drawn(services: Services, part: Part, view: ViewState, run_key: str) -> Any:
    if isinstance(part, Sentence):
        return html.P([html.Strong(part.strong), " ", part.text])
    if isinstance(part, Comparison):
        return html.P([html.Strong(part.strong), " ", *_compared(services, part, view, run_key)])
    if isinstance(part, Quantities):
        return _quantities(part)
    return _share_bar(part)


def _compared(services: Services, part: Comparison, view: ViewState, run_key: str) -> Sequence[Any]:
    """Whether the imported and the computed list are the same; where to see the differences."""
    capture = services.library.capture(run_key, view.launch)
    other = registry.find(part.analysis)
    defaults = {parameter.name: parameter.default for parameter in other.parameters}
    changed = {name: value for name, value in part.parameters.items() if value != defaults[name]}
    found = services.analyses.get(capture, other.name, changed)
    if not found.available:
        return [f"Imported and computed path cannot be compared: {found.reason}"]
    sides = found.tables[0][1].cells(part.column)
    only = {side: sides.count(side) for side in ("both", "imported", "computed")}
    if only["both"] == len(sides):
        return [f"Imported and computed {part.what} name the same {len(sides):,} tasks."]
    words = (
        f"Imported and computed {part.what} differ: {only['imported']:,} tasks only imported, "
        f"{only['computed']:,} only computed, {only['both']:,} on both. "
    )
    keys: dict[str, Any] = {p.url_key: part.parameters[p.name] for p in other.parameters if p.name in part.parameters}
    href = services.href(other.name, run_key, ViewState(launch=view.launch, sel=view.sel, hl=view.hl, **keys))
    return [words, html.A("Show where", href=href, **{"data-follow": "1", "data-keys": ",".join(keys)})]


def _quantities(part: Quantities) -> Any:
    if not part.items:
        return None
    items = [html.Span([f"{name} ", html.B(written(quantity))]) for name, quantity in part.items]
    return html.P(items, className="summary-figures")


def _share_bar(part: Shares) -> Any:
    """The largest parts of a sum, each with its share; what is left is one part of its own."""
    whole = sum(part.parts.values())
    if whole <= 0:
        return None
    order = sorted(part.parts.items(), key=lambda item: -item[1])
    top, rest = order[:MOST_PARTS], order[MOST_PARTS:]
    pieces = [(name, _colour(part, name), total) for name, total in top]
    if rest:
        pieces.append((f"{REST} ({len(rest):,})", "var(--line)", sum(total for _, total in rest)))
    shares = [(name, colour, total / whole, fmt.percent(total / whole)) for name, colour, total in pieces]
    return html.Div([html.Span(part.label, className="muted"), bars(shares, part.label)], className="summary-shares")


def _colour(part: Shares, name: str) -> str:
    meaning = part.meaning.get(name)
    return MEANING_COLOURS[meaning] if meaning else f"var(--fn-{function_color_index(name)})"
