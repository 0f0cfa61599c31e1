"""Who reads captures that nobody has opened yet? One bounded process of low priority, one capture after the other.

``python -m app.work.reader STORE``: a line of JSON per capture on the standard input, a line of JSON per answer on the
standard output. A file that needs too much memory or time costs this process its life and no worker anything.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from analysis.capture.store import Store
from analysis.errors import SwimscopeError
from app.runs.facts import Facts, facts_of
from app.work.jobs import Limits
from app.work.reporting import bound_memory, out_of_memory, too_large

FIXED_S, BYTES_PER_S = 60.0, 1_000_000
"""Time for a capture: a fixed part, and its bytes at this rate."""
NICE = 15


class ReadingError(SwimscopeError):
    """A capture could not be read in the background; the message says why."""


class Reader:
    """The parent's side: starts the process when there is something to read.

    Args:
        store_root: the store that captures are read into.
        limits: what a background process may use.
    """

    def __init__(self, store_root: Path, limits: Limits) -> None:
        self._store_root = store_root
        self._limits = limits
        self._child: subprocess.Popen[bytes] | None = None

    def facts(self, source: Path, size_bytes: int) -> Facts:
        """The facts of the capture at ``source``, which is in the store afterwards.

        Raises:
            ReadingError: it cannot be read, or not with the memory and time allowed for files of its size.
        """
        child = self._running()
        memory = self._limits.memory_for(source)
        time_s = min(self._limits.time_s, FIXED_S + size_bytes / BYTES_PER_S)
        asked = json.dumps({"source": os.fsdecode(source), "memory_bytes": memory}) + "\n"
        assert child.stdin is not None
        assert child.stdout is not None
        line = b""
        try:
            child.stdin.write(asked.encode())
            child.stdin.flush()
            while not line.endswith(b"\n"):
                ready, _, _ = select.select([child.stdout], [], [], time_s)
                if not ready:
                    raise ReadingError(f"reading it took longer than {time_s:.0f} s and was stopped")
                part = os.read(child.stdout.fileno(), 65_536)
                if not part:
                    raise ReadingError(
                        "reading it ended the background process, perhaps for want of memory; the server's log may have details"
                    )
                line += part
        except (ReadingError, OSError) as error:
            self.close()
            raise (
                error if isinstance(error, ReadingError) else ReadingError(f"it could not be read: {error}")
            ) from error
        answer = json.loads(line)
        if "error" in answer:
            raise ReadingError(answer["error"])
        return Facts(**answer["facts"])

    def close(self) -> None:
        """End the process and give its memory back."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = subprocess.Popen(
                [sys.executable, "-m", "app.work.reader", str(self._store_root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[2],
            )
        return self._child


def main(arguments: list[str]) -> int:
    """Answer until the input ends, or until a capture needed too much memory."""
    os.nice(NICE)
    store = Store(arguments[0])
    for line in sys.stdin:
        asked = json.loads(line)
        bound_memory(asked["memory_bytes"])
        answer: dict[str, Any]
        try:
            answer = {"facts": asdict(facts_of(store.open(asked["source"], needs_room=True)))}
            spent = False
        except (MemoryError, OSError, SwimscopeError) as error:
            spent = out_of_memory(error)
            if not spent and not isinstance(error, SwimscopeError):
                raise
            answer = {"error": str(too_large(asked["memory_bytes"]) if spent else error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        if spent:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
