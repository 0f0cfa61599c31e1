"""Which captures are in this tree? Names, sizes and head bytes only, never a full parse.

Every directory with a recognised file is a capture of its own, labelled by its path relative to the root
(FORMATS section 1). :func:`scan` yields while it walks, so the first rows of a huge or slow tree appear at once.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from analysis.formats.inputs import RANK_DIRECTORY, RUN_DIRECTORY, SIBLINGS, UNFINISHED, is_swimlane, stem
from analysis.formats.peek import kind_of_file

ErrorSink: TypeAlias = Callable[[str, str], None]
"""Called with (path, reason) for every directory or file that cannot be looked at."""
MAX_DEPTH = 64
SKIPPED = frozenset({"__pycache__", "node_modules"})
"""Directories that are never entered; hidden directories and pass dumps are not entered either."""
DFX = "dfx_outputs"
_CPM_NAME = re.compile(r"CPM_(static|observed).*\.json(\.gz)?")
_SIBLING = {
    kind: tuple(re.compile(re.escape(pattern).replace(r"\*", ".*") + r"(\.gz)?") for pattern in patterns)
    for kind, patterns in SIBLINGS.items()
}
_HINTS = "perf_hints.log"
HOST_LOG = re.compile(r"host\.\d+\.log|host_clock_alignment.*\.log")
"""Logs of host processes, by name."""
_COSTS = {
    "swimlane": "no swimlane file: no records and no times",
    "deps": "no deps.json: no dependency lines",
    "name_map": "no name map: functions are shown by number",
}
_MEMORY_PASS = "AllocateMemoryAddr"


@dataclass(frozen=True, slots=True)
class CaptureSource:
    """One capture as it is on disk, not opened yet."""

    path: Path
    """What to open: the directory, or the swimlane file where one directory holds several."""
    relative: str
    """Path relative to the scanned root, "." for the root itself; several swimlanes add the file's stem."""
    group: str
    """``relative`` without ``dfx_outputs`` and rank or device parts: captures of one case share it."""
    rank: str
    """The rank and device parts of the path, as in "rank0/d1"; "" without."""
    files: dict[str, str]
    """Kind (swimlane, deps, name_map, cpm_static, cpm_observed, trace, host_log, perf_hints) → name, relative to the directory."""
    traces: tuple[str, ...]
    """All Chrome traces of the directory, newest last."""
    host_logs: tuple[str, ...]
    """Logs of host processes, by name."""
    passes: tuple[Path, ...]
    """Pass dump directories beside or inside the capture, by name."""
    views: tuple[str, ...]
    """Pages it can fill: swimlane, graph, functions, trace, passes, memory."""
    size_bytes: int
    modified_s: float
    signature: str
    """Changes when any file of the capture changes."""
    missing: tuple[str, ...] = ()
    """What is not there and what it costs, in words; unfinished writes are named."""
    error: str = ""
    """Why the swimlane cannot be what its name says; "" when it looks right."""


@dataclass(slots=True)
class _Listing:
    """What one directory holds."""

    path: Path
    files: dict[str, os.stat_result] = field(default_factory=dict)
    directories: list[str] = field(default_factory=list)

    def passes(self) -> tuple[Path, ...]:
        return tuple(self.path / name for name in self.directories if name.startswith("passes_dump"))


