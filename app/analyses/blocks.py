"""Which rows does a grid ask for that holds only some blocks of a long table?"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from typing import Any

from numpy.typing import NDArray

from app.analyses import query
from app.analyses.rows import rows, selection_of
from app.analyses.views import TableView


class Orders:
    """Row orders by outcome and question; small, and shared by all users of this process since it holds content only."""

    def __init__(self, keep: int = 6) -> None:
        self._keep = keep
        self._known: OrderedDict[str, NDArray[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def select(self, shown: TableView, sort: list[tuple[str, str]], filters: Any, search: str) -> NDArray[Any]:
        """:func:`app.analyses.query.select` of the chosen table, computed once for a run of blocks."""
        key = json.dumps([shown.key, shown.at, sort, filters, search])
        with self._lock:
            found = self._known.get(key)
        if found is None:
            found = query.select(shown.table, sort, filters, search)
            with self._lock:
                self._known[key] = found
                while len(self._known) > self._keep:
                    self._known.popitem(last=False)
        return found


def block(shown: TableView, request: dict[str, Any], search: str, orders: Orders | None = None) -> dict[str, Any]:
    """Rows ``startRow`` to ``endRow`` of the table in the order and with the filters that the grid asks for."""
    sort = [(str(item["colId"]), str(item["sort"])) for item in request.get("sortModel") or []]
    filters = request.get("filterModel") or {}
    if orders is not None and shown.key:
        chosen = orders.select(shown, sort, filters, search)
    else:
        chosen = query.select(shown.table, sort, filters, search)
    part = chosen[int(request["startRow"]) : int(request["endRow"])]
    found = rows(shown.table.take(part), selection_of(shown.analysis, shown.parameters))
    for row, at in zip(found, part.tolist(), strict=True):
        row["_row"] = str(at)
    return {"rowData": found, "rowCount": len(chosen)}
