"""What happened on the chip, when and where? The swimlane page."""

from __future__ import annotations

from typing import Any

from app.runs.dumps import dump_paths
from app.server.services import Services
from app.shell.page import Page
from app.shell.url_state import ViewState
from app.swimlane.panel.tabs import tab_texts
from components import fmt
from components.swimlane import page as swimlane
from components.swimlane import panel

PAGE = Page("swimlane", "/r/<run>/swimlane", "Swimlane", 1, "s")


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """The skeleton; the browser fills it from ``/api/timeline``."""
    run = services.library.run(run_key)
    capture = services.library.capture(run_key, view.launch)
    clock = capture.meta.host_clock
    quick = len(capture.records) <= services.settings.inline_analysis_records
    side = panel.panel(tab_texts(), view.tab, by_itself=quick)
    links = tuple(
        (label, services.href("passes", run_key, view.with_own(dump=label)))
        for label in dump_paths(run, services.settings)
    )
    return swimlane.swimlane(links, side, "" if clock is None else fmt.host_clock(clock))
