"""What has every child process in common? What it is asked for, its bounds, its status, and that it can be stopped."""

from __future__ import annotations

import errno
import json
import os
import resource
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import LimitError, SwimscopeError
from app.work.jobs import HEARTBEAT_S, Progress, State, cancel_file, write_status

MIN_STEP_S = 0.15
"""Status is written at most this often."""


class Cancelled(Exception):
    """The person asked to stop."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the parent asks for, see :class:`app.work.jobs.Job`; ``memory_bytes`` and ``time_s`` bound this process."""

    status: str
    store: str
    source: str
    launch: int
    content: str
    outcomes: str
    analysis: str
    parameters: dict[str, Any]
    memory_bytes: int
    time_s: float


def bound_memory(limit_bytes: int) -> None:
    """Let this process have at most so much address space: what needs more fails with MemoryError."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = limit_bytes if hard == resource.RLIM_INFINITY else min(limit_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def out_of_memory(error: BaseException | None) -> bool:
    """Whether ``error`` came of the bound: numpy and Python say MemoryError, the system ENOMEM."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        error = error.__cause__
    return False


def too_large(limit_bytes: int) -> LimitError:
    """The error for a capture that needs more memory than :func:`bound_memory` set."""
    return LimitError(
        f"the capture needs more than the {limit_bytes / 1e9:.1f} GB that a background process may use for files of this "
        "size (job_memory_max_bytes); its files may be damaged, or claim more than they hold"
    )


class Reporter:
    """Progress callback of the store: writes the status, raises :class:`Cancelled` when asked to stop."""

    def __init__(self, status_file: Path, time_s: float = float("inf")) -> None:
        self._file = status_file
        self._time_s = time_s
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
        """Touch the status indefinitely and end a process that takes too long; once ``stop_at_once`` is set, a cancel
        ends it here too."""
        while True:
            time.sleep(HEARTBEAT_S / 4)
            if time.time() - self._began_s > self._time_s:
                self.say("failed", message=f"it took longer than {self._time_s:g} s (job_time_max_s) and was stopped")
                os._exit(1)
            if stop_at_once.is_set() and cancel_file(self._file).exists():
                self.say("cancelled", 0.0)
                os._exit(1)  # numba and numpy loops cannot be interrupted; outcomes are written in one step
            if self._file.exists():
                os.utime(self._file)


def run(arguments: list[str], do: Callable[[Work, Reporter, threading.Event], None]) -> int:
    """Run one job within its bounds; 0 when its result is on disk. ``do`` sets the event once a cancel may end it."""
    work = Work(**json.loads(arguments[0]))
    bound_memory(work.memory_bytes)
    reporter = Reporter(Path(work.status), work.time_s)
    reporter.say("running", 0.0, "starting")
    computing = threading.Event()
    threading.Thread(target=reporter.beat, args=(computing,), daemon=True).start()
    try:
        do(work, reporter, computing)
    except Cancelled:
        reporter.say("cancelled", 0.0)
        return 1
    except (MemoryError, OSError, SwimscopeError) as error:
        known = too_large(work.memory_bytes) if out_of_memory(error) else error
        if not isinstance(known, SwimscopeError):
            raise
        reporter.say("failed", 0.0, message=str(known))
        return 1
    reporter.say("done")
    return 0
