"""One file, several launches: which rows belong to which (FORMATS section 8, ``run_boundaries``)."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I8
from analysis.errors import NotFoundError
from analysis.formats.join.raw import Columns, RawSwimlane
from analysis.formats.report import Report

R = TypeVar("R", bound=Columns)


def split(raw: RawSwimlane, launch: int, report: Report) -> tuple[RawSwimlane, int]:
    """(the swimlane with only the rows of ``launch``, number of launches).

    A row that names its launch belongs there; any other belongs to the last boundary that starts at or before it.
    Rows without either are kept for every launch and counted.

    Raises:
        NotFoundError: there is no such launch.
    """
    epochs = _epochs(raw)
    launches = max(1, len(raw.boundaries), len(epochs))
    if not 0 <= launch < launches:
        raise NotFoundError(f"launch {launch} does not exist: the capture holds launches 0 to {launches - 1}")
    if launches == 1:
        return raw, 1
    starts = [boundary.start for boundary in raw.boundaries]
    named = [boundary.epoch for boundary in raw.boundaries]
    if not named or any(epoch is None for epoch in named):
        named = list(epochs) + [None] * (launches - len(epochs))
    stamps = sorted(start for start in starts if start is not None)
    cuts = np.array(stamps, np.int64) if len(stamps) == launches else None
    pick = _Picker(launch, [epoch if epoch is not None else -2 for epoch in named], cuts, report)
    dispatch_or_finish = np.where(raw.aicpu.dispatch != 0, raw.aicpu.dispatch, raw.aicpu.finish)
    raw.aicore = pick.rows(raw.aicore, raw.aicore.epoch, raw.aicore.start)
    raw.aicpu = pick.rows(raw.aicpu, raw.aicpu.epoch, dispatch_or_finish)
    raw.phases = pick.rows(raw.phases, raw.phases.epoch, raw.phases.start)
    raw.orch = pick.rows(raw.orch, raw.orch.epoch, raw.orch.start)
    raw.host_orch = pick.rows(raw.host_orch, raw.host_orch.epoch, None)
    raw.uploads = pick.rows(raw.uploads, raw.uploads.epoch, None)
    return raw, launches


def _epochs(raw: RawSwimlane) -> list[int]:
    """Epochs that rows name, ascending."""
    parts = [part.epoch for part in (raw.aicore, raw.aicpu, raw.phases, raw.orch, raw.host_orch)]
    naming = [np.unique(part) for part in parts if len(part) and int(part.max()) >= 0]
    return sorted({epoch for seen in naming for epoch in seen.tolist() if epoch >= 0})


class _Picker:
    """Chooses the rows of one launch."""

    def __init__(self, launch: int, epochs: list[int], cuts: NDArray[np.int64] | None, report: Report) -> None:
        self._launch = launch
        self._epoch = epochs[launch] if launch < len(epochs) else -2
        self._cuts = cuts
        self._report = report

    def rows(self, part: R, epoch: I8, stamp: I8 | None) -> R:
        """The rows of ``part`` that belong to the launch."""
        if not len(part):
            return part
        named = epoch >= 0
        mine = named & (epoch == self._epoch)
        if self._cuts is not None and stamp is not None:
            by_time = np.maximum(np.searchsorted(self._cuts, stamp, side="right") - 1, 0)
            mine |= ~named & (by_time == self._launch)
        else:
            self._report.add("unsplit_rows", int((~named).sum()))
            mine |= ~named
        return part.take(mine)
