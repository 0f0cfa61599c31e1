"""Which formats are there, and which of them is a file of this structure?"""

from __future__ import annotations

from analysis.formats.containers import cpm, cycles, deps, microseconds, name_map
from analysis.formats.registry import Format, Shape

FORMATS: tuple[Format, ...] = (cycles.FORMAT, microseconds.FORMAT, deps.FORMAT, name_map.FORMAT, cpm.FORMAT)
"""All formats; the first that recognises a file reads it."""


def recognise(shape: Shape) -> Format | None:
    """The format of a file of this structure, None when there is none."""
    return next((form for form in FORMATS if form.sniff(shape)), None)
