"""A large file in one pass: top-level sections, with the long plain lists read as columns on the way.

The usual way decodes the top level first and each section after that, which means to go over every byte twice. Here the
compiled scanners read the lists of the plan where they lie and tell where they end. What they refuse, and every other
section, is checked by the decoder and kept undecoded. A file that is not quite plain (or not JSON) gives None, and the
usual way decides what it is and words the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from analysis.formats.join.rows import RowFormat
from analysis.formats.registry import Sections
from analysis.formats.text.reading import Text
from analysis.formats.text.scan import Keys, scan_rows, scan_streams

WORTH_BYTES = 32 << 20
"""Files shorter than this are decoded before the compiled scanners would have been loaded."""
MAX_KEY_BYTES = 64
Plan: TypeAlias = Mapping[str, RowFormat | Keys]
"""Which top-level lists are number rows or streams of objects, and of which form."""


class _Unusual(Exception):
    """The text is not of the plain form the walk is for."""


def walk(text: Text, plan: Plan, worth_bytes: int | None = None) -> Sections | None:
    """The sections of a JSON object; None where the usual way has to read it.

    Args:
        text: the whole file.
        plan: the long lists to look for.
        worth_bytes: files shorter than this are left to the usual way (:data:`WORTH_BYTES` by default).

    Lists that were read on the way are in ``rows`` and ``streams`` of the result.
    """
    if len(text) < (WORTH_BYTES if worth_bytes is None else worth_bytes):
        return None
    try:
        return _Walk(text, plan).sections()
    except (_Unusual, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class _Walk:
    def __init__(self, text: Text, plan: Plan) -> None:
        from analysis.formats.text import scan_kernel

        self._kernel = scan_kernel
        self._data: NDArray[np.uint8] = text.padded()
        self._view = self._data.data
        self._end = len(text)
        self._plan = plan
        self._found = Sections()

    def sections(self) -> Sections:
        at = self._expect(self._blank(0), b"{")
        while True:
            at, key = self._key(self._blank(at))
            at = self._blank(self._expect(self._blank(at), b":"))
            after = self._value(key, at)
            self._found[key] = msgspec.Raw(self._view[at:after])
            at = self._blank(after)
            if self._data[at] == ord("}"):
                break
            at = self._expect(at, b",")
        if self._blank(at + 1) != self._end:
            raise _Unusual
        return self._found

    def _blank(self, at: int) -> int:
        return int(self._kernel.blank(self._data, at))

    def _expect(self, at: int, byte: bytes) -> int:
        if self._data[at] != byte[0]:
            raise _Unusual
        return at + 1

    def _key(self, at: int) -> tuple[int, str]:
        """(position after the key, key): plain ASCII, met once."""
        begin = self._expect(at, b'"')
        name, quote, _ = bytes(self._view[begin : begin + MAX_KEY_BYTES]).partition(b'"')
        if not quote or b"\\" in name or not name.isascii() or not name.decode("ascii").isprintable():
            raise _Unusual
        key = name.decode("ascii")
        if key in self._found:
            raise _Unusual
        return begin + len(name) + 1, key

    def _value(self, key: str, at: int) -> int:
        """Position after the value of ``key``; it is read as columns when it is in the plan and as plain as that."""
        form = self._plan.get(key)
        if isinstance(form, RowFormat):
            rows = scan_rows(self._data, at, form)
            if rows is not None:
                self._found.rows[key], after = rows
                return after
        elif form is not None:
            streams = scan_streams(self._data, at, form)
            if streams is not None:
                self._found.streams[key], after = streams
                return after
        after = int(self._kernel.skip(self._data, at))
        if after <= at:
            raise _Unusual
        msgspec.json.decode(self._view[at:after], type=msgspec.Raw)
        return after
