"""Bytes in, JSON sections out: how files are read before anyone knows their format.

Every failure becomes one :class:`~analysis.errors.InputError` that names the file, the place and the remedy. Depth of
nesting is bounded by the decoder (it stops with an error, memory stays bounded), expansion of gzip by
:data:`MAX_EXPANDED_BYTES`.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError, LimitError
from analysis.formats.text.buffers import zeros

T = TypeVar("T")
MAX_EXPANDED_BYTES = 8 << 30
"""Upper bound for what one gzip file may expand to."""
GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 24
PAD_BYTES = 64
_RECAPTURE = "Capture the run again or copy the file once more"


@dataclass(frozen=True)
class Text:
    """Bytes of a file with zero bytes behind them, where the compiled scanners stop."""

    buffer: NDArray[np.uint8]
    begin: int
    end: int

    def __len__(self) -> int:
        return self.end - self.begin

    @property
    def view(self) -> memoryview:
        """The bytes."""
        return self.buffer.data[self.begin : self.end]

    def padded(self) -> NDArray[np.uint8]:
        """The bytes and the zero bytes behind them."""
        return self.buffer[self.begin :]

    @classmethod
    def of(cls, data: bytes) -> Text:
        """A copy of ``data``."""
        buffer = zeros((len(data) + PAD_BYTES,), np.uint8)
        buffer[: len(data)] = np.frombuffer(data, np.uint8)
        return cls(buffer, 0, len(data))


def read_file(path: Path) -> Text:
    """Content of ``path`` as it lies on disk.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with path.open("rb", buffering=0) as file:
            return _read_all(file)
    except OSError as error:
        raise InputError(
            str(path), "", f"cannot be read: {error.strerror or error}", "Check path and rights"
        ) from error


def _read_all(file: FileIO) -> Text:
    """Everything up to the end of the file, which may grow or shrink meanwhile."""
    buffer = zeros((os.fstat(file.fileno()).st_size + 1 + PAD_BYTES,), np.uint8, filled=True)
    end = 0
    while True:
        if end + PAD_BYTES == len(buffer):
            buffer = np.concatenate((buffer, np.zeros(len(buffer), np.uint8)))
        count = file.readinto(buffer.data[end : len(buffer) - PAD_BYTES])
        if not count:
            buffer[end : end + PAD_BYTES] = 0
            return Text(buffer[: end + PAD_BYTES], 0, end)
        end += count


def expand(text: Text, source: str, limit: int = MAX_EXPANDED_BYTES) -> Text:
    """JSON text of a file: gzip undone, byte-order mark removed.

    Raises:
        InputError: broken gzip, empty file, or text in UTF-16.
        LimitError: gzip expands beyond ``limit``.
    """
    if text.view[:2] == GZIP_MAGIC:
        text = Text.of(_gunzip(bytes(text.view), source, limit))
    head = bytes(text.view[:3])
    if head == b"\xef\xbb\xbf":
        text = Text(text.buffer, text.begin + 3, text.end)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(source, "byte 0", "the text is UTF-16, JSON files must be UTF-8", "Convert it to UTF-8")
    if not re.search(rb"\S", text.view):
        raise InputError(source, "", "the file is empty", _RECAPTURE)
    return text


def _gunzip(data: bytes, source: str, limit: int) -> bytes:
    parts: list[bytes] = []
    total = 0
    rest = data
    while rest[:2] == GZIP_MAGIC:
        machine = zlib.decompressobj(wbits=31)
        while not machine.eof:
            try:
                part = machine.decompress(rest, _CHUNK_BYTES)
            except zlib.error as error:
                raise InputError(source, f"after {total} bytes", f"broken gzip: {error}", _RECAPTURE) from error
            total += len(part)
            if total > limit:
                raise LimitError(f"{source}: gzip expands to more than MAX_EXPANDED_BYTES = {limit} bytes")
            parts.append(part)
            rest = machine.unconsumed_tail
            if not part and not rest and not machine.eof:
                raise InputError(source, f"after {total} bytes", "the gzip stream is cut off", _RECAPTURE)
        rest = machine.unused_data
    return b"".join(parts)


