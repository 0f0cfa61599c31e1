"""How is a table put on a page? The only maker of AG Grid: community features, units as formatters in ``grid.js``.

A row that carries a ``sel`` field is selectable: a click sets ``sel`` in the URL, and the row that equals the URL's
``sel`` is marked. A row with ``set`` (URL keys and their texts) is selectable by those keys instead; ``locate`` holds those
that show one of its places.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import dash_ag_grid as dag
from dash import dcc, html

NO_MATCH = "No row matches the search and the filters."
NUMERIC_UNITS = ("us", "ticks", "count", "share", "index", "bytes", "duration_us", "time")
_WIDTHS = {"text": 200, "texts": 220, "ids": 220, "id": 170, "bool": 90, "share": 100, "time": 150}


@dataclass(frozen=True, slots=True)
class GridColumn:
    """One column of a grid.

    Args:
        name: field of the row.
        label: header text.
        unit: decides alignment, formatter and filter (``us ticks count share index id ids text texts bool bytes time
            link badges``).
        doc: tooltip of the header.
        width_px: first width; by unit when None.
        hide: not shown until picked.
        flex: takes the space that is left.
        extra: further AG Grid column keys.
    """

    name: str
    label: str
    unit: str
    doc: str = ""
    width_px: int | None = None
    hide: bool = False
    flex: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def column_defs(columns: Iterable[GridColumn]) -> list[dict[str, Any]]:
    """AG Grid's ``columnDefs``."""
    return [_column_def(column) for column in columns]


def _column_def(column: GridColumn) -> dict[str, Any]:
    numeric = column.unit in NUMERIC_UNITS
    out: dict[str, Any] = {
        "field": column.name,
        "headerName": column.label,
        "headerTooltip": column.doc or column.label,
        "filter": "agNumberColumnFilter" if numeric else "agTextColumnFilter",
        "width": column.width_px or _WIDTHS.get(column.unit, 120),
        "hide": column.hide,
    }
    if numeric:
        out["type"] = "rightAligned"
        out["valueFormatter"] = {"function": f"swimscope_{column.unit}(params.value)"}
    if column.unit in ("id", "ids", "texts", "bool"):
        out["valueFormatter"] = {"function": f"swimscope_{column.unit}(params.value)"}
    if column.unit in ("link", "badges"):
        out["cellRenderer"] = f"swimscope_{column.unit}"
    if column.flex:
        out["flex"] = column.flex
        out["minWidth"] = column.width_px or 140
    return out | column.extra


def function_column(column: GridColumn) -> GridColumn:
    """``column`` with the function's colour before its name."""
    return replace(column, extra={"cellRenderer": "swimscope_function"}, width_px=190)


def grid(
    grid_id: Any,
    columns: Sequence[GridColumn],
    rows: list[dict[str, Any]] | None,
    *,
    row_id: str,
    infinite: bool = False,
    sort: str = "",
    filters: str = "",
    options: dict[str, Any] | None = None,
    class_name: str = "",
    label: str = "",
) -> html.Div:
    """A grid that fills its container; its sort and filters live in the URL (``sort``, ``f``).

    Args:
        grid_id: component id.
        columns: what to show.
        rows: all rows, or None with ``infinite``.
        row_id: field that identifies a row (text).
        infinite: rows come in blocks through ``getRowsRequest``/``getRowsResponse``.
        sort: first sort, ``column:asc,column:desc``.
        filters: first filters, AG Grid's filter model as JSON; unusable text means none.
        options: further AG Grid options.
        class_name: further CSS classes.
        label: accessible name.
    """
    base: dict[str, Any] = {
        "theme": {"function": "swimscope_theme(agGrid)"},
        "rowHeight": 28,
        "headerHeight": 32,
        "animateRows": False,
        "enableCellTextSelection": True,
        "ensureDomOrder": True,
        "tooltipShowDelay": 400,
        "preventDefaultOnContextMenu": True,
        "suppressDragLeaveHidesColumns": True,
        "multiSortKey": "ctrl",
    }
    if infinite:
        base |= {"cacheBlockSize": 200, "maxBlocksInCache": 20, "infiniteInitialRowCount": 1, "rowBuffer": 20}
        # dash-ag-grid keeps only the newest request: two at a time would leave rows empty indefinitely.
        base |= {"maxConcurrentDatasourceRequests": 1, "blockLoadDebounceMillis": 60}
    given = options or {}
    texts = {"noMatchingRows": NO_MATCH, **given.get("localeText", {})}
    table = dag.AgGrid(
        id=grid_id,
        columnDefs=_with_sort(column_defs(columns), sort),
        rowData=None if infinite else rows,
        rowModelType="infinite" if infinite else "clientSide",
        getRowId=f"params.data.{row_id}.toString()",
        defaultColDef={"sortable": True, "resizable": True, "filter": True, "minWidth": 60, "cellDataType": False},
        filterModel=filter_model(filters),
        rowClassRules={"row-selected": "swimscope_isSelected(params)", "row-member": "swimscope_isMember(params)"},
        dashGridOptions=base | given | {"localeText": texts},
        eventListeners={
            "rowClicked": ["swimscope_rowClicked(params)"],
            "rowDoubleClicked": ["swimscope_rowDoubleClicked(params)"],
            "cellContextMenu": ["swimscope_contextMenu(params)"],
            "cellKeyDown": ["swimscope_cellKeyDown(params)"],
        },
        className=f"grid {class_name}".strip(),
        style={"height": "100%", "width": "100%"},
        dangerously_allow_code=False,
    )
    return html.Div(table, className="grid-box", role="region", **{"aria-label": label, "data-grid": str(grid_id)})


