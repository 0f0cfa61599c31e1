"""Where are uploads kept? Parts that arrive, the unpacked trees under the hash of their content, and what people said of them.

Layout below ``folder``::

    parts/<id>/data, info.json      one file that is arriving; its size is the offset to resume at
    batches/<id>.json               files that belong together, and how far they are
    work/<id>/                      being unpacked; removed when a process died
    content/<hash>/<name>/…         one finished upload, the root that the library scans
    about/<hash>.json               its name, owner, note and tags
    trash/<hash>/                   deleted, can be put back until it is emptied

Every step ends in one rename, so that a crash leaves nothing that is listed half.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from analysis.errors import InputError, LimitError, NotFoundError, SwimscopeError
from analysis.files import room_for, write_atomically
from app.runs.uploads.names import clean_path
from app.runs.uploads.unpacking import CHUNK_BYTES, Limits, Progress, Unpacking

SCHEMA = 1
_ID = re.compile(r"[0-9a-f]{32}")
_HASH = re.compile(r"[0-9a-f]{20}")
MAX_TEXT = 2_000
MAX_TAGS = 20
DIED_S = 60.0
"""Unpacking reports twice a second; a batch that was silent for this long belongs to a process that died."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file that is arriving: ``length`` bytes in all, ``offset`` of them here."""

    id: str
    batch: str
    path: str
    length: int
    owner: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Files that become one upload. ``state``: receiving, unpacking, done, failed or cancelled."""

    id: str
    name: str
    owner: str
    note: str = ""
    tags: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    state: str = "receiving"
    done_bytes: int = 0
    message: str = ""
    upload: str = ""
    touched_s: float = field(default_factory=time.time)


@dataclass(frozen=True, slots=True)
class Upload:
    """A finished upload: ``id`` is the hash of its files' names and bytes."""

    id: str
    name: str
    owner: str
    note: str
    tags: tuple[str, ...]
    files: int
    size_bytes: int
    created_s: float
    deleted_s: float | None = None


