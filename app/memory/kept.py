"""Is the map of a snapshot there? From memory, from disk, read at once when it is small, else by a child.

Maps are kept by the snapshot's content, so passes that changed nothing, other dumps and other workers share them.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import diskcache
import msgspec
from cachetools import LRUCache

from analysis.memory.chips import Chip
from analysis.memory.history import Rise, history, rises
from analysis.memory.maps import read_map, read_snapshot
from analysis.memory.model import MemoryMap
from analysis.passes.dump import PassFile
from app.compiler.pending import DISK_ERRORS, NotYet
from app.runs.dumps import OpenDump
from app.server.services import Services
from app.work.jobs import JUST_ENDED_S, Job, Jobs

_LOG = logging.getLogger("swimscope.memory")
T = TypeVar("T")

PROGRAM = "app.memory.child"
MAP_JOB = "memory-map"
HISTORY_JOB = "memory-history"
MAP_VERSION = "1"
"""Part of the key: raise it when a map changes meaning."""
INLINE_BYTES = 6_000_000
"""Snapshots up to this size in all are read within the request: about two seconds."""
DISK_LIMIT_BYTES = 1_000_000_000
TEXT_BYTES = 120_000_000
BOXES = 400_000
"""Boxes of maps kept in a process."""


@dataclass(frozen=True, slots=True)
class Text:
    """A snapshot's text as lines, and the hash of its content."""

    lines: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Rises:
    """Passes that raised the alive bytes of a space, how many snapshots were read, and those without a map."""

    rises: tuple[Rise, ...]
    snapshots: int
    problems: tuple[str, ...]


class MemoryMaps:
    """Maps and texts of snapshots; one per process, thread-safe.

    Args:
        folder: where maps are kept on disk; made on first use.
        jobs: reads the large ones.
    """

    def __init__(self, folder: Path, jobs: Jobs) -> None:
        self._folder = folder
        self._jobs = jobs
        self._disk: diskcache.Cache | None = None
        self._maps: LRUCache[str, MemoryMap] = LRUCache(BOXES, getsizeof=_boxes)
        self._texts: LRUCache[tuple[str, str], Text] = LRUCache(TEXT_BYTES, getsizeof=_text_bytes)
        self._rises: LRUCache[str, Rises] = LRUCache(32)
        self._lock = threading.Lock()
        self._reading = threading.Lock()

    def map(self, dump: OpenDump, file: PassFile, chip: Chip) -> MemoryMap:
        """The map of one snapshot; raises what :meth:`maps` raises."""
        return self.maps(dump, (file,), chip)[0]

    def maps(self, dump: OpenDump, files: tuple[PassFile, ...], chip: Chip) -> list[MemoryMap]:
        """The maps of several snapshots of a dump.

        Raises:
            InputError: a snapshot cannot be read.
            NotYet: a child is reading them.
        """
        texts = [self.text(dump, file) for file in files]
        missing = [
            f
            for f, text in zip(files, texts, strict=True)
            if self._held(map_key(text.sha256, f.file, chip.name)) is None
        ]
        if sum(file.size_bytes for file in missing) > INLINE_BYTES:
            given = {"files": [file.file for file in files], "chip": chip.name}
            what = missing[0].file if len(missing) == 1 else f"{len(missing):,} snapshots of {dump.dump.label}"
            self._wait_for(dump, MAP_JOB, given, f"Reading the memory map of {what}")
        return [self._made(dump, file, text, chip) for file, text in zip(files, texts, strict=True)]

    def rises(self, dump: OpenDump) -> Rises:
        """Every pass of a dump that raised a peak; raises NotYet while a child reads all its snapshots."""
        key = f"rises-{MAP_VERSION}-{dump.signature}"
        with self._lock:
            known = self._rises.get(key)
        found = known or _decoded(self._load(key), Rises)
        if found is None:
            if sum(file.size_bytes for file in dump.dump.passes) > INLINE_BYTES:
                self._wait_for(dump, HISTORY_JOB, {"key": key}, f"Following the peaks through {dump.dump.label}")
            found = compute_history(None, dump.dump.path, key)
            self._save(key, found)
        with self._lock:
            self._rises[key] = found
        return found

    def text(self, dump: OpenDump, file: PassFile) -> Text:
        """The lines of a snapshot; raises InputError when it cannot be read."""
        key = dump.signature, file.file
        with self._lock:
            found = self._texts.get(key)
        if found is not None:
            return found
        text = read_snapshot(dump.dump.path / file.file)
        made = Text(tuple(text.split("\n")), digest(text))
        with self._lock:
            if _text_bytes(made) <= TEXT_BYTES:
                self._texts[key] = made
        return made

    def _made(self, dump: OpenDump, file: PassFile, text: Text, chip: Chip) -> MemoryMap:
        key = map_key(text.sha256, file.file, chip.name)
        found = self._held(key)
        if found is None:
            with self._reading:
                found = self._held(key)
                if found is None:
                    found = compute(None, dump.dump.path / file.file, chip.name)
                    self._save(key, found)
            self._remember(key, found)
        return replace(found, chip=chip)

    def _held(self, key: str) -> MemoryMap | None:
        with self._lock:
            found = self._maps.get(key)
        if found is None:
            found = _decoded(self._load(key), MemoryMap)
            if found is not None:
                self._remember(key, found)
        return found

    def _remember(self, key: str, made: MemoryMap) -> None:
        with self._lock:
            if _boxes(made) <= BOXES:
                self._maps[key] = made

    def _wait_for(self, dump: OpenDump, kind: str, parameters: dict[str, Any], title: str) -> None:
        """Raise NotYet, unless the child has just ended and its answer could not be kept: then it is made here."""
        given = {**parameters, "folder": str(self._folder)}
        job = Job(dump.dump.path, 0, dump.signature, kind, given, program=PROGRAM)
        known = self._jobs.status(job)
        if not (known.state == "done" and time.time() - known.ended_s < JUST_ENDED_S):
            raise NotYet(job, title)

    def _load(self, key: str) -> bytes | None:
        try:
            found: bytes | None = self._cache().get(key)
        except DISK_ERRORS as error:
            _LOG.warning("memory maps cannot be read from disk: %s", error)
            return None
        return found

    def _save(self, key: str, made: Any) -> None:
        try:
            self._cache().set(key, msgspec.msgpack.encode(made))
        except DISK_ERRORS as error:
            _LOG.warning("a memory map cannot be kept on disk: %s", error)

    def _cache(self) -> diskcache.Cache:
        with self._lock:
            if self._disk is None:
                self._disk = disk(self._folder)
            return self._disk


