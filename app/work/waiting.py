"""Is the answer there yet? Small captures and analyses at once; long ones in the background, with progress and cancel."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from dash import dcc, html

from analysis.capture import Capture
from analysis.errors import NotFoundError
from app.runs.library import Run
from app.server.services import Services
from app.shell import ids
from app.work.jobs import JUST_ENDED_S, Job, Progress
from app.work.outcomes import Outcome
from components import fmt, notices

TICK_MS = 400
OTHER_FILES = {"trace": "traces or host logs", "passes": "compiler pass dumps"}
"""View → what a directory without a capture holds."""


def waiting(services: Services, run_key: str, launch: int) -> Any | None:
    """The panel to show instead of the page while the capture is being opened, or None when it is open.

    Raises:
        NotFoundError: no such run, or nothing in it that is a capture.
        InputError: a capture that was opened at once cannot be read.
    """
    run = services.library.run(run_key)
    if not run.openable:
        held = [text for view, text in OTHER_FILES.items() if view in run.row.views]
        raise NotFoundError(
            f"{run.row.root}/{run.row.path} holds no capture, only {' and '.join(held)}. "
            f"{'The tab Passes shows the dumps. ' if 'passes' in run.row.views else ''}"
            f"{'The tab Trace shows the traces. ' if 'trace' in run.row.views else ''}"
            "A swimlane file (chip_swimlane_records.json), a deps.json or a name map makes a directory a capture"
        )
    if at_once(services, run, launch):
        services.library.capture(run_key, launch)
        return None
    job = services.library.job(run_key, launch)
    text = f"{fmt.size(run.row.size_bytes)}, read once and kept: the next time it is there at once."
    shown = panel(services, f"Opening {run.row.name}", text, job)
    if shown is None:
        services.library.capture(run_key, launch)
    return shown


def at_once(services: Services, run: Run, launch: int) -> bool:
    """Can the capture be opened within a request? It is small, or it is in the store and no child is at work on it."""
    if run.unpacked_max_bytes <= services.settings.inline_open_max_bytes:
        return True
    preparing = services.jobs.status(services.library.job(run.key, launch)).state == "running"
    return not preparing and services.library.ready(run, launch)


def waiting_for(
    services: Services, run: Run, capture: Capture, name: str, parameters: Mapping[str, Any], scope: str = ""
) -> Any | None:
    """The panel to show while analysis ``name`` is being computed, or None when it is kept or quick.

    ``scope`` begins the ids of the panel's parts, where it is not the whole page that waits.
    """
    if len(capture.records) <= services.settings.inline_analysis_records:
        return None
    if services.analyses.kept(capture.meta.capture_id, name, parameters) is not None:
        return None
    text = f"{len(capture.records):,} records; computed once and kept for everyone."
    job = services.library.job(run.key, capture.meta.launch, name, parameters)
    return panel(services, f"Computing {name.replace('-', ' ')}", text, job, scope)


def outcome_or_job(services: Services, run_key: str, launch: int, name: str, again: bool) -> Outcome | None:
    """The outcome of analysis ``name`` with its defaults, or None while a child process computes that of a large capture.

    Args:
        services: the bundle.
        run_key: the run.
        launch: its launch.
        name: the analysis.
        again: it was asked for before, so a job that ended badly is not started once more.
    """
    capture = services.library.capture(run_key, launch)
    small = len(capture.records) <= services.settings.inline_analysis_records
    if small or services.analyses.kept(capture.meta.capture_id, name, {}) is not None:
        return services.analyses.get(capture, name, {})
    job = services.library.job(run_key, launch, name, {})
    progress = services.jobs.status(job)
    if progress.state == "done" and ended_just_now(progress):
        return services.analyses.get(capture, name, {})
    if again and progress.state in ("failed", "cancelled"):
        return Outcome(name, reason=progress.message or "it was cancelled")
    if progress.state != "running":
        services.jobs.start(job)
    return None


def stand(services: Services, run_key: str, launch: int, what: Mapping[str, Any], pressed: str) -> Progress:
    """How the job of a waiting panel stands, after a button of the panel (its id, without the scope) was pressed."""
    job = services.library.job(run_key, launch, what["analysis"], what["parameters"])
    if pressed == ids.OPEN_CANCEL:
        services.jobs.cancel(job)
    elif pressed == ids.OPEN_RETRY:
        services.jobs.start(job)
    return services.jobs.status(job)


def panel(services: Services, title: str, text: str, job: Job, scope: str = "") -> html.Div | None:
    """Start ``job`` unless it ended badly, and show what is done, how far it is, and a way to stop.

    None when it has just ended well: then the answer is there, or is to be made here.
    """
    progress = services.jobs.status(job)
    if progress.state == "done" and ended_just_now(progress):
        return None
    if progress.state in ("idle", "done"):
        progress = services.jobs.start(job)
    return html.Div(
        [
            dcc.Interval(id=scope + ids.OPEN_TICK, interval=TICK_MS),
            dcc.Store(id=scope + ids.OPEN_JOB, data={"analysis": job.analysis, "parameters": dict(job.parameters)}),
            html.H1(title),
            html.P(text),
            html.Div(progress_body(progress), id=scope + ids.OPEN_PROGRESS, role="status", **{"aria-live": "polite"}),
            html.Div(
                [
                    html.Button("Cancel", id=scope + ids.OPEN_CANCEL, className="button"),
                    html.Button("Try again", id=scope + ids.OPEN_RETRY, className="button"),
                ],
                className="link-row",
            ),
        ],
        className="opening",
    )


def ended_just_now(progress: Progress) -> bool:
    """Whether a job ended so recently that it is not to be started again by itself."""
    return time.time() - progress.ended_s < JUST_ENDED_S


def reload(query: Mapping[str, str] | None) -> dict[str, Any]:
    """What makes the router build the page again, for ``query``."""
    return {"at": time.time(), "search": f"?{urlencode(query or {})}"}


def progress_body(progress: Progress) -> Any:
    """The bar and the step, or why it ended."""
    if progress.state == "failed":
        return notices.notice("It cannot be done", progress.message, "error")
    if progress.state == "cancelled":
        return notices.notice("Cancelled", "Nothing was kept. Try again starts from the beginning.", "warn")
    share = {"value": str(round(progress.fraction, 3))} if progress.fraction >= 0 else {}
    return [
        html.Progress(max="1", **share, **{"aria-label": "Progress"}),
        html.Div(progress.stage or "waiting", className="muted"),
    ]
