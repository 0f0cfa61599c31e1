"""What is kept of a trace? It is read once, with its index, and kept in the store by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture.store import Store
from analysis.errors import InputError
from analysis.timeline.query import LodIndex
from analysis.traces.build import open_trace
from analysis.traces.host import open_host
from analysis.traces.model import Trace, from_arrays
from analysis.traces.source import Source
from analysis.traces.sources import PHASES, TraceSource
from analysis.traces.strace import rounds
from analysis.traces.timeline import index_from_store, moments, stored_arrays

JOB = "trace"
"""Name of the background job that runs :func:`prepare`; its parameter is the name of the trace."""
_CONTENT, _TRACE, _INDEX = "trace-content-1", "trace-1", "trace-index-1"
_BLOCK = 1 << 22
Say = Callable[[float, str], None]


@dataclass(frozen=True)
class Opened:
    """An open trace: ``content`` is the id of the bytes it was read from, ``moments`` the positions of its instants.

    ``host`` holds what only host logs have: ``notes`` (sentences) and ``rounds`` (records of the table); else empty.
    """

    content: str
    trace: Trace
    index: LodIndex = field(repr=False)
    moments: NDArray[np.int64] = field(repr=False)
    host: Mapping[str, Any] = field(repr=False)


def _quiet(_share: float, _what: str) -> None:
    """Nobody waits for progress."""


def ready(store: Store, source: TraceSource) -> bool:
    """Whether the store has everything about the files as they are now."""
    stamp = stamp_of(source)
    if not store.keeps(stamp, _CONTENT):
        return False
    content = _content(store, source, stamp, _quiet)
    return store.keeps(content, _TRACE) and store.keeps(content, _INDEX)


def load(store: Store, source: TraceSource, say: Say = _quiet) -> Opened:
    """The trace, from the store where it is kept, else read and kept."""
    content = _content(store, source, stamp_of(source), say)
    arrays = store.kept(content, _TRACE, lambda: _read(source, say))
    trace = from_arrays(arrays)
    if not source.is_host:
        path = source.files[0]
        stat = path.stat()
        trace = replace(trace, label=path.name, source=Source(path, stat.st_size, stat.st_mtime_ns))
    say(-1.0, "building the index of the timeline")
    index = index_from_store(store.kept(content, _INDEX, lambda: stored_arrays(trace)))
    return Opened(content, trace, index, moments(index), json.loads(np.asarray(arrays["host"]).tobytes()))


def prepare(store: Store, source: TraceSource, say: Say) -> None:
    """What the background job does: read the trace into the store."""
    say(0.0, f"reading {source.label}")
    load(store, source, say)


def stamp_of(source: TraceSource) -> str:
    """Names the files as they lie on disk now."""
    lines = []
    for path in source.files:
        try:
            stat = path.stat()
        except OSError as error:
            raise InputError(str(path), "", f"cannot be read: {error.strerror or error}", "Check the rights") from error
        lines.append(f"{path.absolute()} {stat.st_size} {stat.st_mtime_ns} {stat.st_ino}")
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _content(store: Store, source: TraceSource, stamp: str, say: Say) -> str:
    """Id of the bytes of the files, kept by stamp."""

    def build() -> dict[str, NDArray[Any]]:
        digest, done = hashlib.sha256(), 0
        total = max(sum(path.stat().st_size for path in source.files), 1)
        for path in source.files:
            digest.update(f"{path.name if source.is_host else ''} {path.stat().st_size}\n".encode())
            try:
                with path.open("rb") as file:
                    while block := file.read(_BLOCK):
                        digest.update(block)
                        done += len(block)
                        say(0.1 * done / total, "looking whether its content is known")
            except OSError as error:
                reason = f"cannot be read: {error.strerror or error}"
                raise InputError(str(path), "", reason, "Check path and rights") from error
        return {"id": np.frombuffer(digest.hexdigest().encode(), np.uint8)}

    return np.asarray(store.kept(stamp, _CONTENT, build)["id"]).tobytes().decode()


def _read(source: TraceSource, say: Say) -> dict[str, NDArray[Any]]:
    host: dict[str, Any] = {}
    if source.is_host:
        phases = next((path for path in source.files if path.name == PHASES), None)
        found = open_host([path for path in source.files if path != phases], phases, source.label)
        trace = found.trace
        host = {"notes": list(found.notes), **rounds(found.log).to_json()}
    else:
        trace = open_trace(source.files[0], lambda at, of: say(0.1 + 0.8 * at / max(of, 1), "reading events"))
    text = json.dumps(host, default=str).encode()
    return trace.to_arrays() | {"host": np.frombuffer(text, np.uint8)}
