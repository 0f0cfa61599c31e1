"""Is the map of a snapshot there? From memory, from disk, read at once when it is small, else by a child.

Maps are kept by the snapshot's content, so passes that changed nothing, other dumps and other workers share them.
"""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import diskcache
import msgspec
from cachetools import LRUCache

from analysis.memory.chips import Chip
from analysis.memory.maps import read_map, read_snapshot
from analysis.memory.model import MemoryMap
from analysis.passes.dump import PassFile
from app.passes.dumps import OpenDump
from app.passes.kept import NotYet
from app.work.jobs import JUST_ENDED_S, Job, Jobs

PROGRAM = "app.memory.child"
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
            job = self._job(dump, files, chip)
            known = self._jobs.status(job)
            if not (known.state == "done" and time.time() - known.ended_s < JUST_ENDED_S):
                what = f"{missing[0].file}" if len(missing) == 1 else f"{len(missing):,} snapshots of {dump.dump.label}"
                raise NotYet(job, f"Reading the memory map of {what}")
        return [self._made(dump, file, text, chip) for file, text in zip(files, texts, strict=True)]

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
                found = self._held(key) or compute(self._cache(), dump.dump.path / file.file, chip.name)
            self._remember(key, found)
        return replace(found, chip=chip)

    def _held(self, key: str) -> MemoryMap | None:
        with self._lock:
            found = self._maps.get(key)
        if found is None:
            found = decoded(self._cache().get(key))
            if found is not None:
                self._remember(key, found)
        return found

    def _remember(self, key: str, made: MemoryMap) -> None:
        with self._lock:
            if _boxes(made) <= BOXES:
                self._maps[key] = made

    def _job(self, dump: OpenDump, files: tuple[PassFile, ...], chip: Chip) -> Job:
        given = {"files": [file.file for file in files], "chip": chip.name, "folder": str(self._folder)}
        return Job(dump.dump.path, 0, dump.signature, "memory-map", given, PROGRAM)

    def _cache(self) -> diskcache.Cache:
        with self._lock:
            if self._disk is None:
                self._disk = disk(self._folder)
            return self._disk


def disk(folder: Path) -> diskcache.Cache:
    """The maps kept in ``folder``, shared by all workers and children; what was used longest ago goes first."""
    return diskcache.Cache(str(folder), size_limit=DISK_LIMIT_BYTES, eviction_policy="least-recently-used")


def compute(cache: diskcache.Cache, file: Path, chip: str) -> MemoryMap:
    """Read the map of ``file`` and keep it; raises InputError when the snapshot cannot be read."""
    text = read_snapshot(file)
    key = map_key(digest(text), file.name, chip)
    found = decoded(cache.get(key))
    if found is None:
        found = read_map(text, file.name, Chip(chip, "chosen"))
        cache.set(key, msgspec.msgpack.encode(found))
    return found


def decoded(data: bytes | None) -> MemoryMap | None:
    """The map in ``data``, or None when there is none or it was kept by another version."""
    if data is None:
        return None
    try:
        return msgspec.msgpack.decode(data, type=MemoryMap)
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
