"""The store: a columnar copy of every opened capture on disk, found by content, shared by all processes.

Question answered: how does any worker get a capture, or something computed from it, in milliseconds?

Layout under ``root``::

    captures/<2 hex>/<capture id>-<version>/   columns.bin, meta.json
    derived/<2 hex>/<capture id>/<key hash>.bin
    index/<hash>.json                          (paths, sizes, times, inodes) → capture id
    locks/, tmp/

An entry is written in ``tmp/`` and renamed, so it is there completely or not at all; a crash leaves only a directory in
``tmp/`` that a later start removes. A damaged entry is thrown away and built again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import shutil
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec
from numpy.typing import NDArray

from analysis.capture import Capture, CaptureMeta, colfile
from analysis.errors import InputError, NotFoundError, readable
from analysis.files import READ_ONLY, NoRoomError, room_for, write_atomically
from analysis.formats.inputs import Inputs, find, identity
from analysis.formats.loading import Progress, load_inputs, no_progress

STORE_VERSION = 3
"""Raise when the meaning of a stored column changes."""
LEFTOVER_SECONDS = 3600
MISS_KEPT_SECONDS = 600
"""How long "there is no such launch" and "cannot be read" are remembered for unchanged files."""
_LOCK_POLL_SECONDS = 0.05
log = logging.getLogger("swimscope")
T = TypeVar("T")
Arrays: TypeAlias = dict[str, NDArray[Any]]


def _tables() -> dict[str, type]:
    hints = Capture.__annotations__
    import analysis.capture as model

    return {name: getattr(model, str(hint)) for name, hint in hints.items() if name != "meta"}


TABLES = _tables()
_LAYOUT = ";".join(f"{name}:{','.join(f.name for f in fields(kind))}" for name, kind in TABLES.items())
VERSION = f"{STORE_VERSION}.{zlib.crc32(_LAYOUT.encode()):08x}"
"""Version of an entry: rises with :data:`STORE_VERSION` and with every change of the model's columns."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored capture or set of derived arrays: where it is, how big it is, when it was last used."""

    path: Path
    size_bytes: int
    used_at: float


class _Ask(NamedTuple):
    """What is asked of a file."""

    launch: int
    include_flagged: bool

    @property
    def first(self) -> _Ask:
        """The same of launch 0."""
        return _Ask(0, self.include_flagged)


