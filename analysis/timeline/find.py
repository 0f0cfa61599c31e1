"""What is here, what comes next, what is selected, what is in view? Questions about single items of a timeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, I8, MISSING, Bool, Capture
from analysis.measures.needs import has_receive
from analysis.results import Column, Table, task_ids, to_us
from analysis.timeline.items import KIND_LETTERS, ItemKind, ItemTitles, class_name
from analysis.timeline.query import LodIndex

CSV_COLUMNS = (
    Column("item", "text", "Table (r record, u unmatched, p phase, o orchestrator, h upload, g graph task) and row."),
    Column("lane", "text", "Lane it is drawn in."),
    Column("task_id", "id", "64-bit task id, empty when it has no task."),
    Column("name", "text", "Function or phase; graph t6: an envelope; t6 node 3: a node without function id."),
    Column("core_id", "index", "Core, -1 when it did not run on one."),
    Column("block", "index", "Block within its task, -1 when it is no record."),
    Column("receive_us", "us", "Core received the task, from capture zero."),
    Column("start_us", "us", "Start, from capture zero."),
    Column("end_us", "us", "End, from capture zero."),
    Column("dispatch_us", "us", "Dispatch by the scheduler, from capture zero."),
    Column("finish_us", "us", "FIN seen by the scheduler, from capture zero."),
    Column("duration_us", "us", "End - start: execution without setup."),
    Column("start_ticks", "ticks", "Start in ticks after capture zero."),
    Column("end_ticks", "ticks", "End in ticks after capture zero."),
)


@dataclass(frozen=True, slots=True)
class CellSummary:
    """What a raster cell stands for: number of items, their busy share, and the most busy classes."""

    n_items: int
    busy_share: float
    classes: tuple[tuple[str, int, int], ...]
    """(name, items, busy ticks), busiest first."""


def item_name(index: LodIndex, position: int, letters: str = KIND_LETTERS) -> str:
    """``r12`` and the like: how the URL and the browser name an item; ``letters``: one per kind."""
    return f"{letters[int(index.kind[position])]}{int(index.index[position])}"


def touching(index: LodIndex, track: int, t0: int, t1: int) -> I8:
    """Positions of the items of ``track`` that touch ``[t0, t1)``, by start."""
    low, high = int(index.offsets[track]), int(index.offsets[track + 1])
    last = low + int(np.searchsorted(index.start_ticks[low:high], t1))
    start, end = index.start_ticks[low:last], index.end_ticks[low:last]
    return low + np.flatnonzero(np.maximum(end, start + 1) > t0)


def class_names(capture: Capture, index: LodIndex) -> Callable[[int], str]:
    """Class number of a view → what it is called."""
    return lambda cls: class_name(capture, int(index.class_kind[cls]), int(index.class_value[cls]))


def cell_summary(
    index: LodIndex, track: int, t0: int, t1: int, name_of: Callable[[int], str], top: int = 4
) -> CellSummary:
    """Everything of one track in ``[t0, t1)``, for the tooltip of a dense place; ``name_of`` names a class."""
    at = touching(index, track, t0, t1)
    busy = np.maximum(np.minimum(index.end_ticks[at], t1) - np.maximum(index.start_ticks[at], t0), 0)
    n = len(index.class_kind)
    items = np.bincount(index.cls[at], minlength=n)
    ticks = np.bincount(index.cls[at], weights=busy, minlength=n)
    order = np.lexsort((-items, -ticks))[:top]
    named = tuple((name_of(k), int(items[k]), int(ticks[k])) for k in order.tolist() if items[k])
    return CellSummary(len(at), float(busy.sum()) / max(t1 - t0, 1), named)


def neighbour_in_lane(index: LodIndex, position: int, step: int) -> int:
    """The next (+1) or previous (-1) item of the same lane by start; -1 at the end."""
    track = int(index.track_of(np.array([position]))[0])
    lane = next(lane for lane in index.lanes if lane.track <= track < lane.track + lane.rows)
    low, high = int(index.offsets[lane.track]), int(index.offsets[lane.track + lane.rows])
    if lane.rows == 1:
        other = position + step
        return other if low <= other < high else -1
    order = np.argsort(index.start_ticks[low:high], kind="stable")
    rank = int(np.flatnonzero(order == position - low)[0]) + step
    return low + int(order[rank]) if 0 <= rank < len(order) else -1


def nearest(index: LodIndex, tracks: I4, tick: int) -> int:
    """The item of ``tracks`` under ``tick``, else the one whose edge is nearest; -1 when they are empty."""
    best, distance = -1, 1 << 62
    for track in tracks.tolist():
        low, high = int(index.offsets[track]), int(index.offsets[track + 1])
        if low == high:
            continue
        after = low + int(np.searchsorted(index.start_ticks[low:high], tick, side="right"))
        for at in (after - 1, after):
            if low <= at < high:
                start, end = int(index.start_ticks[at]), int(index.end_ticks[at])
                away = max(start - tick, tick - end, 0)
                if away < distance:
                    best, distance = at, away
    return best


def matches_in_order(index: LodIndex, mask: Bool) -> I8:
    """Positions where ``mask`` is true, by start, equal starts by track: the order of next and previous."""
    at = np.flatnonzero(mask)
    return at[np.argsort(index.start_ticks[at], kind="stable")]


def visible_table(capture: Capture, index: LodIndex, tracks: I4, t0: int, t1: int) -> Table:
    """Every item of ``tracks`` that touches ``[t0, t1)``: the CSV of what is in view, lanes from top to bottom."""
    parts = [touching(index, int(track), t0, t1) for track in tracks]
    at = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    labels = np.array([lane.label for lane in index.lanes for _ in range(lane.rows)], dtype=object)
    titles = ItemTitles(capture, index.class_kind, index.class_value)
    record = index.kind[at] == ItemKind.RECORD
    row = np.where(record, index.index[at], 0)
    start = np.where(record, _column(capture.records.start_ticks, row), index.middle_ticks[at])
    end = np.where(record, _column(capture.records.end_ticks, row), index.end_ticks[at])

    def stamp(values: NDArray[Any]) -> NDArray[np.float64]:
        return to_us(capture, np.where(record, _column(values, row), MISSING))

    receive = capture.records.receive_ticks
    return Table(
        CSV_COLUMNS,
        {
            "item": [item_name(index, int(p)) for p in at],
            "lane": labels[index.track_of(at)].tolist() if len(at) else [],
            "task_id": task_ids(capture, index.task[at]),
            "name": [titles.of(*pair) for pair in zip(index.cls[at].tolist(), index.task[at].tolist(), strict=True)],
            "core_id": np.where(record, _column(capture.records.core_id, row), -1),
            "block": np.where(record, _column(capture.records.block, row), -1),
            "receive_us": stamp(receive if has_receive(capture) else np.full_like(receive, MISSING)),
            "start_us": to_us(capture, start),
            "end_us": to_us(capture, end),
            "dispatch_us": stamp(capture.records.dispatch_ticks),
            "finish_us": stamp(capture.records.finish_ticks),
            "duration_us": to_us(capture, end - start),
            "start_ticks": start,
            "end_ticks": end,
        },
    )


def _column(values: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    return values[rows] if len(values) else np.zeros(len(rows), dtype=values.dtype)
