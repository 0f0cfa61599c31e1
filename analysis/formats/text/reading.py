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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError, LimitError
from analysis.formats.text.buffers import zeros

T = TypeVar("T")
Repeated: TypeAlias = Callable[[str, msgspec.Raw], None]
"""Called with a key that is named again and the value that is left out."""
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BETWEEN = re.compile(rb'[\s,{]*"(?:[^"\\]|\\.)*"\s*:\s*')
MAX_EXPANDED_BYTES = 4 << 30
"""Upper bound for what one gzip file may expand to."""
MAX_GZIP_RATIO = 200
"""Upper bound for unpacked / packed size past :data:`RATIO_FREE_BYTES`; captures reach about a tenth of it."""
RATIO_FREE_BYTES = 1 << 20
_PACKED_BYTES = 1 << 18
GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 24
_WHOLE_BYTES = 1 << 20
"""Lists up to this size are taken apart by the decoder, longer ones by the compiled scanner."""
_BATCH_ROWS = 1 << 14
MAX_DAMAGED_ROWS = 100_000
"""A list in which more rows do not fit is not looked at any further: the rest is counted."""
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


def expand(text: Text, source: str, limit: int | None = None) -> Text:
    """JSON text of a file: gzip undone, byte-order mark removed.

    Raises:
        InputError: broken gzip, empty file, or text in UTF-16.
        LimitError: gzip expands beyond ``limit`` (:data:`MAX_EXPANDED_BYTES`), or by more than :data:`MAX_GZIP_RATIO`.
    """
    if text.view[:2] == GZIP_MAGIC:
        text = _gunzip(text, source, MAX_EXPANDED_BYTES if limit is None else limit)
    head = bytes(text.view[:3])
    if head == b"\xef\xbb\xbf":
        text = Text(text.buffer, text.begin + 3, text.end)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(source, "byte 0", "the text is UTF-16, JSON files must be UTF-8", "Convert it to UTF-8")
    if not re.search(rb"\S", text.view):
        raise InputError(source, "", "the file is empty", _RECAPTURE)
    return text


def _gunzip(text: Text, source: str, limit: int) -> Text:
    """The expanded text; stops as soon as a limit is passed, so memory stays near the limit."""
    packed = text.view
    parts: list[bytes] = []
    total = at = 0
    machine: Any = None
    while at < len(packed) or machine is not None:
        if machine is None:
            if bytes(packed[at : at + 2]) != GZIP_MAGIC:
                break
            machine, waiting = zlib.decompressobj(wbits=31), b""
        if not waiting:
            waiting, at = bytes(packed[at : at + _PACKED_BYTES]), min(len(packed), at + _PACKED_BYTES)
        try:
            part = machine.decompress(waiting, _CHUNK_BYTES)
        except zlib.error as error:
            raise InputError(source, f"after {total} bytes", f"broken gzip: {error}", _RECAPTURE) from error
        total += len(part)
        _check_expansion(source, total, at - len(machine.unconsumed_tail), limit)
        parts.append(part)
        waiting = machine.unconsumed_tail
        if machine.eof:
            at -= len(machine.unused_data)
            machine = None
        elif not part and not waiting and at >= len(packed):
            raise InputError(source, f"after {total} bytes", "the gzip stream is cut off", _RECAPTURE)
    buffer = zeros((total + PAD_BYTES,), np.uint8)
    end = 0
    for part in parts:
        buffer[end : end + len(part)] = np.frombuffer(part, np.uint8)
        end += len(part)
    return Text(buffer, 0, end)


def _check_expansion(source: str, total: int, read: int, limit: int) -> None:
    if total > limit:
        raise LimitError(f"{source}: gzip expands to more than MAX_EXPANDED_BYTES = {limit:,} bytes: expand it first")
    if total > RATIO_FREE_BYTES and total > MAX_GZIP_RATIO * max(1, read):
        raise LimitError(
            f"{source}: gzip expands to more than MAX_GZIP_RATIO = {MAX_GZIP_RATIO} times its size, as no capture does: "
            "check the file, or expand it first"
        )


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


def sections(
    data: memoryview | msgspec.Raw, source: str, place: str = "", repeated: Repeated | None = None
) -> dict[str, msgspec.Raw]:
    """Top-level keys of a JSON object with their undecoded values (views of ``data``, no copy).

    A bare list comes back under the key ``""``. A key that is named twice has its first value; ``repeated`` is called
    with the key and each value that is left out.
    """
    view = memoryview(data)
    if re.match(rb"\s*\[", view):
        return {"": decode(view, msgspec.Raw, source, place)}
    found = decode(view, dict[str, msgspec.Raw], source, place)
    return _first_values(view, found, repeated)


