"""What does an analysis say about a run? Computed once per content and parameters, kept on disk for all workers.

An :class:`Outcome` is what pages, exports and cards need of a result: its tables, its curves reduced to a picture, a few
numbers. It is a value without the capture in it, so that it can be kept and handed to any process.
"""

from __future__ import annotations

import json
import logging
import pickle
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import diskcache
import numpy as np
from cachetools import LRUCache
from diskcache.core import DBNAME
from numpy.typing import NDArray

from analysis import registry
from analysis.capture import Capture
from analysis.errors import NotAvailable
from analysis.results import Table
from analysis.shown import PlotCurve

OUTCOME_VERSION = "3"
"""Part of the cache key: raise it when an analysis or :class:`Outcome` changes meaning."""
CURVE_BUCKETS = 600
"""Points of a curve in a picture: about one per two pixels of a wide screen."""
DISK_LIMIT_BYTES = 2_000_000_000
DISK_ERRORS = (OSError, sqlite3.Error, diskcache.Timeout)
KEEP_ROWS = 1_000_000
"""Rows of outcomes kept in a process; the newest outcome is kept whatever its size."""

log = logging.getLogger("swimscope")


@dataclass(frozen=True, slots=True)
class Curve:
    """Mean of a step curve in equal parts of ``[t0_us, t1_us)``."""

    name: str
    t0_us: float
    t1_us: float
    values: NDArray[np.float64]
    top: float
    """The largest value possible, for the axis: number of cores, 1 for a yes/no curve."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of one analysis, or the ``reason`` why there is none."""

    name: str
    tables: tuple[tuple[str, Table], ...] = ()
    curves: tuple[Curve, ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def n_rows(self) -> int:
        """Rows of all tables, as a measure of size; at least 1."""
        return 1 + sum(len(table) for _title, table in self.tables)

    @property
    def available(self) -> bool:
        """Whether there is an answer."""
        return not self.reason


class Analyses:
    """Outcomes by content and parameters: memory first, then disk, then computed (once per process at a time)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._disk: diskcache.Cache | None = None
        self._memory: LRUCache[str, Outcome] = LRUCache(KEEP_ROWS, getsizeof=lambda kept: min(kept.n_rows, KEEP_ROWS))
        self._lock = threading.Lock()
        self._busy: dict[str, threading.Lock] = {}
        self.failure: int | None = None
        """Size in bytes of the last outcome that could not be kept on disk."""

    def get(self, capture: Capture, name: str, parameters: Mapping[str, Any]) -> Outcome:
        """The outcome, computed when it is not kept yet."""
        key = outcome_key(capture.meta.capture_id, name, parameters)
        with self._lock:
            busy = self._busy.setdefault(key, threading.Lock())
        with busy:
            found = self.kept(capture.meta.capture_id, name, parameters)
            if found is None:
                found = compute(capture, name, parameters)
                self._keep(key, found)
        with self._lock:
            self._busy.pop(key, None)
        return found

    def kept(self, capture_id: str, name: str, parameters: Mapping[str, Any]) -> Outcome | None:
        """The outcome when some process computed it before, else None."""
        key = outcome_key(capture_id, name, parameters)
        with self._lock:
            found = self._memory.get(key)
        if found is None:
            try:
                found = self._disk_cache().get(key)
            except DISK_ERRORS as error:
                self._give_up(error)
            if found is not None:
                with self._lock:
                    self._memory[key] = found
        return found

    def _keep(self, key: str, outcome: Outcome) -> None:
        """Keep in memory, and on disk where that has room: a view goes on without."""
        with self._lock:
            self._memory[key] = outcome
        try:
            self._disk_cache().set(key, outcome)
        except DISK_ERRORS as error:
            self.failure = len(pickle.dumps(outcome))
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """Say that the folder cannot be used now, and try to open it again the next time."""
        log.warning("analysis results cannot be kept in %s: %s", self._folder, error)
        with self._lock:
            self._disk = None

    def _disk_cache(self) -> diskcache.Cache:
        """The cache on disk, opened again when somebody deleted its folder."""
        with self._lock:
            if self._disk is None or not (self._folder / DBNAME).exists():
                self._disk = diskcache.Cache(str(self._folder), size_limit=DISK_LIMIT_BYTES)
            return self._disk


def outcome_key(capture_id: str, name: str, parameters: Mapping[str, Any]) -> str:
    """Cache key: content, analysis, parameters and version."""
    return json.dumps([OUTCOME_VERSION, capture_id, name, dict(sorted(parameters.items()))])


def compute(capture: Capture, name: str, parameters: Mapping[str, Any]) -> Outcome:
    """Run analysis ``name`` with keyword arguments of its function; NotAvailable becomes the reason."""
    analysis = registry.find(name)
    try:
        result: Any = analysis.run(capture, **parameters)
    except NotAvailable as error:
        return Outcome(name, reason=error.reason)
    return Outcome(
        name,
        tables=tuple(analysis.tables(result)),
        curves=tuple(_curve(capture, item) for item in analysis.curves_of(result)),
        numbers=analysis.numbers_of(capture, result),
        notes=analysis.notes(result),
    )


def _curve(capture: Capture, item: PlotCurve) -> Curve:
    t0, t1 = item.t0_ticks, item.t1_ticks
    values = item.curve.means(t0, t1, CURVE_BUCKETS) if t1 > t0 else np.zeros(0)
    return Curve(item.name, capture.meta.us(t0), capture.meta.us(t1), values, float(item.top))