class Store:
    """Content-addressed captures and derived arrays under one directory.

    Args:
        root: directory of the store, created when absent. Several processes may share it.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        for name in ("captures", "derived", "index", "locks", "tmp"):
            self._folder(name)
        self._sweep()

    def _folder(self, name: str) -> Path:
        """A directory of the store, made again when somebody deleted it."""
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def open(
        self,
        path: str | Path,
        launch: int = 0,
        progress: Progress | None = None,
        needs_room: bool = False,
        include_flagged: bool = False,
    ) -> Capture:
        """The capture at ``path``, from the store when its files are known, else read and stored.

        Args:
            path: swimlane file or dfx_outputs directory.
            launch: which launch of a file that holds several.
            progress: called with (share done, what); an exception it raises cancels the open and leaves no trace.
            include_flagged: as :func:`analysis.formats.load`.
            needs_room: fail when the disk is too full to store the capture, instead of giving it from memory.

        Raises:
            NotFoundError, AmbiguousError, UnknownFormatError, InputError: as :func:`analysis.formats.load`; what
                was found out less than ten minutes ago about unchanged files costs no second reading.
            NoRoomError: the disk is full and ``needs_room`` is set.
        """
        return self._open(find(Path(path)), _Ask(launch, include_flagged), progress or no_progress, needs_room)

    def _open(self, inputs: Inputs, ask: _Ask, report: Progress, needs_room: bool) -> Capture:
        key = _stat_key(inputs, ask)
        capture = self._known(key, inputs)
        if capture is not None:
            return capture
        self._refuse_known_miss(inputs, ask, key)
        with self._locked(key, report):
            capture = self._known(key, inputs) or self._by_content(inputs, ask, key)
            if capture is not None:
                return capture
            self._refuse_known_miss(inputs, ask, key)  # another process may just have found out
            try:
                return self._import(inputs, ask, key, report, needs_room)
            except (NotFoundError, InputError) as error:
                if not isinstance(error.__cause__, OSError):  # a disk may answer again
                    self._remember_miss(key, error)
                raise

    def stored(self, capture_id: str) -> Capture | None:
        """The capture of that content when the store has it, whatever became of its files."""
        return self._map(capture_id, None)

    def known(self, path: str | Path, launch: int = 0, include_flagged: bool = False) -> Capture | None:
        """The capture at ``path`` when the store has it already, else None; reads no input file.

        Raises:
            NotFoundError, AmbiguousError: as :meth:`open`.
        """
        inputs = find(Path(path))
        return self._known(_stat_key(inputs, _Ask(launch, include_flagged)), inputs)

    def derived(self, capture: Capture, key: str, build: Callable[[], Arrays]) -> Arrays:
        """Arrays computed from ``capture``, built once per content and ``key``; see :meth:`kept`."""
        return self.kept(capture.meta.capture_id, key, build)

    def kept(self, content: str, key: str, build: Callable[[], Arrays]) -> Arrays:
        """Arrays computed from some content, built once per content and ``key``.

        Args:
            content: hexadecimal id of what the arrays are computed from.
            key: name, version and parameters of the computation.
            build: computes the arrays when they are not stored yet.

        Returns:
            Arrays by name, read-only and memory-mapped unless the disk was too full to keep them.
        """
        path = self._derived_path(content, key)
        with contextlib.suppress(colfile.DamagedError):
            return _touched(path, colfile.read(path))
        arrays = build()
        fresh = self._temporary()
        try:
            with room_for(self.root, _size_of(arrays), key):
                path.parent.mkdir(parents=True, exist_ok=True)
                colfile.write(fresh, arrays)
                fresh.replace(path)
        except NoRoomError as error:
            log.warning("computed but not kept: %s", error)
            return arrays
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
        return colfile.read(path)

    def holds(self, capture: Capture, key: str) -> bool:
        """Whether :meth:`derived` has the arrays of ``key`` already."""
        return self.keeps(capture.meta.capture_id, key)

    def keeps(self, content: str, key: str) -> bool:
        """Whether :meth:`kept` has the arrays of ``key`` already."""
        return self._derived_path(content, key).is_file()

    def entries(self) -> list[Entry]:
        """Everything that can be evicted, least recently used first."""
        found = [_entry(path) for path in (self.root / "captures").glob("*/*") if path.is_dir()]
        found += [_entry(path) for path in (self.root / "derived").glob("*/*/*.bin")]
        return sorted((entry for entry in found if entry is not None), key=lambda entry: entry.used_at)

    def size_bytes(self) -> int:
        """Size of all entries."""
        return sum(entry.size_bytes for entry in self.entries())

    def evict(self, max_bytes: int) -> int:
        """Remove least recently used entries until at most ``max_bytes`` remain; returns the bytes removed.

        Processes that have a removed entry mapped keep it until they let go.
        """
        entries = self.entries()
        excess = sum(entry.size_bytes for entry in entries) - max_bytes
        removed = 0
        for entry in entries:
            if removed >= excess:
                break
            self._discard(entry.path)
            removed += entry.size_bytes
        return removed

    def _known(self, key: str, inputs: Inputs) -> Capture | None:
        """The capture the index names for these files, None when unknown or damaged."""
        try:
            capture_id = json.loads((self.root / "index" / f"{key}.json").read_bytes())["capture_id"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return self._map(str(capture_id), inputs)

    def _by_content(self, inputs: Inputs, ask: _Ask, key: str) -> Capture | None:
        """The capture with the same bytes, stored from another place or before a touch.

        Hashing all files only pays when such a capture can exist, so sizes are compared first.
        """
        if not (self.root / "index" / f"{_size_key(inputs, ask)}.sizes").exists():
            return None
        try:
            capture_id = identity({kind: _sha256(path) for kind, path in inputs.files.items()}, *ask)
        except OSError:
            return None  # the import says which file cannot be read, and goes on without it where it can
        capture = self._map(capture_id, inputs)
        if capture is not None and _stat_key(inputs, ask) == key:
            self._remember(key, inputs, ask, capture_id)
        return capture

    def _refuse_known_miss(self, inputs: Inputs, ask: _Ask, key: str) -> None:
        """Raise again what an earlier reading of these very files ended with."""
        path = self.root / "index" / f"{key}.miss"
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            if time.time() - path.stat().st_mtime < MISS_KEPT_SECONDS:
                known = json.loads(path.read_bytes())
                if known["kind"] == "InputError":
                    raise InputError(known["source"], known["place"], known["reason"], known["remedy"])
                raise NotFoundError(known["message"])
        if ask.launch > 0:
            first = self._known(_stat_key(inputs, ask.first), inputs)
            if first is not None and ask.launch >= first.meta.launches:
                raise NotFoundError(
                    f"launch {ask.launch} does not exist: the capture holds launches 0 to {first.meta.launches - 1}"
                )

    def _remember_miss(self, key: str, error: NotFoundError | InputError) -> None:
        known = {"kind": "NotFoundError", "message": str(error)}
        if isinstance(error, InputError):
            known = {"kind": "InputError", "source": error.source, "place": error.place, "reason": error.reason}
            known["remedy"] = error.remedy
        with contextlib.suppress(OSError, NoRoomError):  # then the next reading finds out again
            write_atomically(self.root / "index" / f"{key}.miss", json.dumps(known).encode())

    def _import(self, inputs: Inputs, ask: _Ask, key: str, progress: Progress, needs_room: bool) -> Capture:
        if ask.launch > 0 and self._known(_stat_key(inputs, ask.first), inputs) is None:
            # One reading of launch 0 says how many launches there are, so that links to others cost nothing.
            self._open(inputs, ask.first, progress, needs_room)
            self._refuse_known_miss(inputs, ask, key)
        capture = load_inputs(inputs, ask.launch, progress, ask.include_flagged)
        progress(0.9, "writing the store")
        try:
            self._write(capture)
        except NoRoomError as error:
            if needs_room:
                raise
            log.warning("read but not kept: %s", error)
            return capture
        if _stat_key(inputs, ask) == key:
            with contextlib.suppress(NoRoomError):  # found by its content all the same
                self._remember(key, inputs, ask, capture.meta.capture_id)
        progress(1.0, "done")
        return self._map(capture.meta.capture_id, inputs) or capture

    def _derived_path(self, content: str, key: str) -> Path:
        name = hashlib.sha256(f"{VERSION}\n{key}".encode()).hexdigest()[:32]
        return self.root / "derived" / content[:2] / content / f"{name}.bin"

    def _entry_path(self, capture_id: str) -> Path:
        return self.root / "captures" / capture_id[:2] / f"{capture_id}-{VERSION}"

    def _map(self, capture_id: str, inputs: Inputs | None) -> Capture | None:
        path = self._entry_path(capture_id)
        if not path.is_dir():
            return None
        try:
            columns = colfile.read(path / "columns.bin")
            meta = msgspec.json.decode((path / "meta.json").read_bytes(), type=CaptureMeta)
            tables = {name: kind(**_columns(columns, name, kind)) for name, kind in TABLES.items()}
        except (colfile.DamagedError, msgspec.DecodeError, OSError, KeyError):
            self._discard(path)
            return None
        if inputs is None:
            return _touched(path / "meta.json", Capture(meta=meta, **tables))
        sources = {kind: readable(file.name) for kind, file in inputs.files.items() if kind in meta.sources}
        return _touched(
            path / "meta.json", Capture(meta=replace(meta, label=readable(inputs.label), sources=sources), **tables)
        )

    def _write(self, capture: Capture) -> None:
        path = self._entry_path(capture.meta.capture_id)
        columns = {
            f"{name}.{f.name}": getattr(getattr(capture, name), f.name)
            for name, kind in TABLES.items()
            for f in fields(kind)
        }
        fresh = self._temporary()
        try:
            with room_for(self.root, _size_of(columns), f"the capture {capture.meta.label or 'that was read'}"):
                fresh.mkdir()
                colfile.write(fresh / "columns.bin", columns)
                (fresh / "meta.json").write_bytes(msgspec.json.encode(capture.meta))
                path.parent.mkdir(parents=True, exist_ok=True)
                # Another process may have stored the same content meanwhile: then its entry stays and ours goes.
                with contextlib.suppress(FileExistsError, OSError) if path.is_dir() else contextlib.nullcontext():
                    fresh.rename(path)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _remember(self, key: str, inputs: Inputs, ask: _Ask, capture_id: str) -> None:
        index = self.root / "index"
        write_atomically(index / f"{key}.json", json.dumps({"capture_id": capture_id}).encode())
        write_atomically(index / f"{_size_key(inputs, ask)}.sizes", b"")

    def _temporary(self) -> Path:
        return self._folder("tmp") / f"{os.getpid()}-{uuid.uuid4().hex}"

    def _discard(self, path: Path) -> None:
        """Take an entry away in one step, then delete it."""
        grave = self._temporary()
        with contextlib.suppress(FileNotFoundError):
            path.rename(grave)
        if grave.is_dir():
            shutil.rmtree(grave, ignore_errors=True)
        else:
            grave.unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove what crashed writers left behind."""
        limit = time.time() - LEFTOVER_SECONDS
        for path in (self.root / "tmp").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < limit:
                    self._discard(path)

    @contextlib.contextmanager
    def _locked(self, key: str, progress: Progress) -> Iterator[None]:
        """Hold the lock of ``key`` among all processes; the kernel frees it when a holder dies."""
        try:
            lock = (self._folder("locks") / key).open("wb")
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise
            yield  # nothing can be written, so nobody has to wait
            return
        with lock as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    progress(0.0, "another process is opening the same capture")
                    time.sleep(_LOCK_POLL_SECONDS)
            yield


