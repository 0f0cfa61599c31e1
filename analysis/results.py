"""The shape of a result: a table whose columns say what they hold.

Every analysis returns a frozen result with ``.table`` (a :class:`Table`), ``.frame()`` (pandas) and ``.to_json()`` (the
keys of the command line). One table feeds every interface, so a page's CSV and the command line's CSV are the same bytes.

How a cell says "not captured": ``nan`` in a float column, :data:`analysis.capture.MISSING` in an integer column, ``None``
in a list column. It becomes ``null`` in JSON, an empty cell in CSV, ``NA``/``NaN`` in a frame and "–" in text; never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analysis.capture import MISSING, Capture
from analysis.csv_text import csv_text

if TYPE_CHECKING:
    import pandas as pd

Unit: TypeAlias = Literal["us", "ticks", "count", "share", "index", "id", "ids", "text", "texts", "bool"]
"""``share`` is a fraction 0..1; ``id`` a 64-bit task id as decimal text; ``ids`` and ``texts`` are tuples."""

Cells: TypeAlias = NDArray[Any] | Sequence[Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name as in JSON, its unit, and the definition that a tooltip shows."""

    name: str
    unit: Unit
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as columns of equal length, in the order of ``columns``.

    Args:
        columns: what each column holds.
        data: per column name a float, integer or bool array, or a list (text, ids, tuples).

    Raises:
        ValueError: a column is missing, extra or of another length (a bug in the analysis).
    """

    columns: tuple[Column, ...]
    data: Mapping[str, Cells]

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if sorted(names) != sorted(self.data):
            raise ValueError(f"columns {names} do not match data {list(self.data)}")
        if len({len(cells) for cells in self.data.values()}) > 1:
            raise ValueError(f"columns differ in length: { {name: len(cells) for name, cells in self.data.items()} }")

    def __len__(self) -> int:
        return len(self.data[self.columns[0].name])

    def cells(self, name: str) -> list[Any]:
        """The column as plain Python values, ``None`` where nothing was captured."""
        return plain(self.data[name])

    def take(self, rows: NDArray[Any]) -> Table:
        """The table with only ``rows`` (indexes), in that order."""
        at = np.asarray(rows, dtype=np.int64)

        def pick(cells: Cells) -> Cells:
            return cells[at] if isinstance(cells, np.ndarray) else [cells[i] for i in at.tolist()]

        return Table(self.columns, {name: pick(cells) for name, cells in self.data.items()})

    def to_records(self) -> list[dict[str, Any]]:
        """One dict per row, ready for JSON."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self._rows()]

    def frame(self) -> pd.DataFrame:
        """The table as a pandas frame; integer columns with missing cells become ``Int64``."""
        import pandas as pd

        def series(cells: Cells) -> Any:
            if isinstance(cells, np.ndarray) and cells.dtype.kind == "i" and bool((cells == MISSING).any()):
                return pd.array(plain(cells), dtype="Int64")
            return cells if isinstance(cells, np.ndarray) else pd.Series(list(cells), dtype="object")

        return pd.DataFrame({column.name: series(self.data[column.name]) for column in self.columns})

    def to_csv(self) -> str:
        """CSV with a header line, as :mod:`analysis.csv_text` writes it."""
        return csv_text([[column.name for column in self.columns], *self._rows()])

    def to_text(self) -> str:
        """Aligned plain text, every row, numbers to the right."""
        columns = [[_text_cell(cell) for cell in self.cells(column.name)] for column in self.columns]
        widths = [max([len(c.name), *map(len, cells)]) for c, cells in zip(self.columns, columns, strict=True)]
        left = [column.unit in ("text", "texts", "id", "ids") for column in self.columns]

        def line(cells: Iterable[str]) -> str:
            padded = (c.ljust(w) if is_left else c.rjust(w) for c, w, is_left in zip(cells, widths, left, strict=True))
            return "  ".join(padded).rstrip()

        rows = [line(row) for row in zip(*columns, strict=True)]
        return "\n".join([line(column.name for column in self.columns), *rows]) + "\n"

    def _rows(self) -> Iterable[tuple[Any, ...]]:
        return zip(*(self.cells(column.name) for column in self.columns), strict=True)


class Result(Protocol):
    """What every analysis of the registry returns."""

    @property
    def table(self) -> Table:
        """The rows a page shows and CSV exports."""

    def to_json(self) -> Any:
        """The documented JSON of the command line."""


def plain(cells: Cells) -> list[Any]:
    """Plain Python values of a column, ``None`` for missing cells."""
    if not isinstance(cells, np.ndarray):
        return list(cells)
    values: list[Any] = cells.tolist()
    if cells.dtype.kind == "f":
        missing = np.isnan(cells)
    elif cells.dtype == np.int64:
        missing = cells == MISSING
    else:
        return values
    for at in np.flatnonzero(missing).tolist():
        values[at] = None
    return values


def task_ids(capture: Capture, tasks: NDArray[Any]) -> list[str | None]:
    """Ids of dense task indexes as decimal text; ``None`` for -1."""
    index = np.asarray(tasks)
    if not len(index):
        return []
    ids = capture.tasks.task_id[np.maximum(index, 0)].tolist()
    return [str(i) if at >= 0 else None for i, at in zip(ids, index.tolist(), strict=True)]


def task_names(capture: Capture, tasks: NDArray[Any]) -> list[str]:
    """Names of dense task indexes, as :meth:`Capture.task_name` gives them."""
    index = np.asarray(tasks)
    if not len(index):
        return []
    func_id = capture.tasks.func_id[index]
    codes = func_id.astype(np.int64) * 256 + capture.tasks.kind[index]
    node = (capture.tasks.outer[index] >= 0) & (func_id < 0)
    codes[node] = -1024 - index[node]  # each node of a graph task has a name of its own
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    names = [capture.task_name(int(index[at])) for at in first.tolist()]
    return [names[at] for at in inverse.tolist()]


def to_us(capture: Capture, ticks: NDArray[Any]) -> NDArray[np.float64]:
    """Ticks or tick differences as microseconds, ``nan`` where :data:`MISSING`."""
    values = np.asarray(ticks)
    out = values / capture.meta.ticks_per_us
    if values.dtype.kind == "i":
        out[values == MISSING] = np.nan
    return out


def _text_cell(cell: Any) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.3f}"
    if isinstance(cell, tuple | list):
        return " ".join("–" if part is None else str(part) for part in cell)
    return str(cell)
