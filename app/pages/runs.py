"""Which runs are there? The home page."""

from __future__ import annotations

from typing import Any

from dash import html

from app import ids
from app.pages import Page
from app.services import Services
from app.url_state import ViewState
from components import grid

PAGE = Page("runs", "/", "Runs", -1, needs_capture=False)

COLUMNS = (
    grid.GridColumn("name", "Name", "link", flex=2),
    grid.GridColumn("path", "Path", "text", flex=3),
)


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """The table of runs."""
    rows = [
        {"key": row.key, "name": row.name, "href": services.href("", row.key), "path": f"{row.root}/{row.path}"}
        for row in services.library.runs()
    ]
    return html.Div(grid.grid(ids.RUNS_GRID, COLUMNS, rows, row_id="key"), className="fill")
