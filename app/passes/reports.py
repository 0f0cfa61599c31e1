"""What did the compiler hint at and report? Its text reports as tables, linked to functions and lines of the IR."""

from __future__ import annotations

from typing import Any

from dash import html

from analysis.errors import InputError
from analysis.passes.functions import FunctionTable
from analysis.passes.reports import Report, read_report, report_files
from analysis.results import Table
from app.analyses import rows as table_rows
from app.compiler.keys import MAX_NAME
from app.compiler.pending import NotYet
from app.passes import asked as asking
from app.passes.message import cut
from app.server.services import Services
from app.shell.url_state import ViewState
from components import grid, notices

GRIDS = ("ir-hints-grid", "ir-memory-grid")
MOST_ROWS = 20_000
"""Rows a grid is given; the heading says how many there are."""
_HINTS, _MEMORY = range(2)


def content(services: Services, run_key: str, view: ViewState) -> Any:
    """Every report beside the dump, hints first."""
    try:
        dump, listing = asking.opened(services, run_key, view)
    except NotYet:
        return notices.empty("The reports are shown once the pass list has been read.")
    last = listing.passes[-1].table if listing.passes else FunctionTable()
    kinds: tuple[list[Report], list[Report]] = ([], [])
    problems: list[Any] = []
    for path in report_files(dump.dump.path):
        try:
            kinds[_HINTS if path.suffix == ".log" else _MEMORY].append(read_report(path, last))
        except InputError as error:
            problems.append(notices.notice("A report cannot be read", str(error), "warn"))
    parts = [_table(services, run_key, view, kind, found) for kind, found in enumerate(kinds) if found]
    nothing = notices.empty(
        "No report was captured: there is no report/perf_hints.log or memory report beside the dump."
    )
    return [*problems, *parts] if parts or problems else nothing


def _table(services: Services, run_key: str, view: ViewState, kind: int, found: list[Report]) -> html.Div:
    columns = [grid.GridColumn("open", "Opens", "link", "Function or pass that the row names; opens it.", 170)]
    columns += table_rows.grid_columns(found[0].table.columns)
    rows: list[dict[str, Any]] = []
    for report in found:
        rows += _rows(services, run_key, view, kind, report.table, len(rows))
    shown, total = rows[:MOST_ROWS], len(rows)
    unread = sum(report.unread_lines for report in found)
    words = [notices.shown_of(len(shown), total, "rows"), " of ", html.B(", ".join(report.file for report in found))]
    if unread:
        words.append(f"; {unread:,} lines are not of a known form and are left out")
    return html.Div(
        [
            html.Div(words, className="ir-report-head"),
            html.Div(grid.grid(GRIDS[kind], columns, shown, row_id="_row", label=found[0].file), className="ir-report-grid"),
        ],
        className="ir-report",
    )  # fmt: skip


def _rows(
    services: Services, run_key: str, view: ViewState, kind: int, table: Table, first: int
) -> list[dict[str, Any]]:
    known = {entry.name for entry in asking.opened(services, run_key, view)[1].passes}
    out: list[dict[str, Any]] = []
    for row in table_rows.rows(table, lambda row: {}, first):
        opens, change = _target(kind, row, known)
        cells = {key: cut(value, 2_000) if isinstance(value, str) else value for key, value in row.items()}
        cells["open"] = opens
        if change:
            cells["href"] = services.href("passes", run_key, view.with_own(unf=(), **change))
        out.append(cells)
    return out


def _target(kind: int, row: dict[str, Any], known: set[str]) -> tuple[str | None, dict[str, Any]]:
    """What a row names of the IR and the URL keys that show it: a function, or the pass that wrote the hint."""
    function = str(row.get("function") or "")
    about = str(row.get("pass_name" if kind == _MEMORY else "rule") or "")
    change: dict[str, Any] = {"pass": about, "line": ""} if about in known and len(about) <= MAX_NAME else {}
    if function and len(function) <= MAX_NAME:
        line = f"R{row['line']}" if kind == _HINTS and row.get("line") else ""
        return cut(function.rpartition(".")[2], 60), change | {"fn": function, "line": line}
    return (cut(about, 60), change) if change else (None, {})