class Uploads:
    """The uploads below ``folder``; safe with several processes.

    Args:
        folder: made on first use.
        limits: for what is unpacked.
        max_bytes: largest file and largest batch that may arrive.
        quota_bytes: what one owner may keep, the trash included.
    """

    def __init__(self, folder: Path, limits: Limits, max_bytes: int, quota_bytes: int) -> None:
        self.folder = folder
        self.limits = limits
        self.max_bytes = max_bytes
        self.quota_bytes = quota_bytes

    @property
    def content(self) -> Path:
        """The root that the library scans."""
        return self.folder / "content"

    # receiving

    def begin(self, name: str, owner: str, note: str = "", tags: tuple[str, ...] = ()) -> Batch:
        """A new batch, called ``name``.

        Raises:
            InputError: a name that no directory may have, or texts that are too long.
        """
        parts = clean_path(name or "upload", 1)
        batch = Batch(secrets.token_hex(16), parts[0], owner, *_texts(note, tags))
        self._save_batch(batch)
        return batch

    def create(self, batch_id: str, path: str, length: int) -> Part:
        """A new file of a batch, nothing of it here yet.

        Raises:
            NotFoundError: no such batch, or it is closed.
            InputError: a name that cannot be used.
            LimitError: the batch or the owner would have too much.
        """
        clean_path(path, self.limits.max_depth)
        with self._locked(batch_id):
            batch = self._open_batch(batch_id)
            if length < 0:
                raise InputError(path, "", "the length is negative")
            total = length + sum(self.part(one).length for one in batch.parts)
            if total > self.max_bytes:
                raise LimitError(f"the upload would have {total:,} bytes; upload_max_bytes is {self.max_bytes:,}")
            if len(batch.parts) >= self.limits.max_files:
                raise LimitError(f"the upload holds more than {self.limits.max_files:,} files (upload_max_files)")
            self._check_quota(batch.owner, total)
            part = Part(secrets.token_hex(16), batch_id, path, length, batch.owner)
            place = self._part(part.id)
            place.mkdir(parents=True)
            (place / "data").touch()
            write_atomically(place / "info.json", json.dumps({"schema": SCHEMA, **asdict(part)}).encode())
            self._save_batch(replace(batch, parts=(*batch.parts, part.id)))
        return part

    def _check_quota(self, owner: str, more_bytes: int) -> None:
        used = sum(item.size_bytes for item in self.all(deleted=True) if item.owner == owner)
        if used + more_bytes > self.quota_bytes:
            raise LimitError(
                f"{owner or 'everyone'} keeps {used:,} bytes of uploads; {more_bytes:,} more would exceed "
                f"upload_quota_bytes ({self.quota_bytes:,}): delete an upload first"
            )

    def part(self, part_id: str) -> Part:
        """A file that is arriving.

        Raises:
            NotFoundError: there is none of that id.
        """
        place = self._part(part_id)
        try:
            info = json.loads((place / "info.json").read_bytes())
            size = (place / "data").stat().st_size
        except (OSError, ValueError) as error:
            raise NotFoundError(
                f"no upload {part_id[:40]!r} is arriving: it was finished, cancelled or given up"
            ) from error
        return Part(**{key: info[key] for key in ("id", "batch", "path", "length", "owner")}, offset=size)

    def append(self, part_id: str, offset: int, stream: IO[bytes]) -> Part:
        """Add the bytes of ``stream`` at ``offset``; what arrived before an error stays, for the next try.

        Raises:
            NotFoundError: there is none of that id.
            InputError: the offset is not where the file ends, or the stream is longer than the file.
            NoRoomError: the disk is full.
        """
        with self._locked(part_id):
            part = self.part(part_id)
            if offset != part.offset:
                raise OffsetError(part.path, offset, part.offset)
            data = self._part(part_id) / "data"
            left = part.length - offset
            with room_for(self.folder, left, part.path), data.open("ab") as out:
                while chunk := stream.read(min(CHUNK_BYTES, left + 1)):
                    if len(chunk) > left:
                        raise InputError(part.path, f"byte {part.length}", "more bytes came than were announced")
                    out.write(chunk)
                    left -= len(chunk)
            self._touch(part.batch)
            return replace(part, offset=part.length - left)

    def drop(self, part_id: str) -> None:
        """Forget a file that is arriving."""
        part = self.part(part_id)
        shutil.rmtree(self._part(part_id), ignore_errors=True)
        with self._locked(part.batch):
            batch = self.batch(part.batch)
            self._save_batch(replace(batch, parts=tuple(one for one in batch.parts if one != part_id)))

    # finishing

    def finish(self, batch_id: str, progress: Progress = lambda _done, _name: None) -> Upload:
        """Unpack a batch and list it; content that is there already is kept once.

        Raises:
            NotFoundError: no such batch, or it is closed.
            InputError: a file is incomplete, damaged, or named as it must not be.
            LimitError: more than the settings allow.
            NoRoomError: the disk is full.
        """
        with self._locked(batch_id):
            batch = self._open_batch(batch_id)
            parts = [self.part(one) for one in batch.parts]
            if not parts:
                raise InputError(batch.name, "", "the upload has no file", "Add one")
            for part in parts:
                if part.offset != part.length:
                    raise InputError(
                        part.path, "", f"{part.offset:,} of {part.length:,} bytes are here", "Send the rest"
                    )
            self._save_batch(replace(batch, state="unpacking", touched_s=time.time()))
        work = self.folder / "work" / batch_id
        shutil.rmtree(work, ignore_errors=True)
        tree = work / batch.name
        try:
            tree.mkdir(parents=True)
            with room_for(self.folder, sum(part.length for part in parts), batch.name):
                unpacking = Unpacking(tree, self.limits, self._watch(batch_id, progress))
                for part in parts:
                    unpacking.add(self._part(part.id) / "data", part.path)
            if not unpacking.unpacked.files:
                raise InputError(batch.name, "", "no file is in it", "Pack the files of a run")
            upload = self._publish(batch, work, unpacking.unpacked.files)
        except (SwimscopeError, OSError) as error:
            cancelled = self.batch(batch_id).state == "cancelled"
            words = "cancelled" if cancelled else "failed"
            self._save_batch(replace(self.batch(batch_id), state=words, message=str(error)))
            raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
        for part in parts:
            shutil.rmtree(self._part(part.id), ignore_errors=True)
        self._save_batch(replace(batch, parts=(), state="done", upload=upload.id, touched_s=time.time()))
        return upload

    def _watch(self, batch_id: str, progress: Progress) -> Progress:
        """Notes progress in the batch's file twice a second, and stops when it was cancelled there."""
        noted = [0.0]

        def report(done: int, name: str) -> None:
            progress(done, name)
            if time.monotonic() - noted[0] < 0.5:
                return
            noted[0] = time.monotonic()
            now = self.batch(batch_id)
            if now.state == "cancelled":
                raise InputError(now.name, "", "the upload was cancelled")
            self._save_batch(replace(now, done_bytes=done, touched_s=time.time()))

        return report

    def _publish(self, batch: Batch, work: Path, files: dict[str, int]) -> Upload:
        tree = work / batch.name
        name = hash_of(tree, files)
        about = self.folder / "about" / f"{name}.json"
        target = self.content / name
        upload = Upload(
            name, batch.name, batch.owner, batch.note, batch.tags, len(files), sum(files.values()), time.time()
        )
        with self._locked(name):
            if target.is_dir():
                return self.get(name)
            shutil.rmtree(self.folder / "trash" / name, ignore_errors=True)
            self._save(upload)
            target.parent.mkdir(parents=True, exist_ok=True)
            staged = work.parent / f"{work.name}.done"
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir()
            tree.rename(staged / batch.name)
            staged.rename(target)
        assert about.exists()
        return upload

    def cancel(self, batch_id: str) -> None:
        """Give up a batch and what arrived of it."""
        batch = self.batch(batch_id)
        if batch.state in ("receiving", "unpacking"):
            self._save_batch(replace(batch, state="cancelled", message="cancelled"))
            if batch.state == "receiving":
                for part in batch.parts:
                    shutil.rmtree(self._part(part), ignore_errors=True)

    def batch(self, batch_id: str) -> Batch:
        """A batch.

        Raises:
            NotFoundError: there is none of that id.
        """
        if not _ID.fullmatch(batch_id):
            raise NotFoundError(f"no upload is called {batch_id[:40]!r}")
        try:
            found = json.loads((self.folder / "batches" / f"{batch_id}.json").read_bytes())
        except (OSError, ValueError) as error:
            raise NotFoundError(f"no upload is called {batch_id!r}: it was given up or removed") from error
        found.pop("schema")
        return Batch(**{**found, "tags": tuple(found["tags"]), "parts": tuple(found["parts"])})

    def _open_batch(self, batch_id: str) -> Batch:
        batch = self.batch(batch_id)
        died = batch.state == "unpacking" and time.time() - batch.touched_s > DIED_S
        if batch.state not in ("receiving", "failed") and not died:
            raise NotFoundError(f"the upload {batch.name} is {batch.state}: no file can be added")
        return batch

    def _save_batch(self, batch: Batch) -> None:
        text = json.dumps({"schema": SCHEMA, **asdict(batch)})
        write_atomically(self.folder / "batches" / f"{batch.id}.json", text.encode())

    def _touch(self, batch_id: str) -> None:
        os.utime(self.folder / "batches" / f"{batch_id}.json")

    # the finished ones

    def all(self, deleted: bool = False) -> list[Upload]:
        """Finished uploads, newest first; with ``deleted`` those of the trash too."""
        found = []
        for file in (self.folder / "about").glob("*.json"):
            try:
                found.append(_upload(json.loads(file.read_bytes())))
            except (OSError, ValueError, KeyError):  # removed or replaced while we look
                continue
        return sorted((item for item in found if deleted or item.deleted_s is None), key=lambda item: -item.created_s)

    def get(self, upload_id: str) -> Upload:
        """A finished upload.

        Raises:
            NotFoundError: there is none of that id.
        """
        if not _HASH.fullmatch(upload_id):
            raise NotFoundError(f"no upload is called {upload_id[:40]!r}")
        try:
            return _upload(json.loads((self.folder / "about" / f"{upload_id}.json").read_bytes()))
        except (OSError, ValueError) as error:
            raise NotFoundError(f"no upload is called {upload_id!r}") from error

    def describe(
        self, upload_id: str, name: str | None = None, note: str | None = None, tags: tuple[str, ...] | None = None
    ) -> Upload:
        """Change what is said of an upload; None leaves a part as it is."""
        with self._locked(upload_id):
            old = self.get(upload_id)
            clean = clean_path(name, 1)[0] if name is not None else old.name
            said = _texts(old.note if note is None else note, old.tags if tags is None else tags)
            new = replace(old, name=clean, note=said[0], tags=said[1])
            self._save(new)
        return new

    def delete(self, upload_id: str) -> Upload:
        """Put an upload into the trash, where :meth:`undo` finds it."""
        return self._move(upload_id, self.content, self.folder / "trash", time.time())

    def undo(self, upload_id: str) -> Upload:
        """Put a deleted upload back.

        Raises:
            NotFoundError: the trash was emptied.
        """
        return self._move(upload_id, self.folder / "trash", self.content, None)

    def _move(self, upload_id: str, source: Path, target: Path, deleted_s: float | None) -> Upload:
        with self._locked(upload_id):
            new = replace(self.get(upload_id), deleted_s=deleted_s)
            if not (source / upload_id).is_dir():
                raise NotFoundError(f"the upload {new.name} is not there any more")
            target.mkdir(parents=True, exist_ok=True)
            (source / upload_id).rename(target / upload_id)
            self._save(new)
        return new

    def _save(self, upload: Upload) -> None:
        text = json.dumps({"schema": SCHEMA, **asdict(upload)})
        write_atomically(self.folder / "about" / f"{upload.id}.json", text.encode())

    # housekeeping

    def tidy(self, undo_s: float, resume_s: float, keep_s: float) -> int:
        """Empty the trash, forget what nobody resumed, delete what is too old; returns how many things went.

        Args:
            undo_s: how long a deleted upload can be put back.
            resume_s: how long a batch may rest before it is given up.
            keep_s: how long a finished upload is kept; 0 is indefinitely.
        """
        now, gone = time.time(), 0
        for upload in self.all(deleted=True):
            if upload.deleted_s is None and keep_s and now - upload.created_s > keep_s:
                self.delete(upload.id)
                gone += 1
            elif upload.deleted_s is not None and now - upload.deleted_s > undo_s:
                shutil.rmtree(self.folder / "trash" / upload.id, ignore_errors=True)
                (self.folder / "about" / f"{upload.id}.json").unlink(missing_ok=True)
                gone += 1
        for file in (self.folder / "batches").glob("*.json"):
            if now - file.stat().st_mtime > resume_s:
                batch = self.batch(file.stem)
                for part in batch.parts:
                    shutil.rmtree(self._part(part), ignore_errors=True)
                shutil.rmtree(self.folder / "work" / batch.id, ignore_errors=True)
                file.unlink(missing_ok=True)
                gone += 1
        return gone

    def _part(self, part_id: str) -> Path:
        if not _ID.fullmatch(part_id):
            raise NotFoundError(f"no upload is called {part_id[:40]!r}")
        return self.folder / "parts" / part_id

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """One process and thread at a time, by name."""
        if not (_ID.fullmatch(name) or _HASH.fullmatch(name)):
            raise NotFoundError(f"no upload is called {name[:40]!r}")
        locks = self.folder / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        with (locks / name[:2]).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class OffsetError(InputError):
    """Bytes were sent for another place than where the file ends; ``expected`` is that place."""

    def __init__(self, path: str, given: int, expected: int) -> None:
        self.expected = expected
        super().__init__(path, f"byte {given}", f"the file ends at byte {expected}", "Go on from there")


def hash_of(tree: Path, files: dict[str, int]) -> str:
    """The content of a tree as 20 hex digits: sha256 over every relative name and the sha256 of its bytes."""
    whole = hashlib.sha256()
    for name in sorted(files):
        with (tree / name).open("rb") as stream:
            whole.update(f"\0{name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}".encode())
    return whole.hexdigest()[:20]


def _texts(note: str, tags: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    if len(note) > MAX_TEXT or len(tags) > MAX_TAGS or any(len(tag) > 40 for tag in tags):
        raise LimitError(f"a note has at most {MAX_TEXT:,} characters, tags are at most {MAX_TAGS} of 40 characters")
    return note, tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))


def _upload(found: dict[str, Any]) -> Upload:
    found.pop("schema")
    return Upload(**{**found, "tags": tuple(found["tags"])})
