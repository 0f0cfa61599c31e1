"""Which rows of a table does a grid ask for? AG Grid's filters, search text and sort applied on the server.

The rules are AG Grid's own, so a table that is sent whole (and filtered in the browser) and one that comes in blocks
show the same rows, and so does the CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.results import Table, plain

Mask = NDArray[np.bool_]


def select(table: Table, sort: Sequence[tuple[str, str]], filters: Mapping[str, Any], search: str = "") -> NDArray[Any]:
    """Indexes of the rows that pass, in the order asked for.

    Args:
        table: the whole table.
        sort: ``(column, "asc" | "desc")``, first counts most; a missing cell counts as smallest.
        filters: AG Grid's filter model; unknown columns and operations let every row pass.
        search: words that must all occur somewhere in the row, in any case.
    """
    keep = np.ones(len(table), dtype=bool)
    names = {column.name for column in table.columns}
    for name, model in filters.items():
        if name in names and isinstance(model, Mapping):
            keep &= _filter(table.cells(name), model)
    if search.strip():
        keep &= _search(table, search)
    rows = np.flatnonzero(keep)
    for name, way in reversed(list(sort)):
        if name in names:
            rows = rows[_order_of(table.data[name], rows, way)]
    return rows


def _order_of(cells: Any, rows: NDArray[Any], way: str) -> NDArray[Any]:
    """Order of ``rows`` by a column; arrays are sorted as arrays, since a table may have millions of rows."""
    if not isinstance(cells, np.ndarray) or cells.dtype.kind not in "biuf":
        values = plain(cells)
        return _order([values[at] for at in rows.tolist()], way)
    keys = cells[rows]
    if keys.dtype.kind == "f":
        keys = np.where(np.isnan(keys), -np.inf, keys)  # missing is smallest; MISSING is that already in int64
    if way == "asc":
        return np.argsort(keys, kind="stable")
    last = len(keys) - 1
    return (last - np.argsort(keys[::-1], kind="stable"))[::-1]


def _order(cells: list[Any], way: str) -> NDArray[Any]:
    """Order of ``cells``; equal rows keep theirs in both directions, None counts as smallest, as in AG Grid."""
    keys = [(cell is not None, _sortable(cell)) for cell in cells]
    return np.array(sorted(range(len(cells)), key=keys.__getitem__, reverse=way == "desc"), dtype=np.int64)


def _sortable(cell: Any) -> Any:
    if cell is None:
        return 0
    if isinstance(cell, tuple | list):
        return ",".join("" if part is None else str(part) for part in cell)
    return cell


def _search(table: Table, search: str) -> Mask:
    words = search.upper().split()
    columns = [[_text(cell).upper() for cell in table.cells(column.name)] for column in table.columns]
    rows = ["\n".join(cells) for cells in zip(*columns, strict=True)]
    return np.array([all(word in row for word in words) for row in rows], dtype=bool)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, tuple | list):
        return ",".join("" if part is None else str(part) for part in cell)
    return str(cell)


def _filter(cells: Sequence[Any], model: Mapping[str, Any]) -> Mask:
    conditions = model.get("conditions")
    if isinstance(conditions, list) and conditions:
        masks = [_filter(cells, part) for part in conditions if isinstance(part, Mapping)]
        join = np.logical_or if model.get("operator") == "OR" else np.logical_and
        return np.asarray(join.reduce(masks), dtype=bool)
    kind = str(model.get("type", ""))
    if kind in ("blank", "notBlank"):
        blank = np.array([cell is None or cell == "" for cell in cells], dtype=bool)
        return blank if kind == "blank" else ~blank
    test = _number_test(model, kind) if model.get("filterType") == "number" else _text_test(model, kind)
    if test is None:
        return np.ones(len(cells), dtype=bool)
    return np.array([test(cell) for cell in cells], dtype=bool)


_TEXT: dict[str, Callable[[str, str], bool]] = {
    "contains": lambda cell, text: text in cell,
    "notContains": lambda cell, text: text not in cell,
    "equals": lambda cell, text: cell == text,
    "notEqual": lambda cell, text: cell != text,
    "startsWith": lambda cell, text: cell.startswith(text),
    "endsWith": lambda cell, text: cell.endswith(text),
}


def _text_test(model: Mapping[str, Any], kind: str) -> Callable[[Any], bool] | None:
    test = _TEXT.get(kind)
    if test is None:
        return None
    wanted = str(model.get("filter", "")).lower()
    missing_passes = kind in ("notContains", "notEqual")
    return lambda cell: missing_passes if cell is None else test(_text(cell).lower(), wanted)


_NUMBER: dict[str, Callable[[float, float, float], bool]] = {
    "equals": lambda cell, low, _high: cell == low,
    "notEqual": lambda cell, low, _high: cell != low,
    "lessThan": lambda cell, low, _high: cell < low,
    "lessThanOrEqual": lambda cell, low, _high: cell <= low,
    "greaterThan": lambda cell, low, _high: cell > low,
    "greaterThanOrEqual": lambda cell, low, _high: cell >= low,
    "inRange": lambda cell, low, high: low < cell < high,
}


def _number_test(model: Mapping[str, Any], kind: str) -> Callable[[Any], bool] | None:
    test = _NUMBER.get(kind)
    low, high = model.get("filter"), model.get("filterTo")
    if test is None or not isinstance(low, int | float):
        return None
    top = float(high) if isinstance(high, int | float) else float("inf")
    return lambda cell: cell is not None and test(cell, low, top)
