"""What does a small file say now? Read again when it changes; one that cannot be read any more grants nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from app.server.settings import SettingsError

log = logging.getLogger("swimscope")
T = TypeVar("T")


class Watched(Generic[T]):
    """The parsed content of ``path``.

    Args:
        path: the file.
        parse: makes the value of its text; raises SettingsError.
        empty: the value while the file cannot be read or used: nobody gets in by it.

    Raises:
        SettingsError: the file cannot be read or used when the server starts.
    """

    def __init__(self, path: Path, parse: Callable[[str], T], empty: T) -> None:
        self._path = path.expanduser()
        self._parse = parse
        self._empty = empty
        self._lock = threading.Lock()
        self._seen = self._state()
        self._value = self._read()

    def value(self) -> T:
        """What the file says now."""
        with self._lock:
            state = self._state()
            if state != self._seen:
                self._seen = state
                try:
                    self._value = self._read()
                except SettingsError as error:
                    log.error("%s; until that is mended nothing of it counts", error)
                    self._value = self._empty
            return self._value

    def _state(self) -> tuple[int, ...]:
        try:
            stat = self._path.stat()
        except OSError:
            return ()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino, stat.st_ctime_ns

    def _read(self) -> T:
        try:
            return self._parse(self._path.read_text("utf-8"))
        except OSError as error:
            raise SettingsError(f"{self._path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise SettingsError(f"{self._path} is not UTF-8 text") from error