class Kinds:
    """What files are, remembered from one scan to the next: a known file with the same stamp is not read again."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, int, int, int], str] = {}
        self._now: dict[tuple[str, int, int, int], str] = {}

    def of(self, directory: Path, name: str, stat: os.stat_result) -> str | None:
        """Kind of the file ``name`` in ``directory``, see :func:`analysis.formats.peek.kind_of_file`."""
        path = f"{directory}/{name}"
        key = (path, stat.st_mtime_ns, stat.st_size, stat.st_ino)
        kind = self._before.get(key) or kind_of_file(Path(path))
        if kind is not None:
            self._now[key] = kind
        return kind

    def next_scan(self) -> None:
        """Keep what the scan that ended has seen, and nothing else."""
        self._before, self._now = self._now, {}


def scan(root: str | Path, on_error: ErrorSink | None = None, kinds: Kinds | None = None) -> Iterator[CaptureSource]:
    """Walk ``root`` and yield every capture, parents before children, names ascending.

    Args:
        root: directory to walk. Links to directories are not followed, so loops cannot happen.
        on_error: called with everything that cannot be read; the walk goes on.
        kinds: what an earlier scan of this root has learnt.

    Raises:
        OSError: the root itself cannot be listed.
    """
    base = Path(root)
    os.listdir(base)
    yield from _Walk(base, on_error or _ignore, kinds or Kinds()).below(base, (), 0)


def _ignore(path: str, reason: str) -> None:
    """Nobody asked for errors."""


@dataclass(frozen=True, slots=True)
class _Walk:
    """One walk over the tree at ``base``."""

    base: Path
    sink: ErrorSink
    kinds: Kinds

    def below(self, directory: Path, above: tuple[Path, ...], depth: int) -> Generator[CaptureSource, None, bool]:
        """Captures at and below ``directory``; returns whether any of them took the pass dumps of ``directory``."""
        listing = _list(directory, self.sink)
        if listing is None:
            return False
        inside = listing.passes()
        claimed = False
        for source in self._sources(listing, inside or above):
            claimed = True
            yield source
        if depth >= MAX_DEPTH:
            self.sink(str(directory), f"more than {MAX_DEPTH} directories deep: not entered")
            return claimed
        for name in listing.directories:
            if name in SKIPPED or name.startswith((".", "passes_dump")):
                continue
            # A dump beside dfx_outputs or above a rank belongs to the captures in there, not to unrelated cases.
            belongs = name == DFX or (RANK_DIRECTORY.fullmatch(name) or RUN_DIRECTORY.fullmatch(name)) is not None
            given = (inside or above) if belongs else ()
            taken = yield from self.below(directory / name, given, depth + 1)
            claimed |= taken and belongs
        if inside and not claimed:
            yield _source(self.base, listing, {}, (), inside)
            return True
        return claimed

    def _sources(self, listing: _Listing, passes: tuple[Path, ...]) -> Iterator[CaptureSource]:
        kinds = self._kinds(listing)
        logs = any(HOST_LOG.fullmatch(name) for name in listing.files)
        if not kinds and not logs and not any(UNFINISHED.fullmatch(name) for name in listing.files):
            return
        siblings = _siblings(listing)
        swimlanes = [name for name, kind in kinds.items() if is_swimlane(name, kind)]
        traces = tuple(
            sorted(
                (name for name, kind in kinds.items() if kind == "trace" and not _CPM_NAME.fullmatch(name)),
                key=lambda name: (listing.files[name].st_mtime_ns, name),
            )
        )
        if len(swimlanes) > 1:
            for name in swimlanes:
                yield _source(self.base, listing, {"swimlane": name, **siblings}, traces, passes, name, kinds[name])
            return
        files = {"swimlane": swimlanes[0], **siblings} if swimlanes else siblings
        if not files and not traces and not logs and any(UNFINISHED.fullmatch(name) for name in listing.files):
            yield _source(self.base, listing, {}, (), passes)
        if {"swimlane", "deps", "name_map"} & set(files) or traces or logs:
            yield _source(self.base, listing, files, traces, passes, known=kinds.get(files.get("swimlane", "")))

    def _kinds(self, listing: _Listing) -> dict[str, str | None]:
        """Kind per JSON file, by structure."""
        names = [name for name in listing.files if name.endswith((".json", ".json.gz"))]
        return {name: self.kinds.of(listing.path, name, listing.files[name]) for name in names}


def _list(directory: Path, sink: ErrorSink) -> _Listing | None:
    listing = _Listing(directory)
    try:
        with os.scandir(directory) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                try:
                    if entry.is_dir(follow_symlinks=False):
                        listing.directories.append(entry.name)
                    elif entry.is_file():
                        listing.files[entry.name] = entry.stat()
                except OSError as error:
                    sink(entry.path, error.strerror or str(error))
    except OSError as error:
        sink(str(directory), error.strerror or str(error))
        return None
    return listing


def _siblings(listing: _Listing) -> dict[str, str]:
    """Newest file per kind, as :func:`analysis.formats.inputs.sibling` chooses it."""
    found: dict[str, str] = {}
    for kind, matchers in _SIBLING.items():
        for matcher in matchers:
            names = [name for name in listing.files if matcher.fullmatch(name)]
            if names:
                found[kind] = max(names, key=lambda name: (listing.files[name].st_mtime_ns, name))
                break
    if _HINTS in listing.files:
        found["perf_hints"] = _HINTS
        return found
    inside = ("report",) if "report" in listing.directories else ()
    for place in (*inside, "../report", ".."):
        if os.path.isfile(f"{listing.path}/{place}/{_HINTS}"):
            found["perf_hints"] = f"{place}/{_HINTS}"
            break
    return found


def _source(
    base: Path,
    listing: _Listing,
    files: dict[str, str],
    traces: tuple[str, ...],
    passes: tuple[Path, ...],
    only: str | None = None,
    known: str | None = None,
) -> CaptureSource:
    relative = listing.path.relative_to(base).as_posix()
    group, rank = _group(relative)
    logs = tuple(name for name in listing.files if HOST_LOG.fullmatch(name))
    named = files | ({"trace": traces[-1]} if traces else {}) | ({"host_log": logs[-1]} if logs else {})
    stats = {name: listing.files[name] for name in {*files.values(), *traces, *logs} if name in listing.files}
    swimlane = files.get("swimlane")
    return CaptureSource(
        path=listing.path / only if only is not None else listing.path,
        relative=f"{relative}/{stem(Path(only))}" if only is not None else relative,
        group=group,
        rank=rank,
        files=named,
        traces=traces,
        host_logs=logs,
        passes=passes,
        views=_views(named, passes),
        size_bytes=sum(stat.st_size for stat in stats.values()),
        modified_s=max((stat.st_mtime for stat in stats.values()), default=_modified(passes)),
        signature=_signature(stats, passes),
        missing=_missing(files, listing),
        error=f"{swimlane} does not look like a swimlane" if swimlane is not None and known != "swimlane" else "",
    )


def _missing(files: dict[str, str], listing: _Listing) -> tuple[str, ...]:
    lacking = [words for kind, words in _COSTS.items() if kind not in files] if files else []
    lost = sorted(name for name in listing.files if UNFINISHED.fullmatch(name))
    return (*lacking, *(f"{name} is an unfinished write: not read" for name in lost))


def _group(relative: str) -> tuple[str, str]:
    """(path without dfx_outputs and rank parts, the rank parts)."""
    parts = [part for part in relative.split("/") if part not in (DFX, ".")]
    ranks = [part for part in parts if RANK_DIRECTORY.fullmatch(part) or RUN_DIRECTORY.fullmatch(part)]
    return "/".join(part for part in parts if part not in ranks), "/".join(ranks)


def _views(files: dict[str, str], passes: tuple[Path, ...]) -> tuple[str, ...]:
    views = [
        ("swimlane", "swimlane" in files),
        ("graph", "deps" in files),
        ("functions", "swimlane" in files or "name_map" in files),
        ("trace", "trace" in files or "host_log" in files),
        ("passes", bool(passes)),
        ("memory", any(_has_memory_pass(path) for path in passes)),
    ]
    return tuple(name for name, offered in views if offered)


def _has_memory_pass(path: Path) -> bool:
    try:
        return any(_MEMORY_PASS in name and name.endswith(".py") for name in os.listdir(path))
    except OSError:
        return False


def _modified(passes: tuple[Path, ...]) -> float:
    times = []
    for path in passes:
        try:
            times.append(path.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)


def _signature(stats: dict[str, os.stat_result], passes: tuple[Path, ...]) -> str:
    parts = [f"{name} {s.st_size} {s.st_mtime_ns} {s.st_ino} {s.st_mode}" for name, s in sorted(stats.items())]
    parts += [f"{path} {_modified((path,))}" for path in passes]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
