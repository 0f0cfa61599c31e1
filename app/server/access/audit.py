"""Who did what, when? ``audit.log`` in the data directory: a JSON object per line, written by all workers, rotated."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cachetools import TTLCache

KEPT = 5
"""Rotated files: ``audit.log.1`` is the newest."""
SAID_FOR_S = 3_600.0
log = logging.getLogger("swimscope")


class Audit:
    """The audit log of a data directory; what cannot be written there goes to the server's log.

    Args:
        folder: the data directory.
        max_bytes: size at which the file is rotated.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.file = folder / "audit.log"
        self._max_bytes = max_bytes
        self._said: TTLCache[tuple[Any, ...], bool] = TTLCache(10_000, SAID_FOR_S)
        self._lock = threading.Lock()

    def write(self, event: str, **facts: Any) -> None:
        """Add a line; equal facts are written again each time."""
        entry = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        line = json.dumps(entry).encode() + b"\n"
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.with_name("audit.lock").open("ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._rotate(len(line))
                with self.file.open("ab") as out:
                    out.write(line)
        except OSError as error:
            log.warning("the audit log cannot be written (%s): %s", error.strerror or error, line.decode().strip())

    def write_once(self, event: str, **facts: Any) -> None:
        """Add a line unless this process wrote the same within the last hour: every request of a page signs in."""
        key = (event, *sorted(facts.items()))
        with self._lock:
            if key in self._said:
                return
            self._said[key] = True
        self.write(event, **facts)

    def _rotate(self, more_bytes: int) -> None:
        try:
            if self.file.stat().st_size + more_bytes <= self._max_bytes:
                return
        except FileNotFoundError:
            return
        for number in range(KEPT - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                self.file.with_name(f"audit.log.{number}").replace(self.file.with_name(f"audit.log.{number + 1}"))
        self.file.replace(self.file.with_name("audit.log.1"))


def day(seconds: float) -> str:
    """A time as people write it; "" for 0."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds)) if seconds else ""
