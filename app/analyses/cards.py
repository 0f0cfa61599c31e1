"""What does a run come down to? Its cards and its curves, on the overview and in the panel.

Cards that need an analysis have a slot each. A slot asks again while a child process computes, so that no request waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dash import Dash, Input, Output, ctx, dcc, html, no_update

from analysis import registry
from analysis.capture import Capture
from analysis.entry import Analysis, Card
from analysis.registry import CORES, FUNCTIONS
from app.analyses.drawing import written
from app.server.services import Services
from app.shell import ids
from app.shell.url_state import ViewState
from app.work.outcomes import Outcome
from app.work.waiting import outcome_or_job
from components import cards, figures, fmt, notices

ASK_MS = 500
"""Pause of a slot before it asks again."""
CURVES = next(item for item in registry.ANALYSES if item.overview_curves)
"""The analysis whose curves the overview draws."""


def quick_cards(services: Services, capture: Capture, view: ViewState, run_key: str) -> list[Any]:
    """Cards that need no analysis."""
    meta = capture.meta
    makespan = capture.makespan_ticks
    n_tasks = int(np.count_nonzero(capture.tasks.n_records > 0))
    types = [f"{meta.core_types.count(kind)} {kind.upper()}" for kind in dict.fromkeys(meta.core_types)]
    swimlane = services.href("swimlane", run_key, view)
    edges = f"{len(capture.edges):,} dependency edges"
    if not meta.has_deps:
        edges = f"{edges} from fanout[]" if meta.edges_from_fanout else "deps.json is missing"
    ticks = f"{makespan:,} ticks" if makespan is not None and meta.clock_freq_hz else ""
    return [
        cards.card(
            "Makespan",
            fmt.duration_us(None if makespan is None else meta.us(makespan)),
            ticks or ("no records" if makespan is None else "from µs stamps"),
            tooltip="First start to last end over all records",
            href=swimlane,
        ),
        cards.card(
            "Tasks / records",
            f"{n_tasks:,} / {len(capture.records):,}" if meta.has_records_file else fmt.MISSING_TEXT,
            edges,
            tooltip="Task ids that have a record, and joined task records (blocks)",
            href=services.href(FUNCTIONS.name, run_key, view),
        ),
        cards.card(
            "Cores",
            fmt.count(meta.num_cores) if meta.has_records_file else fmt.MISSING_TEXT,
            " + ".join(types),
            tooltip="Cores of the capture, by type",
            href=services.href(CORES.name, run_key, view),
        ),
    ]


def slots() -> list[Any]:
    """Where the callbacks put the cards that need an analysis."""
    return [
        part
        for analysis, card in registry.cards()
        for part in _slot(_slot_id(analysis, card), cards.card(card.title, "…", "being computed"))
    ]


def plot_slot() -> list[Any]:
    """Where the curves over time are drawn."""
    return _slot(ids.OVERVIEW_PLOT, notices.empty("being computed …"), "overview-plot")


def _slot_id(analysis: Analysis, card: Card) -> str:
    return f"overview-card-{card.page or analysis.name}"


def _slot(slot_id: str, waiting: Any, class_name: str = "") -> list[Any]:
    """The slot, and what makes it ask again."""
    return [
        html.Div(waiting, id=slot_id, className=class_name),
        dcc.Interval(id=f"{slot_id}-tick", interval=ASK_MS),
    ]


def register(app: Dash, services: Services) -> None:
    """One callback per slot, so that a slow analysis holds up no other."""
    for analysis, card in registry.cards():
        _fill(app, services, _slot_id(analysis, card), analysis, _card_drawing(services, analysis, card))
    _fill(app, services, ids.OVERVIEW_PLOT, CURVES, lambda _run, outcome: _plot(outcome))


def _fill(
    app: Dash,
    services: Services,
    slot_id: str,
    analysis: Analysis,
    draw: Callable[[dict[str, Any], Outcome], Any],
) -> None:
    tick = f"{slot_id}-tick"

    @app.callback(
        Output(slot_id, "children"),
        Output(tick, "disabled"),
        Input(ids.RUN, "data"),
        Input(tick, "n_intervals"),
    )
    def show(run: dict[str, Any], _asked: int | None) -> Any:
        again = ctx.triggered_id == tick
        outcome = outcome_or_job(services, run["key"], run.get("launch", 0), analysis.name, again)
        return (no_update, False) if outcome is None else (draw(run, outcome), True)


def _plot(outcome: Outcome) -> Any:
    if not outcome.available:
        return notices.empty(outcome.reason)
    return figures.curves(ids.OVERVIEW_PLOT + "-graph", outcome.curves, CURVES.curves_title)


def _card_drawing(services: Services, analysis: Analysis, card: Card) -> Callable[[dict[str, Any], Outcome], Any]:
    return lambda run, outcome: outcome_card(services, run, analysis, card, outcome)


def outcome_card(services: Services, run: dict[str, Any], analysis: Analysis, card: Card, outcome: Outcome) -> Any:
    """The card of an outcome; where there is none, a card that says why."""
    text = analysis.card_text(dict(outcome.tables), outcome.numbers) if outcome.available else None
    if text is None:
        reason = outcome.reason or "; ".join(outcome.notes) or card.missing
        return cards.card(card.title, fmt.MISSING_TEXT, "not available", tooltip=reason)
    view = ViewState(launch=run.get("launch", 0), sel=text.sel)
    return cards.card(
        card.title,
        written(text.value),
        "".join(written(part) for part in text.detail),
        tooltip=card.tooltip + text.tooltip,
        href=services.href(card.page or analysis.name, run["key"], view),
    )
