"""The child process of a long answer about a dump: ``python -m app.passes.child STATUS STORE PATH 0 FOLDER KIND WORK``.

It keeps STATUS current, writes the answer to the cache in FOLDER, and stops when asked to (see :mod:`app.work.child`).
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from analysis.errors import SwimscopeError
from app.passes.work import Work, compute, disk
from app.work.reporting import Cancelled, Reporter


def main(arguments: list[str]) -> int:
    """Run one job; 0 when its answer is kept."""
    status, _store, source, _launch, _outcomes, kind, given = arguments
    reporter = Reporter(Path(status))
    reporter.say("running", 0.0, "starting")
    computing = threading.Event()
    computing.set()
    threading.Thread(target=reporter.beat, args=(computing,), daemon=True).start()
    asked = json.loads(given)
    work = Work(kind, Path(source), asked["label"], asked["key"], asked["parameters"])
    try:
        with disk(Path(asked["folder"])) as cache:
            cache.set(work.key, compute(work, cache.get, reporter))
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
