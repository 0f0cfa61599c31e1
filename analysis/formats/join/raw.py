"""What every swimlane container is turned into before anything is joined: plain columns with absolute stamps.

Stamps are in the container's own unit (cycles, or nanoseconds for the containers in microseconds); 0 means "not
recorded" in dispatch and finish. ``epoch`` columns hold the launch a row names itself, -1 where it names none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, I8, U8, Bool

R = TypeVar("R", bound="Columns")


def _picked(column: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """``column[rows]``; for indexes the quicker of the two ways to write it."""
    return column[rows] if rows.dtype == np.bool_ else column.take(rows, axis=0)


@dataclass
class Columns:
    """A bundle of arrays of equal first dimension."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def take(self: R, rows: NDArray[Any]) -> R:
        """The same bundle with only ``rows`` (mask or indexes)."""
        return replace(self, **{f.name: _picked(getattr(self, f.name), rows) for f in fields(self)})

    @classmethod
    def join(cls: type[R], parts: Sequence[R]) -> R:
        """Bundles one after the other; ``parts`` must not be empty."""
        if len(parts) == 1:
            return parts[0]
        return cls(**{f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)})


@dataclass
class AicoreRows(Columns):
    """``aicore_tasks`` in file order."""

    core: I8
    token: U8
    reg: I8
    start: I8
    end: I8
    receive: I8
    epoch: I8


@dataclass
class AicpuRows(Columns):
    """``aicpu_tasks`` or ``scheduler_tasks.records`` in file order."""

    core: I8
    reg: I8
    dispatch: I8
    finish: I8
    epoch: I8


@dataclass
class PhaseRows(Columns):
    """Scheduler phases in file order; ``kind`` indexes :attr:`RawSwimlane.kinds`."""

    stream: I8
    kind: I8
    start: I8
    end: I8
    loop_iter: I8
    tasks_processed: I8
    task: U8
    has_task: Bool
    pop_hit: I8
    pop_miss: I8
    shared_start: I4
    shared_end: I4
    epoch: I8


@dataclass
class OrchRows(Columns):
    """Orchestrator records in file order: device cycles, or host nanoseconds."""

    stream: I8
    kind: I8
    start: I8
    end: I8
    submit_idx: I8
    task: U8
    has_task: Bool
    epoch: I8


@dataclass
class UploadRows(Columns):
    """Host-to-device uploads in file order, host nanoseconds."""

    kind: I8
    start: I8
    end: I8
    detail: I8
    epoch: I8


@dataclass
class KnownJoins:
    """For containers that come joined: one entry per AICore row. ``func_id`` -1 = look it up in deps.json."""

    dispatch: I8
    finish: I8
    func_id: I8


@dataclass
class Boundary:
    """Start of one launch as the file names it."""

    epoch: int | None
    start: int | None


def empty(kind: type[R]) -> R:
    """A bundle without rows."""
    unsigned, flags, wide = ("token", "task"), ("has_task",), ("shared_start", "shared_end")
    arrays: dict[str, NDArray[Any]] = {}
    for f in fields(kind):
        dtype = np.uint64 if f.name in unsigned else np.bool_ if f.name in flags else np.int64
        arrays[f.name] = np.zeros((0, 3), np.int32) if f.name in wide else np.zeros(0, dtype)
    return kind(**arrays)


NO_CONTAINER = "none"


@dataclass
class RawSwimlane:
    """One swimlane file, decoded but not joined."""

    container: str
    level: int | None
    clock_freq_hz: int | None
    num_cores: int | None
    core_types: list[str]
    core_to_thread: list[int] | None
    aicore: AicoreRows
    aicpu: AicpuRows
    phases: PhaseRows = field(default_factory=lambda: empty(PhaseRows))
    lifecycle: PhaseRows = field(default_factory=lambda: empty(PhaseRows))
    """``aicpu_lifecycle_records`` as phases; ``stream`` is the AICPU thread."""
    orch: OrchRows = field(default_factory=lambda: empty(OrchRows))
    host_orch: OrchRows = field(default_factory=lambda: empty(OrchRows))
    uploads: UploadRows = field(default_factory=lambda: empty(UploadRows))
    kinds: list[str] = field(default_factory=list)
    streams: list[int] = field(default_factory=list)
    producers: dict[int, str] = field(default_factory=dict)
    """Scheduler id → what ran that scheduler ("aicpu", "aicore"), where the file says so."""
    runtime: str = ""
    """``metadata.runtime``; "" for files without one."""
    orchestrator_streams: int = 0
    needs_partner: bool = True
    """At level >= 2 an AICore row without AICPU partner is not a record."""
    joins: KnownJoins | None = None
    fanout: tuple[U8, U8] | None = None
    """(pred ids, succ ids) of ``fanout[]``."""
    metadata: dict[str, Any] = field(default_factory=dict)
    boundaries: list[Boundary] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    _kind_at: dict[str, int] = field(default_factory=dict)

    def kind_index(self, name: str) -> int:
        """Index of a phase kind, added when new."""
        at = self._kind_at.setdefault(name, len(self.kinds))
        if at == len(self.kinds):
            self.kinds.append(name)
        return at


def no_swimlane() -> RawSwimlane:
    """What stands in where a directory holds a graph or names but no swimlane: level 0, no rows."""
    return RawSwimlane(NO_CONTAINER, 0, None, None, [], None, empty(AicoreRows), empty(AicpuRows))
