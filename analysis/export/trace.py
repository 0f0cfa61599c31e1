"""The capture as Chrome trace JSON, for Perfetto and any other trace viewer.

One process per view of the swimlane, one thread per lane; a lane's sub-rows are threads of their own, because slices of
a thread may nest but not overlap. Lanes and slices are those of :mod:`analysis.timeline.items`, so the counts equal what
the swimlane shows. Written as a stream: memory does not grow with the capture's JSON.

``ts`` and ``dur`` are µs from capture zero, each the float nearest to the exact value; ``args`` repeat every stamp as
integer ticks and ids as text, so nothing is lost to a float.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from analysis.capture import MISSING, Capture
from analysis.errors import NotAvailable
from analysis.results import to_us
from analysis.timeline.items import ItemKind, Items, ItemTitles, View, available_views, graph_envelopes, view_items

CHUNK_EVENTS = 8192
PROCESSES: dict[View, tuple[int, str]] = {
    View.ORCH: (1, "Orchestrator"),
    View.PHASES: (2, "Scheduler phases"),
    View.SCHEDULER: (3, "Scheduler View"),
    View.WORKER: (4, "Worker View"),
}
"""Process id and name per view; the ids are those of the field's merged traces (FORMATS section 5)."""
TRACKS_PER_PROCESS = 1_000_000
"""Thread ids are ``process * this + track``: unique in the whole file."""

Event: TypeAlias = dict[str, Any]
Pick: TypeAlias = Callable[[int], Event]


@dataclass(frozen=True, slots=True)
class TraceCounts:
    """What was written: slices per view and kind of item, and dependency arrows."""

    slices: dict[View, dict[ItemKind, int]]
    arrows: int

    @property
    def total_slices(self) -> int:
        """Slices of all views."""
        return sum(sum(kinds.values()) for kinds in self.slices.values())


def write_trace(capture: Capture, out: IO[bytes], arrows: bool = False) -> TraceCounts:
    """Write the capture as Chrome trace JSON.

    Args:
        capture: one launch.
        out: where to, binary.
        arrows: also the dependency lines as flow arrows (worker view), those of markers and alloc bars included.

    Raises:
        NotAvailable: the capture has nothing to draw.
    """
    counts = TraceCounts({}, 0)
    for chunk, written in trace_chunks(capture, arrows):
        out.write(chunk)
        counts = written
    return counts


def iter_trace(capture: Capture, arrows: bool = False) -> Iterator[bytes]:
    """The file of :func:`write_trace` piece by piece, for a streamed answer; raises before the first piece."""
    return (chunk for chunk, _ in trace_chunks(capture, arrows))


def trace_chunks(capture: Capture, arrows: bool = False) -> Iterator[tuple[bytes, TraceCounts]]:
    """The pieces of :func:`iter_trace`, each with the counts up to its end."""
    views = [view for view, reason in available_views(capture).items() if not reason]
    if not views:
        raise NotAvailable("the capture holds no records, phases or orchestrator records: there is nothing to draw")
    return _chunks(capture, views, arrows)


