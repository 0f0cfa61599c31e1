"""What is a capture as a whole: its facts, its notices, its tables, and how its tasks are called?"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.capture import ids
from analysis.capture.columns import I4
from analysis.capture.kinds import TaskKind
from analysis.capture.tables import (
    AnnotationTable,
    ArgTable,
    EdgeTable,
    FlaggedTable,
    OrchTable,
    PhaseTable,
    RecordTable,
    TaskTable,
    TensorTable,
    UnmatchedTable,
    UploadTable,
    ViewTable,
)


@dataclass(frozen=True, slots=True)
class Notice:
    """One data-quality finding.

    ``detail`` counts the finding by place, for example ``{"core 3": 2}``; the sum need not equal ``count`` when the
    place is unknown.
    """

    code: str
    count: int
    message: str
    detail: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostClock:
    """How host nanoseconds relate to device ticks (host-orchestrated runs only).

    When ``merged``, host times in :class:`OrchTable` and ``uploads`` have been interpolated onto the device axis with
    ``uncertainty_ns``; otherwise the host part lies before the device part and the gap between them is unknown
    (``reason`` says why).
    """

    merged: bool
    uncertainty_ns: int | None
    reason: str
    status: str
    dropped_records: int
    origin_ns: int | None
    earlier_ns: int = 0
    """How much earlier than drawn the device part can be on the host axis (``clock_alignment`` gives an interval)."""
    later_ns: int = 0
    """How much later."""
    anchor: tuple[int, int] | None = None
    """(absolute device stamp, host ns) of one moment, when ``merged``: places device time on the host axis."""
    domain: str = ""
    """Identity of the host clock (``host_clock_domain_id``); "" when it is not recorded."""

    @property
    def uncertainty_text(self) -> str:
        """``±40 ns``, or ``−0 / +2,000 ns`` where the device part is known as an uneven interval; else the reason."""
        if not self.merged:
            return self.reason
        if self.earlier_ns != self.later_ns:
            return f"−{self.earlier_ns:,} / +{self.later_ns:,} ns"
        return f"±{self.uncertainty_ns:,} ns"


@dataclass(frozen=True, slots=True)
class CaptureMeta:
    """Facts about the whole capture."""

    capture_id: str
    """sha256 (hex) over the bytes of every file that went in, plus the launch index."""
    label: str
    level: int
    """Capture level 0..4; a level never invents data of a higher one."""
    container: str
    """Generation of the file: ``chip``, ``unified``, ``l2_cycles``, ``us`` …"""
    clock_freq_hz: int | None
    ticks_per_us: float
    zero_ticks: int
    tolerance_ticks: int
    """Happens-before tolerance: 2 cycles, or 40 ns where the container holds no clock."""
    num_cores: int
    core_types: tuple[str, ...]
    """``"aic"``, ``"aiv"`` or another text, indexed by core id."""
    core_to_thread: tuple[int, ...] | None
    launch: int
    launches: int
    aicore_rows: int
    aicpu_rows: int
    has_records_file: bool
    has_deps: bool
    edges_from_fanout: bool
    """Edges were taken from ``fanout[]`` because deps.json is absent: alloc predecessors are missing."""
    has_name_map: bool
    orchestrator_name: str | None
    func_names: dict[int, str]
    phase_kinds: tuple[str, ...]
    """Names for ``PhaseTable.kind`` and ``OrchTable.kind``."""
    dtypes: tuple[str, ...]
    """Names for every ``dtype`` column."""
    scheduler_streams: tuple[int, ...]
    """Scheduler ids present in the file, empty streams included, ascending."""
    orchestrator_streams: int
    host_clock: HostClock | None
    sources: dict[str, str]
    """Kind of file (``swimlane``, ``deps``, ``name_map``, ``cpm_static``, ``cpm_observed``) → file name."""
    notices: tuple[Notice, ...]
    runtime: str = ""
    """Layout of the task ids: a runtime's name, "" for files without one, "?" where it cannot be known."""
    deps_runtime: str = ""
    """``runtime`` of deps.json; "" for files without one: then the flags of explicit edges are not authoritative."""
    includes_flagged: bool = False
    """Rows with impossible stamps are in the tables; by default they are only in ``flagged``."""
    scheduler_producers: dict[int, str] = field(default_factory=dict)
    """Scheduler id → ``aicpu`` or ``aicore``, where the file says what ran it."""
    stream_rows: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Per stream of the files: rows in the file, rows left out, rows of other launches. All others are shown."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Anything else a page shows verbatim (``aicpu_orchestrator`` summary, dispatch program …)."""

    def func_name(self, func_id: int) -> str:
        """What users call function ``func_id``: its mapped name, ``func_<id>``, or ``unresolved`` for -1."""
        if func_id < 0:
            return "unresolved"
        return self.func_names.get(func_id, f"func_{func_id}")

    def task_label(self, task_id: int) -> str:
        """What people call the task ``task_id`` (:func:`analysis.capture.ids.label`)."""
        return ids.label(task_id, self.runtime)

    def us(self, ticks: int | float) -> float:
        """Convert a tick *difference* to microseconds, for display."""
        return float(ticks) / self.ticks_per_us


