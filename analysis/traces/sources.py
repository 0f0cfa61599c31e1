"""Which files make one trace? A Chrome trace is one file; the logs of all host processes of a directory are one together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.discovery.tree import HOST_LOG
from analysis.errors import NotFoundError

HOST = "host-logs"
"""Name of the choice that all host logs of a directory make together."""
PHASES = "host_phase_records.jsonl"
_MARK = b"[STRACE] v="
_HEAD_BYTES = 1 << 16
MAX_LOGS = 200
"""Other logs of a directory whose begin is looked at."""


@dataclass(frozen=True, slots=True)
class TraceSource:
    """One choice of the page: its name in the URL, and the files it is read from (several only for host logs)."""

    name: str
    files: tuple[Path, ...]

    @property
    def is_host(self) -> bool:
        """Whether it is the host timeline."""
        return self.name == HOST

    @property
    def label(self) -> str:
        """What the page calls it."""
        return "Host logs" if self.is_host else self.name


def folder_of(source: Path) -> Path:
    """The directory of a run's source."""
    return source if source.is_dir() else source.parent


def host_files(folder: Path) -> tuple[Path, ...]:
    """Host logs of a directory and, last, its phase records; nothing without a log."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()  # a directory that cannot be listed has no logs to offer
    logs = [folder / name for name in names if HOST_LOG.fullmatch(name)]
    logs += [path for path in _others(folder, names) if path not in logs]
    return (*logs, *([folder / PHASES] if logs and PHASES in names else []))


def _others(folder: Path, names: list[str]) -> Iterator[Path]:
    """Logs of other names that begin with a span."""
    for name in [name for name in names if name.endswith(".log")][:MAX_LOGS]:
        try:
            with (folder / name).open("rb") as file:
                if _MARK in file.read(_HEAD_BYTES):
                    yield folder / name
        except OSError:
            continue  # not a readable file: no log


def named(source: Path, name: str) -> TraceSource:
    """The choice called ``name`` of the run at ``source``, for the background job.

    Raises:
        NotFoundError: ``name`` is not the name of a file in there.
    """
    folder = folder_of(source)
    if name == HOST:
        return TraceSource(HOST, host_files(folder))
    if name != Path(name).name or not (folder / name).is_file():
        raise NotFoundError(f"there is no trace {name!r} in the run's directory")
    return TraceSource(name, (folder / name,))
