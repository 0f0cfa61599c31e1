"""Callbacks of the administrators' page: figures and tables follow by themselves."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output

from app.admin import page
from app.server.services import Services


def register(app: Dash, services: Services) -> None:
    """Build the changing parts again, now and then."""

    @app.callback(
        Output(page.FIGURES, "children"),
        Output(page.JOBS_GRID, "rowData"),
        Output(page.STORAGE_GRID, "rowData"),
        Input(page.TICK, "n_intervals"),
        prevent_initial_call=True,
    )
    def refresh(_n: int | None) -> Any:
        return page.cards_of(services), page.job_rows(services), page.storage_rows(services)