def _first_values(view: memoryview, found: dict[str, msgspec.Raw], repeated: Repeated | None) -> dict[str, msgspec.Raw]:
    """``found`` with the first value of every key: the decoder keeps the last, so what lies between the values it kept
    holds the earlier ones."""
    base = np.frombuffer(view, np.uint8).ctypes.data if len(view) else 0
    places = sorted((np.frombuffer(memoryview(raw), np.uint8).ctypes.data - base, key) for key, raw in found.items())
    at, earlier = 0, False
    for begin, key in places:
        earlier |= _BETWEEN.fullmatch(view, at, begin) is None
        at = begin + len(memoryview(found[key]))
    if not earlier and re.fullmatch(rb"\s*\}\s*", view[at:] if found else b"}"):
        return found
    first: dict[str, msgspec.Raw] = {}
    for key, raw in _pairs(view):
        if key not in first:
            first[key] = raw
        elif repeated is not None:
            repeated(key, raw)
    return first


def _pairs(view: memoryview) -> Iterator[tuple[str, msgspec.Raw]]:
    """Keys and values of a JSON object that was decoded before, in file order, repeated keys included."""
    from analysis.formats.text import scan_kernel as kernel

    text = bytes(view)
    data = Text.of(text).padded()
    at = kernel.blank(data, 0) + 1
    while True:
        at = kernel.blank(data, at)
        word = _STRING.match(text, at)
        if word is None:
            return
        key = msgspec.json.decode(word[0], type=str)
        begin = kernel.blank(data, kernel.blank(data, word.end()) + 1)
        end = kernel.skip(data, begin)
        yield key, msgspec.Raw(data[begin:end].tobytes().rstrip())
        at = kernel.blank(data, end)
        if data[at] == ord(","):
            at += 1


def text_of(raw: msgspec.Raw) -> memoryview:
    """The undecoded bytes of a section."""
    return memoryview(raw)


def is_list(raw: msgspec.Raw | None) -> bool:
    """Whether a section is a JSON list."""
    return raw is not None and bytes(memoryview(raw)[:1]) == b"["


def elements(raw: bytes | msgspec.Raw, source: str, place: str) -> list[msgspec.Raw]:
    """Undecoded elements of a JSON list."""
    return decode(raw, list[msgspec.Raw], source, place)


def batches(raw: msgspec.Raw, source: str, place: str) -> Iterator[tuple[int, int, Callable[[], list[Any]]]]:
    """A JSON list in batches: (index of the first element, number of elements, what gives their undecoded JSON texts).

    Keeps the number of Python objects alive at once, and so the peak memory, independent of the length of the list.
    """
    if len(memoryview(raw)) <= _WHOLE_BYTES:
        whole = elements(raw, source, place)
        yield 0, len(whole), lambda: whole
        return
    first = 0
    text = bytes(memoryview(raw))
    for bounds in _element_bounds(text):
        yield first, len(bounds), partial(_slices, text, bounds)
        first += len(bounds)


def _slices(text: bytes, bounds: NDArray[np.int64]) -> list[Any]:
    return [text[begin:end] for begin, end in bounds.tolist()]


def count_elements(raw: msgspec.Raw, limit: int | None = None) -> int:
    """Number of elements of a JSON list; at ``limit`` or more the counting stops."""
    view = memoryview(raw)
    if len(view) <= _WHOLE_BYTES:
        return len(msgspec.json.decode(raw, type=list[msgspec.Raw]))
    total = 0
    for bounds in _element_bounds(bytes(view)):
        total += len(bounds)
        if limit is not None and total >= limit:
            break
    return total


def _element_bounds(text: bytes) -> Iterator[NDArray[np.int64]]:
    """Begin and end of the elements of a JSON list that was decoded before, in blocks of at most ``_BATCH_ROWS``."""
    from analysis.formats.text import scan_kernel as kernel

    data = Text.of(text).padded()
    state, at = kernel.FULL, 1
    while state == kernel.FULL:
        bounds = np.empty((_BATCH_ROWS, 2), np.int64)
        state, at, count = kernel.split(data, at, bounds)
        if count:
            yield bounds[:count]


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


def whole(value: object) -> int | None:
    """As :func:`integer`, and a float without a fraction (``5e7``); None beyond ±2^62, where no number of a file is."""
    number = int(value) if isinstance(value, float) and value.is_integer() else integer(value)
    return number if number is not None and -(1 << 62) < number < 1 << 62 else None


def integer(value: object) -> int | None:
    """An integer given as JSON number or decimal string; None for anything else (booleans and floats included)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,40}", value):
        return int(value)
    return None
