"""What is in an upload? Files and archives, written below one folder: bounded, without links, never outside of it."""

from __future__ import annotations

import errno
import gzip
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import zstandard

from analysis.errors import InputError, LimitError
from app.runs.uploads.names import Names, shown

CHUNK_BYTES = 1 << 20
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst")
SMALL_BYTES = 16 << 20
"""The ratio limit counts from here on: a small file of spaces may pack very well."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large an upload may become; the settings of the same names."""

    max_bytes: int
    max_files: int
    max_ratio: float
    max_depth: int


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What was written: relative path → size."""

    files: dict[str, int]

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(self.files.values())


Progress = Callable[[int, str], None]
"""Called with (bytes written, name of the file) now and then; raise from it to cancel."""


class Unpacking:
    """Writes files below ``target`` within ``limits``; one object per upload, so that all of it counts together."""

    def __init__(self, target: Path, limits: Limits, progress: Progress) -> None:
        self._target = target
        self._limits = limits
        self._progress = progress
        self._names = Names(limits.max_depth)
        self._files: dict[str, int] = {}
        self._written = 0

    @property
    def unpacked(self) -> Unpacked:
        """What was written so far."""
        return Unpacked(dict(self._files))

    def add(self, source: Path, name: str) -> None:
        """One received file: an archive is unpacked, any other file is copied under ``name``.

        Raises:
            InputError: a damaged archive, a link or device in it, or a name that cannot be used.
            LimitError: more bytes, files, depth or expansion than the settings allow.
        """
        lower = name.casefold()
        if not lower.endswith(ARCHIVES):
            with source.open("rb") as plain:
                self._write(name, plain, None)
            return
        packed = max(source.stat().st_size, 1)
        entries = _zip_entries(source) if lower.endswith(".zip") else _tar_entries(source, lower)
        before = self._written
        with _damage(name):
            for inner, stream in entries:
                self._write(inner, stream, (packed, before))

    def _write(self, name: str, stream: IO[bytes], packed: tuple[int, int] | None) -> None:
        parts = self._names.add(name)
        if len(self._files) >= self._limits.max_files:
            raise LimitError(f"the upload holds more than {self._limits.max_files:,} files (upload_max_files)")
        path = self._target.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        size = 0
        with path.open("xb") as out:
            while chunk := stream.read(CHUNK_BYTES):
                size += len(chunk)
                self._written += len(chunk)
                self._check(name, packed)
                out.write(chunk)
                self._progress(self._written, shown(name))
        self._files["/".join(parts)] = size

    def _check(self, name: str, packed: tuple[int, int] | None) -> None:
        if self._written > self._limits.max_bytes:
            limit = self._limits.max_bytes
            raise LimitError(f"{shown(name)}: the upload has more than {limit:,} bytes (upload_max_unpacked_bytes)")
        if packed is not None and self._written - packed[1] > SMALL_BYTES:
            ratio = (self._written - packed[1]) / packed[0]
            if ratio > self._limits.max_ratio:
                raise LimitError(
                    f"{shown(name)}: unpacks to more than {self._limits.max_ratio:g} times its size (upload_max_ratio)"
                )


@contextmanager
def _damage(name: str) -> Iterator[None]:
    """Errors of the archive readers as messages."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        gzip.BadGzipFile,
        lzma.LZMAError,
        zstandard.ZstdError,
    ) as error:
        raise InputError(shown(name), "", f"the archive is damaged: {error}", "Pack and send it again") from error
    except (ValueError, struct.error, IndexError, OverflowError) as error:  # what readers say of impossible numbers
        raise InputError(shown(name), "", "the archive is damaged", "Pack and send it again") from error
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # a full disk, a file that cannot be made
            raise
        raise InputError(shown(name), "", "the archive is damaged", "Pack and send it again") from error
    except EOFError as error:
        raise InputError(shown(name), "", "the archive is cut off", "Send it again") from error
    except (NotImplementedError, RuntimeError) as error:  # an encrypted zip, or a method zipfile does not know
        raise InputError(shown(name), "", str(error), "Pack it without encryption, as deflate or stored") from error


def _zip_entries(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(source) as archive:
        for entry in archive.infolist():
            if entry.is_dir():
                continue
            kind = entry.external_attr >> 16 & 0o170000
            if kind not in (0, 0o100000):
                raise InputError(shown(entry.filename), "", "a link or device", "Pack regular files only")
            with archive.open(entry) as stream:
                yield entry.filename, stream


def _tar_entries(source: Path, lower: str) -> Iterator[tuple[str, IO[bytes]]]:
    with source.open("rb") as raw, _plain(raw, lower) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for entry in archive:
            if entry.isdir():
                continue
            if not entry.isreg():
                raise InputError(shown(entry.name), "", "a link or device", "Pack regular files only")
            inner = archive.extractfile(entry)
            if inner is not None:
                yield entry.name, inner


def _plain(raw: IO[bytes], lower: str) -> Any:
    """The tar stream inside a packed file."""
    if lower.endswith((".gz", ".tgz")):
        return gzip.GzipFile(fileobj=raw)
    if lower.endswith((".zst", ".tzst")):
        return zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    return raw
