"""Which formats exist: each entry recognises its files by structure and, for swimlanes, reads them.

A format is one module that builds one :class:`Format`; the tuple in :mod:`analysis.formats` lists them. Recognition
works on a :class:`Shape` (top-level keys and the keys of the first entries of lists), which both a full file and its
first kilobytes can give, so loading and discovery agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from analysis.formats.join.raw import RawSwimlane
from analysis.formats.report import Report

if TYPE_CHECKING:
    from analysis.formats.join.rows import RowColumns
    from analysis.formats.text.scan import Scanned

Kind: TypeAlias = Literal["swimlane", "deps", "name_map", "trace"]


class Sections(dict[str, msgspec.Raw]):
    """Top-level keys of a file with their undecoded values; a bare list is under the key ``""``.

    Lists that were read on the way (:mod:`analysis.formats.text.walk`) are in ``rows`` and ``streams`` as well.
    """

    def __init__(self, values: Mapping[str, msgspec.Raw] | None = None) -> None:
        super().__init__(values or {})
        self.rows: dict[str, RowColumns] = {}
        self.streams: dict[str, Scanned] = {}


Reader: TypeAlias = Callable[[Sections, str, Report], RawSwimlane]


@dataclass(frozen=True)
class Shape:
    """Structure of a JSON file as far as it has been seen.

    ``keys``: top-level keys (of a list: none). ``lists``: those that hold a list. ``rows``: per top-level list of objects, the keys of its first object;
    a bare top-level list is ``""``. ``flat_names``: every key is a decimal number and
    every value a string.
    """

    keys: frozenset[str]
    lists: frozenset[str]
    rows: Mapping[str, frozenset[str]]
    flat_names: bool = False


@dataclass(frozen=True)
class Format:
    """One container: what it holds, how it is recognised, how a swimlane is read."""

    name: str
    kind: Kind
    sniff: Callable[[Shape], bool]
    read: Reader | None = None
