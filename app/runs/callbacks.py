"""Callbacks of the runs page: new runs and new facts appear by themselves."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, no_update

from app.runs import rows as run_rows
from app.runs.page import count_text
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
        rows = run_rows.rows(services)
        signature = run_rows.signature(rows)
        if signature == known:
            return no_update, no_update, count_text(services, len(rows))
        return rows, signature, count_text(services, len(rows))