def disk(folder: Path) -> diskcache.Cache:
    """The maps kept in ``folder``, shared by all workers and children; what was used longest ago goes first."""
    return diskcache.Cache(str(folder), size_limit=DISK_LIMIT_BYTES, eviction_policy="least-recently-used")


def compute(cache: diskcache.Cache | None, file: Path, chip: str) -> MemoryMap:
    """Read the map of ``file`` and keep it in ``cache``; raises InputError when the snapshot cannot be read."""
    text = read_snapshot(file)
    key = map_key(digest(text), file.name, chip)
    found = _decoded(cache.get(key), MemoryMap) if cache is not None else None
    if found is None:
        found = read_map(text, file.name, Chip(chip, "chosen"))
        if cache is not None:
            cache.set(key, msgspec.msgpack.encode(found))
    return found


def compute_history(
    cache: diskcache.Cache | None, dump: Path, key: str, progress: Callable[[int, int], None] | None = None
) -> Rises:
    """Follow the peaks through the passes of a dump and keep the answer in ``cache``; ``progress`` may raise to stop."""
    passes = history(dump, progress)
    problems = tuple(f"{each.file}: {each.problem}" for each in passes if each.problem)
    made = Rises(rises(passes), len(passes), problems)
    if cache is not None:
        cache.set(key, msgspec.msgpack.encode(made))
    return made


def _decoded(data: bytes | None, kind: type[T]) -> T | None:
    """The answer in ``data``, or None when there is none or it was kept by another version."""
    if data is None:
        return None
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except msgspec.DecodeError:
        return None


def map_key(sha256: str, name: str, chip: str) -> str:
    """Under which a map is kept: content, file name (messages name it), chip and version."""
    return f"{MAP_VERSION}-{sha256}-{name}-{chip}"


def digest(text: str) -> str:
    """Hash of a snapshot's content."""
    return hashlib.sha256(text.encode()).hexdigest()


def _boxes(made: MemoryMap) -> int:
    return 1 + sum(len(f.boxes) + len(f.beyond) for f in made.functions)


def _text_bytes(text: Text) -> int:
    return 1 + sum(map(len, text.lines)) + 60 * len(text.lines)


def of(services: Services) -> MemoryMaps:
    """The maps of an application, made on first use."""
    folder = services.settings.data_dir / "memory"
    return services.caches.get("memory", "maps", lambda: MemoryMaps(folder, services.jobs), 1)
