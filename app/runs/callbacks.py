"""Callbacks of the runs page: new runs and new facts appear by themselves."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, no_update

from app.runs.page import count_text
from app.runs.rows import rows, signature
from app.server.services import Services
from app.shell import ids


def register(app: Dash, services: Services) -> None:
    """Send the rows again when they changed; the grid keeps scroll, sort, filter and focus."""

    @app.callback(
        Output(ids.RUNS_GRID, "rowData"),
        Output(ids.RUNS_SIGNATURE, "data"),
        Output(ids.RUNS_COUNT, "children"),
        Input(ids.RUNS_TICK, "n_intervals"),
        State(ids.RUNS_SIGNATURE, "data"),
        prevent_initial_call=True,
    )
    def refresh(_n: int | None, known: str | None) -> Any:
        found = rows(services)
        current = signature(found)
        if current == known:
            return no_update, no_update, count_text(services, len(found))
        return found, current, count_text(services, len(found))
