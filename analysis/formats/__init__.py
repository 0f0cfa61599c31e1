"""Every input format behind one door: ``load(path, launch=0) -> Capture``.

A format recognises its files by structure, never by name (:mod:`analysis.formats.registry`); :data:`FORMATS` lists
them. Reading is :mod:`~analysis.formats.loading`, joining :mod:`~analysis.formats.join.assemble`.
"""

from __future__ import annotations

from analysis.formats.containers import cpm, cycles, deps, microseconds, name_map
from analysis.formats.registry import Format, Shape

FORMATS: tuple[Format, ...] = (cycles.FORMAT, microseconds.FORMAT, deps.FORMAT, name_map.FORMAT, cpm.FORMAT)
"""All formats; the first that recognises a file reads it."""


def recognise(shape: Shape) -> Format | None:
    """The format of a file of this structure, None when there is none."""
    return next((form for form in FORMATS if form.sniff(shape)), None)


from analysis.formats.loading import load, load_inputs  # noqa: E402

__all__ = ["FORMATS", "Format", "Shape", "load", "load_inputs", "recognise"]
