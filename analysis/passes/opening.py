"""One dump from a path, and one comparison from a dump: what the command line, notebooks and pages open."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.errors import AmbiguousError, NotFoundError
from analysis.passes.comparison import Comparison, compare
from analysis.passes.dump import Dump, PassFile, find_dumps
from analysis.passes.functions import FunctionTable
from analysis.passes.listing import PassList
from analysis.passes.snapshot import Snapshot, snapshot
from analysis.results import Column, Table

COLUMNS = (
    Column("index", "index", "number of the pass; 0 is the frontend"),
    Column("name", "text", "name of the pass"),
    Column("changed", "bool", "its text differs from the pass before (line ends do not count)"),
    Column("added", "count", "lines without an equal or moved line in the pass before"),
    Column("removed", "count", "lines of the pass before without an equal or moved line in this one"),
    Column("moved", "count", "lines that are elsewhere than before"),
    Column("functions", "count", "functions of the snapshot; missing when it is not valid Python"),
    Column("warnings", "count", "warnings in its log"),
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A comparison with the snapshots it was made from and their names."""

    comparison: Comparison
    left: Snapshot
    right: Snapshot
    left_name: str
    right_name: str


def open_one(path: str | Path) -> Dump:
    """The one dump at, below or beside ``path``.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: there are several.
    """
    dumps = find_dumps(path)
    if not dumps:
        raise NotFoundError(f"{Path(path).name}: no passes_dump directory here, below or beside it")
    if len(dumps) > 1:
        labels = tuple(dump.label for dump in dumps)
        raise AmbiguousError(f"several pass dumps: {', '.join(labels)}; name one of them", labels)
    return dumps[0]


def load(dump: Dump, item: PassFile, table: FunctionTable | None = None, *, structure: bool = False) -> Snapshot:
    """One snapshot of a dump; pass the ``table`` of its :class:`PassEntry` to spare parsing it again."""
    decoded = dump.read(item.file)
    return snapshot(decoded.text, table, structure=structure, sha256=decoded.sha256)


def open_comparison(
    dump: Dump, right: PassFile, left: PassFile | None = None, other: Dump | None = None, *, structure: bool = False
) -> Opened:
    """Compares ``right`` with ``left`` (of ``other`` when given); without ``left`` with the pass before it, or with
    the pass of the same name in ``other``.

    Raises:
        NotFoundError: there is no pass to compare with.
    """
    source = other or dump
    left = left or (source.find(right.name) if other is not None else _before(dump, right))
    sides = load(source, left, structure=structure), load(dump, right, structure=structure)
    names = f"{source.label}/{left.file}", f"{dump.label}/{right.file}"
    return Opened(compare(*sides), *sides, *names)


def passes_table(listing: PassList) -> Table:
    """One row per pass, as the command line prints it."""
    rows = listing.passes
    data: dict[str, Any] = {
        "index": np.array([p.index for p in rows], dtype=np.int64),
        "name": [p.name for p in rows],
        "changed": np.array([p.changed for p in rows], dtype=bool),
        "added": np.array([p.added for p in rows], dtype=np.int64),
        "removed": np.array([p.removed for p in rows], dtype=np.int64),
        "moved": np.array([p.moved for p in rows], dtype=np.int64),
        "functions": [None if p.table.error else len(p.functions) for p in rows],
        "warnings": np.array([len(p.warnings) for p in rows], dtype=np.int64),
    }
    return Table(COLUMNS, data)


def _before(dump: Dump, item: PassFile) -> PassFile:
    at = dump.passes.index(item)
    if at == 0:
        raise NotFoundError(f"{dump.label}: {item.file} is the first snapshot, there is nothing before it")
    return dump.passes[at - 1]
