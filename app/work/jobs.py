"""How does a long open or analysis go on while its page waits? One child process per job; status as a small file.

The child fills the store or the outcomes on disk, so its memory is given back when it ends, any worker can then map the
result, and cancelling is safe. Every worker sees the same status files; a running status whose heartbeat is older than
:data:`STALE_S` belongs to a dead child, unless this process started it and knows better.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

State = Literal["idle", "running", "done", "failed", "cancelled"]
HEARTBEAT_S = 2.0
STALE_S = 20.0
POLL_S = 0.2
OFFERED_AT_ONCE = 2
"""Children of a process up to which an offered job starts: pages that ask for many must not start many at once."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a child does: open a capture, and run ``analysis`` with ``parameters`` when one is named."""

    source: Path
    launch: int
    signature: str
    analysis: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Equal jobs have equal names, in every process."""
        parts = [str(self.source), self.launch, self.signature, self.analysis, dict(sorted(self.parameters.items()))]
        return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is: ``fraction`` 0..1, or below 0 when unknown; ``stage`` in words; ``message`` why it failed;
    ``ended_s`` when it ended, 0 before."""

    state: State
    fraction: float = 0.0
    stage: str = ""
    message: str = ""
    started_s: float = 0.0
    ended_s: float = 0.0


IDLE = Progress("idle")


class Jobs:
    """Background jobs with their status under ``folder``; safe with several workers.

    Args:
        folder: where the status files are; made on first use.
        store_root: the capture store that children fill.
        outcomes: the folder of analysis outcomes that children fill.
    """

    def __init__(self, folder: Path, store_root: Path, outcomes: Path) -> None:
        self._folder = folder
        self._store_root = store_root
        self._outcomes = outcomes
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def status(self, job: Job) -> Progress:
        """How ``job`` stands."""
        file = self._file(job)
        return read_status(file, self._is_alive(file))

    def start(self, job: Job) -> Progress:
        """Start ``job``, or join it when it is running."""
        file = self._file(job)
        alive = self._is_alive(file)
        with self._lock:
            known = read_status(file, alive)
            if known.state == "running":
                return known
            begun = Progress("running", 0.0, "waiting to start", "", time.time())
            self._folder.mkdir(parents=True, exist_ok=True)
            cancel_file(file).unlink(missing_ok=True)
            write_status(file, begun)
            self._children[file.name] = subprocess.Popen(self._command(job, file), cwd=Path(__file__).parents[2])
        return begun

    def offer(self, job: Job) -> Progress:
        """Start ``job`` when few children of this process are running; otherwise it stays idle, to be offered again."""
        with self._lock:
            running = sum(child.poll() is None for child in self._children.values())
        return self.start(job) if running < OFFERED_AT_ONCE else IDLE

    def wait(self, job: Job) -> Progress:
        """Start or join ``job`` and wait for its end: for background threads, never within a request."""
        progress = self.start(job)
        while progress.state == "running":
            time.sleep(POLL_S)
            progress = self.status(job)
        return progress

    def cancel(self, job: Job) -> None:
        """Ask the child to stop."""
        cancel_file(self._file(job)).touch()

    def forget(self, age_s: float) -> None:
        """Remove what is left of jobs whose status has not changed for ``age_s`` seconds."""
        limit = time.time() - age_s
        for file in self._folder.glob("*"):
            with contextlib.suppress(FileNotFoundError):
                if file.stat().st_mtime < limit:
                    file.unlink()

    def _command(self, job: Job, file: Path) -> list[str]:
        program = [sys.executable, "-m", "app.work.child", str(file), str(self._store_root), str(job.source)]
        more = [str(self._outcomes), job.analysis, json.dumps(dict(job.parameters))] if job.analysis else []
        return [*program, str(job.launch), *more]

    def _file(self, job: Job) -> Path:
        return self._folder / f"{job.name}.json"

    def _is_alive(self, file: Path) -> bool:
        """Whether the child behind ``file`` was started by this process and goes on."""
        with self._lock:
            for name in [name for name, child in self._children.items() if child.poll() is not None]:
                del self._children[name]
            return file.name in self._children


def cancel_file(status_file: Path) -> Path:
    """The file whose existence asks the child to stop."""
    return status_file.with_suffix(".cancel")


def read_status(status_file: Path, alive: bool = False) -> Progress:
    """The status in ``status_file``; a running one without heartbeat counts as failed.

    Not when its child is known to be ``alive``: on a busy machine it may start slowly, or read for long in one step.
    """
    try:
        progress = Progress(**json.loads(status_file.read_text("utf-8")))
        age_s = time.time() - status_file.stat().st_mtime
    except (OSError, ValueError):
        return IDLE
    if progress.state == "running" and age_s > STALE_S and not alive:
        return Progress("failed", 0.0, progress.stage, "the background process stopped without an answer; try again")
    return progress


def write_status(status_file: Path, progress: Progress) -> None:
    """Replace the status in one step."""
    handle, temporary = tempfile.mkstemp(dir=status_file.parent, suffix=".part")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(asdict(progress), stream)
    os.replace(temporary, status_file)
