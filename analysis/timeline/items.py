"""What is drawn in which lane of each view: the items a level-of-detail index is built from.

Definitions: VIEWS "Chip swimlane"; the Worker, Scheduler, Phases and Orchestrator views show only what the file has.
Graph envelopes: FORMATS "Host-graph runs".
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from analysis.capture import I4, I8, MISSING, U1, Capture, PhaseLane, TaskKind
from analysis.formats.join.lanes import sub_rows


class View(enum.StrEnum):
    """The four pictures of a chip swimlane."""

    WORKER = "worker"
    SCHEDULER = "scheduler"
    PHASES = "phases"
    ORCH = "orch"


class ItemKind(enum.IntEnum):
    """Which table an item comes from; the letter is how the browser names it (``r12``)."""

    RECORD = 0
    UNMATCHED = 1
    PHASE = 2
    ORCH = 3
    UPLOAD = 4
    GRAPH = 5
    """The envelope of an outer graph task (index = dense task); a span of records, not one."""


KIND_LETTERS = "rupohg"
"""``KIND_LETTERS[kind]`` + index names one item: r record, u unmatched, p phase, o orchestrator, h upload, g graph."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane: a core, an AICPU marker lane, the graph tasks, a scheduler thread or its sub-lane, an orchestrator.

    ``track`` is its first sub-row; it has ``rows`` of them.
    """

    key: str
    label: str
    group: str
    number: int
    track: int
    rows: int
    items: int


@dataclass(frozen=True, slots=True)
class Items:
    """All items of one view, sorted by (track, start, end, kind, index).

    ``middle_ticks`` is where setup ends and execution starts; it equals ``start_ticks`` where there is no setup.
    ``cls`` indexes ``class_kind``/``class_value``: what gives an item its name and colour.
    """

    lanes: tuple[Lane, ...]
    track: I4
    start_ticks: I8
    middle_ticks: I8
    end_ticks: I8
    cls: I4
    kind: U1
    index: I4
    task: I4
    class_kind: U1
    class_value: I4


@dataclass(frozen=True, slots=True)
class _Part:
    """Items of one table before they are put into tracks; ``lane`` sorts lanes and ``row`` is the sub-row, -1 = pack."""

    kind: ItemKind
    lane: I8
    row: I4
    start: I8
    middle: I8
    end: I8
    index: I4
    task: I4
    class_kind: int
    class_value: I4


CLASS_FUNCTION, CLASS_PHASE, CLASS_UNMATCHED, CLASS_GRAPH = 0, 1, 2, 3
SKIP_KIND = "predicated_skip"
GRAPH_GROUP = "GRAPH"
"""Group of the lane that holds the envelopes."""
MAX_LISTED_CORES = 1024
"""Of a longer list of cores only those with records get a lane: no chip has that many."""
_MARKER_BASE = 1 << 32
_MARKER_ORCH = 2 << 32
_UPLOAD_LANE = 3 << 32
_GRAPH_LANE = 4 << 32
_LIFECYCLE_BASE = 5 << 32


def available_views(capture: Capture) -> dict[View, str]:
    """Which views this capture has data for: view → "" or the reason why it is missing."""
    level = capture.meta.level
    has_markers = bool((capture.phases.lane == PhaseLane.MARKER).any())
    reasons = dict.fromkeys(View, "")
    if not (len(capture.records) or len(capture.unmatched) or has_markers):
        reasons[View.WORKER] = "The capture holds no AICore record."
    stamped = (capture.records.dispatch_ticks != MISSING) & (capture.records.finish_ticks != MISSING)
    if not stamped.any():
        reasons[View.SCHEDULER] = f"No dispatch and finish stamps: captured at level {level}, level 2 is needed."
    if not len(capture.phases):
        reasons[View.PHASES] = f"No scheduler phases: captured at level {level}, level 3 is needed."
    if not (len(capture.orch) or len(capture.uploads)):
        reasons[View.ORCH] = f"No orchestrator records: captured at level {level}, level 4 is needed."
    return reasons


def class_name(capture: Capture, kind: int, value: int) -> str:
    """What users call class (kind, value): a function, a phase kind, ``unmatched`` or ``graph task``."""
    if kind == CLASS_FUNCTION:
        return capture.meta.func_name(value)
    if kind == CLASS_PHASE:
        return capture.meta.phase_kinds[value]
    return "graph task" if kind == CLASS_GRAPH else "unmatched"


class ItemTitles:
    """What users call one item: the name of its class, ``graph t6`` for an envelope, ``t6 node 3`` for a node."""

    def __init__(self, capture: Capture, class_kind: U1, class_value: I4) -> None:
        self._capture = capture
        pairs = list(zip(class_kind.tolist(), class_value.tolist(), strict=True))
        self._names = [class_name(capture, kind, value) for kind, value in pairs]
        skips = {k for k, kind in enumerate(capture.meta.phase_kinds) if kind == SKIP_KIND}
        self._skips = {cls for cls, (kind, value) in enumerate(pairs) if kind == CLASS_PHASE and value in skips}
        self._graph = {cls for cls, (kind, _) in enumerate(pairs) if kind == CLASS_GRAPH}
        self._unnamed = {cls for cls, (kind, value) in enumerate(pairs) if kind == CLASS_FUNCTION and value < 0}

    def of(self, cls: int, task: int) -> str:
        """Title of an item of class ``cls`` and dense index ``task`` (-1 none)."""
        if cls in self._graph:
            return graph_title(self._capture, task)
        if cls in self._skips and task >= 0:
            return skip_title(self._capture, task)
        if cls in self._unnamed and task >= 0:
            return record_title(self._capture, -1, task)
        return self._names[cls]


def skip_title(capture: Capture, task: int) -> str:
    """``predicated_skip QK``: the marker of a task that its predicate kept from running bears its function's name."""
    return f"{SKIP_KIND} {capture.task_name(task)}"