@dataclass(frozen=True, slots=True)
class ImportedPaths:
    """Critical paths read from CPM files, as dense task indexes by start; empty arrays when there is no file."""

    static: I4
    observed: I4


@dataclass(frozen=True, slots=True)
class Capture:
    """One launch of one run: every table an analysis or a page reads."""

    meta: CaptureMeta
    records: RecordTable
    tasks: TaskTable
    edges: EdgeTable
    annotations: AnnotationTable
    args: ArgTable
    tensors: TensorTable
    views: ViewTable
    phases: PhaseTable
    orch: OrchTable
    uploads: UploadTable
    unmatched: UnmatchedTable
    flagged: FlaggedTable
    paths: ImportedPaths

    def task_index(self, task_id: int) -> int:
        """Dense index of ``task_id``, or -1 when no stream or file names it."""
        if not 0 <= task_id < 2**64:
            return -1
        at = int(np.searchsorted(self.tasks.task_id, np.uint64(task_id)))
        if at < len(self.tasks) and int(self.tasks.task_id[at]) == task_id:
            return at
        return -1

    def task_name(self, task: int) -> str:
        """What users call the task: its function name, or its kind for alloc, dummy and graph tasks.

        A node of a graph task has no function id: it is called by outer task and node, ``t6 node 3``.
        """
        kind = TaskKind(int(self.tasks.kind[task]))
        func_id = int(self.tasks.func_id[task])
        if func_id >= 0:
            return self.meta.func_name(func_id)
        if kind in (TaskKind.ALLOC, TaskKind.DUMMY, TaskKind.GRAPH):
            return kind.name.lower()
        outer = int(self.tasks.outer[task])
        if outer >= 0:
            node = ids.node_number(int(self.tasks.task_id[task]), self.meta.runtime)
            return f"{self.meta.task_label(int(self.tasks.task_id[outer]))} node {node}"
        return "unresolved"

    def to_networkx(self, mode: str = "full") -> Any:
        """The dependency graph as a ``networkx.DiGraph`` (:func:`analysis.graph.networkx.to_networkx`).

        Args:
            mode: which edges: ``full``, ``reduced``, ``omitted``, ``reduced-df`` or ``omitted-df``.

        Raises:
            NotAvailable: the capture has no dependency graph, or the mode has no answer.
        """
        # By name: the model comes before everything that reads it.
        return importlib.import_module("analysis.graph.networkx").to_networkx(self, mode)

    @property
    def makespan_ticks(self) -> int | None:
        """max end - min start over records, or None without records."""
        if not len(self.records):
            return None
        return int(self.records.end_ticks.max()) - int(self.records.start_ticks.min())
