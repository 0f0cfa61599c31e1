"""Every input format behind one interface: ``load(path, launch=0) -> Capture``.

A format recognises its files by structure, never by name (:mod:`analysis.formats.registry`); :data:`FORMATS` lists
them. Reading is :mod:`~analysis.formats.loading`, joining :mod:`~analysis.formats.join.assemble`.
"""

from __future__ import annotations

from analysis.formats.known import FORMATS, recognise
from analysis.formats.loading import load, load_inputs
from analysis.formats.registry import Format, Shape

__all__ = ["FORMATS", "Format", "Shape", "load", "load_inputs", "recognise"]
