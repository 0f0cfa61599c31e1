"""Callbacks of the memory page: what stands below the source, and the progress of a large map."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from app.compiler.pending import NotYet
from app.memory import page, side
from app.memory.asked import asked
from app.server.services import Services
from app.shell import ids
from app.shell.url_state import ViewState, decode
from app.work.waiting import progress_body, reload


def register(app: Dash, services: Services) -> None:
    """Details follow the URL; when a child has read the map the router builds the page."""

    @app.callback(
        Output(page.SIDE, "children"),
        Input(ids.VIEW, "data"),
        State(ids.RUN, "data"),
        prevent_initial_call=True,
    )
    def details(query: dict[str, str] | None, run: dict[str, Any]) -> Any:
        view = decode(query)[0]
        try:
            found = asked(services, run["key"], view)
        except NotYet as wait:  # the page is being built again with a waiting panel
            raise PreventUpdate from wait
        return side.content(services, run["key"], view, found)

    @app.callback(
        Output(page.SCOPE + ids.OPEN_PROGRESS, "children"),
        Output(ids.RELOAD, "data", allow_duplicate=True),
        Input(page.SCOPE + ids.OPEN_TICK, "n_intervals"),
        Input(page.SCOPE + ids.OPEN_CANCEL, "n_clicks"),
        Input(page.SCOPE + ids.OPEN_RETRY, "n_clicks"),
        State(ids.RUN, "data"),
        State(ids.VIEW, "data"),
        prevent_initial_call=True,
    )
    def follow(_tick: Any, _cancel: Any, _retry: Any, run: dict[str, Any], query: dict[str, str] | None) -> Any:
        job = waiting_job(services, run["key"], decode(query)[0])
        if job is None:
            return no_update, reload(query)
        if ctx.triggered_id == page.SCOPE + ids.OPEN_CANCEL:
            services.jobs.cancel(job)
        elif ctx.triggered_id == page.SCOPE + ids.OPEN_RETRY:
            services.jobs.start(job)
        progress = services.jobs.status(job)
        return progress_body(progress), reload(query) if progress.state == "done" else no_update


def waiting_job(services: Services, run_key: str, view: ViewState) -> Any | None:
    """The job that the page of ``view`` waits for, found from the view alone; None when nothing is waited for."""
    try:
        found = asked(services, run_key, view)
        if view.own_value("mcmp"):
            page.compare.content(services, run_key, view, found)
    except NotYet as wait:
        return wait.job
    return None
