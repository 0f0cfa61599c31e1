"""Which runs are there? A background scan of the mounted roots, and the captures that are open in this process.

A run key is a hash of root name and relative path: it is looked up, never joined to a path. The scan and the filling
in of facts happen on their own threads, so no page ever waits for a slow tree.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from analysis.errors import NotFoundError, SwimscopeError
from analysis.model import Capture
from app._stub import Found, Store, discover
from app.facts import Facts, FactsCache, facts_of
from app.settings import Root, Settings


@dataclass(frozen=True, slots=True)
class RunRow:
    """One line of the runs table. ``facts`` is None until the capture was opened once; ``error`` says why it cannot."""

    key: str
    name: str
    root: str
    path: str
    group: str
    modified_s: float
    size_bytes: int
    files: dict[str, str]
    facts: Facts | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that can be opened: its row, where it lies, and the signature of its files."""

    row: RunRow
    source: Path
    signature: str

    @property
    def key(self) -> str:
        return self.row.key


@dataclass(frozen=True, slots=True)
class ScanState:
    """What the scanner is doing: ``complete`` after the first full pass; ``errors`` per root."""

    complete: bool
    seen: int
    errors: dict[str, str] = field(default_factory=dict)


def run_key(root_name: str, relative: str) -> str:
    """The opaque key of a run: 16 hex digits of sha256 over root name and relative path."""
    return hashlib.sha256(f"{root_name}\0{relative}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


class Library:
    """The runs under ``settings.roots``, kept current by a daemon thread that starts on first use."""

    def __init__(self, settings: Settings, store: Store, facts: FactsCache) -> None:
        self._settings = settings
        self._store = store
        self._facts = facts
        self._runs: dict[str, Run] = {}
        self._state = ScanState(False, 0)
        self._lock = threading.Lock()
        self._started = False
        self._first_rows = threading.Event()
        self._captures: OrderedDict[tuple[str, int, str], Capture] = OrderedDict()
        self._open_lock = threading.Lock()

    def start(self) -> None:
        """Start scanning in this process, once."""
        with self._lock:
            if self._started:
                return
            self._started = True
        threading.Thread(target=self._loop, name="swimscope-scan", daemon=True).start()
        threading.Thread(target=self._fill_facts, name="swimscope-facts", daemon=True).start()

    def runs(self) -> list[RunRow]:
        """Every run known so far, by root, then path."""
        self.start()
        self._first_rows.wait(timeout=0.5)
        with self._lock:
            rows = [run.row for run in self._runs.values()]
        return sorted(rows, key=lambda row: (row.root, row.path))

    @property
    def state(self) -> ScanState:
        """What the scanner is doing."""
        return self._state

    def run(self, key: str) -> Run:
        """The run of ``key``; looks at the roots once more before it raises NotFoundError."""
        self.start()
        with self._lock:
            known = self._runs.get(key)
        if known is None and not self._state.complete:
            deadline = time.monotonic() + 10
            while known is None and not self._state.complete and time.monotonic() < deadline:
                time.sleep(0.02)
                known = self._runs.get(key)
        if known is None:
            raise NotFoundError(f"no run {key!r}: it may have been moved or deleted, or its root is not mounted here")
        return known

    def capture(self, key: str, launch: int = 0) -> Capture:
        """The open capture of run ``key``; opens it in this request when no other did.

        Raises:
            NotFoundError: no such run.
            InputError: the files cannot be read; the message names file, place and remedy.
        """
        run = self.run(key)
        slot = (key, launch, run.signature)
        with self._open_lock:
            found = self._captures.get(slot)
            if found is None:
                found = self._store.open(run.source, launch)
                self._captures[slot] = found
                while len(self._captures) > self._settings.open_captures:
                    self._captures.popitem(last=False)
            else:
                self._captures.move_to_end(slot)
        return found

    def scan_once(self) -> None:
        """One pass over all roots."""
        errors = {}
        for root in self._settings.roots:
            try:
                self._scan_root(root)
            except OSError as error:
                errors[root.name] = f"{root.path}: {error.strerror}"
        self._state = ScanState(True, len(self._runs), errors)
        self._first_rows.set()

    def _loop(self) -> None:
        while True:
            self.scan_once()
            time.sleep(self._settings.scan_interval_s)

    def _scan_root(self, root: Root) -> None:
        seen = set()
        for found in discover(root.path):
            run = self._known_or_new(root, found)
            seen.add(run.key)
            with self._lock:
                self._runs[run.key] = run
        with self._lock:
            gone = [k for k, run in self._runs.items() if run.row.root == root.name and k not in seen]
            for key in gone:
                del self._runs[key]

    def _known_or_new(self, root: Root, found: Found) -> Run:
        key = run_key(root.name, found.relative)
        known = self._runs.get(key)
        if known and known.signature == found.signature:
            return known
        parts = [part for part in Path(found.relative).parts if part != "dfx_outputs"]
        row = RunRow(
            key=key,
            name="/".join(parts[-1:]) or root.name,
            root=root.name,
            path=found.relative,
            group="/".join(parts[:-1]),
            modified_s=found.modified_s,
            size_bytes=found.size_bytes,
            files=found.files,
            facts=self._facts.get(key, found.signature),
        )
        return Run(row, found.path, found.signature)

    def _fill_facts(self) -> None:
        while True:
            for run in self._unfilled():
                self._fill(run)
            time.sleep(0.5)

    def _unfilled(self) -> Iterable[Run]:
        with self._lock:
            runs = list(self._runs.values())
        return [run for run in runs if run.row.facts is None and not run.row.error]

    def _fill(self, run: Run) -> None:
        row = run.row
        if row.size_bytes > self._settings.facts_max_bytes:
            return
        try:
            facts = facts_of(self._store.open(run.source))
            self._facts.put(row.key, run.signature, facts)
            row = replace(row, facts=facts)
        except SwimscopeError as error:
            row = replace(row, error=str(error))
        with self._lock:
            if self._runs.get(row.key) is run:
                self._runs[row.key] = replace(run, row=row)
