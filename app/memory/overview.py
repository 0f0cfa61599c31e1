"""Every function and space of a map as one table, the tightest first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import html

from analysis.memory.questions import OVERVIEW_COLUMNS, overview
from app.analyses import rows as table_rows
from app.memory.asked import Asked
from app.server.services import Services
from app.shell.url_state import ViewState
from components import fmt, grid, notices

GRID = "memory-grid"


def overview_grid(services: Services, run_key: str, view: ViewState, found: Asked) -> html.Div:
    """The table; a row opens its function's map at that space."""
    table = overview(found.memory)
    if not len(table):
        return html.Div(notices.empty("No function of this snapshot owns a map."), className="fill")
    target = replace(view.with_own(mtile="", mline=0, mzoom=(), mhide=(), mcmp=0, mgoal=0), f="", sort="", q="")
    rows = table.to_records()
    for row in rows:
        shown = target.with_own(mf=row["function"][:400], mspace=row["space"][:100])
        func_id = found.ids.get(row["function"])
        if func_id is not None:
            shown = replace(shown, sel=f"func:{func_id}")
        row |= {"_row": f"{row['function']}\n{row['space']}", "href": services.href("memory", run_key, shown)}
    return html.Div(
        [
            html.Div(
                [
                    html.Span(
                        f"{fmt.plural(len(found.memory.functions), 'function')}, {fmt.plural(len(rows), 'space')} in use",
                        className="muted",
                    ),
                    html.Span(className="spacer"),
                    grid.quick_filter("memory-search", GRID, view.q, "Search functions"),
                    grid.toolbar(GRID),
                ],
                className="mem-switches mem-overview-bar",
            ),
            html.Div(
                grid.grid(
                    GRID, columns(), rows, row_id="_row", sort=view.sort, filters=view.f, label="Functions and spaces"
                ),
                className="fill",
            ),
        ],
        className="fill column",
    )


def columns() -> list[grid.GridColumn]:
    """Columns of the table: names first, the share as a bar."""
    out = []
    for column in table_rows.grid_columns(OVERVIEW_COLUMNS):
        change: dict[str, Any] = {"label": LABELS.get(column.name, column.label)}
        if column.name == "function":
            change |= {"flex": 2, "extra": {"cellRenderer": "swimscope_link"}}
        if column.name == "share":
            change |= {"extra": {"cellRenderer": "swimscope_shareBar"}, "width_px": 190}
        if column.name in ("type", "space"):
            change |= {"width_px": 100}
        if column.name == "reuse_ratio":
            change |= {"extra": {"valueFormatter": {"function": "swimscope_times(params.value)"}}}
        if column.name == "conflicts":
            change |= {"extra": {"cellClassRules": {"cell-bad": "params.value > 0"}}}
        out.append(replace(column, **change))
    return out


LABELS = {
    "function": "Function",
    "type": "Type",
    "space": "Space",
    "used_bytes": "Used (B)",
    "capacity_bytes": "Capacity (B)",
    "share": "Share",
    "tiles": "Boxes",
    "bases": "Buffers",
    "reuse_ratio": "Reuse",
    "conflicts": "Conflicts",
}