def graph_title(capture: Capture, task: int) -> str:
    """``graph t6``: the envelope of outer graph task ``task`` (dense index)."""
    return f"graph {capture.meta.task_label(int(capture.tasks.task_id[task]))}"


def record_title(capture: Capture, func_id: int, task: int) -> str:
    """The function of a record, or ``t6 node 3`` where a node of a graph task has no function id."""
    if func_id < 0 and task >= 0 and capture.tasks.outer[task] >= 0:
        return capture.task_name(task)
    return capture.meta.func_name(func_id)


def view_items(capture: Capture, view: View, with_setup: bool = True) -> Items:
    """The items of ``view``; ``with_setup`` lets a record begin at receive instead of start (worker view only)."""
    parts, names = _PARTS[view](capture, with_setup)
    return _assemble(parts, names)


def _none(n: int) -> I4:
    return np.full(n, -1, dtype=np.int32)


def _where(mask: np.ndarray) -> I4:
    return np.flatnonzero(mask).astype(np.int32)


def _core_names(capture: Capture, used: I8) -> dict[int, tuple[str, str, str]]:
    """Lanes of listed cores and of cores with records: a damaged core id makes one lane, not all those below it."""
    out = {}
    types = capture.meta.core_types
    listed = len(types) or capture.meta.num_cores
    cores = set(np.unique(used).tolist()) | set(range(listed if listed <= MAX_LISTED_CORES else 0))
    for core in sorted(cores):
        kind = types[core].upper() if core < len(types) else "CORE"
        out[core] = (f"core:{core}", f"{kind} {core}", kind)
    return out


def _worker(capture: Capture, with_setup: bool) -> tuple[list[_Part], dict[int, tuple[str, str, str]]]:
    records, unmatched = capture.records, capture.unmatched
    first = records.receive_ticks if with_setup else records.start_ticks
    first = np.where(first == MISSING, records.start_ticks, first)
    n = len(records)
    parts = [
        _Part(
            ItemKind.RECORD, records.core_id.astype(np.int64), records.row.astype(np.int32), first,
            records.start_ticks, records.end_ticks, np.arange(n, dtype=np.int32), records.task,
            CLASS_FUNCTION, records.func_id,
        ),
        _Part(
            ItemKind.UNMATCHED, unmatched.core_id.astype(np.int64), _none(len(unmatched)),
            unmatched.receive_ticks if with_setup else unmatched.start_ticks, unmatched.start_ticks,
            unmatched.end_ticks, np.arange(len(unmatched), dtype=np.int32), _tasks_of(capture, unmatched.task_id),
            CLASS_UNMATCHED, np.zeros(len(unmatched), dtype=np.int32),
        ),
    ]  # fmt: skip
    names = _core_names(capture, np.concatenate([parts[0].lane, parts[1].lane]))
    phases = capture.phases
    marker = _where(phases.lane == PhaseLane.MARKER)
    parts.append(_phase_part(capture, marker, _MARKER_BASE + phases.stream[marker].astype(np.int64)))
    orch = capture.orch
    alloc = (orch.task >= 0) & (capture.tasks.kind[np.maximum(orch.task, 0)] == TaskKind.ALLOC) if len(orch) else []
    chosen = _where(np.asarray(alloc, dtype=bool))
    parts.append(_orch_part(capture, chosen, _MARKER_ORCH + orch.stream[chosen].astype(np.int64)))
    for stream in np.unique(phases.stream[marker]):
        names[_MARKER_BASE + int(stream)] = (f"aicpu:{stream}", f"AICPU {stream}", "AICPU")
    for stream in np.unique(orch.stream[chosen]):
        names[_MARKER_ORCH + int(stream)] = (f"alloc:{stream}", f"AICPU alloc {stream}", "AICPU")
    envelopes = _graph_part(capture)
    if len(envelopes.index):
        parts.append(envelopes)
        names[_GRAPH_LANE] = ("graph:0", "Graph tasks", GRAPH_GROUP)
    return parts, names


