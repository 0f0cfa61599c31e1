"""How does a long open or analysis go on while its page waits? One child process per job; status as a small file.

At most ``jobs_at_once`` children run at a time, all workers together: each holds one of that many locked files until it
ends. Further jobs wait in the process that was asked and say so. The child fills the store or the outcomes on disk, so its memory is given back when it ends, any worker can then map the
result, and cancelling is safe. Every worker sees the same status files; a running status whose heartbeat is older than
:data:`STALE_S` belongs to a dead child, unless this process started it and knows better.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from analysis.errors import LimitError
from analysis.files import NoRoomError, free_bytes, room_for, write_atomically

State = Literal["idle", "running", "done", "failed", "cancelled"]
HEARTBEAT_S = 2.0
STALE_S = 20.0
POLL_S = 0.2
JUST_ENDED_S = 30.0
"""A job that ended this recently is not started again: where its result cannot be found (the child ran a newer version of
the code, or the disk is full), starting it once more would go on for ever. The page then does the work itself."""
MAX_QUEUED = 100
"""Jobs that may wait in one process."""
SMALLEST_MEMORY_BYTES = 4_000_000_000
MEMORY_PER_BYTE = 40
"""Address space of a child: a fixed part (interpreter, compiled loops) and so much per byte of the capture's files."""
FULL_BYTES = 65_536
"""A disk with less free space than this is full: not even a status can be trusted to be written."""
QUEUED = "waiting for other background jobs to end"


@dataclass(frozen=True, slots=True)
class Job:
    """What a child does: open a capture, and run ``analysis`` with ``parameters`` when one is named.

    ``program`` is the module that runs; it is given a :class:`app.work.reporting.Work`.
    """

    source: Path
    launch: int
    signature: str
    analysis: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    content: str = ""
    """Id of a stored capture to work on, instead of what the files at ``source`` hold now."""
    program: str = "app.work.child"

    @property
    def name(self) -> str:
        """Equal jobs have equal names, in every process."""
        parts = [str(self.source), self.launch, self.signature, self.analysis, dict(sorted(self.parameters.items()))]
        parts += [self.content] if self.content else []
        parts += [self.program] if self.program != "app.work.child" else []
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


@dataclass(frozen=True, slots=True)
class Entry:
    """A job as administrators see it: ``state`` is also ``waiting``; ``what`` and ``source`` are "" where nobody noted them."""

    name: str
    state: str
    what: str
    source: str
    progress: Progress


@dataclass(frozen=True, slots=True)
class Limits:
    """What background processes may use: how many at once, memory and time of each."""

    at_once: int = 2
    memory_bytes: int = 32_000_000_000
    time_s: float = 1_800.0

    def memory_for(self, source: Path) -> int:
        """Most address space of a child that reads ``source``: linear in the size of its files."""
        files = [source] if source.is_file() else [path for path in source.glob("*") if path.is_file()]
        size = 0
        for path in files:
            with contextlib.suppress(OSError):
                size += path.stat().st_size * (10 if path.suffix == ".gz" else 1)
        return min(self.memory_bytes, SMALLEST_MEMORY_BYTES + MEMORY_PER_BYTE * size)


