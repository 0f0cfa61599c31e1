"""How does a child process say how far it is, and notice that it should stop?"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from app.work.jobs import HEARTBEAT_S, Progress, State, cancel_file, write_status

MIN_STEP_S = 0.15
"""Status is written at most this often."""


class Cancelled(Exception):
    """The person asked to stop."""


class Reporter:
    """Progress callback of the store: writes the status, raises :class:`Cancelled` when asked to stop."""

    def __init__(self, status_file: Path) -> None:
        self._file = status_file
        self._began_s = time.time()
        self._written_s = 0.0

    def __call__(self, share: float, what: str) -> None:
        if cancel_file(self._file).exists():
            raise Cancelled
        now = time.monotonic()
        if now - self._written_s >= MIN_STEP_S:
            self._written_s = now
            self.say("running", share, what)

    def say(self, state: State, share: float = 1.0, stage: str = "", message: str = "") -> None:
        """Write a status."""
        ended_s = 0.0 if state == "running" else time.time()
        write_status(self._file, Progress(state, share, stage, message, self._began_s, ended_s))

    def beat(self, stop_at_once: threading.Event) -> None:
        """Touch the status for ever; once ``stop_at_once`` is set, a cancel ends the process here."""
        while True:
            time.sleep(HEARTBEAT_S / 4)
            if stop_at_once.is_set() and cancel_file(self._file).exists():
                self.say("cancelled", 0.0)
                os._exit(1)  # compiled loops cannot be interrupted; outcomes are written in one step
            if self._file.exists():
                os.utime(self._file)
