"""What does an analysis say about a run? Computed once per content and parameters, kept on disk for all workers.

An :class:`Outcome` is what pages, exports and cards need of a result: its tables, its curves reduced to a picture, a few
numbers. It is a value without the capture in it, so that it can be kept and handed to any process.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import diskcache
import numpy as np
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
KEEP_ROWS = 1_000_000
"""Rows of outcomes kept in a process; the newest outcome is kept whatever its size."""


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
        self._memory: OrderedDict[str, Outcome] = OrderedDict()
        self._lock = threading.Lock()
        self._busy: dict[str, threading.Lock] = {}

    def get(self, capture: Capture, name: str, parameters: Mapping[str, Any]) -> Outcome:
        """The outcome, computed when it is not kept yet."""
        key = outcome_key(capture.meta.capture_id, name, parameters)
        with self._lock:
            busy = self._busy.setdefault(key, threading.Lock())
        with busy:
            found = self.kept(capture.meta.capture_id, name, parameters)
            if found is None:
                found = compute(capture, name, parameters)
                self._disk_cache().set(key, found)
                self._remember(key, found)
        with self._lock:
            self._busy.pop(key, None)
        return found

    def kept(self, capture_id: str, name: str, parameters: Mapping[str, Any]) -> Outcome | None:
        """The outcome when some process computed it before, else None."""
        key = outcome_key(capture_id, name, parameters)
        with self._lock:
            found = self._memory.get(key)
        if found is None:
            found = self._disk_cache().get(key)
            if found is not None:
                self._remember(key, found)
        return found

    def _remember(self, key: str, outcome: Outcome) -> None:
        with self._lock:
            self._memory[key] = outcome
            self._memory.move_to_end(key)
            while len(self._memory) > 1 and sum(kept.n_rows for kept in self._memory.values()) > KEEP_ROWS:
                self._memory.popitem(last=False)

    def _disk_cache(self) -> diskcache.Cache:
        with self._lock:
            if self._disk is None:
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
