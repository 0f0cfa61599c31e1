"""Which pass, or which compile, raised a peak? Two snapshots side by side, and every step between passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import html

from analysis.memory.changes import walk
from analysis.memory.questions import compare
from analysis.results import Table
from app.memory.asked import Asked, chip_of, chosen, later, other_dump, stem
from app.passes import dumps
from app.server.services import Services
from app.shell.url_state import ViewState
from app.tables import rows as table_rows
from components import cards, grid, notices

WALK_GRID = "memory-walk"
COMPARE_GRID = "memory-compare"
MOST_RUNS = 200
LABELS = {
    "pass": "Pass", "function": "Function", "space": "Space", "before_bytes": "Before (B)", "after_bytes": "After (B)",
    "change_bytes": "Change (B)", "tile": "Tile at the mark",
}  # fmt: skip


def labels(services: Services, run_key: str) -> tuple[str, ...]:
    """Labels of the run's dumps."""
    return tuple(dumps.dump_paths(services.library.run(run_key), services.settings))


def content(services: Services, run_key: str, view: ViewState, found: Asked) -> html.Div:
    """What is compared, the comparison, and the walk through the passes; raises NotYet while maps are read."""
    source = other_dump(services, run_key, view)
    wanted = view.own_value("vs")
    files = later(source)
    file = chosen(source, wanted)[0] if wanted or source is not found.dump else files[0]
    before = services.memory.map(source, file, chip_of(source, view))
    table = compare(before, found.memory)
    steps = services.memory.maps(found.dump, found.files, found.memory.chip)
    return html.Div(
        [
            cards.panel(
                f"{source.dump.label}/{stem(file)} → {found.dump.dump.label}/{stem(found.file)}",
                _table(services, run_key, view, found, table, COMPARE_GRID, "Both snapshots have no map to compare."),
                extra=_choices(services, run_key, view, found),
                class_name="mem-compare",
            ),
            cards.panel(
                f"Which pass changed a peak? {stem(found.files[0])} to {stem(found.files[-1])}",
                _table(services, run_key, view, found, walk(steps), WALK_GRID, _unchanged(found)),
                class_name="mem-compare",
            ),
        ],
        className="mem-compares",
    )


def _unchanged(found: Asked) -> str:
    if len(found.files) < 2:
        return "There is only one snapshot from AllocateMemoryAddr on: no later pass to walk through."
    return f"None of the {len(found.files) - 1:,} later passes changes the high-water mark of any space."


def _table(
    services: Services, run_key: str, view: ViewState, found: Asked, table: Table, grid_id: str, empty: str
) -> Any:
    if not len(table):
        return notices.empty(empty)
    rows = table.to_records()
    target = replace(view.with_own(mcmp=0, vs="", other="", odump="", mtile="", mline=0, mzoom=()), f="", sort="", q="")
    for at, row in enumerate(rows):
        shown = target.with_own(
            mf=row["function"][:400], mspace=row["space"][:100], snap=row.get("pass", stem(found.file))
        )
        row |= {"_row": str(at), "href": services.href("memory", run_key, shown)}
    columns = [_column(column) for column in table_rows.grid_columns(table.columns)]
    return html.Div(grid.grid(grid_id, columns, rows, row_id="_row", label="Peaks"), className="mem-compare-grid")


def _column(column: grid.GridColumn) -> grid.GridColumn:
    changed = replace(column, label=LABELS.get(column.name, column.label))
    if column.name == "function":
        return replace(changed, flex=1, extra={"cellRenderer": "swimscope_link"})
    if column.name == "change_bytes":
        return replace(
            changed, extra={"cellClassRules": {"cell-bad": "params.value > 0", "cell-good": "params.value < 0"}}
        )
    return replace(changed, width_px=240 if column.name in ("pass", "tile") else None)


def _choices(services: Services, run_key: str, view: ViewState, found: Asked) -> html.Div:
    """Menus: the snapshot on the left, and the run and dump it is of."""

    def link(text: str, view: ViewState) -> html.A:
        return html.A(text, href=services.href("memory", run_key, view), className="menu-item", **{"data-nav": "here"})

    source = other_dump(services, run_key, view)
    snapshots = [link(stem(file), view.with_own(vs=stem(file))) for file in later(source)]
    here = [link(label, view.with_own(other="", odump=label, vs="")) for label in labels(services, run_key)]
    others = [row for row in services.library.runs() if "passes" in row.views and row.key != run_key]
    runs = [link(f"{row.root}/{row.path}", view.with_own(other=row.key, odump="", vs="")) for row in others[:MOST_RUNS]]
    if len(others) > MOST_RUNS:
        runs.append(html.Div(f"{len(others) - MOST_RUNS:,} more runs are not listed", className="muted menu-item"))
    return html.Div(
        [
            html.Details([html.Summary("Snapshot", className="button"), html.Div(snapshots, className="menu mem-menu")],
                         className="mem-details"),
            html.Details([html.Summary("Dump", className="button"), html.Div([*here, *runs], className="menu mem-menu")],
                         className="mem-details"),
        ],
        className="link-row mem-choices",
    )  # fmt: skip