def decode(raw: bytes | memoryview | msgspec.Raw, kind: type[T], source: str, place: str = "") -> T:
    """JSON → ``kind``.

    Raises:
        InputError: not JSON, cut off, nested too deep, or of another type.
    """
    try:
        return msgspec.json.decode(raw, type=kind)
    except RecursionError as error:
        raise InputError(source, place, "the JSON is nested too deep", _RECAPTURE) from error
    except msgspec.ValidationError as error:
        raise InputError(source, place, f"unexpected type: {error}", "Check which tool wrote the file") from error
    except msgspec.DecodeError as error:
        where = re.search(r"\(byte (\d+)\)", str(error))
        at = ", ".join(
            part for part in (place, f"byte {where[1]}" if where else f"of {len(memoryview(raw))} bytes") if part
        )
        reason = "the file is cut off" if "truncated" in str(error) else f"not valid JSON: {error}"
        raise InputError(source, at, reason, _RECAPTURE) from error
    except UnicodeDecodeError as error:
        raise InputError(source, place, f"not valid UTF-8: {error.reason}", _RECAPTURE) from error


def sections(data: memoryview, source: str) -> dict[str, msgspec.Raw]:
    """Top-level keys of a JSON object with their undecoded values (views of ``data``, no copy).

    A bare list comes back under the key ``""``.
    """
    if re.match(rb"\s*\[", data):
        return {"": decode(data, msgspec.Raw, source)}
    return decode(data, dict[str, msgspec.Raw], source)


def text_of(raw: msgspec.Raw) -> memoryview:
    """The undecoded bytes of a section."""
    return memoryview(raw)


def is_list(raw: msgspec.Raw | None) -> bool:
    """Whether a section is a JSON list."""
    return raw is not None and bytes(memoryview(raw)[:1]) == b"["


def elements(raw: bytes | msgspec.Raw, source: str, place: str) -> list[msgspec.Raw]:
    """Undecoded elements of a JSON list."""
    return decode(raw, list[msgspec.Raw], source, place)


def batches(raw: msgspec.Raw, source: str, place: str) -> Iterator[tuple[int, bytes | msgspec.Raw]]:
    """A long JSON list as several shorter ones: (index of the first element, JSON text of a list).

    Keeps the number of Python objects alive at once, and so the peak memory, independent of the length of the list.
    """
    if len(memoryview(raw)) <= _CHUNK_BYTES:
        yield 0, raw
        return
    parts = elements(raw, source, place)
    at = 0
    while at < len(parts):
        size, end = 0, at
        while end < len(parts) and size < _CHUNK_BYTES:
            size += len(memoryview(parts[end]))
            end += 1
        yield at, b"[" + b",".join(parts[at:end]) + b"]"
        at = end


def cut(raw: msgspec.Raw) -> Iterator[bytes | msgspec.Raw]:
    """A long JSON list of objects as several shorter ones, cut by looking for the key every object begins with.

    Needs no pass over the JSON, but may cut inside an object that holds the same key; such a piece is not valid JSON
    (a bracket or a quote stays open), so a caller that fails to decode one goes back to :func:`batches`.
    """
    view = memoryview(raw)
    first = re.match(rb'\[\s*(\{\s*"[^"\\]{1,64}")', view)
    if len(view) <= _CHUNK_BYTES or first is None:
        yield raw
        return
    text, marker, start = bytes(view), first[1], 1
    while len(text) - start > _CHUNK_BYTES:
        comma = text.rfind(b",", start, text.find(marker, start + _CHUNK_BYTES))
        if comma < 0:
            break
        yield b"[" + text[start:comma] + b"]"
        start = comma + 1
    yield b"[" + text[start:]


@contextlib.contextmanager
def paused_collector() -> Iterator[None]:
    """No cyclic garbage collection while millions of plain objects come into being (they hold no cycles)."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def small(raw: msgspec.Raw | None, source: str, place: str) -> Any:
    """A small section decoded as plain Python values; None when absent."""
    return None if raw is None else decode(raw, object, source, place)


def integer(value: object) -> int | None:
    """An integer given as JSON number or decimal string; None for anything else (booleans and floats included)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,40}", value):
        return int(value)
    return None
