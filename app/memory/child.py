"""The child process that reads large maps: ``python -m app.memory.child WORK``, see :mod:`app.work.reporting`.

It writes every answer to the cache on disk that the server reads.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from analysis.files import NoRoomError
from app.compiler.pending import DISK_ERRORS
from app.memory.kept import HISTORY_JOB, compute, compute_history, disk
from app.work import reporting


def main(arguments: list[str]) -> int:
    """Run one job; 0 when every answer is kept."""
    return reporting.run(arguments, _do)


def _do(asked: reporting.Work, reporter: reporting.Reporter, computing: threading.Event) -> None:
    given, source = asked.parameters, Path(asked.source)
    computing.set()
    folder = Path(given["folder"])
    with disk(folder) as cache:
        try:
            if asked.analysis == HISTORY_JOB:
                compute_history(
                    cache, source, given["key"], lambda done, of: reporter(done / of, f"pass {done:,} of {of:,}")
                )
                return
            for at, file in enumerate(given["files"]):
                reporter(at / len(given["files"]), f"reading {file}")
                compute(cache, source / file, given["chip"])
        except DISK_ERRORS as error:
            raise NoRoomError(folder, 0, "a memory map") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
