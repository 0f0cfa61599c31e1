"""Callbacks of the waiting panel: progress, cancel, try again."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, ctx, no_update

from app.server.services import Services
from app.shell import ids
from app.work.waiting import progress_body, reload, stand


def register(app: Dash, services: Services) -> None:
    """Show how far the job is; when it is done the router builds the page."""

    @app.callback(
        Output(ids.OPEN_PROGRESS, "children"),
        Output(ids.RELOAD, "data"),
        Input(ids.OPEN_TICK, "n_intervals"),
        Input(ids.OPEN_CANCEL, "n_clicks"),
        Input(ids.OPEN_RETRY, "n_clicks"),
        State(ids.RUN, "data"),
        State(ids.OPEN_JOB, "data"),
        State(ids.VIEW, "data"),
        prevent_initial_call=True,
    )
    def follow(_tick: Any, _cancel: Any, _retry: Any, page: dict[str, Any], what: dict[str, Any], query: Any) -> Any:
        progress = stand(services, page["key"], page["launch"], what, str(ctx.triggered_id))
        return progress_body(progress), reload(query) if progress.state == "done" else no_update
