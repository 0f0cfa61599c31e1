"""The child process of a long answer about a dump: ``python -m app.passes.child WORK``, see :mod:`app.work.reporting`.

It writes the answer to the cache on disk that the server reads.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from analysis.files import NoRoomError
from app.compiler.pending import DISK_ERRORS
from app.passes.work import Work, compute, disk
from app.work import reporting


def main(arguments: list[str]) -> int:
    """Run one job; 0 when its answer is kept."""
    return reporting.run(arguments, _do)


def _do(asked: reporting.Work, reporter: reporting.Reporter, computing: threading.Event) -> None:
    given = asked.parameters
    work = Work(asked.analysis, Path(asked.source), given["label"], given["key"], given["parameters"])
    computing.set()
    folder = Path(given["folder"])
    with disk(folder) as cache:
        data = compute(work, cache.get, reporter)
        try:
            cache.set(work.key, data)
        except DISK_ERRORS as error:
            raise NoRoomError(folder, len(data), f"the answer about {work.label}") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
