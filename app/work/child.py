"""The child process of a long job: ``python -m app.work.child STATUS STORE PATH LAUNCH [OUTCOMES ANALYSIS PARAMETERS]``.

It opens the capture into the store, runs the analysis (or prepares the task graph) when one is named, and keeps STATUS
current. It stops when the cancel file appears beside STATUS: at the next step of an open, at the next heartbeat of an
analysis.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from analysis.capture import Capture
from analysis.capture.store import Store
from analysis.errors import SwimscopeError
from analysis.timeline.items import View, available_views
from analysis.timeline.query import stored_arrays, stored_key
from app.graph import prepared as graph_kept
from app.work.outcomes import Analyses
from app.work.reporting import Cancelled, Reporter

UNKNOWN = -1.0


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
            if name == graph_kept.JOB:
                graph_kept.prepare(store, capture, **json.loads(parameters), say=reporter)
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
