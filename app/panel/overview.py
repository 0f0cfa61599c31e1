"""How did this run go? The overview tab: the figures of the run's overview, each a way to its own tab or page."""

from __future__ import annotations

from typing import Any

from dash import html

from app.callbacks import overview as cards_of
from app.pages import overview as page
from app.services import Services
from app.url_state import ViewState
from components import panel


def content(services: Services, view: ViewState, run_key: str) -> list[Any]:
    """Cards of the run's overview page, in one column or two."""
    capture = services.library.capture(run_key, view.launch)
    run = {"key": run_key, "launch": view.launch}

    def outcome(name: str, **parameters: Any) -> Any:
        return cards_of.run_outcome(services, run, name, **parameters)

    cards = [
        *page.quick_cards(services, capture, view, run_key),
        cards_of.utilisation_card(services, run, outcome("cores")),
        cards_of.path_card(services, run, outcome("critical-path", kind="observed")),
        cards_of.gap_card(services, run, outcome("gaps")),
        cards_of.overhead_card(services, run, outcome("overhead")),
    ]
    head = panel.headline("Overview", "How did this run go?", services.href("", run_key, view), "")
    return [head, html.Div(cards, className="cards panel-cards")]