def _chunks(capture: Capture, views: list[View], arrows: bool) -> Iterator[tuple[bytes, TraceCounts]]:
    counts = TraceCounts({}, 0)
    yield b'{"displayTimeUnit":"ns","otherData":' + orjson.dumps(_facts(capture)) + b',"traceEvents":[\n', counts
    separator = b""
    for view in views:
        items = view_items(capture, view, with_setup=False)
        kinds = np.bincount(items.kind, minlength=len(ItemKind)).tolist()
        slices = {**counts.slices, view: {kind: kinds[kind] for kind in ItemKind if kinds[kind]}}
        counts = TraceCounts(slices, counts.arrows)
        for events in _view_events(capture, view, items):
            yield separator + orjson.dumps(events)[1:-1], counts
            separator = b",\n"
    if arrows and View.WORKER in views:
        for events in _arrow_events(capture):
            counts = TraceCounts(counts.slices, counts.arrows + len(events) // 2)
            yield separator + orjson.dumps(events)[1:-1], counts
    yield b"\n]}\n", counts


def _facts(capture: Capture) -> Event:
    meta = capture.meta
    return {
        "capture": meta.label,
        "capture_id": meta.capture_id,
        "level": meta.level,
        "launch": meta.launch,
        "clock_freq_hz": meta.clock_freq_hz,
        "ticks_per_us": meta.ticks_per_us,
        "zero_ticks": str(meta.zero_ticks),
    }


def _view_events(capture: Capture, view: View, items: Items) -> Iterator[list[Event]]:
    pid, process = PROCESSES[view]
    yield _names(pid, process, items)
    titles = ItemTitles(capture, items.class_kind, items.class_value)
    labels = _TaskLabels(capture)
    for low in range(0, len(items.start_ticks), CHUNK_EVENTS):
        part = slice(low, low + CHUNK_EVENTS)
        columns = (
            items.track[part] + pid * TRACKS_PER_PROCESS,
            to_us(capture, items.start_ticks[part]),
            to_us(capture, items.end_ticks[part] - items.start_ticks[part]),
            items.cls[part],
            items.task[part],
            items.kind[part],
            items.index[part],
        )
        args = _arguments(capture, items.kind[part], items.index[part])
        rows = zip(*(column.tolist() for column in columns), strict=True)
        yield [
            {
                "ph": "X",
                "pid": pid,
                "tid": tid,
                "ts": ts,
                "dur": dur,
                "name": titles.of(cls, task),
                "cat": ItemKind(kind).name.lower(),
                "args": labels.of(task) | args[kind](index),
            }
            for tid, ts, dur, cls, task, kind, index in rows
        ]


def _names(pid: int, process: str, items: Items) -> list[Event]:
    """Metadata events: name and order of the process and of every track."""

    def meta(what: str, value: Event, **place: int) -> Event:
        return {"ph": "M", "name": what, "pid": pid, **place, "args": value}

    events = [meta("process_name", {"name": process}), meta("process_sort_index", {"sort_index": -pid})]
    for lane in items.lanes:
        for row in range(lane.rows):
            tid = pid * TRACKS_PER_PROCESS + lane.track + row
            label = lane.label if not row else f"{lane.label} (row {row + 1})"
            events.append(meta("thread_name", {"name": label}, tid=tid))
            events.append(meta("thread_sort_index", {"sort_index": lane.track + row}, tid=tid))
    return events


class _TaskLabels:
    """Id and short label of tasks, as slice arguments."""

    def __init__(self, capture: Capture) -> None:
        self._ids = capture.tasks.task_id
        self._label = capture.meta.task_label

    def of(self, task: int) -> Event:
        if task < 0:
            return {}
        task_id = int(self._ids[task])
        return {"taskId": str(task_id), "task": self._label(task_id)}


def _arguments(capture: Capture, kinds: NDArray[Any], index: NDArray[Any]) -> dict[int, Pick]:
    """Per item kind a function row → arguments, over the rows that occur in this chunk."""
    records, unmatched, phases, orch = capture.records, capture.unmatched, capture.phases, capture.orch
    columns: dict[int, dict[str, NDArray[Any]]] = {
        ItemKind.RECORD: {
            "block": records.block,
            "core": records.core_id,
            "func_id": records.func_id,
            "reg_task_id": records.reg_id,
            "dispatch_ticks": records.dispatch_ticks,
            "receive_ticks": records.receive_ticks,
            "start_ticks": records.start_ticks,
            "end_ticks": records.end_ticks,
            "finish_ticks": records.finish_ticks,
        },
        ItemKind.UNMATCHED: {
            "core": unmatched.core_id,
            "unmatched_task_id": unmatched.task_id,
            "reg_task_id": unmatched.reg_id,
            "receive_ticks": unmatched.receive_ticks,
            "start_ticks": unmatched.start_ticks,
            "end_ticks": unmatched.end_ticks,
        },
        ItemKind.PHASE: {
            "start_ticks": phases.start_ticks,
            "end_ticks": phases.end_ticks,
            "loop_iter": phases.loop_iter,
            "tasks_processed": phases.tasks_processed,
            "pop_hit": phases.pop_hit,
            "pop_miss": phases.pop_miss,
        },
        ItemKind.ORCH: {
            "start_ticks": orch.start_ticks,
            "end_ticks": orch.end_ticks,
            "submit_idx": orch.submit_idx,
            "host_start_ns": orch.host_start_ns,
            "host_end_ns": orch.host_end_ns,
        },
        ItemKind.UPLOAD: {
            "start_ticks": capture.uploads.start_ticks,
            "end_ticks": capture.uploads.end_ticks,
            "detail": capture.uploads.detail,
        },
    }
    if bool((kinds == ItemKind.GRAPH).any()):
        task, *bounds = graph_envelopes(capture)
        columns[ItemKind.GRAPH] = {name: np.full(len(capture.tasks), MISSING) for name in ("start_ticks", "end_ticks")}
        for column, values in zip(columns[ItemKind.GRAPH].values(), bounds, strict=True):
            column[task] = values
    return {kind: _picker(columns[kind], index[kinds == kind]) for kind in columns if bool((kinds == kind).any())}


def _picker(columns: dict[str, NDArray[Any]], rows: NDArray[Any]) -> Pick:
    """Arguments of one table: missing cells (MISSING, and -1 in id, count and index columns) are left out."""
    at = {row: i for i, row in enumerate(rows.tolist())}
    cells = {name: column[rows].tolist() for name, column in columns.items()}

    def pick(row: int) -> Event:
        i = at[row]
        found = {name: values[i] for name, values in cells.items()}
        return {
            name: str(value) if name.endswith("task_id") else value
            for name, value in found.items()
            if value != MISSING and (value != -1 or name.endswith("_ticks"))
        }

    return pick


def _arrow_events(capture: Capture) -> Iterator[list[Event]]:
    """Flow pairs as on our page: from the earliest block of each function of the predecessor to that of the successor,
    skip and dummy markers and alloc bars included."""
    items = view_items(capture, View.WORKER, with_setup=True)
    pid, _ = PROCESSES[View.WORKER]
    begin_us = to_us(capture, items.middle_ticks)
    anchor, first = _anchors(items, len(capture.tasks))
    edges = capture.edges
    number = 0
    for low in range(0, len(edges), CHUNK_EVENTS):
        part = slice(low, low + CHUNK_EVENTS)
        events: list[Event] = []
        for pred, succ in zip(edges.pred[part].tolist(), edges.succ[part].tolist(), strict=True):
            if pred == succ:
                continue
            for source in anchor[first[pred] : first[pred + 1]].tolist():
                for target in anchor[first[succ] : first[succ + 1]].tolist():
                    shared = {"pid": pid, "id": number, "name": "dependency", "cat": "flow"}
                    tids = [int(items.track[at]) + pid * TRACKS_PER_PROCESS for at in (source, target)]
                    events.append({"ph": "s", "tid": tids[0], "ts": float(begin_us[source]), **shared})
                    events.append({"ph": "f", "bp": "e", "tid": tids[1], "ts": float(begin_us[target]), **shared})
                    number += 1
        if events:
            yield events


def _anchors(items: Items, n_tasks: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Earliest item of each (task, function) of the view: (items by task, where those of each task begin)."""
    at = np.flatnonzero(items.task >= 0)
    at = at[np.lexsort((items.track[at], items.start_ticks[at], items.cls[at], items.task[at]))]
    pair = np.stack((items.task[at], items.cls[at]), axis=1)
    anchor = at[np.append(True, (pair[1:] != pair[:-1]).any(axis=1))] if len(at) else at
    offsets = np.zeros(n_tasks + 1, dtype=np.int64)
    np.cumsum(np.bincount(items.task[anchor], minlength=n_tasks), out=offsets[1:])
    return anchor, offsets
