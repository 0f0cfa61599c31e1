"""Which tasks decide how long the run takes? (ALGORITHMS: Happens-before graph)

``static`` is the longest path by execution over the kept edges: the floor with unlimited cores. ``observed`` walks back
from the last task to what each task really waited for: a predecessor (``data-wait``) or the task that held its core
(``core-wait``), down to the ``front-gap``; its compute and stall tile the makespan. ``imported-static`` and
``imported-observed`` show the path of a CPM file as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, I8, MISSING, Capture, TaskKind
from analysis.errors import NotAvailable, ParameterError
from analysis.paths.happens_before import CorePredecessors, KeptEdges, core_predecessors, kept_edges
from analysis.results import Cells, Column, Table, task_ids, task_names, to_us

KINDS: tuple[str, ...] = ("static", "observed", "imported-static", "imported-observed")
STALL_KINDS: tuple[str, ...] = ("data-wait", "core-wait", "front-gap")
"""In the order of the compiled walk."""

COLUMNS: tuple[Column, ...] = (
    Column("task_id", "id", "Task on the path, in start order"),
    Column("name", "text", "Function of the task"),
    Column("start_ticks", "ticks", "First start of its records, from capture zero"),
    Column("end_ticks", "ticks", "Last end of its records, from capture zero"),
    Column("compute_ticks", "ticks", "Part of the path's length the task computes"),
    Column("stall_ticks", "ticks", "Part of the path's length nothing on the path computes before this task"),
    Column("stall_kind", "text", "What the task waited for: data-wait, core-wait or front-gap; empty where unknown"),
    Column("start_us", "us", "First start of its records, from capture zero"),
    Column("end_us", "us", "Last end of its records, from capture zero"),
    Column("compute_us", "us", "Part of the path's length the task computes"),
    Column("stall_us", "us", "Part of the path's length nothing on the path computes before this task"),
)
KIND_COLUMNS: tuple[Column, ...] = (
    Column("kind", "text", "compute, or what the path waited for"),
    Column("tasks", "count", "Tasks of the path with a part of this kind"),
    Column("total_us", "us", "Sum of those parts"),
    Column("share", "share", "Of the path's length"),
)
FUNCTION_COLUMNS: tuple[Column, ...] = (
    Column("func_id", "index", "Function id; none for alloc, dummy and graph tasks"),
    Column("name", "text", "Function"),
    Column("tasks", "count", "Tasks of the path that run it"),
    Column("compute_us", "us", "What they compute on the path"),
    Column("stall_us", "us", "What the path waits before them"),
    Column("share", "share", "compute of the path's length"),
)
DIFFERENCE_COLUMNS: tuple[Column, ...] = (
    Column("task_id", "id", "Task on either path, by start"),
    Column("name", "text", "Function of the task"),
    Column("on", "text", "both, imported or computed"),
    Column("start_us", "us", "First start of its records, from capture zero"),
)


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """One path, in start order; ``tasks`` are dense task indexes and run parallel to the rows of ``table``.

    ``by_kind`` says how much of the length is compute and each kind of stall, ``by_function`` where the path spends its
    time, largest first. ``hb_edges`` is None for an imported path. ``notes`` say in plain words what limits the answer.
    """

    kind: str
    tasks: I4
    compute_ticks: I8
    stall_ticks: I8
    makespan_ticks: int
    hb_edges: int | None
    table: Table
    by_kind: Table
    by_function: Table
    notes: tuple[str, ...]

    @property
    def compute_total_ticks(self) -> int:
        """Ticks the path computes."""
        return int(self.compute_ticks.sum())

    @property
    def stall_total_ticks(self) -> int:
        """Ticks the path waits."""
        return int(self.stall_ticks.sum())

    @property
    def length_ticks(self) -> int:
        """Compute plus stall; an observed path is as long as the makespan."""
        return self.compute_total_ticks + self.stall_total_ticks

    def frame(self) -> Any:
        """The table as a pandas frame."""
        return self.table.frame()

    def to_json(self) -> dict[str, Any]:
        """The keys of ``python -m analysis critical-path``."""
        keys = [column.name for column in COLUMNS if column.unit != "us"]
        cells = [self.table.cells(key) for key in keys]
        return {
            "kind": self.kind,
            "makespan_ticks": self.makespan_ticks,
            "length_ticks": self.length_ticks,
            "compute_ticks": self.compute_total_ticks,
            "stall_ticks": self.stall_total_ticks,
            "hb_edges": self.hb_edges,
            "tasks": [dict(zip(keys, row, strict=True)) for row in zip(*cells, strict=True)],
        }


@dataclass(frozen=True, slots=True)
class PathDifference:
    """Where an imported path and the one computed here differ."""

    table: Table
    same: bool

    def frame(self) -> Any:
        """The table as a pandas frame."""
        return self.table.frame()

    def to_json(self) -> list[dict[str, Any]]:
        """The table's rows."""
        return self.table.to_records()


