"""How is a table put on a page? The only maker of AG Grid: community features, units as formatters in ``grid.js``.

A row that carries a ``sel`` field is selectable: a click sets ``sel`` in the URL, and the row that equals the URL's
``sel`` is marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import dash_ag_grid as dag

NUMERIC_UNITS = ("us", "ticks", "count", "share", "index", "bytes", "duration_us", "time")
_WIDTHS = {"text": 200, "texts": 220, "ids": 220, "id": 140, "bool": 90, "share": 100, "time": 150}


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
    if column.unit in ("ids", "texts", "bool"):
        out["valueFormatter"] = {"function": f"swimscope_{column.unit}(params.value)"}
    if column.unit in ("link", "badges"):
        out["cellRenderer"] = f"swimscope_{column.unit}"
    if column.flex:
        out["flex"] = column.flex
        out["minWidth"] = column.width_px or 140
    return out | column.extra


def grid(
    grid_id: Any,
    columns: Sequence[GridColumn],
    rows: list[dict[str, Any]] | None,
    *,
    row_id: str,
    infinite: bool = False,
    options: dict[str, Any] | None = None,
    class_name: str = "",
    label: str = "",
) -> dag.AgGrid:
    """A grid that fills its container.

    Args:
        grid_id: component id.
        columns: what to show.
        rows: all rows, or None with ``infinite``.
        row_id: field that identifies a row (text).
        infinite: rows come in blocks through ``getRowsRequest``/``getRowsResponse``.
        options: further AG Grid options.
        class_name: further CSS classes.
        label: accessible name.
    """
    base: dict[str, Any] = {
        "theme": {"function": "swimscope_theme(theme, agGrid)"},
        "rowHeight": 28,
        "headerHeight": 32,
        "animateRows": False,
        "suppressCellFocus": False,
        "enableCellTextSelection": True,
        "ensureDomOrder": True,
        "tooltipShowDelay": 400,
        "suppressDragLeaveHidesColumns": True,
        "getRowClass": {"function": "swimscope_rowClass(params)"},
        "multiSortKey": "ctrl",
    }
    if label:
        base["initialAriaLabel"] = label
    if infinite:
        base |= {"cacheBlockSize": 200, "maxBlocksInCache": 20, "infiniteInitialRowCount": 1, "rowBuffer": 20}
    base.pop("initialAriaLabel", None)
    return dag.AgGrid(
        id=grid_id,
        columnDefs=column_defs(columns),
        rowData=None if infinite else rows,
        rowModelType="infinite" if infinite else "clientSide",
        getRowId=f"params.data.{row_id}.toString()",
        defaultColDef={"sortable": True, "resizable": True, "filter": True, "minWidth": 60},
        dashGridOptions=base | (options or {}),
        eventListeners={
            "rowClicked": ["swimscope_rowClicked(params)"],
            "cellKeyDown": ["swimscope_cellKeyDown(params)"],
            "cellContextMenu": ["swimscope_contextMenu(params)"],
        },
        className=f"grid {class_name}".strip(),
        style={"height": "100%", "width": "100%"},
        dangerously_allow_code=False,
    )
