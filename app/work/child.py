"""The child process of a long job: ``python -m app.work.child STATUS STORE PATH LAUNCH [OUTCOMES ANALYSIS PARAMETERS]``.

It opens the capture into the store, runs the analysis (or prepares the task graph) when one is named, and keeps STATUS
current. It stops when the cancel file appears beside STATUS: at the next step of an open, at the next heartbeat of an
analysis.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

from analysis.capture import Capture
from analysis.capture.store import Store
from analysis.errors import SwimscopeError
from analysis.graph import prepared
from analysis.timeline.items import View, available_views
from analysis.timeline.query import stored_arrays, stored_key
from app.work.jobs import HEARTBEAT_S, Progress, State, cancel_file, write_status
from app.work.outcomes import Analyses

MIN_STEP_S = 0.15
"""Status is written at most this often."""
UNKNOWN = -1.0


class Cancelled(Exception):
    """The user asked to stop."""


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
        """Touch the status indefinitely; once ``stop_at_once`` is set, a cancel ends the process here."""
        while True:
            time.sleep(HEARTBEAT_S / 4)
            if stop_at_once.is_set() and cancel_file(self._file).exists():
                self.say("cancelled", 0.0)
                os._exit(1)  # numba and numpy loops cannot be interrupted; outcomes are written in one step
            if self._file.exists():
                os.utime(self._file)


def prepare_swimlane(store: Store, capture: Capture) -> None:
    """Make the index of the swimlane's first picture here: its memory and compiled loops stay out of the server."""
    view, with_setup = View.WORKER, True
    if not available_views(capture)[view]:
        store.derived(capture, stored_key(view, with_setup), lambda: stored_arrays(capture, view, with_setup))


def main(arguments: list[str]) -> int:
    """Run one job; 0 when its result is on disk."""
    status, store_root, source, launch, *analysis = arguments
    reporter = Reporter(Path(status))
    reporter.say("running", 0.0, "starting")
    computing = threading.Event()
    threading.Thread(target=reporter.beat, args=(computing,), daemon=True).start()
    try:
        store = Store(store_root)
        capture = store.open(source, int(launch), reporter)
        reporter.say("running", UNKNOWN, "preparing the swimlane")
        prepare_swimlane(store, capture)
        if analysis:
            outcomes, name, parameters = analysis
            reporter.say("running", UNKNOWN, f"computing {name} over {len(capture.records):,} records")
            computing.set()
            if name == prepared.JOB:
                prepared.prepare(store, capture, **json.loads(parameters), say=reporter)
            else:
                Analyses(Path(outcomes)).get(capture, name, json.loads(parameters))
    except Cancelled:
        reporter.say("cancelled", 0.0)
        return 1
    except SwimscopeError as error:
        reporter.say("failed", 0.0, message=str(error))
        return 1
    reporter.say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
