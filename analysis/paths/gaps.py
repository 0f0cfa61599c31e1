"""What did each task of a critical path wait for, and where did the time go? (ALGORITHMS: Gap and blocker table)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, I8, MISSING, Capture
from analysis.measures.needs import has_receive
from analysis.paths.critical_path import check_kind, path_steps
from analysis.paths.happens_before import KeptEdges, core_predecessors, kept_edges
from analysis.results import Cells, Column, Table, task_ids, task_names, to_us
from analysis.shown import CardText, Part, Quantity, Sentence, shares

CAUSES: tuple[str, ...] = ("waiting for predecessor", "core busy", "launch")
"""In the order of the compiled walk (data-wait, core-wait, front-gap)."""
MEANING = dict(zip(CAUSES, ("data-wait", "core-wait", "front-gap"), strict=True))
"""Cause → the kind of stall that it is."""

JSON_KEYS: tuple[str, ...] = (
    "task_id",
    "name",
    "gap_us",
    "cause",
    "blocker_task_id",
    "core_id",
    "detection_us",
    "scheduling_us",
    "propagation_us",
    "setup_us",
)
COLUMNS: tuple[Column, ...] = (
    Column("task_id", "id", "Task on the path, in start order"),
    Column("name", "text", "Function of the task"),
    Column("gap_us", "us", "Its start minus the end of the previous path task; for the first, minus the first start"),
    Column("cause", "text", "core busy, waiting for predecessor, or launch (nothing held it)"),
    Column("blocker_task_id", "id", "The task that held the core last, or the predecessor that ended last"),
    Column("core_id", "index", "Core that was busy, else the core of its first block"),
    Column("detection_us", "us", "End to finish of the previous path task: its end is noticed"),
    Column("scheduling_us", "us", "Finish of the previous path task to this dispatch; negative: dispatched before"),
    Column("propagation_us", "us", "Dispatch to receive; to start where no receive was captured"),
    Column("setup_us", "us", "Receive to start; empty where no receive was captured"),
    Column("cores", "texts", "Every core that ran a block of the task"),
    Column("start_us", "us", "First start of its records, from capture zero"),
    Column("end_us", "us", "Last end of its records, from capture zero"),
    Column("blocker_name", "text", "Function of the blocker"),
    Column("blocker_until_us", "us", "When the blocker ended, from capture zero"),
)
CAUSE_COLUMNS: tuple[Column, ...] = (
    Column("cause", "text", "Why the path's tasks waited"),
    Column("tasks", "count", "Tasks with that cause"),
    Column("gap_us", "us", "Sum of their gaps"),
    Column("longest_us", "us", "Longest of them"),
)


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gap before each task of one path (:data:`COLUMNS`), in start order."""

    kind: str
    table: Table

    @property
    def by_cause(self) -> Table:
        """How much of the path's gaps has which cause (:data:`CAUSE_COLUMNS`)."""
        cause = np.array(self.table.data["cause"], dtype=object)
        gap = np.asarray(self.table.data["gap_us"])
        found = [name for name in CAUSES if bool((cause == name).any())]
        return Table(
            CAUSE_COLUMNS,
            {
                "cause": found,
                "tasks": [int((cause == name).sum()) for name in found],
                "gap_us": np.array([gap[cause == name].sum() for name in found]),
                "longest_us": np.array([gap[cause == name].max() for name in found]),
            },
        )

    def frame(self) -> Any:
        """The table as a pandas frame."""
        return self.table.frame()

    def to_json(self) -> list[dict[str, Any]]:
        """The keys of ``python -m analysis gaps``."""
        cells = [self.table.cells(key) for key in JSON_KEYS]
        return [dict(zip(JSON_KEYS, row, strict=True)) for row in zip(*cells, strict=True)]


def gaps(
    capture: Capture, kind: str = "observed", threshold_us: float | None = None, through_untimed: bool = False
) -> Gaps:
    """What did each task of the path ``kind`` wait for, and where did the time go?

    Cause and blocker are those of the observed path's rule, whichever path is shown. The four parts add up to the gap;
    they need AICPU stamps (level 2) and are empty for the first task of the path.

    Args:
        capture: one launch.
        kind: one of ``critical_path.KINDS``.
        threshold_us: only rows whose gap is larger; None gives all rows.
        through_untimed: as for :func:`analysis.paths.critical_path.critical_path`.

    Raises:
        NotAvailable: the path, or the dependencies that explain it, are.
        LimitError: untimed tasks too dense to lead paths through.
        ParameterError: an unknown ``kind``.
    """
    check_kind(kind)
    kept = kept_edges(capture, through_untimed)
    path = path_steps(capture, kind, kept).tasks
    blocker, cause, until, core_id = _blockers(capture, path, kept)
    gap, parts = _split(capture, path)
    data: dict[str, Cells] = {
        "task_id": task_ids(capture, path),
        "name": task_names(capture, path),
        "gap_us": to_us(capture, gap),
        "cause": [CAUSES[c] for c in cause.tolist()],
        "blocker_task_id": task_ids(capture, blocker),
        "core_id": core_id.astype(np.int64),
        "cores": _cores(capture, path),
        "start_us": to_us(capture, capture.tasks.start_ticks[path]),
        "end_us": to_us(capture, capture.tasks.end_ticks[path]),
        "blocker_name": [
            name if at >= 0 else None
            for name, at in zip(task_names(capture, np.maximum(blocker, 0)), blocker.tolist(), strict=True)
        ],
        "blocker_until_us": to_us(capture, until),
    }
    table = Table(COLUMNS, data | {f"{name}_us": to_us(capture, ticks) for name, ticks in parts.items()})
    if threshold_us is not None:
        table = table.take(np.flatnonzero(np.asarray(table.data["gap_us"]) > threshold_us))
    return Gaps(kind, table)


