"""Has somebody guessed too often? Wrong sign-ins per address and per user, counted by all workers together in small files."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

MOST_IN_MEMORY = 10_000
Key = tuple[str, int]
"""What is counted, and how many wrong attempts it may have within the window."""


class Attempts:
    """Times of attempts that were wrong, or are being checked now, by key.

    Args:
        folder: where the files are; made on first use. Where it cannot be written, this process counts for itself.
        window_s: how long an attempt counts.
    """

    def __init__(self, folder: Path, window_s: float) -> None:
        self._folder = folder
        self._window_s = window_s
        self._memory: dict[str, list[float]] = {}
        self._lock = threading.Lock()

    def begin(self, keys: Sequence[Key]) -> float:
        """Count an attempt under every key, before it is checked: attempts at the same time count each other.

        Returns:
            0, or the seconds to wait because one of the keys has too many; then the attempt is not to be checked.
        """
        for at, (key, most) in enumerate(keys):
            wait_s = self._change(key, most)
            if wait_s:
                self.take_back(keys[:at])
                return wait_s
        return 0.0

    def take_back(self, keys: Sequence[Key]) -> None:
        """The attempt that began last under ``keys`` was right: it does not count."""
        for key, _most in keys:
            self._change(key, None)

    def tidy(self) -> None:
        """Remove the files of attempts that no longer count."""
        limit = time.time() - self._window_s
        for file in self._folder.glob("*.json"):
            with contextlib.suppress(OSError):
                if file.stat().st_mtime < limit:
                    file.unlink()

    def _change(self, key: str, most: int | None) -> float:
        name = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self._folder / f"{name}.json", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return self._change_in_memory(name, most)
        with os.fdopen(handle, "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                times = [float(at) for at in json.loads(file.read() or "[]")]
            except ValueError:  # cut by a crash
                times = []
            times, wait_s = self._counted(times, most)
            try:
                file.seek(0)
                file.write(json.dumps(times))
                file.truncate()
                file.flush()
            except OSError:  # the disk is full
                return self._change_in_memory(name, most)
        return wait_s

    def _change_in_memory(self, name: str, most: int | None) -> float:
        with self._lock:
            if len(self._memory) >= MOST_IN_MEMORY and name not in self._memory:
                self._memory.pop(next(iter(self._memory)))
            self._memory[name], wait_s = self._counted(self._memory.get(name, []), most)
        return wait_s

    def _counted(self, times: list[float], most: int | None) -> tuple[list[float], float]:
        now = time.time()
        times = [at for at in times if now - self._window_s < at <= now]
        if most is None:
            return times[:-1], 0.0
        if len(times) >= most:
            return times, max(1.0, times[len(times) - most] + self._window_s - now)
        return [*times, now], 0.0
