"""One file, many columns: named numpy arrays written once and memory-mapped by every reader.

Layout: magic, length of the header (8 bytes, little endian), header (JSON: name → dtype, shape, offset; and the total
size), arrays at multiples of 64 bytes, magic again. A file that is cut off or was never finished is recognised by
size and by its last bytes. One mapping (one file descriptor) serves all columns.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"SWCOLS1\n"
_ALIGN = 64


class DamagedError(Exception):
    """The file is not a complete column file; callers rebuild it."""


def write(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write ``columns`` to ``path``; the caller renames the file into place.

    Nothing forces the data to the disk: after a power cut a file may be short, which :func:`read` notices.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in columns.items()}
    head, size = _header(arrays)
    with path.open("wb") as file:
        file.write(MAGIC + len(head).to_bytes(8, "little") + head)
        for array in arrays.values():
            file.write(b"\0" * (-file.tell() % _ALIGN))
            file.write(array.data.cast("B") if array.size else b"")
        file.write(b"\0" * (size - len(MAGIC) - file.tell()) + MAGIC)


def _header(arrays: Mapping[str, NDArray[Any]]) -> tuple[bytes, int]:
    """(header, size of the whole file); offsets depend on the header's length, so it is padded to a fixed size."""
    room = 64 + sum(len(name) * 6 + 160 for name in arrays)
    at = len(MAGIC) + 8 + room
    table: dict[str, Any] = {}
    for name, array in arrays.items():
        at += -at % _ALIGN
        table[name] = [array.dtype.str, list(array.shape), at]
        at += array.nbytes
    size = at + len(MAGIC)
    return json.dumps({"size": size, "columns": table}).encode().ljust(room), size


def read(path: Path) -> dict[str, NDArray[Any]]:
    """Read-only arrays that view the mapped file.

    Raises:
        DamagedError: the file is missing, cut off, or not a column file.
    """
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise DamagedError(f"{path}: {error}") from error
    start = len(MAGIC) + 8
    if mapped[: len(MAGIC)] != MAGIC or mapped[-len(MAGIC) :] != MAGIC:
        raise DamagedError(f"{path}: not a finished column file")
    try:
        head = json.loads(mapped[start : start + int.from_bytes(mapped[len(MAGIC) : start], "little")])
        if head["size"] != len(mapped):
            raise DamagedError(f"{path}: {len(mapped)} bytes instead of {head['size']}")
        return {
            name: np.ndarray(tuple(shape), np.dtype(dtype), buffer=mapped, offset=at)
            for name, (dtype, shape, at) in head["columns"].items()
        }
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path}: damaged header ({error})") from error
