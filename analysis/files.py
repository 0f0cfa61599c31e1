"""How is a file written so that it is there completely or not at all, and what is said when there is no room for it?"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from analysis.errors import SwimscopeError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


class NoRoomError(SwimscopeError):
    """The disk under a directory is full: the message says which, how much is needed and how much is free."""

    def __init__(self, folder: Path, needed_bytes: int, what: str, free: int | None = None) -> None:
        self.folder = folder
        self.what = what
        self.needed_bytes = needed_bytes
        super().__init__(
            f"{folder} has no room for {what}: {_size(needed_bytes)} needed, {_size(free_bytes(folder) if free is None else free)} free. "
            "Free space on that disk, lower store_max_bytes, or give data_dir a larger disk"
        )


class ReadOnlyError(NoRoomError):
    """A directory cannot be written: what is stored goes on, what must be written says so."""

    def __init__(self, folder: Path, needed_bytes: int, what: str) -> None:
        super().__init__(folder, needed_bytes, what, 0)
        self.args = (
            f"{folder} cannot be written, so there is no place for {what}. Make it writable, or give data_dir another place",
        )


def free_bytes(folder: Path) -> int:
    """Bytes that can still be written below ``folder``; 0 when it cannot be asked."""
    for place in (folder, *folder.parents):
        with contextlib.suppress(OSError):
            return shutil.disk_usage(place).free
    return 0


@contextlib.contextmanager
def room_for(folder: Path, needed_bytes: int, what: str) -> Iterator[None]:
    """Turn "no space left" (or an exhausted quota) met inside into :class:`NoRoomError`, "read-only" into :class:`ReadOnlyError`.

    Args:
        folder: the directory written to, named in the message.
        needed_bytes: size of what is being written.
        what: what is being written, in words.
    """
    free = free_bytes(folder)  # before part of it is taken
    try:
        yield
    except OSError as error:
        if error.errno in READ_ONLY and error.filename is not None and _is_below(error.filename, folder):
            raise ReadOnlyError(folder, needed_bytes, what) from error
        if error.errno not in NO_ROOM:
            raise
        raise NoRoomError(folder, needed_bytes, what, free) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Replace ``path`` by ``content`` in one step; the directory is made when it is not there.

    Raises:
        NoRoomError: the disk is full; ``path`` is as before.
        OSError: it cannot be written for another reason.
    """
    fresh = path.parent / f".{os.getpid()}-{uuid.uuid4().hex}.part"
    with room_for(path.parent, len(content), path.name):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fresh.write_bytes(content)
            fresh.replace(path)
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)


def _is_below(name: object, folder: Path) -> bool:
    """Whether the file an error names is one of ``folder``: a file that is only read says something else about itself."""
    return Path(os.fsdecode(str(name))).is_relative_to(folder)


def _size(count_bytes: int) -> str:
    return f"{count_bytes / 1e6:,.1f} MB" if count_bytes >= 100_000 else f"{count_bytes:,} bytes"
