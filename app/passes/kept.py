"""Is the answer about a dump there? From memory, from disk, computed at once when it is short, else by a child.

Everything is kept by content, so equal snapshots share their comparisons across dumps, runs and workers.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diskcache
from cachetools import LRUCache
from diskcache.core import DBNAME

from analysis.errors import InputError
from analysis.passes.comparison import Comparison
from analysis.passes.history import History
from analysis.passes.listing import PassEntry, PassList
from analysis.passes.opening import load
from analysis.passes.rows import View
from analysis.passes.search import Search
from analysis.passes.snapshot import Snapshot
from app.compiler.pending import DISK_ERRORS, NotYet
from app.passes import work as passes_work
from app.passes.work import Work
from app.runs.dumps import OpenDump
from app.server.services import Services
from app.work.jobs import JUST_ENDED_S, Job, Jobs, Progress

INLINE_LIST_BYTES = 8_000_000
"""A dump up to this size is listed within the request: well under a second."""
INLINE_DIFF_LINES = 60_000
"""Up to here (both sides) snapshots are compared within the request."""
INLINE_SEARCH_LINES = 150_000
INLINE_HISTORY_LINES = 60_000
SNAPSHOT_BYTES = 160_000_000
COMPARISON_BYTES = 60_000_000
_LINE_BYTES = 70
log = logging.getLogger("swimscope")


class PassStore:
    """Answers about dumps; one per process, thread-safe.

    Args:
        folder: where they are kept on disk; made on first use.
        jobs: makes the long ones.
    """

    def __init__(self, folder: Path, jobs: Jobs) -> None:
        self._folder = folder
        self._jobs = jobs
        self._disk: diskcache.Cache | None = None
        self._answers: LRUCache[str, Any] = LRUCache(COMPARISON_BYTES, getsizeof=_answer_bytes)
        self._snapshots: LRUCache[Any, Snapshot] = LRUCache(SNAPSHOT_BYTES, getsizeof=_snapshot_bytes)
        self._views: LRUCache[Any, View] = LRUCache(12)
        self._lock = threading.Lock()
        self._busy = [threading.Lock() for _ in range(16)]

    def listing(self, dump: OpenDump) -> PassList:
        """The pass list; raises NotYet while a child makes it."""
        size_bytes = sum(item.size_bytes for item in dump.dump.passes)
        text = f"Reading {len(dump.dump.passes):,} passes of {dump.dump.label}"
        found: PassList = self._answer(passes_work.list_work(dump), size_bytes <= INLINE_LIST_BYTES,
                                       dump.signature, text)  # fmt: skip
        return found

    def comparison(
        self, left: tuple[OpenDump, PassEntry], right: tuple[OpenDump, PassEntry], structure: bool
    ) -> Comparison:
        """What changed from ``left`` to ``right``; raises NotYet while a child finds out."""
        digests = left[1].sha256, right[1].sha256
        work = passes_work.diff_work((left[0], left[1].file), (right[0], right[1].file), digests, structure)
        short = left[1].line_count + right[1].line_count <= INLINE_DIFF_LINES
        found: Comparison = self._answer(work, short, "".join(digests), f"Comparing {left[1].file} with {right[1].file}",
                                         lambda: (self.snapshot(*left, structure), self.snapshot(*right, structure)))  # fmt: skip
        return found

    def search(self, dump: OpenDump, listing: PassList, pattern: str, regex: bool, ignore_case: bool) -> Search:
        """Where ``pattern`` occurs; raises NotYet while a child searches."""
        ask = {"pattern": pattern, "regex": regex, "ignore_case": ignore_case}
        found: Search = self._question("search", dump, listing, ask, INLINE_SEARCH_LINES)
        return found

    def history(self, dump: OpenDump, listing: PassList, name: str) -> History:
        """Where ``name`` came from; raises NotYet while a child follows it."""
        found: History = self._question("history", dump, listing, {"name": name}, INLINE_HISTORY_LINES)
        return found

    def snapshot(self, dump: OpenDump, entry: PassEntry, structure: bool) -> Snapshot:
        """The text of a listed pass.

        Raises:
            InputError: it cannot be read, or is no longer what was listed.
        """
        key = entry.sha256, structure
        with self._lock:
            found = self._snapshots.get(key)
        if found is not None:
            return found
        made = load(dump.dump, dump.dump.find(entry.file), entry.table, structure=structure)
        if made.sha256 != entry.sha256:
            raise InputError(
                f"{dump.dump.label}/{entry.file}", "", "was changed while it was being read", "Reload the page"
            )
        self._keep(self._snapshots, key, made)
        return made

    def view(self, key: tuple[Any, ...], build: Callable[[], View]) -> View:
        """The display rows called ``key``, made once while they are looked at."""
        with self._lock:
            found = self._views.get(key)
        if found is None:
            found = build()
            self._keep(self._views, key, found)
        return found

    def progress(self, job: Job, retry: bool) -> Progress:
        """How a job stands; it is started unless it ended badly and ``retry`` is not set."""
        known = self._jobs.status(job)
        return self._jobs.start(job) if retry or known.state in ("idle", "done") else known

    def cancel(self, job: Job) -> None:
        """Ask a job to stop."""
        self._jobs.cancel(job)

    def _question(self, kind: str, dump: OpenDump, listing: PassList, ask: dict[str, Any], inline_lines: int) -> Any:
        ask = {**ask, "list": passes_work.list_work(dump).key}
        verb = "Searching" if kind == "search" else "Following a name through"
        text = f"{verb} {listing.line_count:,} lines of {len(listing.passes):,} passes"
        short = listing.line_count <= inline_lines
        return self._answer(passes_work.question_work(kind, dump, ask), short, dump.signature, text)

    def _answer(self, work: Work, short: bool, signature: str, title: str, sides: Any = None) -> Any:
        found = self._held(work)
        if found is not None:
            return found
        with self._busy[hash(work.key) % len(self._busy)]:
            found = self._held(work)
            if found is not None:
                return found
            job = self._job(work, signature)
            if not short and not self._just_ended(job):
                raise NotYet(job, title)
            data = passes_work.compare_sides(*sides()) if sides else passes_work.compute(work, self._load)
            self._save(work.key, data)
            return self._remember(work, data)

    def _held(self, work: Work) -> Any:
        with self._lock:
            found = self._answers.get(work.key)
        return found if found is not None else self._remember(work, self._load(work.key))

    def _remember(self, work: Work, data: bytes | None) -> Any:
        made = passes_work.read(work, data)
        if made is not None:
            self._keep(self._answers, work.key, made)
        return made

    def _keep(self, cache: LRUCache[Any, Any], key: Any, value: Any) -> None:
        size = cache.getsizeof(value)
        with self._lock:
            if size <= cache.maxsize:
                cache[key] = value

    def _job(self, work: Work, signature: str) -> Job:
        given = {"label": work.label, "key": work.key, "parameters": work.parameters, "folder": str(self._folder)}
        return Job(work.path, 0, signature, work.kind, given, program=passes_work.PROGRAM)

    def _just_ended(self, job: Job) -> bool:
        """It ended well but its answer cannot be found: the disk is full, say. Then it is computed here."""
        known = self._jobs.status(job)
        return known.state == "done" and time.time() - known.ended_s < JUST_ENDED_S

    def _load(self, key: str) -> bytes | None:
        try:
            found: bytes | None = self._cache().get(key)
        except DISK_ERRORS as error:
            found = None
            self._give_up(error)
        return found

    def _save(self, key: str, data: bytes) -> None:
        """On disk where that has room: a page goes on without."""
        try:
            self._cache().set(key, data)
        except DISK_ERRORS as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """Say that the folder cannot be used now, and try to open it again the next time."""
        log.warning("answers about pass dumps cannot be kept in %s: %s", self._folder, error)
        with self._lock:
            self._disk = None

    def _cache(self) -> diskcache.Cache:
        """The cache on disk, opened again when somebody deleted its folder."""
        with self._lock:
            if self._disk is None or not (self._folder / DBNAME).exists():
                self._disk = passes_work.disk(self._folder)
            return self._disk


def _answer_bytes(value: Any) -> int:
    if isinstance(value, Comparison):
        return 13 * value.row_count + 400 * len(value.sections)
    if isinstance(value, PassList):
        return 200 * sum(len(entry.functions) + len(entry.warnings) + 10 for entry in value.passes)
    return 4_000 * len(value.passes if isinstance(value, Search) else value.steps)


def _snapshot_bytes(value: Snapshot) -> int:
    return sum(map(len, value.lines)) + _LINE_BYTES * len(value.lines)


def of(services: Services) -> PassStore:
    """The answers about pass dumps of an application, made on first use."""
    folder = services.settings.data_dir / "passes"
    return services.caches.get("passes", "store", lambda: PassStore(folder, services.jobs), 1)
