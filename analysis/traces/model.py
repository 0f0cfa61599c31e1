"""A trace as columns: slices, instants, counter series and flows on lanes of processes and threads.

Times are integer ns from ``zero_us``; the first shown event is at 0. Every event keeps its place in the file, from where
:meth:`Trace.event` reads its arguments again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import NotFoundError
from analysis.traces.rules import Fate, Finding
from analysis.traces.scan import lenient
from analysis.traces.source import Source

OPEN, NO_LENGTH = 1, 2
"""Marks of slices that are in no statistic: never closed, without a length."""
TICKS_PER_US = 1000


@dataclass(frozen=True, slots=True)
class TraceLane:
    """One lane: a thread, the asynchronous spans of one category, or a lane a log was split into.

    ``key`` is stable (``pid/tid``), ``track`` its first sub-row of ``rows``; slices are ``first`` to ``first + slices``.
    """

    key: str
    label: str
    process: int
    thread: str
    kind: str
    track: int
    rows: int
    first: int
    slices: int


@dataclass(frozen=True, slots=True)
class Process:
    """One process: its id as written, its name or "process <id>"."""

    pid: str
    name: str
    named: bool


@dataclass(frozen=True, slots=True)
class CounterSeries:
    """One series of a counter; samples are ``first`` to ``first + samples`` of the sample columns, by time."""

    process: int
    name: str
    series: str
    first: int
    samples: int


@dataclass(frozen=True, slots=True)
class Slices:
    """Spans, sorted by (lane, start, -end, file order); ``parent`` -1 for outermost ones, ``end_offset`` -1 without ``E``."""

    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    self_ns: NDArray[np.int64]
    name: NDArray[np.int32]
    category: NDArray[np.int32]
    lane: NDArray[np.int32]
    row: NDArray[np.int32]
    depth: NDArray[np.int32]
    parent: NDArray[np.int32]
    marks: NDArray[np.uint8]
    offset: NDArray[np.int64]
    size: NDArray[np.int32]
    end_offset: NDArray[np.int64]
    end_size: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True, slots=True)
class Instants:
    """Moments, sorted by (lane, time)."""

    time_ns: NDArray[np.int64]
    name: NDArray[np.int32]
    category: NDArray[np.int32]
    lane: NDArray[np.int32]
    offset: NDArray[np.int64]
    size: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.time_ns)


@dataclass(frozen=True, slots=True)
class Flows:
    """Arrows between slices (indexes), sorted by ``source``; ``by_target`` orders them by ``target``."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    from_ns: NDArray[np.int64]
    to_ns: NDArray[np.int64]
    name: NDArray[np.int32]
    by_target: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.source)

    def of(self, slice_index: int) -> NDArray[np.int64]:
        """Arrows that begin or end at a slice."""
        low, high = np.searchsorted(self.source, [slice_index, slice_index + 1])
        targets = self.target[self.by_target]
        first, last = np.searchsorted(targets, [slice_index, slice_index + 1])
        return np.concatenate((np.arange(low, high), self.by_target[first:last])).astype(np.int64)