def _blockers(capture: Capture, path: I4, kept: KeptEdges) -> tuple[I4, NDArray[Any], I8, I4]:
    """Per path task: blocker (-1 none), index into CAUSES, when the blocker ended, and the core to show."""
    from analysis.paths import kernels as path_kernels

    tasks, core = capture.tasks, core_predecessors(capture)
    blocker, cause = path_kernels.all_waited_for(
        path, kept.offsets, kept.pred, core.task, core.until_ticks, tasks.start_ticks, tasks.end_ticks, tasks.task_id
    )
    busy = cause == CAUSES.index("core busy")
    until = np.where(busy, core.until_ticks[path], tasks.end_ticks[np.maximum(blocker, 0)])
    until[blocker < 0] = MISSING
    core_id = np.where(busy, core.core_id[path], _first_core(capture, path))
    return blocker, cause, until, core_id


def _split(capture: Capture, path: I4) -> tuple[I8, dict[str, I8]]:
    """Gap before each path task and its four parts, in ticks; MISSING where a stamp is."""
    tasks = capture.tasks
    start, end = tasks.start_ticks[path], tasks.end_ticks[path]
    dispatch, receive = tasks.dispatch_ticks[path], tasks.receive_ticks[path]
    previous_end = np.concatenate(([capture.records.start_ticks.min()], end[:-1]))
    previous_finish = np.concatenate(([MISSING], tasks.finish_ticks[path][:-1]))
    known = (previous_finish != MISSING) & (dispatch != MISSING)

    def part(later: I8, earlier: I8) -> I8:
        return np.where(known, later - np.where(known, earlier, 0), MISSING)

    return start - previous_end, {
        "detection": part(previous_finish, previous_end),
        "scheduling": part(dispatch, previous_finish),
        "propagation": part(receive, dispatch),
        "setup": part(start, receive) if has_receive(capture) else np.full(len(path), MISSING),
    }


def _records_of(capture: Capture, path: I4) -> tuple[I8, I4]:
    """Every record of the path's tasks: (position in the path, record), in path order."""
    offsets = capture.tasks.record_offsets
    first, count = offsets[path], offsets[path + 1] - offsets[path]
    owner = np.repeat(np.arange(len(path), dtype=np.int64), count)
    within = np.arange(len(owner), dtype=np.int64) - np.repeat(np.cumsum(count) - count, count)
    return owner, capture.tasks.record_order[first[owner] + within]


def _first_core(capture: Capture, path: I4) -> I4:
    """The core of the block that starts first, the smaller core id among equals."""
    owner, record = _records_of(capture, path)
    order = np.lexsort((capture.records.core_id[record], capture.records.start_ticks[record], owner))
    heads = np.unique(owner[order], return_index=True)[1]
    result: I4 = capture.records.core_id[record[order[heads]]]
    return result


def _cores(capture: Capture, path: I4) -> list[tuple[str, ...]]:
    """Distinct core ids per path task, ascending, as text."""
    owner, record = _records_of(capture, path)
    width = int(capture.records.core_id.max()) + 1
    pairs = np.unique(owner * width + capture.records.core_id[record])
    cores = [str(core) for core in (pairs % width).tolist()]
    bounds = np.searchsorted(pairs, np.arange(len(path) + 1, dtype=np.int64) * width).tolist()
    return [tuple(cores[low:high]) for low, high in pairwise(bounds)]


def numbers(_capture: Capture, found: Gaps) -> dict[str, Any]:
    """``worst``: the longest gap with its task, cause and length; nothing without a gap."""
    if not len(found.table):
        return {}
    at = int(np.argmax(np.asarray(found.table.data["gap_us"])))
    return {"worst": {key: found.table.cells(key)[at] for key in ("task_id", "name", "cause", "gap_us")}}


def card(_tables: Mapping[str, Table], numbers: Mapping[str, Any]) -> CardText | None:
    """The longest wait on the path."""
    worst = numbers.get("worst")
    if worst is None:
        return None
    words = f"{worst['cause']}, before {worst['name']}"
    return CardText(Quantity(worst["gap_us"], "duration"), (words,), f": {words}", f"gap:{worst['task_id']}")


def summary(_capture: Capture, tables: Mapping[str, Table], parameters: Mapping[str, Any]) -> list[Part]:
    """How many gaps are longer than the threshold, and the shares of the causes."""
    parts: list[Part] = [shares(tables["Gaps by cause"], "cause", "gap_us", "Gaps by cause", MEANING)]
    limit = parameters["threshold_us"]
    if limit is None:
        return parts
    lengths = [gap for gap in tables["Gaps and blockers"].cells("gap_us") if gap is not None]
    many = sum(gap > limit for gap in lengths)
    return [Sentence(f"{many:,} of {len(lengths):,} gaps", f"are longer than {limit:g} µs."), *parts]
