"""Which runs are there? A background scan of the mounted roots, and the captures that are open in this process.

A run key is a hash of root name and relative path: it is looked up, never joined to a path. Scanning and filling in
facts happen on threads of their own, so no page ever waits for a slow tree.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from analysis.capture import Capture
from analysis.capture.store import Store
from analysis.discovery.tree import CaptureSource, Kinds, scan
from analysis.errors import NotFoundError, SwimscopeError, readable
from analysis.files import NoRoomError
from app.runs import content
from app.runs.facts import Facts, FactsCache, facts_of
from app.server.places import Places
from app.server.settings import UPLOADS_ROOT, Root, Settings
from app.work.jobs import Job, Jobs
from app.work.reader import Reader

FIRST_ROWS = 200
FIRST_ROWS_WAIT_S = 0.4
"""The runs page waits this long for that many rows of the first scan: small trees are complete on the first picture."""
FIND_WAIT_S = 20.0
"""How long a link to a run waits for the first scan to reach that run."""
MAX_ERRORS = 200
UNEXPECTED = "Swimscope failed to open this capture; the server's log has the details. Opening it tries again"
PACKED_RATIO = 1_032
"""Most that deflate can pack into one byte: what a packed file may hold at most."""
GONE_RUNS = 2_000
"""Runs whose files are gone that a process remembers."""
CAPTURE_FILES = frozenset({"swimlane", "deps", "name_map"})
"""Kinds of file that make a capture; a directory with none of them holds only traces or pass dumps."""

log = logging.getLogger("swimscope")


@dataclass(frozen=True, slots=True)
class RunRow:
    """One line of the runs table. ``facts`` is None until the capture was opened once; ``error`` says why it cannot."""

    key: str
    name: str
    root: str
    path: str
    group: str
    rank: str
    modified_s: float
    size_bytes: int
    files: dict[str, str]
    views: tuple[str, ...]
    facts: Facts | None = None
    error: str = ""
    missing: tuple[str, ...] = ()
    """What is not there and what it costs, and unfinished writes."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that can be opened: its row and what is on disk."""

    row: RunRow
    disk: CaptureSource
    gone: bool = False
    """Whether its files are no longer there: only what is stored can be shown."""

    @property
    def key(self) -> str:
        """The run key."""
        return self.row.key

    @property
    def source(self) -> Path:
        """What to open."""
        return self.disk.path

    @property
    def signature(self) -> str:
        """Changes when any file of the capture changes."""
        return self.disk.signature

    @property
    def openable(self) -> bool:
        """Whether there is a capture to open."""
        return bool(CAPTURE_FILES & set(self.row.files))

    @property
    def unpacked_max_bytes(self) -> int:
        """The most that its files can hold unpacked, whatever they claim."""
        packed = any(name.endswith(".gz") for name in self.row.files.values())
        return self.row.size_bytes * (PACKED_RATIO if packed else 1)


@dataclass(frozen=True, slots=True)
class ScanState:
    """What the scanner is doing: ``complete`` after the first full pass; ``errors``: place → reason."""

    complete: bool
    seen: int
    errors: dict[str, str] = field(default_factory=dict)


