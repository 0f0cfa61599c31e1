"""Which runs are there? The home page: every capture under the mounted roots."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from app.runs.rows import COLUMNS, rows, signature
from app.server.services import Services
from app.shell import ids
from app.shell.page import Page
from app.shell.url_state import ViewState
from components import grid, notices, uploads

PAGE = Page("runs", "/", "Runs", -1, "r", needs_capture=False)
REFRESH_MS = 2_000


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """The table of runs with its search box; rows known so far are there at once."""
    found = rows(services)
    return html.Div(
        [
            dcc.Interval(id=ids.RUNS_TICK, interval=REFRESH_MS),
            dcc.Store(id=ids.RUNS_SIGNATURE, data=signature(found)),
            html.Div(
                [
                    html.H1("Runs"),
                    html.Span(count_text(services, len(found)), id=ids.RUNS_COUNT, className="muted"),
                    html.Span(className="grid-shown muted", **{"data-for": ids.RUNS_GRID}),
                    html.Span(className="spacer"),
                    html.Label("Search", htmlFor=ids.RUNS_SEARCH, className="off-screen"),
                    grid.quick_filter(ids.RUNS_SEARCH, ids.RUNS_GRID, view.q, "Search name, path, root …"),
                    grid.toolbar(ids.RUNS_GRID, group_label="Group ranks"),
                ],
                className="toolbar",
            ),
            *([uploads.drop_zone()] if services.settings.uploads == "on" else []),
            html.Div(_problems(services), id="runs-problems"),
            html.Div(
                grid.grid(
                    ids.RUNS_GRID,
                    COLUMNS,
                    found,
                    row_id="key",
                    sort=view.sort or "modified:desc",
                    filters=view.f,
                    label="Runs",
                    options={"localeText": {"noRowsToShow": _no_rows(services)}},
                ),
                className="fill",
            ),
        ],
        className="fill column",
    )


def count_text(services: Services, n_rows: int) -> str:
    """How many captures are listed, and whether the roots are still being looked at."""
    roots = services.settings.roots
    text = f"{n_rows:,} {'capture' if n_rows == 1 else 'captures'} under {len(roots)} " + (
        "root" if len(roots) == 1 else "roots"
    )
    return text if services.library.state.complete else f"{text}, still looking …"


def _problems(services: Services) -> list[Any]:
    """One notice for everything the scan could not look at."""
    errors = services.library.state.errors
    if not errors:
        return []
    lines = html.Ul([html.Li(f"{place}: {reason}") for place, reason in errors.items()])
    title = f"Places under the roots that could not be looked at: {len(errors):,}"
    return [notices.notice(title, level="warn", extra=html.Details([html.Summary("Which, and why"), lines]))]


def _no_rows(services: Services) -> str:
    if not services.settings.roots:
        return "No root is mounted. Start with: swimscope serve --root NAME=PATH"
    return "No capture was found under the mounted roots yet. New runs appear here by themselves."
