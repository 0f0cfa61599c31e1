"""The bytes of a trace file, plain or gzip: once through in pieces, and any stretch again for the details of one event."""

from __future__ import annotations

import io
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

from analysis.errors import InputError, LimitError

GZIP_MAGIC = b"\x1f\x8b"
MAX_EXPANDED_BYTES = 8 << 30
"""Upper bound for what one gzip file may expand to."""
_PIECE = 1 << 20
_CHECKPOINT_BYTES = 32 << 20


class Stream:
    """A file's text from begin to end; ``damage`` says in words where a gzip stream broke off."""

    def __init__(self, path: Path, limit: int = MAX_EXPANDED_BYTES, text: bytes | None = None) -> None:
        self.path, self._limit = path, limit
        try:
            self._file: IO[bytes] = path.open("rb", buffering=0) if text is None else io.BytesIO(text)
            self._head = self._file.read(2) or b""
            stat = os.fstat(self._file.fileno()) if text is None else None
            self.size_bytes, self.mtime_ns = (stat.st_size, stat.st_mtime_ns) if stat else (len(text or b""), 0)
        except OSError as error:
            raise InputError(
                str(path), "", f"cannot be read: {error.strerror or error}", "Check path and rights"
            ) from error
        self.gzip = self._head == GZIP_MAGIC
        self._machine = zlib.decompressobj(wbits=31) if self.gzip else None
        self._rest = self._head
        self.expanded = 0
        self.damage = ""

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def raw_position(self) -> int:
        """Bytes of the file consumed so far."""
        return self._file.tell()

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes of text; empty at the end.

        Raises:
            LimitError: gzip expands beyond the limit.
        """
        if self._machine is None:
            data, self._rest = self._rest + (self._file.read(size - len(self._rest)) or b""), b""
            self.expanded += len(data)
            return data
        while not self.damage:
            if self._machine.eof:
                self._rest = (self._machine.unused_data or b"") + self._rest
                self._rest = self._rest or self._file.read(_PIECE) or b""
                if self._rest[:2] != GZIP_MAGIC:
                    return b""
                self._machine = zlib.decompressobj(wbits=31)
            given = self._machine.unconsumed_tail or self._rest or self._file.read(_PIECE) or b""
            if not self._machine.unconsumed_tail:
                self._rest = b""
            if not given:
                self.damage = "the gzip stream is cut"
                return b""
            try:
                data = self._machine.decompress(given, size)
            except zlib.error as error:
                self.damage = f"the gzip stream is damaged ({error})"
                return b""
            self.expanded += len(data)
            if self.expanded > self._limit:
                raise LimitError(f"{self.path.name}: gzip expands beyond {self._limit:,} bytes (limit of a trace file)")
            if data:
                return data
        return b""


@dataclass
class Source:
    """Where the events of a trace are read again.

    Args:
        path: the file.
        size_bytes, mtime_ns: what it was when it was read.
        text: the text itself where it was made from a log and is in no file.
    """

    path: Path
    size_bytes: int
    mtime_ns: int
    text: bytes | None = field(default=None, repr=False)
    _blocks: list[tuple[int, bytes]] = field(default_factory=list, repr=False)

    def read(self, offset: int, size: int) -> bytes:
        """``size`` bytes of text from ``offset`` on (offsets of the unpacked text).

        Raises:
            InputError: the file is gone or another one than when it was read.
        """
        if self.text is not None:
            return self.text[offset : offset + size]
        try:
            stat = self.path.stat()
        except OSError as error:
            raise InputError(
                self.path.name, "", f"cannot be read: {error.strerror or error}", "Restore the file"
            ) from error
        if (stat.st_size, stat.st_mtime_ns) != (self.size_bytes, self.mtime_ns):
            raise InputError(self.path.name, "", "the file changed since it was opened", "Open it again")
        with Stream(self.path) as stream:
            if not stream.gzip:
                with self.path.open("rb") as file:
                    file.seek(offset)
                    return file.read(size)
            return self._unpacked(stream, offset, size)

    def read_many(self, places: list[tuple[int, int]]) -> list[bytes]:
        """Several stretches, in ascending order of offset, in one pass over the file."""
        if not places:
            return []
        first = places[0][0]
        span = places[-1][0] + places[-1][1] - first
        if span <= _CHECKPOINT_BYTES:
            text = self.read(first, span)
            return [text[offset - first : offset - first + size] for offset, size in places]
        middle = len(places) // 2
        if middle:
            return self.read_many(places[:middle]) + self.read_many(places[middle:])
        return [self.read(*places[0])]

    def _unpacked(self, stream: Stream, offset: int, size: int) -> bytes:
        """From the last unpacked block if it holds the place, else by unpacking from the file's begin on."""
        for begin, block in self._blocks:
            if begin <= offset and offset + size <= begin + len(block):
                return block[offset - begin : offset - begin + size]
        position, parts, kept = 0, [], 0
        while position < offset + max(size, _CHECKPOINT_BYTES // 2):
            data = stream.read(_PIECE)
            if not data:
                break
            if position + len(data) > offset:
                parts.append(data)
                kept += len(data)
            position += len(data)
        block = b"".join(parts)
        begin = position - kept
        self._blocks[:] = [(begin, block)]
        return block[offset - begin : offset - begin + size]
