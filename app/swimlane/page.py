"""What happened on the chip, when and where? The swimlane page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    return swimlane.swimlane(
        tuple(services.library.shown(path) for path in pass_dumps(Path(run.source))),
        side,
        "" if clock is None else fmt.host_clock(clock),
    )


def pass_dumps(source: Path) -> tuple[str, ...]:
    """Pass dump directories of a run: in its directory, its parent, or beside it, by name."""
    folder = source if source.is_dir() else source.parent
    found = {path for place in (folder, folder.parent) for path in _dumps_in(place)}
    return tuple(sorted(str(path) for path in found))


def _dumps_in(place: Path) -> list[Path]:
    try:
        return [path for path in place.glob("passes_dump*") if path.is_dir()]
    except OSError:  # a folder that cannot be listed has no dumps to offer
        return []