class Jobs:
    """Background jobs with their status under ``folder``; safe with several workers.

    Args:
        folder: where the status files are; made on first use.
        store_root: the capture store that children fill.
        outcomes: the folder of analysis outcomes that children fill.
        limits: what the children may use.
        shown: makes a message fit for a page (paths from the root's name on).
    """

    def __init__(
        self,
        folder: Path,
        store_root: Path,
        outcomes: Path,
        limits: Limits | None = None,
        shown: Callable[[str], str] = str,
    ) -> None:
        self._folder = folder
        self._shown = shown
        self._store_root = store_root
        self._outcomes = outcomes
        self.limits = limits or Limits()
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._queue: dict[str, Job] = {}
        self._keeper: threading.Thread | None = None
        self._lock = threading.RLock()

    def status(self, job: Job) -> Progress:
        """How ``job`` stands."""
        file = self._file(job)
        found = read_status(file, self._is_alive(file))
        return replace(found, message=self._shown(found.message)) if found.message else found

    def start(self, job: Job) -> Progress:
        """Start ``job``, or join it when it is running or waiting.

        Raises:
            LimitError: too many jobs are waiting already.
            NoRoomError: the disk of the data directory is full.
        """
        file = self._file(job)
        alive = self._is_alive(file)
        with self._lock, self._among_processes():
            known = read_status(file, alive)
            if known.state == "running":
                return known
            if len(self._queue) >= MAX_QUEUED:
                raise LimitError(f"{MAX_QUEUED} background jobs are waiting already; try again when some have ended")
            begun = Progress("running", 0.0, QUEUED, "", time.time())
            cancel_file(file).unlink(missing_ok=True)
            write_status(file, begun)
            about = {"source": os.fsdecode(job.source), "what": job.analysis or f"open launch {job.launch}"}
            write_atomically(file.with_suffix(".about"), json.dumps(about).encode())
            self._queue[file.name] = job
            self._begin_queued()
            if self._queue and self._keeper is None:
                self._keeper = threading.Thread(target=self._keep_queue, name="swimscope-jobs", daemon=True)
                self._keeper.start()
        return read_status(file, True)

    def wait(self, job: Job) -> Progress:
        """Start or join ``job`` and wait for its end: for background threads, never within a request."""
        progress = self.start(job)
        while progress.state == "running":
            time.sleep(POLL_S)
            progress = self.status(job)
        return progress

    def cancel(self, job: Job) -> None:
        """Ask the child to stop; a job that waits ends at once."""
        file = self._file(job)
        with self._lock:
            if self._queue.pop(file.name, None) is not None:
                write_status(file, Progress("cancelled", ended_s=time.time()))
                return
        self._folder.mkdir(parents=True, exist_ok=True)
        cancel_file(file).touch()

    @contextlib.contextmanager
    def slot(self, first: int = 0) -> Iterator[int | None]:
        """The descriptor of a free place for a child (number ``first`` or later), or None when all are taken.

        A child that inherits it holds the place until it ends, however it ends.
        """
        with self._lock:
            found = self._free_slot(first)
        try:
            yield found
        finally:
            if found is not None:
                os.close(found)

    def _free_slot(self, first: int) -> int | None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for number in range(min(first, self.limits.at_once - 1), self.limits.at_once):
            handle = os.open(self._folder / f"slot-{number}.lock", os.O_CREAT | os.O_RDWR, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                os.close(handle)
        return None

    def _begin_queued(self) -> None:
        """Start waiting jobs, oldest first, while places are free."""
        for name in list(self._queue):
            with self.slot() as place:
                if place is None:
                    return
                job = self._queue.pop(name)
                file = self._folder / name
                command, root = self._command(job, file), Path(__file__).parents[2]
                self._children[name] = subprocess.Popen(command, cwd=root, pass_fds=(place,))

    def _keep_queue(self) -> None:
        """Start what waits as places become free, and show meanwhile that it is not forgotten."""
        while True:
            time.sleep(POLL_S)
            with self._lock:
                self._begin_queued()
                if not self._queue:
                    self._keeper = None
                    return
                for name in self._queue:
                    with contextlib.suppress(OSError):
                        os.utime(self._folder / name)

    @contextlib.contextmanager
    def _among_processes(self) -> Iterator[None]:
        """One process at a time decides whether a job has to be started."""
        with room_for(self._folder, FULL_BYTES, "the status of background jobs"):
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / "starting.lock").open("wb")
        with lock as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def all(self) -> list[Entry]:
        """Jobs of all workers that are remembered, newest first."""
        found = []
        for file in self._folder.glob("*.json"):
            progress = read_status(file, self._is_alive(file))
            if progress.state == "idle":  # removed while we look
                continue
            state = "waiting" if progress.state == "running" and progress.stage == QUEUED else progress.state
            about = {"what": "", "source": ""}
            with contextlib.suppress(OSError, ValueError):
                about |= json.loads(file.with_suffix(".about").read_bytes())
            shown = replace(progress, message=self._shown(progress.message))
            found.append(Entry(file.stem, state, about["what"], self._shown(about["source"]), shown))
        return sorted(found, key=lambda entry: -entry.progress.started_s)

    def forget(self, age_s: float) -> None:
        """Remove what is left of jobs whose status has not changed for ``age_s`` seconds."""
        limit = time.time() - age_s
        for file in [file for kind in ("json", "cancel", "about") for file in self._folder.glob(f"*.{kind}")]:
            with contextlib.suppress(FileNotFoundError):
                if file.stat().st_mtime < limit:
                    file.unlink()

    def _command(self, job: Job, file: Path) -> list[str]:
        work = {
            "status": str(file),
            "store": str(self._store_root),
            "source": os.fsdecode(job.source),
            "launch": job.launch,
            "content": job.content,
            "outcomes": str(self._outcomes),
            "analysis": job.analysis,
            "parameters": dict(job.parameters),
            "memory_bytes": self.limits.memory_for(job.source),
            "time_s": self.limits.time_s,
        }
        return [sys.executable, "-m", job.program, json.dumps(work)]

    def _file(self, job: Job) -> Path:
        return self._folder / f"{job.name}.json"

    def _is_alive(self, file: Path) -> bool:
        """Whether the child behind ``file`` was started by this process and goes on."""
        with self._lock:
            for name in [name for name, child in self._children.items() if child.poll() is not None]:
                del self._children[name]
            return file.name in self._children or file.name in self._queue


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
        return Progress("failed", 0.0, progress.stage, _why_silent(status_file))
    return progress


def _why_silent(status_file: Path) -> str:
    if free_bytes(status_file.parent) < FULL_BYTES:
        return str(NoRoomError(status_file.parent, FULL_BYTES, "the result of a background process"))
    return "the background process stopped without an answer, perhaps for want of memory; try again"


def write_status(status_file: Path, progress: Progress) -> None:
    """Replace the status in one step."""
    write_atomically(status_file, json.dumps(asdict(progress)).encode())
