"""What did each compiler pass change? The IR pass trace."""

from __future__ import annotations

from typing import Any

from dash import html

from analysis.errors import NotFoundError
from app.passes import reports
from app.runs import dumps
from app.server.services import Services
from app.shell.page import Page
from app.shell.url_state import ViewState
from components.notices import not_available
from components.passes import page as passes_page

PAGE = Page("passes", "/r/<run>/passes", "Passes", 50, "p", needs_capture=False)
REPORTS = "ir-reports"


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """The skeleton, which the browser fills from ``/api/r/<run>/passes``; a statement where the run has no dump."""
    run = services.library.run(run_key)
    try:
        dumps.choose(run, services.settings, view.own_value("dump"))
    except NotFoundError as error:
        return html.Div(not_available("The pass trace", str(error)), className="page-pad")
    shown = reports.content(services, run_key, view) if view.tab == "reports" else None
    return passes_page.skeleton(shown, REPORTS)
