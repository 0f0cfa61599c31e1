"""The child process of a long open: ``python -m app.open_job STORE PATH LAUNCH STATUS``.

It fills the store and keeps STATUS current; it stops when the cancel file appears beside STATUS.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from analysis.errors import SwimscopeError
from analysis.store import Store
from app.jobs import HEARTBEAT_S, Progress, cancel_file, write_status

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
            self.finish("running", share, what)

    def finish(self, state: str, share: float = 1.0, stage: str = "", message: str = "") -> None:
        """Write a status."""
        write_status(self._file, Progress(state, share, stage, message, self._began_s))  # type: ignore[arg-type]

    def beat(self) -> None:
        """Touch the status for ever, so that others see the child is alive during one long step."""
        while True:
            time.sleep(HEARTBEAT_S)
            if self._file.exists():
                os.utime(self._file)


def main(arguments: list[str]) -> int:
    """Open one capture; 0 when it is in the store."""
    store_root, source, launch, status = arguments
    reporter = Reporter(Path(status))
    reporter.finish("running", 0.0, "starting")
    threading.Thread(target=reporter.beat, daemon=True).start()
    try:
        Store(store_root).open(source, int(launch), reporter)
    except Cancelled:
        reporter.finish("cancelled", 0.0)
        return 1
    except SwimscopeError as error:
        reporter.finish("failed", 0.0, message=str(error))
        return 1
    reporter.finish("done")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
