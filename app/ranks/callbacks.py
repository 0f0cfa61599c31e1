"""Callbacks of the ranks page: what is still to be read is looked for again, and the page is built anew when more is there."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, no_update

from app.ranks.gather import gather
from app.ranks.page import TICK, WAITING
from app.server.services import Services
from app.shell import ids
from app.work.waiting import reload


def register(app: Dash, services: Services) -> None:
    """Follow the captures that are being read."""

    @app.callback(
        Output(ids.RELOAD, "data", allow_duplicate=True),
        Input(TICK, "n_intervals"),
        State(WAITING, "data"),
        State(ids.RUN, "data"),
        State(ids.VIEW, "data"),
        prevent_initial_call=True,
    )
    def follow(_tick: Any, waiting: int, run: dict[str, Any], query: Any) -> Any:
        found = gather(services, run["key"])
        return reload(query) if found.waiting < waiting else no_update
