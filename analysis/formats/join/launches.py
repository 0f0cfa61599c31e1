"""One file, several launches: which rows belong to which (FORMATS section 8, FORMATS-2 section 1.4).

A row that names its epoch belongs to that launch. A row without one belongs to the launch that had begun when it
happened: the last boundary at or before its first stamp, or, without boundaries, the last launch whose first row begins
at or before its last stamp. Rows of the host clock belong to every launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from analysis.capture import I8
from analysis.errors import NotFoundError
from analysis.formats.join.raw import Boundary, Columns, RawSwimlane
from analysis.formats.report import Report

R = TypeVar("R", bound=Columns)


@dataclass(frozen=True)
class _Launch:
    """``epoch`` -1: only told by time. ``start`` None: the file does not say."""

    epoch: int
    start: int | None


def split(raw: RawSwimlane, launch: int, report: Report) -> tuple[RawSwimlane, int]:
    """(the swimlane with only the rows of ``launch``, number of launches).

    Raises:
        NotFoundError: there is no such launch.
    """
    rows = _rows_by_epoch(raw)
    launches = _launches(raw.boundaries, rows, report)
    if not 0 <= launch < max(1, len(launches)):
        last = max(1, len(launches)) - 1
        raise NotFoundError(f"launch {launch} does not exist: the capture holds launches 0 to {last}")
    if len(launches) <= 1:
        return raw, 1
    pick = _Picker(launch, launches, _first_stamps(raw, rows), report)
    first = np.where(raw.aicpu.dispatch != 0, raw.aicpu.dispatch, raw.aicpu.finish)
    raw.aicore = pick.rows("aicore_tasks", raw.aicore, raw.aicore.start, raw.aicore.end)
    raw.aicpu = pick.rows("scheduler_tasks", raw.aicpu, first, np.maximum(first, raw.aicpu.finish))
    raw.phases = pick.rows("scheduler_phases", raw.phases, raw.phases.start, raw.phases.end)
    raw.lifecycle = pick.rows("lifecycle", raw.lifecycle, raw.lifecycle.start, raw.lifecycle.end)
    raw.orch = pick.rows("orchestrator", raw.orch, raw.orch.start, raw.orch.end)
    raw.host_orch = pick.rows("host_orchestrator", raw.host_orch, None, None)
    raw.uploads = pick.rows("uploads", raw.uploads, None, None)
    pick.say()
    return raw, len(launches)


def _rows_by_epoch(raw: RawSwimlane) -> dict[int, int]:
    """Epochs that rows name, ascending, with the number of rows."""
    found: dict[int, int] = {}
    for part in (raw.aicore, raw.aicpu, raw.phases, raw.orch, raw.host_orch):
        if len(part.epoch) and int(part.epoch.max()) >= 0:
            epochs, counts = np.unique(part.epoch[part.epoch >= 0], return_counts=True)
            for epoch, count in zip(epochs.tolist(), counts.tolist(), strict=True):
                found[epoch] = found.get(epoch, 0) + count
    return dict(sorted(found.items()))


def _launches(boundaries: list[Boundary], rows: dict[int, int], report: Report) -> list[_Launch]:
    """All launches: those of the boundaries, then those that only rows name."""
    if not boundaries:
        return [_Launch(epoch, None) for epoch in rows]
    if any(boundary.epoch is None for boundary in boundaries):
        starts = sorted(b.start for b in boundaries if b.start is not None)
        known: list[int | None] = [*starts] if len(starts) == len(boundaries) else []
        epochs = list(rows)
        count = max(len(boundaries), len(epochs))
        known += [None] * (count - len(known))
        epochs += [-1] * (count - len(epochs))
        return [_Launch(epoch, start) for epoch, start in zip(epochs, known, strict=True)]
    named: dict[int, _Launch] = {}
    for boundary in boundaries:
        epoch = boundary.epoch if boundary.epoch is not None else -1
        report.add("repeated_boundary", int(epoch in named), f"epoch {epoch}")
        named.setdefault(epoch, _Launch(epoch, boundary.start))
    for epoch, count in rows.items():
        if epoch not in named:
            report.add("epoch_without_boundary", count, f"epoch {epoch}", reason=f"epoch {epoch}")
            named[epoch] = _Launch(epoch, None)
    for epoch in named:
        report.add("empty_launch", int(epoch not in rows and bool(rows)), f"epoch {epoch}")
    return list(named.values())


def _first_stamps(raw: RawSwimlane, rows: dict[int, int]) -> dict[int, int]:
    """First start that rows of each epoch name."""
    found: dict[int, int] = {}
    epochs = np.array(list(rows), np.int64)
    for part, stamp in (
        (raw.aicore, raw.aicore.start),
        (raw.aicpu, raw.aicpu.dispatch),
        (raw.phases, raw.phases.start),
    ):
        mine = np.flatnonzero((part.epoch >= 0) & (stamp > 0))
        if not len(mine):
            continue
        low = np.full(len(epochs), np.iinfo(np.int64).max)
        np.minimum.at(low, np.searchsorted(epochs, part.epoch[mine]), stamp[mine])
        for epoch, first in zip(epochs.tolist(), low.tolist(), strict=True):
            found[epoch] = min(found.get(epoch, first), first)
    return found


class _Picker:
    """Chooses the rows of one launch."""

    def __init__(self, launch: int, launches: list[_Launch], first: dict[int, int], report: Report) -> None:
        self._epoch = launches[launch].epoch
        self._report = report
        self._by_boundary = all(one.start is not None for one in launches)
        stamps = [one.start if self._by_boundary else first.get(one.epoch) for one in launches]
        cuts = sorted((stamp, at) for at, stamp in enumerate(stamps) if stamp is not None)
        self._cuts = np.array([stamp for stamp, _ in cuts], np.int64)
        self._launch_at = np.array([at for _, at in cuts], np.int64)
        self._launch = launch
        self._kept = 0

    def rows(self, stream: str, part: R, first: I8 | None, last: I8 | None) -> R:
        """The rows of ``part`` that belong to the launch."""
        if not len(part):
            return part
        epoch: I8 = part.epoch  # type: ignore[attr-defined]
        named = epoch >= 0
        mine = named & (epoch == self._epoch)
        stamp = first if self._by_boundary else last
        if stamp is None or not len(self._cuts):
            self._report.add("unsplit_rows", int((~named).sum()))
            mine |= ~named
        elif not named.all():
            at = np.maximum(np.searchsorted(self._cuts, stamp, side="right") - 1, 0)
            mine |= ~named & (self._launch_at[at] == self._launch)
            self._report.add("rows_by_time", int((~named).sum()) if named.any() or not self._by_boundary else 0, stream)
        self._report.elsewhere(stream, int((~mine).sum()))
        self._kept += int(mine.sum())
        return part.take(mine)

    def say(self) -> None:
        """Report a launch without rows."""
        self._report.add("empty_launch", int(self._kept == 0 and self._epoch < 0), f"launch {self._launch}")
