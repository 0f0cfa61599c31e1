"""The child process that reads large maps: ``python -m app.memory.child STATUS STORE PATH 0 FOLDER KIND WORK``.

It keeps STATUS current, writes each map to the cache in FOLDER of WORK, and stops when asked to (see :mod:`app.work.child`).
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from analysis.errors import SwimscopeError
from app.memory.kept import compute, disk
from app.work.reporting import Cancelled, Reporter


def main(arguments: list[str]) -> int:
    """Run one job; 0 when every map is kept."""
    status, _store, source, _launch, _outcomes, _kind, given = arguments
    reporter = Reporter(Path(status))
    reporter.say("running", 0.0, "starting")
    computing = threading.Event()
    computing.set()
    threading.Thread(target=reporter.beat, args=(computing,), daemon=True).start()
    work = json.loads(given)
    try:
        with disk(Path(work["folder"])) as cache:
            for at, file in enumerate(work["files"]):
                reporter(at / len(work["files"]), f"reading {file}")
                compute(cache, Path(source) / file, work["chip"])
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