def critical_path(capture: Capture, kind: str = "observed", through_untimed: bool = False) -> CriticalPath:
    """Which tasks decide how long the run takes?

    Args:
        capture: one launch.
        kind: one of :data:`KINDS`.
        through_untimed: lead computed paths also through tasks without records (an extra over the reference).

    Raises:
        NotAvailable: no records, no dependencies, or no CPM file of that kind.
        LimitError: untimed tasks too dense to lead paths through.
        ParameterError: an unknown ``kind``.
    """
    check_kind(kind)
    kept = None if kind.startswith("imported-") else kept_edges(capture, through_untimed)
    steps = path_steps(capture, kind, kept)
    makespan = capture.makespan_ticks
    assert makespan is not None, "a path needs records"
    names = task_names(capture, steps.tasks)
    return CriticalPath(
        kind,
        steps.tasks,
        steps.compute,
        steps.stall,
        makespan,
        None if kept is None else len(kept),
        _table(capture, steps, names),
        _by_kind(capture, steps),
        _by_function(capture, steps, names),
        tuple(_notes(capture, kind, through_untimed)),
    )


def path_difference(capture: Capture, kind: str = "observed") -> PathDifference:
    """Where do the imported and the computed path (``kind`` = ``static`` or ``observed``) differ?

    Raises:
        NotAvailable: either path is.
    """
    imported = critical_path(capture, f"imported-{kind}").tasks
    computed = critical_path(capture, kind).tasks
    tasks = np.union1d(imported, computed)
    tasks = tasks[np.argsort(capture.tasks.start_ticks[tasks], kind="stable")]
    side = np.isin(tasks, imported).astype(np.int64) + 2 * np.isin(tasks, computed)
    table = Table(
        DIFFERENCE_COLUMNS,
        {
            "task_id": task_ids(capture, tasks),
            "name": task_names(capture, tasks),
            "on": [("imported", "computed", "both")[at - 1] for at in side.tolist()],
            "start_us": to_us(capture, capture.tasks.start_ticks[tasks]),
        },
    )
    return PathDifference(table, same=bool((side == 3).all()))


@dataclass(frozen=True, slots=True)
class PathSteps:
    """A path before it is put into tables; ``stall_kind`` is None where the source gives no reason."""

    tasks: I4
    compute: I8
    stall: I8
    stall_kind: list[str | None]


def check_kind(kind: str) -> None:
    """Raises ParameterError unless ``kind`` is one of :data:`KINDS`."""
    if kind not in KINDS:
        raise ParameterError(f"kind is {kind!r}: choose one of {', '.join(KINDS)}")


def path_steps(capture: Capture, kind: str, kept: KeptEdges | None) -> PathSteps:
    """The path ``kind``; ``kept`` is needed for computed paths only.

    Raises:
        NotAvailable: no CPM file of that kind, or records that end before they start.
    """
    if kept is None or kind.startswith("imported-"):
        return _imported(capture, kind.removeprefix("imported-"))
    return _static(capture, kept) if kind == "static" else _observed(capture, kept, core_predecessors(capture))


def _static(capture: Capture, kept: KeptEdges) -> PathSteps:
    from analysis.paths import kernels as path_kernels

    tasks = capture.tasks
    timed = np.flatnonzero(tasks.n_records > 0).astype(np.int32)
    order = timed[np.argsort(tasks.start_ticks[timed])]
    length, parent = path_kernels.longest_paths(order, kept.offsets, kept.pred, tasks.start_ticks, tasks.end_ticks)
    at = int(timed[np.argmax(length[timed])])
    path = [at]
    while (at := int(parent[at])) >= 0:
        path.append(at)
    return _by_execution(capture, np.array(path[::-1], np.int32))


def _observed(capture: Capture, kept: KeptEdges, core: CorePredecessors) -> PathSteps:
    tasks, kinds = _observed_walk(capture, kept, core)
    steps = _by_frontier(capture, tasks, [STALL_KINDS[k] for k in kinds.tolist()])
    if int(steps.compute.sum()) + int(steps.stall.sum()) != capture.makespan_ticks:
        backwards = int((capture.records.end_ticks < capture.records.start_ticks).sum())
        assert backwards, "compute and stall of the observed path do not tile the makespan"
        raise NotAvailable(
            f"{backwards} records end before they start, so compute and stall cannot tile the makespan. "
            "Fix or leave out those records"
        )
    return steps


def _observed_walk(capture: Capture, kept: KeptEdges, core: CorePredecessors) -> tuple[I4, NDArray[Any]]:
    """Tasks of the observed path in start order, and per task the index of what it waited for in STALL_KINDS."""
    from analysis.paths import kernels as path_kernels

    tasks = capture.tasks
    timed = np.flatnonzero(tasks.n_records > 0)
    latest = timed[tasks.end_ticks[timed] == tasks.end_ticks[timed].max()]
    last = max(latest.tolist(), key=lambda task: str(int(tasks.task_id[task])))
    walk, kinds = path_kernels.walk_back(
        last, kept.offsets, kept.pred, core.task, core.until_ticks, tasks.start_ticks, tasks.end_ticks, tasks.task_id
    )
    return walk[::-1].copy(), kinds[::-1].copy()