def _size_of(arrays: Arrays) -> int:
    return sum(array.nbytes for array in arrays.values())


def _columns(columns: Arrays, table: str, kind: type) -> Arrays:
    return {f.name: columns[f"{table}.{f.name}"] for f in fields(kind)}


def _stat_key(inputs: Inputs, ask: _Ask) -> str:
    """Names the files as they are on disk now: path, size, modification time, inode, rights."""
    parts = [VERSION, str(ask)]
    for kind in sorted(inputs.files):
        path = inputs.files[kind]
        try:
            stat = path.stat()
        except OSError as error:
            raise InputError(str(path), "", f"cannot be read: {error.strerror or error}", "Check the rights") from error
        parts.append(f"{kind} {path.absolute()} {stat.st_size} {stat.st_mtime_ns} {stat.st_ino} {stat.st_mode}")
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _size_key(inputs: Inputs, ask: _Ask) -> str:
    sizes = [f"{kind} {inputs.files[kind].stat().st_size}" for kind in sorted(inputs.files)]
    return hashlib.sha256("\n".join([VERSION, str(ask), *sizes]).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _touched(path: Path, value: T) -> T:
    """``value``, after marking ``path`` as used now; a store on a read-only volume stays as it is."""
    with contextlib.suppress(OSError):
        os.utime(path)
    return value


def _entry(path: Path) -> Entry | None:
    try:
        if path.is_dir():
            size = sum(file.stat().st_size for file in path.iterdir())
            return Entry(path, size, (path / "meta.json").stat().st_mtime)
        return Entry(path, path.stat().st_size, path.stat().st_mtime)
    except FileNotFoundError:
        return None
