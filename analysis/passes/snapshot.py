"""One snapshot, ready to be compared: its lines, their numbers in the file, and where its functions are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.passes.functions import Function, FunctionTable, parse_whole
from analysis.passes.structure import structure_only
from analysis.passes.text import decode, split_lines


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Lines of one side of a comparison.

    Attributes:
        sha256: digest of the text it was made from (LF line ends).
        lines: what is compared and shown.
        numbers: the line of the file (from 1) that each of ``lines`` begins at; plain counting unless ``structure``.
        table: its functions, in lines of the file.
        structure: annotations are hidden.
    """

    sha256: str
    lines: list[str]
    numbers: NDArray[np.int32]
    table: FunctionTable
    structure: bool = False

    def sections(self) -> list[tuple[str, int, int]]:
        """(qualified name, first, end) that tile ``lines``; "" is the part before the first function.

        What follows a function up to the next one (blank lines, a class header) belongs to it.
        """
        functions: tuple[Function, ...] = self.table.functions if self.table.usable else ()
        starts = np.searchsorted(self.numbers, [f.start_line for f in functions]).tolist()
        names = ["", *(f.name for f in functions)]
        edges = [0, *starts, len(self.lines)]
        return [(name, a, b) for name, a, b in zip(names, edges, edges[1:], strict=False) if b > a or name]

    def line_of(self, number: int) -> int:
        """Index into ``lines`` of what shows line ``number`` of the file (the statement it belongs to)."""
        return max(0, int(np.searchsorted(self.numbers, number, side="right")) - 1)


def snapshot(text: str, table: FunctionTable | None = None, *, structure: bool = False, sha256: str = "") -> Snapshot:
    """A snapshot of decoded text; ``table`` and ``sha256`` are computed when the caller does not have them."""
    table = parse_whole(text) if table is None else table
    digest = sha256 or decode(text.encode("utf-8", "surrogatepass")).sha256
    if structure:
        lines, numbers = structure_only(text)
    else:
        lines = split_lines(text)
        numbers = np.arange(1, len(lines) + 1, dtype=np.int32)
    return Snapshot(digest, lines, numbers, table, structure)
