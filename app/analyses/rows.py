"""How does a table of an analysis become rows and columns of a grid, and what does a click on a row select?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from analysis.entry import Analysis
from analysis.results import Column, Table
from components.grid import GridColumn

_LABELS = {"us": "µs", "ticks": "ticks", "share": "%"}
_HIDDEN_UNITS = ("ticks",)
"""Ticks stand beside every µs column: they are there to be picked, not to fill the first view."""


def grid_columns(columns: tuple[Column, ...], marked_above: Mapping[str, float] | None = None) -> list[GridColumn]:
    """Grid columns with the unit in the header and the definition in the tooltip.

    Args:
        columns: columns of the table.
        marked_above: per column the value above which its cells are marked.
    """
    limits = marked_above or {}
    return [_marked(_grid_column(column), limits.get(column.name)) for column in columns]


def narrow(columns: list[GridColumn]) -> list[GridColumn]:
    """``columns`` for a small place: what a row is and its measures first, other numbers that name things last.

    Ids show as Ring & Task ID with the whole id in the tooltip; names get less room.
    """
    named = [c for c in columns if c.unit in ("id", "ids") or c.name in ("name", "names")]
    lead = sorted(named[:2], key=lambda c: c.unit == "text") or columns[:1]
    tail = [c for c in columns if c.unit == "index" and c not in lead]
    middle = [c for c in columns if c not in lead and c not in tail]
    return [_narrow(column) for column in (*lead, *middle, *tail)]


def _narrow(column: GridColumn) -> GridColumn:
    widths = {"text": 136, "us": 104, "count": 92, "index": 84, "share": 88, "ids": 150, "texts": 150}
    if column.unit == "id":
        short = {
            "valueFormatter": {"function": "swimscope_label(params.value)"},
            "tooltipValueGetter": {"function": "swimscope_id(params.value)"},
        }
        return replace(column, width_px=88, extra=column.extra | short)
    return replace(column, width_px=widths.get(column.unit))


def _marked(column: GridColumn, limit: float | None) -> GridColumn:
    if limit is None:
        return column
    return replace(column, extra={"cellClassRules": {"over-threshold": f"params.value > {limit!r}"}})


def _grid_column(column: Column) -> GridColumn:
    stem = column.name.removesuffix("_us").removesuffix("_ticks").replace("_", " ")
    label = stem[:1].upper() + stem[1:]
    unit = _LABELS.get(column.unit, "")
    wide = column.unit in ("text", "texts") and column.name in ("name", "names", "cause", "kind", "scope")
    return GridColumn(
        column.name,
        f"{label} ({unit})" if unit and column.unit != "share" else label,
        column.unit,
        f"{column.doc}" + (f" [{unit}]" if unit else ""),
        width_px=180 if wide else None,
        hide=column.unit in _HIDDEN_UNITS,
    )


def rows(
    table: Table, selection: Callable[[Mapping[str, Any]], dict[str, str]], first: int = 0
) -> list[dict[str, Any]]:
    """Rows for the grid: the cells, ``_row`` (position in the whole table), and ``sel``/``hl`` where a click selects."""
    return [record | {"_row": str(first + at)} | selection(record) for at, record in enumerate(table.to_records())]


def selection_of(analysis: Analysis, parameters: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, str]]:
    """What a click on a row of ``analysis`` puts into the URL: the first of its rules whose cell is there."""
    values = {parameter.name: parameter.default for parameter in analysis.parameters} | dict(parameters)

    def pick(row: Mapping[str, Any]) -> dict[str, str]:
        for rule in analysis.selects:
            cell = row.get(rule.column)
            if isinstance(cell, tuple | list):
                cell = cell[0] if cell else None
            if cell is None or cell == "" or (rule.word == "func" and int(cell) < -1):
                continue
            sel = f"{rule.word}:{cell}"
            highlight = sel if rule.highlight == "same" else rule.highlight.format(**values)
            return {"sel": sel, "hl": highlight} if highlight else {"sel": sel}
        return {}

    return pick
