"""How does a long open go on while its page waits? One child process per capture; status as a small file.

The child fills the store on disk, so its memory is given back when it ends, any worker can then map the result, and
cancelling is safe. Every worker sees the same status files; a status whose heartbeat is older than
:data:`STALE_S` belongs to a dead child.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

State = Literal["idle", "running", "done", "failed", "cancelled"]
HEARTBEAT_S = 2.0
STALE_S = 20.0
POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an open is: ``fraction`` 0..1, ``stage`` in words; ``message`` says why it failed."""

    state: State
    fraction: float = 0.0
    stage: str = ""
    message: str = ""
    started_s: float = 0.0


IDLE = Progress("idle")


class Openings:
    """Background opens under ``folder``; safe with several workers."""

    def __init__(self, folder: Path, store_root: Path) -> None:
        self._folder = folder
        self._store_root = store_root
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def status(self, source: Path, launch: int, signature: str) -> Progress:
        """How the open of this capture stands."""
        self._reap()
        return read_status(self._file(source, launch, signature))

    def start(self, source: Path, launch: int, signature: str) -> Progress:
        """Start opening, or join the open that is running."""
        file = self._file(source, launch, signature)
        with self._lock:
            known = read_status(file)
            if known.state == "running":
                return known
            begun = Progress("running", 0.0, "waiting to start", "", time.time())
            self._folder.mkdir(parents=True, exist_ok=True)
            cancel_file(file).unlink(missing_ok=True)
            write_status(file, begun)
            command = [sys.executable, "-m", "app.open_job", str(self._store_root), str(source), str(launch), str(file)]
            self._children[file.name] = subprocess.Popen(command, cwd=Path(__file__).parents[1])
        return begun

    def wait(self, source: Path, launch: int, signature: str) -> Progress:
        """Start or join the open and wait for its end."""
        progress = self.start(source, launch, signature)
        while progress.state == "running":
            time.sleep(POLL_S)
            progress = self.status(source, launch, signature)
        return progress

    def cancel(self, source: Path, launch: int, signature: str) -> None:
        """Ask the child to stop at its next step."""
        cancel_file(self._file(source, launch, signature)).touch()

    def _file(self, source: Path, launch: int, signature: str) -> Path:
        name = hashlib.sha256(f"{source}\0{launch}\0{signature}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
        return self._folder / f"{name}.json"

    def _reap(self) -> None:
        with self._lock:
            for name in [name for name, child in self._children.items() if child.poll() is not None]:
                del self._children[name]


def cancel_file(status_file: Path) -> Path:
    """The file whose existence asks the child to stop."""
    return status_file.with_suffix(".cancel")


def read_status(status_file: Path) -> Progress:
    """The status in ``status_file``; a running one without heartbeat counts as failed."""
    try:
        progress = Progress(**json.loads(status_file.read_text("utf-8")))
        age_s = time.time() - status_file.stat().st_mtime
    except (OSError, ValueError):
        return IDLE
    if progress.state == "running" and age_s > STALE_S:
        return Progress("failed", 0.0, progress.stage, "the background process stopped without an answer; try again")
    return progress


def write_status(status_file: Path, progress: Progress) -> None:
    """Replace the status in one step."""
    handle, temporary = tempfile.mkstemp(dir=status_file.parent, suffix=".part")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(asdict(progress), stream)
    os.replace(temporary, status_file)