def sort_keys(sort: str) -> list[tuple[str, str]]:
    """``"a:desc,b:asc"`` as pairs; parts of another form are left out."""
    pairs = [part.rpartition(":") for part in sort.split(",")]
    return [(name, way) for name, colon, way in pairs if name and colon and way in ("asc", "desc")]


def filter_model(text: str) -> dict[str, Any]:
    """AG Grid's filter model from its JSON in the URL; {} when the text is none."""
    try:
        model = json.loads(text) if text else {}
    except ValueError:
        return {}
    return model if isinstance(model, dict) else {}


def _with_sort(definitions: list[dict[str, Any]], sort: str) -> list[dict[str, Any]]:
    order = {name: (way, at) for at, (name, way) in enumerate(sort_keys(sort))}
    for definition in definitions:
        if definition["field"] in order:
            way, at = order[definition["field"]]
            definition |= {"initialSort": way, "initialSortIndex": at}
    return definitions


def quick_filter(box_id: str, grid_id: str, value: str, placeholder: str) -> dcc.Input:
    """A search box over all columns of a grid; grid.js filters and keeps the text in ``q`` of the URL."""
    return dcc.Input(
        id=box_id,
        type="search",
        value=value,
        placeholder=placeholder,
        className="input search quick-filter",
        autoComplete="off",
    )


def url_number(box_id: str, key: str, value: str, doc: str) -> dcc.Input:
    """A number box whose value lives under ``key`` of the URL; grid.js writes it."""
    return dcc.Input(
        id=box_id, type="text", inputMode="decimal", value=value, className=f"input number url-value url-value-{key}"
    )


def toolbar(grid_id: str, *, csv_href: str = "", group_label: str = "") -> html.Div:
    """The buttons of a grid: columns, reset, CSV.

    Args:
        grid_id: the grid they act on.
        csv_href: route that gives the rows as CSV; grid.js adds the view. Without it the browser writes the CSV.
        group_label: text of a button that puts rows of one group together, where the grid has groups.
    """
    buttons: list[Any] = [
        html.Button("Columns", className="button grid-columns", **{"data-for": grid_id, "aria-haspopup": "true"}),
        html.Button("Reset", className="button grid-reset", title="Clear sort and filters", **{"data-for": grid_id}),
        html.Button(
            "CSV",
            className="button grid-csv",
            title="Rows as shown: filters and order kept, every column",
            **{"data-for": grid_id, "data-href": csv_href},
        ),
    ]
    if group_label:
        buttons.insert(
            0,
            html.Button(
                group_label,
                className="button grid-group",
                title="Put the ranks and devices of one run tree together",
                **{"data-for": grid_id, "aria-pressed": "false"},
            ),
        )
    return html.Div(buttons, className="grid-toolbar")
