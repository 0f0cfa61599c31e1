"""What does the server do, hold and cost? Figures, jobs, storage by run, settings and where each value comes from."""

from __future__ import annotations

import time
from typing import Any

from dash import dcc, html

from analysis.files import free_bytes
from analysis.version import version
from app.admin import state
from app.server.health import count_jobs
from app.server.services import Services
from app.server.settings import current, table
from app.shell.page import Page
from app.shell.url_state import ViewState
from components import cards, fmt, grid
from components.grid import GridColumn

PAGE = Page("admin", "/admin", "Administration", -1, needs_capture=False)
TICK = "admin-tick"
FIGURES = "admin-figures"
JOBS_GRID = "admin-jobs"
STORAGE_GRID = "admin-storage"
SETTINGS_GRID = "admin-settings"
REFRESH_MS = 5_000


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """The page; figures and tables are those of now and follow by themselves."""
    return html.Div(
        [
            dcc.Interval(id=TICK, interval=REFRESH_MS),
            html.Div(
                [html.H1("Administration"), html.Span(f"Swimscope {version()}", className="muted")], className="toolbar"
            ),
            html.Div(html.Div(cards_of(services), id=FIGURES), className="cards"),
            _section("Background jobs", JOBS_GRID, JOB_COLUMNS, job_rows(services), "No job is remembered."),
            _section("Storage by run", STORAGE_GRID, STORAGE_COLUMNS, storage_rows(services), "Nothing is stored yet."),
            _section("Settings", SETTINGS_GRID, SETTING_COLUMNS, setting_rows(services), ""),
        ],
        className="page-pad admin",
    )


def _section(title: str, grid_id: str, columns: Any, rows: list[dict[str, Any]], empty: str) -> html.Section:
    options = {"domLayout": "autoHeight" if len(rows) <= 12 else "normal", "localeText": {"noRowsToShow": empty}}
    made = grid.grid(grid_id, columns, rows, row_id="id", label=title, options=options)
    return html.Section(
        [html.H2(title), html.Div(made, className="admin-grid" if len(rows) <= 12 else "admin-grid tall")]
    )


def cards_of(services: Services) -> list[Any]:
    """The figures of ``/metrics``, reduced to a few."""
    now, jobs = state.totals(), count_jobs(services)
    size = services.store.size_bytes()
    runs = len(services.library.runs())
    return [
        cards.card(
            "Requests", f"{now.requests:,}", f"{now.failed:,} failed on the server", level="warn" if now.failed else ""
        ),
        cards.card(
            "Answer time", _ms(now.request_mean_s), f"callbacks {_ms(now.callback_mean_s)}, mean since the start"
        ),
        cards.card("Cache hits", _share(now.cache_hits, now.cache_lookups), f"of {now.cache_lookups:,} look-ups"),
        cards.card(
            "Open captures", f"{now.open_captures:,}", f"{now.workers or 1} worker{'s' if now.workers > 1 else ''}"
        ),
        cards.card("Jobs", f"{jobs['running']:,} running", f"{jobs['waiting']:,} waiting, {jobs['failed']:,} failed"),
        cards.card("Store", fmt.size(size), f"of {fmt.size(services.settings.store_max_bytes)} (store_max_bytes)"),
        cards.card("Free on the disk", fmt.size(free_bytes(services.settings.data_dir)), "of the data directory"),
        cards.card("Runs", f"{runs:,}", "listed" if services.library.state.complete else "listed, still looking …"),
    ]


def _ms(seconds: float | None) -> str:
    return fmt.MISSING_TEXT if seconds is None else f"{1_000 * seconds:,.0f} ms"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else fmt.MISSING_TEXT


JOB_COLUMNS = (
    GridColumn("state", "State", "text", doc="running, waiting, done, failed or cancelled"),
    GridColumn("what", "What", "text", doc="Opening a launch, or the analysis that is computed"),
    GridColumn("source", "Of", "text", doc="Files of the run", flex=1),
    GridColumn("stage", "Step", "text", doc="What it does, or why it failed", flex=2),
    GridColumn("started", "Started (UTC)", "time", doc="When it was asked for"),
    GridColumn("seconds", "Time (s)", "count", doc="From its start to its end, or until now"),
)


def job_rows(services: Services) -> list[dict[str, Any]]:
    """Jobs of all workers, newest first."""
    rows = []
    for entry in services.jobs.all():
        progress = entry.progress
        ended_s = progress.ended_s or time.time()
        rows.append(
            {
                "id": entry.name,
                "state": entry.state,
                "what": entry.what,
                "source": entry.source,
                "stage": progress.message or progress.stage,
                "started": progress.started_s or None,
                "seconds": round(ended_s - progress.started_s, 1) if progress.started_s else None,
            }
        )
    return rows


STORAGE_COLUMNS = (
    GridColumn("label", "Capture", "text", doc="Name it had when it was read"),
    GridColumn(
        "runs", "Runs", "text", flex=1, doc="Runs that have this content now; none: only the stored copy is left"
    ),
    GridColumn("capture_bytes", "Capture", "bytes", doc="The columnar copy"),
    GridColumn("derived_bytes", "Derived", "bytes", doc="Indexes and task graphs made of it"),
    GridColumn("used", "Last used (UTC)", "time", doc="What was used longest ago goes first"),
)


def storage_rows(services: Services) -> list[dict[str, Any]]:
    """One row per content of the store, largest first."""
    names = {row.key: f"{row.root}/{row.path}" for row in services.library.runs()}
    return [
        {
            "id": item.capture_id,
            "label": item.label or "trace or other file",
            "runs": ", ".join(names[key] for key in item.runs if key in names),
            "capture_bytes": item.capture_bytes,
            "derived_bytes": item.derived_bytes,
            "used": item.used_s,
        }
        for item in state.storage(services)
    ]


SETTING_COLUMNS = (
    GridColumn("id", "Setting", "text", doc="Its name"),
    GridColumn("value", "Value", "text", doc="The value in use; secrets are not shown"),
    GridColumn("unit", "Unit", "text", doc="Unit of the value", width_px=100),
    GridColumn("origin", "From", "text", doc="flag, environment, file or default", width_px=110),
    GridColumn("meaning", "Meaning", "text", doc="What it does", flex=3),
)


def setting_rows(services: Services) -> list[dict[str, Any]]:
    """Every setting with its value and where that comes from."""
    values = current(services.settings)
    return [
        {"id": name, "value": values[name], "unit": unit, "origin": services.origins.get(name, ""), "meaning": text}
        for name, _default, unit, text in table()
    ]