def graph_envelopes(capture: Capture) -> tuple[I4, I8, I8]:
    """Outer graph tasks (dense, ascending) whose nodes have records: from the earliest ``graph_prepare`` (or first start)
    to the latest finish (or last end)."""
    records, outer = capture.records, capture.tasks.outer
    owner = np.where(records.task >= 0, outer[records.task], -1) if len(outer) else records.task
    row = np.flatnonzero(owner >= 0)
    task, group = np.unique(owner[row], return_inverse=True)
    start, end = np.full(len(task), np.iinfo(np.int64).max), np.full(len(task), MISSING)
    np.minimum.at(start, group, records.start_ticks[row])
    np.maximum.at(end, group, np.maximum(records.end_ticks[row], records.finish_ticks[row]))
    slices = prepare_slices(capture)
    at = np.searchsorted(task, capture.phases.task[slices])
    mine = (at < len(task)) & (np.append(task, -1)[at] == capture.phases.task[slices])
    np.minimum.at(start, at[mine], capture.phases.start_ticks[slices[mine]])
    return task.astype(np.int32), start, end


def prepare_slices(capture: Capture) -> I8:
    """Rows of the ``graph_prepare`` phases that name their task."""
    kinds = capture.meta.phase_kinds
    code = kinds.index("graph_prepare") if "graph_prepare" in kinds else -1
    return np.flatnonzero((capture.phases.kind == code) & (capture.phases.task >= 0))


def _graph_part(capture: Capture) -> _Part:
    task, start, end = graph_envelopes(capture)
    n = len(task)
    return _Part(
        ItemKind.GRAPH, np.full(n, _GRAPH_LANE, dtype=np.int64), _none(n), start, start, end, task, task, CLASS_GRAPH,
        np.zeros(n, dtype=np.int32),
    )  # fmt: skip


def _tasks_of(capture: Capture, task_id: np.ndarray) -> I4:
    known = capture.tasks.task_id
    if not len(known):
        return _none(len(task_id))
    at = np.minimum(np.searchsorted(known, task_id), len(known) - 1)
    return np.where(known[at] == task_id, at, -1).astype(np.int32)


def _scheduler(capture: Capture, with_setup: bool) -> tuple[list[_Part], dict[int, tuple[str, str, str]]]:
    records = capture.records
    at = _where((records.dispatch_ticks != MISSING) & (records.finish_ticks != MISSING))
    start = records.dispatch_ticks[at]
    part = _Part(
        ItemKind.RECORD, records.core_id[at].astype(np.int64), records.sched_row[at].astype(np.int32), start, start,
        records.finish_ticks[at], at, records.task[at], CLASS_FUNCTION, records.func_id[at],
    )  # fmt: skip
    return [part], _core_names(capture, part.lane)


def _phase_part(capture: Capture, at: I4, lane: I8) -> _Part:
    phases = capture.phases
    start = phases.start_ticks[at]
    return _Part(
        ItemKind.PHASE, lane, phases.row[at].astype(np.int32), start, start, phases.end_ticks[at], at,
        phases.task[at], CLASS_PHASE, phases.kind[at].astype(np.int32),
    )  # fmt: skip


def _orch_part(capture: Capture, at: I4, lane: I8) -> _Part:
    orch = capture.orch
    start = orch.start_ticks[at]
    return _Part(
        ItemKind.ORCH, lane, orch.row[at].astype(np.int32), start, start, orch.end_ticks[at], at, orch.task[at],
        CLASS_PHASE, orch.kind[at].astype(np.int32),
    )  # fmt: skip


