"""Is the capture open yet? Small captures open at once; long ones in the background, with progress and cancel."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from analysis.errors import NotFoundError
from app import ids
from app.jobs import Progress
from app.library import Run
from app.services import Services
from components import fmt, notices

TICK_MS = 400


def waiting(services: Services, run_key: str, launch: int) -> Any | None:
    """The panel to show instead of the page while the capture is being opened, or None when it can be used.

    Raises:
        NotFoundError: no such run, or nothing in it that is a capture.
        InputError: a capture that was opened at once cannot be read.
    """
    run = services.library.run(run_key)
    if not run.openable:
        raise NotFoundError(
            f"{run.row.root}/{run.row.path} holds no capture, only {', '.join(run.row.views) or 'other files'}"
        )
    if run.row.size_bytes <= services.settings.inline_open_max_bytes or services.library.ready(run, launch):
        services.library.capture(run_key, launch)
        return None
    progress = services.openings.status(run.source, launch, run.signature)
    if progress.state in ("idle", "done"):
        progress = services.openings.start(run.source, launch, run.signature)
    return panel(run, progress)


def panel(run: Run, progress: Progress) -> html.Div:
    """What is being opened, how far it is, and a way to stop."""
    return html.Div(
        [
            dcc.Interval(id=ids.OPEN_TICK, interval=TICK_MS),
            html.H1(f"Opening {run.row.name}"),
            html.P(f"{fmt.size(run.row.size_bytes)}, read once and kept: the next time it is there at once."),
            html.Div(progress_body(progress), id=ids.OPEN_PROGRESS, role="status", **{"aria-live": "polite"}),
            html.Div(
                [
                    html.Button("Cancel", id=ids.OPEN_CANCEL, className="button"),
                    html.Button("Try again", id=ids.OPEN_RETRY, className="button"),
                ],
                className="link-row",
            ),
        ],
        className="opening",
    )


def progress_body(progress: Progress) -> Any:
    """The bar and the step, or why it ended."""
    if progress.state == "failed":
        return notices.notice("It cannot be opened", progress.message, "error")
    if progress.state == "cancelled":
        return notices.notice("Cancelled", "Nothing was kept. Try again opens it from the start.", "warn")
    return [
        html.Progress(value=str(round(progress.fraction, 3)), max="1", **{"aria-label": "Progress"}),
        html.Div(progress.stage or "waiting", className="muted"),
    ]
