"""How did this run go? The overview tab: the cards and the plot of the run's overview page, filled by its callbacks."""

from __future__ import annotations

from typing import Any

from dash import html

from app.analyses.cards import CURVES, plot_slot, quick_cards, slots
from app.server.services import Services
from app.shell.url_state import ViewState
from components.swimlane import panel


def content(services: Services, view: ViewState, run_key: str) -> list[Any]:
    """Cards at once, those that need an analysis when it is there."""
    capture = services.library.capture(run_key, view.launch)
    return [
        panel.headline("Overview", "How did this run go?", services.href("", run_key, view), ""),
        html.Div([*quick_cards(services, capture, view, run_key), *slots()], className="cards panel-cards"),
        html.H3(CURVES.overview_curves, className="panel-subhead"),
        *plot_slot(),
    ]
