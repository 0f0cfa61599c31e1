"""Callbacks of the opening panel: progress, cancel, try again."""

from __future__ import annotations

import time
from typing import Any

from dash import Dash, Input, Output, State, ctx, no_update

from app import ids
from app.opening import progress_body
from app.services import Services


def register(app: Dash, services: Services) -> None:
    """Show how far the open is; when it is done the router builds the page."""

    @app.callback(
        Output(ids.OPEN_PROGRESS, "children"),
        Output(ids.RELOAD, "data"),
        Input(ids.OPEN_TICK, "n_intervals"),
        Input(ids.OPEN_CANCEL, "n_clicks"),
        Input(ids.OPEN_RETRY, "n_clicks"),
        State(ids.RUN, "data"),
        prevent_initial_call=True,
    )
    def follow(_tick: int | None, _cancel: int | None, _retry: int | None, page: dict[str, Any]) -> Any:
        run = services.library.run(page["key"])
        what = (run.source, page["launch"], run.signature)
        if ctx.triggered_id == ids.OPEN_CANCEL:
            services.openings.cancel(*what)
        elif ctx.triggered_id == ids.OPEN_RETRY:
            services.openings.start(*what)
        progress = services.openings.status(*what)
        done = progress.state == "done"
        return progress_body(progress), {"at": time.time()} if done else no_update