def _phases(capture: Capture, with_setup: bool) -> tuple[list[_Part], dict[int, tuple[str, str, str]]]:
    phases = capture.phases
    at = _where((phases.lane != PhaseLane.MARKER) & (phases.lane != PhaseLane.LIFECYCLE))
    part = _phase_part(capture, at, phases.stream[at].astype(np.int64) * 2 + (phases.lane[at] == PhaseLane.INNER))
    names = {}
    for stream in capture.meta.scheduler_streams:
        names[2 * stream] = (f"sched:{stream}", f"Scheduler {stream}", "SCHEDULER")
    for lane in np.unique(part.lane):
        stream = int(lane) // 2
        names.setdefault(2 * stream, (f"sched:{stream}", f"Scheduler {stream}", "SCHEDULER"))
        if lane % 2:
            names[int(lane)] = (f"resolve:{stream}", f"resolve {stream}", "RESOLVE")
    steps = _where(phases.lane == PhaseLane.LIFECYCLE)
    lifecycle = _phase_part(capture, steps, _LIFECYCLE_BASE + phases.stream[steps].astype(np.int64))
    for thread in np.unique(phases.stream[steps]).tolist():
        names[_LIFECYCLE_BASE + thread] = (f"lifecycle:{thread}", f"AICPU lifecycle {thread}", "LIFECYCLE")
    return [part, lifecycle], names


def _orchestrator(capture: Capture, with_setup: bool) -> tuple[list[_Part], dict[int, tuple[str, str, str]]]:
    orch, uploads = capture.orch, capture.uploads
    part = _orch_part(capture, np.arange(len(orch), dtype=np.int32), orch.stream.astype(np.int64) * 2 + orch.host)
    names = {}
    for lane in np.unique(part.lane):
        place = "Host orch." if lane % 2 else "Orchestrator"
        key = "host" if lane % 2 else "orch"
        names[int(lane)] = (f"{key}:{lane // 2}", f"{place} {lane // 2}", key.upper())
    n = len(uploads)
    upload = _Part(
        ItemKind.UPLOAD, np.full(n, _UPLOAD_LANE, dtype=np.int64), _none(n), uploads.start_ticks,
        uploads.start_ticks, uploads.end_ticks, np.arange(n, dtype=np.int32), _none(n), CLASS_PHASE,
        uploads.kind.astype(np.int32),
    )  # fmt: skip
    if n:
        names[_UPLOAD_LANE] = ("upload:0", "Uploads", "UPLOAD")
    return [part, upload], names


_PARTS = {View.WORKER: _worker, View.SCHEDULER: _scheduler, View.PHASES: _phases, View.ORCH: _orchestrator}


def _packed(part: _Part) -> I4:
    """Sub-rows of the part, packed here where the table has none."""
    if not len(part.lane) or part.row[0] >= 0:
        return part.row
    return sub_rows(part.lane, part.start, part.end).astype(np.int32)


def _assemble(parts: list[_Part], names: dict[int, tuple[str, str, str]]) -> Items:
    """Give every lane its tracks (later parts go below earlier ones of the same lane) and sort."""
    slots = sorted(names)
    slot_of = np.asarray(slots, dtype=np.int64)
    rows_used = np.zeros(len(slots), dtype=np.int64)
    counts = np.zeros(len(slots), dtype=np.int64)
    placed: list[tuple[I8, I8]] = []
    for part in parts:
        slot = np.searchsorted(slot_of, part.lane)
        row = rows_used[slot] + _packed(part)
        if len(slot):
            np.maximum.at(rows_used, slot, row + 1)
            counts += np.bincount(slot, minlength=len(slots))
        placed.append((slot, row))
    rows = np.maximum(rows_used, 1)
    first = np.concatenate([[0], np.cumsum(rows)])
    track = np.concatenate([first[slot] + row for slot, row in placed]).astype(np.int32)
    start = np.concatenate([part.start for part in parts])
    end = np.maximum(np.concatenate([part.end for part in parts]), start)
    cls, class_kind, class_value = _classes(parts)
    kind = np.concatenate([np.full(len(part.lane), part.kind, dtype=np.uint8) for part in parts])
    index = np.concatenate([part.index for part in parts]).astype(np.int32)
    order = np.lexsort((index, kind, end, start, track))
    middle = np.clip(np.concatenate([part.middle for part in parts]), start, end)
    task = np.concatenate([part.task for part in parts]).astype(np.int32)
    lanes = tuple(
        Lane(*names[lane], lane % (1 << 32) if lane >= _MARKER_BASE else int(names[lane][0].split(":")[1]),
             int(first[i]), int(rows[i]), int(counts[i]))
        for i, lane in enumerate(slots)
    )  # fmt: skip
    return Items(
        lanes, track[order], start[order], middle[order], end[order], cls[order], kind[order], index[order],
        task[order], class_kind, class_value,
    )  # fmt: skip


def _classes(parts: list[_Part]) -> tuple[I4, U1, I4]:
    code = np.concatenate([part.class_value.astype(np.int64) + (part.class_kind << 33) for part in parts])
    unique, cls = np.unique(code + (1 << 32), return_inverse=True)
    kind = (unique >> 33).astype(np.uint8)
    value = (unique - (kind.astype(np.int64) << 33) - (1 << 32)).astype(np.int32)
    return cls.astype(np.int32), kind, value
