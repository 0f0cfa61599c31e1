"""Which pass dumps belong to a run? Those in its directory, its parent, or beside it, never outside its root."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from cachetools import TTLCache, cached

from analysis.errors import InputError, NotFoundError, readable
from analysis.passes.dump import Dump, open_dump
from app.runs.library import Run
from app.server.services import Services
from app.server.settings import Settings

LOOK_AGAIN_S = 2.0
"""A directory that was listed this recently is not listed again."""


@dataclass(frozen=True, slots=True)
class OpenDump:
    """A listed dump; ``signature`` changes when any of its snapshots or logs does."""

    dump: Dump
    signature: str


def dump_paths(run: Run, settings: Settings) -> dict[str, Path]:
    """The dumps of a run by label: the path below the run's parent directory."""
    folder = run.source if run.source.is_dir() else run.source.parent
    roots = {root.path.resolve() for root in settings.roots}
    places = [folder] if folder.resolve() in roots else [folder, folder.parent]
    found = {path for place in places for path in _dumps_in(place)} | set(run.disk.passes)
    out: dict[str, Path] = {}
    for path in sorted(found):
        base = folder if len(places) == 1 else folder.parent
        out[readable(path.relative_to(base).as_posix())] = path
    return out


def offered(services: Services, run_key: str) -> bool:
    """Whether a pass dump belongs to a run."""
    try:
        return bool(dump_paths(services.library.run(run_key), services.settings))
    except NotFoundError:
        return False


def choose(run: Run, settings: Settings, label: str) -> OpenDump:
    """The dump called ``label``, or the first one for "".

    Raises:
        NotFoundError: the run has none, or none of that name.
        InputError: it cannot be listed.
    """
    paths = dump_paths(run, settings)
    where = f"{run.row.root}/{run.row.path}"
    if not paths:
        raise NotFoundError(
            f"{where}: no passes_dump directory in it, in its parent or beside it. Compile with pass dumps switched on "
            "and copy the directory next to the capture"
        )
    if label and label not in paths:
        raise NotFoundError(f"{where} has no pass dump {label[:100]}; it has {', '.join(paths)}")
    label = label or next(iter(paths))
    return listed(paths[label], label)


@cached(TTLCache(maxsize=64, ttl=LOOK_AGAIN_S), lock=threading.Lock())
def listed(path: Path, label: str) -> OpenDump:
    """The names in a dump directory, with its signature.

    Raises:
        InputError: it cannot be listed.
    """
    dump = open_dump(path, label)
    stamps: list[tuple[str, int, int]] = []
    for name in [name for item in dump.passes for name in (item.file, item.log) if name]:
        try:
            stat = os.stat(path / name)
        except OSError as error:
            raise InputError(f"{label}/{name}", "", f"cannot be read: {error.strerror}") from error
        stamps.append((name, stat.st_size, stat.st_mtime_ns))
    text = json.dumps([stamps, [problem.message for problem in dump.problems], label])
    return OpenDump(dump, hashlib.sha256(text.encode()).hexdigest()[:32])


def _dumps_in(place: Path) -> list[Path]:
    """As everywhere in a tree of runs, links to directories are not followed."""
    try:
        return [path for path in place.glob("passes_dump*") if path.is_dir() and not path.is_symlink()]
    except OSError:  # a folder that cannot be listed has no dumps to offer
        return []