def _imported(capture: Capture, which: str) -> PathSteps:
    path: I4 = capture.paths.static if which == "static" else capture.paths.observed
    path = path[capture.tasks.n_records[path] > 0]
    if not len(path):
        raise NotAvailable(
            f"no CPM_{which}*.json with tasks of this capture is beside it. "
            f"Put that file there, or look at the {which} path computed here"
        )
    return _by_execution(capture, path) if which == "static" else _by_frontier(capture, path, [None] * len(path))


def _by_execution(capture: Capture, path: I4) -> PathSteps:
    """A path that is as long as its tasks execute: no stall."""
    compute = (capture.tasks.end_ticks - capture.tasks.start_ticks)[path]
    return PathSteps(path, compute, np.zeros(len(path), np.int64), [None] * len(path))


def _by_frontier(capture: Capture, path: I4, stall_kind: list[str | None]) -> PathSteps:
    """Compute and stall in the time of the run: a frontier moves from the capture's first start to each end."""
    start, end = capture.tasks.start_ticks[path], capture.tasks.end_ticks[path]
    first = np.int64(capture.records.start_ticks.min())
    frontier = np.maximum.accumulate(np.concatenate(([first], end)))[:-1]
    compute = np.maximum(0, end - np.maximum(start, frontier))
    return PathSteps(path, compute, np.maximum(0, start - frontier), stall_kind)


def _table(capture: Capture, steps: PathSteps, names: list[str]) -> Table:
    start, end = (column[steps.tasks] for column in (capture.tasks.start_ticks, capture.tasks.end_ticks))
    ticks = {"start": start, "end": end, "compute": steps.compute, "stall": steps.stall}
    data: dict[str, Cells] = {
        "task_id": task_ids(capture, steps.tasks),
        "name": names,
        "stall_kind": steps.stall_kind,
    }
    data |= {f"{name}_ticks": values for name, values in ticks.items()}
    data |= {f"{name}_us": to_us(capture, values) for name, values in ticks.items()}
    return Table(COLUMNS, data)


def _by_kind(capture: Capture, steps: PathSteps) -> Table:
    stalls = np.array([kind or "stall" for kind in steps.stall_kind], dtype=object)
    kinds = [kind for kind in (*STALL_KINDS, "stall") if bool((stalls == kind).any())]
    ticks = [int(steps.compute.sum()), *(int(steps.stall[stalls == kind].sum()) for kind in kinds)]
    return Table(
        KIND_COLUMNS,
        {
            "kind": ["compute", *kinds],
            "tasks": [len(steps.tasks), *(int((stalls == kind).sum()) for kind in kinds)],
            "total_us": to_us(capture, np.array(ticks, np.int64)),
            "share": _share(np.array(ticks, np.int64), sum(ticks)),
        },
    )


def _by_function(capture: Capture, steps: PathSteps, names: list[str]) -> Table:
    distinct, code = np.unique(np.array(names, dtype=np.str_), return_inverse=True)
    func_id = capture.tasks.func_id[steps.tasks].astype(np.int64)
    (which, ids), inverse = np.unique(np.stack([code, func_id]), axis=1, return_inverse=True)
    compute, stall = np.zeros(len(which), np.int64), np.zeros(len(which), np.int64)
    np.add.at(compute, inverse, steps.compute)
    np.add.at(stall, inverse, steps.stall)
    table = Table(
        FUNCTION_COLUMNS,
        {
            "func_id": np.where(ids >= 0, ids, MISSING),
            "name": distinct[which].tolist(),
            "tasks": np.bincount(inverse, minlength=len(which)),
            "compute_us": to_us(capture, compute),
            "stall_us": to_us(capture, stall),
            "share": _share(compute, int(compute.sum() + stall.sum())),
        },
    )
    return table.take(np.lexsort((ids, which, -compute)))


def _share(ticks: I8, length: int) -> NDArray[np.float64]:
    return ticks / length if length else np.full(len(ticks), np.nan)


def _notes(capture: Capture, kind: str, through_untimed: bool) -> list[str]:
    """What limits the answer, in plain words."""
    tasks, notes = capture.tasks, []
    if kind.startswith("imported-"):
        return ["This path was read from a CPM file, not computed here."]
    links = (np.diff(capture.edges.out_offsets) > 0) & (np.diff(capture.edges.in_offsets) > 0)
    untimed = int((links & (tasks.n_records == 0)).sum())
    if untimed and not through_untimed:
        notes.append(
            f"{untimed} tasks without records are between others and break paths; a path can be led through them."
        )
    if through_untimed:
        notes.append("Led also through tasks without records; the reference does not do that.")
    if bool((tasks.kind == TaskKind.GRAPH).any()):
        notes.append(
            "Dependencies between the nodes of a replayed graph are not in deps.json; only core waits link them."
        )
    if capture.meta.edges_from_fanout:
        notes.append("Edges come from fanout[]: dependencies on alloc tasks are missing.")
    if capture.meta.clock_freq_hz is None:
        tolerance = capture.meta.tolerance_ticks
        notes.append(
            f"The file holds no clock: a tick is one nanosecond and the tolerance of {tolerance} ns is assumed."
        )
    return notes