@dataclass(frozen=True)
class Trace:
    """Everything a page, the command line or a notebook needs of one trace.

    ``shown`` and ``left_out`` count events; together they are ``events_in``.
    """

    label: str
    zero_us: str
    span_ns: int
    events_in: int
    shown: Mapping[str, int]
    left_out: Mapping[str, int]
    findings: tuple[Finding, ...]
    names: tuple[str, ...]
    categories: tuple[str, ...]
    processes: tuple[Process, ...]
    lanes: tuple[TraceLane, ...]
    slices: Slices
    instants: Instants
    counters: tuple[CounterSeries, ...]
    sample_ns: NDArray[np.int64]
    sample_value: NDArray[np.float64]
    flows: Flows
    metadata: Mapping[str, Any]
    source: Source | None = field(compare=False, default=None)

    @property
    def complete(self) -> bool:
        """True when every event is shown."""
        return not self.left_out

    def event(self, kind: str, index: int) -> dict[str, Any]:
        """Everything the file says of slice (``"s"``) or instant (``"i"``) ``index``; an ``E``'s arguments are added.

        Raises:
            NotFoundError: there is no such item, or the trace was not read from a file.
            InputError: the file changed.
        """
        table: Slices | Instants = self.slices if kind == "s" else self.instants
        if kind not in ("s", "i") or not 0 <= index < len(table) or self.source is None:
            raise NotFoundError(f"{self.label} holds no item {kind}{index}")
        event = self._read(int(table.offset[index]), int(table.size[index]))
        if kind == "s" and self.slices.end_offset[index] >= 0:
            ended = self._read(int(self.slices.end_offset[index]), int(self.slices.end_size[index]))
            if isinstance(ended.get("args"), dict):
                event["args"] = {**(event.get("args") or {}), **ended["args"]}
        return event

    def events(self, slices: NDArray[Any]) -> list[dict[str, Any]]:
        """The begin events of many slices, in the order given; one pass over the file."""
        if self.source is None or not len(slices):
            return [{} for _ in slices]
        at = np.asarray(slices, np.int64)
        order = np.argsort(self.slices.offset[at], kind="stable")
        chosen = at[order]
        places = list(zip(self.slices.offset[chosen].tolist(), self.slices.size[chosen].tolist(), strict=True))
        out: list[dict[str, Any]] = [{} for _ in at]
        for position, text in zip(order.tolist(), self.source.read_many(places), strict=True):
            out[position] = _object(text)
        return out

    def _read(self, offset: int, size: int) -> dict[str, Any]:
        assert self.source is not None
        return _object(self.source.read(offset, size))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The trace as flat arrays, for the store; :func:`from_arrays` is the way back."""
        arrays: dict[str, NDArray[Any]] = {"sample_ns": self.sample_ns, "sample_value": self.sample_value}
        for part in ("slices", "instants", "flows"):
            table = getattr(self, part)
            arrays |= {f"{part}.{column.name}": getattr(table, column.name) for column in fields(table)}
        head = {
            "label": self.label, "zero_us": self.zero_us, "span_ns": self.span_ns, "events_in": self.events_in,
            "shown": dict(self.shown), "left_out": dict(self.left_out), "names": self.names,
            "findings": [asdict(x) for x in self.findings], "categories": self.categories,
            "processes": [asdict(x) for x in self.processes], "lanes": [asdict(x) for x in self.lanes],
            "counters": [asdict(x) for x in self.counters], "metadata": dict(self.metadata),
            "source": [str(self.source.path), self.source.size_bytes, self.source.mtime_ns] if self.source else None,
        }  # fmt: skip
        if self.source and self.source.text is not None:
            arrays["text"] = np.frombuffer(self.source.text, np.uint8)
        arrays["head"] = np.frombuffer(json.dumps(head, default=float).encode(), np.uint8)
        return arrays


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Trace:
    """The trace that :meth:`Trace.to_arrays` made the arrays of (fresh or mapped)."""
    head = json.loads(np.asarray(arrays["head"]).tobytes())
    source = head.pop("source")
    types: dict[str, Any] = {"slices": Slices, "instants": Instants, "flows": Flows}
    tables = {
        part: made(**{column.name: arrays[f"{part}.{column.name}"] for column in fields(made)})
        for part, made in types.items()
    }
    head["names"], head["categories"] = tuple(head["names"]), tuple(head["categories"])
    rows: dict[str, Any] = {"findings": Finding, "processes": Process, "lanes": TraceLane, "counters": CounterSeries}
    for part, made in rows.items():
        head[part] = tuple(made(**row) for row in head[part])
    text = np.asarray(arrays["text"]).tobytes() if "text" in arrays else None
    return Trace(
        **head, **tables, sample_ns=arrays["sample_ns"], sample_value=arrays["sample_value"],
        source=Source(Path(source[0]), source[1], source[2], text) if source else None,
    )  # fmt: skip


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = lenient(text)
    except ValueError:
        return {"text": text.decode("utf-8", "replace")}
    return found if isinstance(found, dict) else {"text": text.decode("utf-8", "replace")}


def shown_name(fate: Fate) -> str:
    """How a fate is called in :attr:`Trace.shown` and :attr:`Trace.left_out`."""
    return fate.name.lower()
