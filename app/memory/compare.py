"""Which pass, or which compile, raised a peak? Two snapshots side by side, and every pass that raised one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import html

from analysis.memory.history import Rise
from analysis.memory.questions import COMPARE_COLUMNS, compare
from analysis.results import Column, Table
from app.analyses import rows as table_rows
from app.memory import kept
from app.memory.asked import Asked, chip_of, chosen, later, other_dump, stem
from app.runs import dumps
from app.server.services import Services
from app.shell.url_state import ViewState
from components import cards, grid, notices

WALK_GRID = "memory-walk"
COMPARE_GRID = "memory-compare"
MOST_RUNS = 200
MOST_TILES = 12
MOST_PROBLEMS = 3
RISE_COLUMNS = (
    Column("pass", "text", "Pass after which more bytes are alive in the space than before it."),
    Column("function", "text", "Function that owns the space."),
    Column("space", "text", "Memory space."),
    Column("before_bytes", "count", "Most bytes alive on one line before the pass."),
    Column("after_bytes", "count", "Most bytes alive on one line after the pass."),
    Column("change_bytes", "count", "After minus before."),
    Column("tile", "text", "Tiles alive at the new peak that were not alive at the old one."),
)
LABELS = {
    "pass": "Pass", "function": "Function", "space": "Space", "before_bytes": "Before (B)", "after_bytes": "After (B)",
    "change_bytes": "Change (B)", "tile": "Tile",
}  # fmt: skip


def labels(services: Services, run_key: str) -> tuple[str, ...]:
    """Labels of the run's dumps."""
    return tuple(dumps.dump_paths(services.library.run(run_key), services.settings))


def content(services: Services, run_key: str, view: ViewState, found: Asked) -> html.Div:
    """What is compared, the comparison, and the walk through the passes; raises NotYet while maps are read."""
    source = other_dump(services, run_key, view)
    wanted = view.own_value("vs")
    file, _reason = chosen(source, wanted)
    before = kept.of(services).map(source, file, chip_of(source, view))
    found_rises = kept.of(services).rises(found.dump)
    same = f"{source.dump.label}/{file.file}" == f"{found.dump.dump.label}/{found.file.file}"
    table = Table(COMPARE_COLUMNS, {c.name: [] for c in COMPARE_COLUMNS}) if same else compare(before, found.memory)
    empty = (
        "Both sides are the same snapshot: choose another one with Snapshot or Dump." if same else "Neither has a map."
    )
    walked = f"None of the {found_rises.snapshots:,} passes of this dump raises the bytes alive in a space."
    return html.Div(
        [
            cards.panel(
                f"High-water marks: {source.dump.label}/{stem(file)} → {found.dump.dump.label}/{stem(found.file)}",
                _table(services, run_key, view, found, table, COMPARE_GRID, empty),
                extra=_choices(services, run_key, view, found),
                class_name="mem-compare",
            ),
            cards.panel(
                "Which pass raised a peak, and with which tiles?",
                [
                    *(html.P(problem, className="muted") for problem in found_rises.problems[:MOST_PROBLEMS]),
                    _table(services, run_key, view, found, rise_table(found_rises.rises), WALK_GRID, walked),
                ],
                class_name="mem-compare",
            ),
        ],
        className="mem-compares",
    )


def rise_table(rises: tuple[Rise, ...]) -> Table:
    """Every rise as a row of :data:`RISE_COLUMNS`, in the order of the passes."""
    data: dict[str, list[Any]] = {
        "pass": [f"{rise.number:02} {rise.pass_name}" for rise in rises],
        "function": [rise.function for rise in rises],
        "space": [rise.space for rise in rises],
        "before_bytes": [rise.before_bytes for rise in rises],
        "after_bytes": [rise.after_bytes for rise in rises],
        "change_bytes": [rise.after_bytes - rise.before_bytes for rise in rises],
        "tile": [_tiles(rise.tiles) for rise in rises],
    }
    return Table(RISE_COLUMNS, data)


def _tiles(names: tuple[str, ...]) -> str:
    shown = ", ".join(name[:120] for name in names[:MOST_TILES])
    return shown + (f" and {len(names) - MOST_TILES:,} more" if len(names) > MOST_TILES else "") or "the same tiles"


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


def _snapshot(named: str, found: Asked) -> str:
    """The snapshot that a row opens: the pass it names, else the one that is shown."""
    number = named.partition(" ")[0]
    files = [item for item in found.dump.dump.passes if number.isdecimal() and item.index == int(number)]
    return stem(files[0] if files else found.file)


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
