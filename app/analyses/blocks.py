"""Which rows does a grid ask for that holds only some blocks of a long table?"""

from __future__ import annotations

import json
from typing import Any

from numpy.typing import NDArray

from app.analyses import query
from app.analyses.rows import rows, selection_of
from app.analyses.views import TableView
from app.server.services import Services

KEPT_ORDERS = 8
"""Row orders kept in a process: blocks of one order follow each other."""


def block(services: Services, shown: TableView, request: dict[str, Any], search: str) -> dict[str, Any]:
    """Rows ``startRow`` to ``endRow`` of the table in the order and with the filters that the grid asks for."""
    sort = [(str(item["colId"]), str(item["sort"])) for item in request.get("sortModel") or []]
    filters = request.get("filterModel") or {}
    chosen: NDArray[Any] = services.caches.get(
        "row orders",
        json.dumps([shown.key, shown.at, sort, filters, search]),
        lambda: query.select(shown.table, sort, filters, search),
        KEPT_ORDERS,
    )
    part = chosen[int(request["startRow"]) : int(request["endRow"])]
    found = rows(shown.table.take(part), selection_of(shown.analysis, shown.parameters))
    for row, at in zip(found, part.tolist(), strict=True):
        row["_row"] = str(at)
    return {"rowData": found, "rowCount": len(chosen)}