def run_key(root_name: str, relative: str) -> str:
    """The opaque key of a run: 16 hex digits of sha256 over root name and relative path."""
    return hashlib.sha256(f"{root_name}\0{relative}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _apart(work: Callable[..., None], *arguments: Any) -> None:
    """Do ``work`` on a thread of its own and wait: an unexpected error is printed by Python and ends this step only."""
    thread = threading.Thread(target=work, args=arguments, name=f"swimscope{work.__name__}", daemon=True)
    thread.start()
    thread.join()


class Library:
    """The runs under ``settings.roots``, kept current by daemon threads (:meth:`start`)."""

    def __init__(self, settings: Settings, store: Store, facts: FactsCache, jobs: Jobs) -> None:
        self._settings = settings
        self._store = store
        self._facts = facts
        self._jobs = jobs
        self._runs: dict[str, Run] = {}
        self._kinds = {root.name: Kinds() for root in settings.roots}
        self._state = ScanState(False, 0)
        self._lock = threading.Lock()
        self._started = False
        self._wake = threading.Event()
        self._first_rows = threading.Event()
        self._first_scan = threading.Event()
        self._gone: LRUCache[str, Run] = LRUCache(GONE_RUNS)
        self._captures: LRUCache[tuple[str, int, str], Capture] = LRUCache(settings.open_captures)
        self._last_id: LRUCache[tuple[str, int], str] = LRUCache(4 * GONE_RUNS)
        self._busy: dict[tuple[str, int, str], threading.Lock] = {}
        self._places = Places.of(settings)
        self._reader = Reader(store.root, jobs.limits)

    def start(self) -> None:
        """Start scanning in this process, once."""
        with self._lock:
            if self._started:
                return
            self._started = True
        for work in (self._keep_scanning, self._keep_filling):
            threading.Thread(target=work, name=f"swimscope{work.__name__}", daemon=True).start()

    def runs(self) -> list[RunRow]:
        """Every run known so far, by root, then path."""
        self.start()
        self._first_rows.wait(FIRST_ROWS_WAIT_S)
        with self._lock:
            rows = [run.row for run in self._runs.values()]
        return sorted(rows, key=lambda row: (row.root, row.path))

    @property
    def state(self) -> ScanState:
        """What the scanner is doing."""
        return self._state

    def run(self, key: str) -> Run:
        """The run of ``key``; while the first scan is under way it waits for it.

        Raises:
            NotFoundError: no such run.
        """
        self.start()
        deadline = time.monotonic() + FIND_WAIT_S
        while (
            (known := self._runs.get(key) or self._gone_run(key)) is None
            and not self._state.complete
            and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        if known is None:
            raise NotFoundError(f"no run {key!r}: it may have been moved or deleted, or its root is not mounted here")
        return known

    def capture(self, key: str, launch: int = 0) -> Capture:
        """The open capture of run ``key``; opens it within this call when neither process nor store has it.

        A page that was built from other content (:mod:`app.runs.content`) gets that content while it is stored.

        Raises:
            NotFoundError: no such run, or nothing in it that is a capture.
            InputError: the files cannot be read; the message names file, place and remedy.
        """
        run = self.run(key)
        kept = self._kept(run, launch)
        if kept is not None:
            return kept
        with self.shown_errors():
            found = self._open(run, launch)
        content.answered(key, launch, found.meta.capture_id, "current")
        return found

    def _open(self, run: Run, launch: int) -> Capture:
        slot = (run.key, launch, run.signature)
        with self._lock:
            busy = self._busy.setdefault(slot, threading.Lock())
        try:
            with busy:
                found = self._held(slot)
                if found is None:
                    found = self._store.open(run.source, launch)
                    self._hold(run, launch, found)
                return found
        finally:
            with self._lock:
                self._busy.pop(slot, None)

    @property
    def open_captures(self) -> int:
        """Captures that this process keeps mapped."""
        with self._lock:
            return len(self._captures)

    def ready(self, run: Run, launch: int = 0) -> bool:
        """Whether :meth:`capture` answers at once: it is open here, or in the store."""
        return self._kept(run, launch) is not None or self._current(run, launch) is not None

    def job(self, key: str, launch: int, analysis: str = "", parameters: Mapping[str, Any] | None = None) -> Job:
        """The background job that opens a run, or computes ``analysis`` over the content that the page shows."""
        run = self.run(key)
        kept = self._kept(run, launch)
        content_id = "" if kept is None else kept.meta.capture_id
        return Job(run.source, launch, run.signature, analysis, dict(parameters or {}), content_id)

    def shown(self, text: str) -> str:
        """``text`` with paths below the roots beginning at the root's name."""
        return self._places.shown(text)

    @contextlib.contextmanager
    def shown_errors(self) -> Iterator[None]:
        """Errors raised inside name paths from the root's name on."""
        try:
            yield
        except SwimscopeError as error:
            error.args = (self.shown(str(error)),)
            raise

    def _kept(self, run: Run, launch: int) -> Capture | None:
        """The stored content to answer from instead of the files: the one the page was built from when the files hold
        something else now, or the last one when they are gone."""
        wanted = content.expected(run.key, launch)
        if run.gone:
            wanted, state = wanted or self._last_id_of(run, launch), "gone"
        elif wanted:
            current = self._current(run, launch)
            if current is not None and current.meta.capture_id == wanted:
                return None
            state = "changed"
        found = self._by_id(wanted, launch) if wanted else None
        if found is not None:
            content.answered(run.key, launch, wanted, "gone" if state == "gone" else "changed")
        return found

    def _current(self, run: Run, launch: int) -> Capture | None:
        """What the files hold now when it is open here or in the store, else None."""
        found = self._held((run.key, launch, run.signature))
        if found is None and not run.gone:
            with contextlib.suppress(SwimscopeError):  # files that cannot be found now are not ready
                found = self._store.known(run.source, launch)
            if found is not None:
                self._hold(run, launch, found)
        return found

    def _by_id(self, capture_id: str, launch: int) -> Capture | None:
        with self._lock:
            held = next((c for c in self._captures.values() if c.meta.capture_id == capture_id), None)
        found = held or self._store.stored(capture_id)
        return found if found is not None and found.meta.launch == launch else None

    def _last_id_of(self, run: Run, launch: int) -> str:
        with self._lock:
            known = self._last_id.get((run.key, launch), "")
        return known or (run.row.facts.capture_id if launch == 0 and run.row.facts else "")

    def _gone_run(self, key: str) -> Run | None:
        with self._lock:
            return self._gone.get(key)

    def look_again(self) -> None:
        """Scan now instead of after the pause: something below the roots was changed by this process."""
        self._wake.set()

    def scan_once(self) -> None:
        """One pass over all roots; rows appear while it walks."""
        errors: dict[str, str] = {}
        for root in self._settings.roots:
            if root.name == UPLOADS_ROOT and not root.path.is_dir():
                continue  # nothing was uploaded yet
            try:
                self._scan_root(root, errors)
            except OSError as error:
                errors[root.name] = error.strerror or str(error)
        self._state = ScanState(True, len(self._runs), errors)
        self._first_rows.set()
        self._first_scan.set()

    def _keep_scanning(self) -> None:
        while True:
            began = time.monotonic()
            _apart(self.scan_once)
            # A large tree is looked at less often, so that scanning costs a tenth of one core at most.
            self._wake.wait(max(self._settings.scan_interval_s, 10 * (time.monotonic() - began)))
            self._wake.clear()

    def _scan_root(self, root: Root, errors: dict[str, str]) -> None:
        def failed(path: str, reason: str) -> None:
            if len(errors) < MAX_ERRORS:
                errors[self.shown(readable(path))] = self.shown(reason)

        seen: set[str] = set()
        limit = self._settings.scan_max_runs
        kinds = self._kinds[root.name]
        for disk in islice(scan(root.path, failed, kinds), limit + 1):
            if len(seen) == limit:
                errors[root.name] = f"more than {limit:,} captures (scan_max_runs): the rest is left out"
                break
            run = self._known_or_new(root, disk)
            seen.add(run.key)
            with self._lock:
                current = self._runs.get(run.key)
                if current is None or current.signature != run.signature:  # else its facts may have come meanwhile
                    self._runs[run.key] = run
            if not self._state.complete:
                self._state = ScanState(False, len(self._runs), dict(errors))
            if len(seen) == FIRST_ROWS:
                self._first_rows.set()
        with self._lock:
            for key in [k for k, run in self._runs.items() if run.row.root == root.name and k not in seen]:
                self._gone[key] = replace(self._runs.pop(key), gone=True)
        kinds.next_scan()

    def _known_or_new(self, root: Root, disk: CaptureSource) -> Run:
        key = run_key(root.name, disk.relative)
        known = self._runs.get(key)
        if known is not None and known.signature == disk.signature:
            return known
        name = "/".join(part for part in (disk.group.rpartition("/")[2], disk.rank) if part)
        if disk.path.suffix in (".json", ".gz"):
            name = f"{name}/{disk.relative.rpartition('/')[2]}" if name else disk.relative.rpartition("/")[2]
        row = RunRow(
            key=key,
            name=readable(name) or root.name,
            root=root.name,
            path=readable(disk.relative),
            group=readable(disk.group),
            rank=disk.rank,
            modified_s=disk.modified_s,
            size_bytes=disk.size_bytes,
            files={kind: readable(file) for kind, file in disk.files.items()},
            views=disk.views,
            facts=self._facts.get(key, disk.signature),
            error=self.shown(disk.error),
            missing=tuple(readable(words) for words in disk.missing),
        )
        return Run(row, disk)

    def _held(self, slot: tuple[str, int, str]) -> Capture | None:
        with self._lock:
            return self._captures.get(slot)

    def _hold(self, run: Run, launch: int, capture: Capture) -> None:
        """Keep ``capture`` open here; what was opened once shows its figures in the runs table."""
        with self._lock:
            self._captures[run.key, launch, run.signature] = capture
            self._last_id[run.key, launch] = capture.meta.capture_id
        if launch == 0 and run.row.facts is None:
            self._publish_facts(run, facts_of(capture))

    def _keep_filling(self) -> None:
        self._first_scan.wait()  # opening captures must not slow the first rows down
        while True:
            with self._only_filler() as alone:
                for run in self._without_facts():
                    if self._take_known_facts(run) or not alone:
                        continue
                    _apart(self._fill, run)
                    self._mark_unfilled(run)
                self._reader.close()
            time.sleep(min(1.0, self._settings.scan_interval_s))

    @contextlib.contextmanager
    def _only_filler(self) -> Iterator[bool]:
        """Whether this is the one process that reads captures in the background; the others take its facts."""
        self._settings.data_dir.mkdir(parents=True, exist_ok=True)
        with (self._settings.data_dir / "filling.lock").open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def _without_facts(self) -> Iterator[Run]:
        """Runs that nobody has opened: those within ``facts_max_bytes`` as listed, then the others, smallest first."""
        with self._lock:
            runs = list(self._runs.values())
        limit = self._settings.facts_max_bytes
        if not limit:
            return
        for run in sorted(runs, key=lambda run: run.row.size_bytes if run.row.size_bytes > limit else 0):
            if run.openable and run.row.facts is None and not run.row.error:
                yield run

    def _take_known_facts(self, run: Run) -> bool:
        kept = self._facts.get(run.key, run.signature)
        if kept is not None:
            self._publish(run, replace(run.row, facts=kept))
        return kept is not None

    def _fill(self, run: Run) -> None:
        """Have ``run`` read by the bounded process and publish its facts, or why it cannot be read."""
        with self._lock:
            current = self._runs.get(run.key)
        if current is None or current.row.facts is not None:
            return  # gone, or opened by somebody meanwhile
        try:
            self._publish_facts(run, self._reader.facts(run.source, run.row.size_bytes))
        except SwimscopeError as error:
            self._publish(run, replace(run.row, error=self.shown(str(error))))

    def _mark_unfilled(self, run: Run) -> None:
        """Give ``run`` an error when :meth:`_fill` ended with neither facts nor a reason: a bug, which must not be
        met again and again, nor keep the other runs from their facts."""
        with self._lock:
            current = self._runs.get(run.key)
        if current is not None and current.row.facts is None and not current.row.error:
            self._publish(run, replace(run.row, error=UNEXPECTED))

    def _publish_facts(self, run: Run, facts: Facts) -> None:
        try:
            self._facts.put(run.key, run.signature, facts)
        except (OSError, NoRoomError) as error:
            log.warning("the figures of %s are not kept: %s", run.row.path, error)
        self._publish(run, replace(run.row, facts=facts, error=""))

    def _publish(self, run: Run, row: RunRow) -> None:
        with self._lock:
            current = self._runs.get(run.key)
            if current is not None and current.signature == run.signature:
                self._runs[run.key] = replace(current, row=row)
