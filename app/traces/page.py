"""What did the server, its workers and the host do, and when? A trace of the run on the timeline."""

from __future__ import annotations

from typing import Any

from dash import html

from analysis.errors import NotFoundError
from analysis.traces.sources import TraceSource
from app.server.services import Services
from app.shell.page import Page
from app.shell.url_state import ViewState
from app.traces import opened as traces
from app.traces import panel
from app.work import waiting as opening
from components import fmt
from components.notices import not_available
from components.swimlane import page as swimlane
from components.traces import page as parts

PAGE = Page("trace", "/r/<run>/trace", "Trace", 45, "t", needs_capture=False)


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """The timeline of the chosen trace; progress while a large one is read; a statement where there is none."""
    run = services.library.run(run_key)
    offers = traces.choices(run)
    if not offers:
        return html.Div(not_available("The trace", parts.NO_TRACE), className="page-pad")
    source = traces.chosen(run, view.own_value("trace"))
    wait = waiting(services, run_key, view, source)
    if wait is not None:
        return html.Div([parts.chooser(_names(offers), source.name), wait], className="trace-waiting")
    found = traces.opened(services, run, source.name)
    side = parts.side(
        panel.tabs(found), view.own_value("xtab"), panel.content(services, found, view), panel.signature(view)
    )
    return html.Div(
        [
            swimlane.swimlane(
                side=side,
                look=parts.LOOK,
                first=parts.chooser(_names(offers), source.name),
                below=parts.counters() if found.trace.counters else None,
                data={"trace": source.name, "label": source.label},
            ),
        ],
        className="fill column",
    )


def offered(services: Services, run_key: str) -> bool:
    """Whether the run holds a trace or host logs."""
    try:
        return bool(traces.choices(services.library.run(run_key)))
    except NotFoundError:
        return False


def _names(offers: tuple[TraceSource, ...]) -> list[tuple[str, str]]:
    return [(source.name, source.label) for source in offers]


def waiting(services: Services, run_key: str, view: ViewState, source: TraceSource) -> Any | None:
    """The panel to show while a large trace is read, or None when it is there."""
    if traces.at_once(services, source):
        return None
    job = services.library.job(run_key, view.launch, traces.JOB, {"trace": source.name})
    size = fmt.size(sum(path.stat().st_size for path in source.files))
    text = f"{size}, read once and kept: the next time it is there at once."
    return opening.panel(services, f"Opening {source.label}", text, job)
