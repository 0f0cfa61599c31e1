"""The child process of a long job: ``python -m app.work.child WORK``, with WORK as JSON (:class:`Work`).

Memory and time are bounded. It opens the capture into the store, runs the analysis (or prepares the task graph) when one is
named, and keeps STATUS current; a trace is read alone. It stops when the cancel file appears beside STATUS: at the next step of an open, at the next heartbeat of an
analysis.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from analysis.capture import Capture
from analysis.capture.store import Store
from analysis.errors import NotFoundError
from analysis.files import NoRoomError
from analysis.graph import prepared
from analysis.timeline.items import View, available_views
from analysis.timeline.query import stored_arrays, stored_key
from analysis.traces import kept as traces_kept
from analysis.traces.sources import named as traces_named
from app.work.outcomes import Analyses
from app.work.reporting import Reporter, Work, run

UNKNOWN = -1.0


def prepare_swimlane(store: Store, capture: Capture) -> None:
    """Make the index of the swimlane's first picture here: its memory and compiled loops stay out of the server."""
    view, with_setup = View.WORKER, True
    if not available_views(capture)[view]:
        store.derived(capture, stored_key(view, with_setup), lambda: stored_arrays(capture, view, with_setup))


def main(arguments: list[str]) -> int:
    """Run one job; 0 when its result is on disk."""
    return run(arguments, _do)


def _do(work: Work, reporter: Reporter, computing: threading.Event) -> None:
    """Open the capture into the store, and compute what is asked for beyond."""
    store = Store(work.store)
    if work.analysis == traces_kept.JOB:
        traces_kept.prepare(store, traces_named(Path(work.source), str(work.parameters["trace"])), reporter)
        return
    if work.content:
        known = store.stored(work.content)
        if known is None:
            raise NotFoundError("the content this page was made from is no longer stored; reload the page")
        capture = known
    else:
        capture = store.open(work.source, work.launch, reporter, needs_room=True)
    reporter.say("running", UNKNOWN, "preparing the swimlane")
    prepare_swimlane(store, capture)
    if not work.analysis:
        return
    reporter.say("running", UNKNOWN, f"computing {work.analysis} over {len(capture.records):,} records")
    computing.set()
    if work.analysis == prepared.JOB:
        prepared.prepare(store, capture, **work.parameters, say=reporter)
    else:
        outcome = Analyses(Path(work.outcomes))
        outcome.get(capture, work.analysis, work.parameters)
        if outcome.failure is not None:
            raise NoRoomError(Path(work.outcomes), outcome.failure, f"the result of {work.analysis}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
