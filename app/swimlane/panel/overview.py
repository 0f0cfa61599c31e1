"""How did this run go? The overview tab: the cards and the plot of the run's overview page, filled by its callbacks."""

from __future__ import annotations

from typing import Any

from dash import html

from app.overview import page
from app.server.services import Services
from app.shell.url_state import ViewState
from components.swimlane import panel


def content(services: Services, view: ViewState, run_key: str) -> list[Any]:
    """Cards at once, those that need an analysis when it is there."""
    capture = services.library.capture(run_key, view.launch)
    cards = [*page.quick_cards(services, capture, view, run_key), *(page.slot(name) for name in page.SLOW_CARDS)]
    return [
        panel.headline("Overview", "How did this run go?", services.href("", run_key, view), ""),
        html.Div(cards, className="cards panel-cards"),
        html.H3("Utilisation over time", className="panel-subhead"),
        page.plot_slot(),
        *page.ticks(),
    ]
