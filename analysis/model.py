"""The capture in memory: immutable columns with integer ticks.

One :class:`Capture` is one launch of one run, whatever container it came from. Tables are frozen dataclasses of numpy
arrays of equal length (structure of arrays); ragged data lies in CSR form (``*_offsets`` has one more entry than the
table it indexes). Arrays are read-only and may be memory-mapped.

Conventions
    * ``*_ticks`` are int64 ticks **relative to** ``meta.zero_ticks`` (the smallest non-zero device timestamp, counting
      ``start - receive_to_start``). A stamp that was not captured is :data:`MISSING`, never 0.
    * ``task`` columns are dense indexes into :class:`TaskTable`; -1 means none. ``task_id`` columns hold the 64-bit id.
    * ``-1`` means "none" in every other index or id column.
    * A tick is one device cycle, or one nanosecond in containers that only hold microseconds
      (``meta.clock_freq_hz is None``); ``meta.ticks_per_us`` converts for display.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

I1: TypeAlias = NDArray[np.int8]
I2: TypeAlias = NDArray[np.int16]
I4: TypeAlias = NDArray[np.int32]
I8: TypeAlias = NDArray[np.int64]
U1: TypeAlias = NDArray[np.uint8]
U8: TypeAlias = NDArray[np.uint64]
Bool: TypeAlias = NDArray[np.bool_]

MISSING: int = int(np.iinfo(np.int64).min)
"""The value of a ``*_ticks`` entry that was not captured."""


class TaskKind(enum.IntEnum):
    """What a task is (FORMATS section 3)."""

    AIC = 0
    AIV = 1
    MIX = 2
    ALLOC = 3
    """Named by an edge but absent from ``tasks[]``: the orchestrator allocated its tensors."""
    DUMMY = 4
    """Listed with no kernel: dependency only."""
    GRAPH = 5
    """An outer graph task expanded by ``graph_prepare``."""
    UNKNOWN = 6
    """Named only by a stream or marker, with neither records nor a deps.json entry."""


class EdgeSource(enum.IntEnum):
    """Why an edge annotation exists."""

    CREATOR = 0
    TENSORMAP = 1
    EXPLICIT = 2
    OTHER = 3


class ArgType(enum.IntEnum):
    """Direction of a task argument."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    OTHER = 4


class PhaseLane(enum.IntEnum):
    """Where a scheduler phase is drawn."""

    OUTER = 0
    """Mutually exclusive phases of a scheduler thread."""
    INNER = 1
    """``resolve``, ``drain_prepare``, ``drain_publish``: the thread's sub-lane."""
    MARKER = 2
    """``dummy_task``, ``predicated_skip``: drawn on the worker view's AICPU lane."""


FLAG_WAIT = 1
FLAG_RETAIN = 2
OVERLAP_NONE, OVERLAP_COVERED, OVERLAP_OTHER = 0, 1, 2
EARLY_NO, EARLY_YES, EARLY_UNKNOWN = 0, 1, 2
GRAPH_NODE_MASK = 1023
"""Bits of a ring-1 id that number the node inside its outer graph task (FORMATS section 8)."""


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
    extra: dict[str, Any] = field(default_factory=dict)
    """Anything else a page shows verbatim (``aicpu_orchestrator`` summary, dispatch program …)."""

    def func_name(self, func_id: int) -> str:
        """What a person calls function ``func_id``: its mapped name, ``func_<id>``, or ``unresolved`` for -1."""
        if func_id < 0:
            return "unresolved"
        return self.func_names.get(func_id, f"func_{func_id}")

    def us(self, ticks: int | float) -> float:
        """Convert a tick *difference* to microseconds, for display."""
        return float(ticks) / self.ticks_per_us


@dataclass(frozen=True, slots=True)
class RecordTable:
    """Joined task records (blocks), sorted by (core_id, start, end, file order)."""

    core_id: I4
    task: I4
    reg_id: I8
    receive_ticks: I8
    """start - receive_to_start; equals start where the container has no such column."""
    start_ticks: I8
    end_ticks: I8
    dispatch_ticks: I8
    finish_ticks: I8
    func_id: I4
    block: I4
    """Index of the record within its task, in (core_id, start) order."""
    row: I2
    """Sub-row within the core's lane for receive..end, 0 unless records overlap."""
    sched_row: I2
    """Sub-row within the core's lane of the scheduler view for dispatch..finish."""

    def __len__(self) -> int:
        return len(self.core_id)


@dataclass(frozen=True, slots=True)
class TaskTable:
    """Every task named anywhere, sorted by numeric ``task_id`` (so index order is id order)."""

    task_id: U8
    kind: U1
    """:class:`TaskKind`."""
    in_graph: Bool
    """Listed in deps.json ``tasks[]`` or named by an edge: a node of the dependency graph."""
    listed: Bool
    """Listed in deps.json ``tasks[]``."""
    block_num: I4
    """From deps.json (1 when absent); 0 when not listed."""
    kernel_ids: I4
    """Shape (n, 3): aic, aiv0, aiv1; -1 none."""
    func_id: I4
    """Function to show for the task: that of its first record, else the first kernel id >= 0, else -1."""
    submit_order: I4
    """Position in deps.json ``tasks[]``, -1 if not listed."""
    early_dispatch: U1
    """EARLY_NO, EARLY_YES, or EARLY_UNKNOWN where the file has no such key."""
    manual_scope: Bool
    outer: I4
    """For a graph node: dense index of its outer graph task; -1 otherwise."""
    n_records: I4
    receive_ticks: I8
    """min over records; MISSING without records (also the four below)."""
    start_ticks: I8
    end_ticks: I8
    dispatch_ticks: I8
    finish_ticks: I8
    record_offsets: I8
    """(n + 1): slice of ``record_order`` that holds the task's records."""
    record_order: I4
    """Indexes into RecordTable grouped by task, each group in record order."""
    arg_offsets: I8
    """(n + 1): slice of ArgTable."""

    def __len__(self) -> int:
        return len(self.task_id)


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Unique dependency edges sorted by (pred, succ), self edges included, with their annotations in CSR form."""

    pred: I4
    succ: I4
    out_offsets: I8
    """(n_tasks + 1): edges leaving a task are ``out_offsets[t]:out_offsets[t+1]``."""
    in_offsets: I8
    """(n_tasks + 1): slice of ``in_order`` for edges entering a task, ascending pred."""
    in_order: I4
    """Edge indexes grouped by succ."""
    ann_offsets: I8
    """(n_edges + 1): slice of AnnotationTable."""

    def __len__(self) -> int:
        return len(self.pred)


@dataclass(frozen=True, slots=True)
class AnnotationTable:
    """One row of deps.json ``edges[]``, grouped by unique edge, file order inside a group."""

    arg: I4
    source: U1
    """:class:`EdgeSource`."""
    flags: I1
    """Bits FLAG_WAIT | FLAG_RETAIN; -1 where the file carries no flags."""
    overlap: U1
    tensor: I4
    """Index into TensorTable, -1 none."""
    consumer_view: I4
    """Index into ViewTable, -1 none."""
    producer_view: I4

    def __len__(self) -> int:
        return len(self.arg)


@dataclass(frozen=True, slots=True)
class ArgTable:
    """Task arguments, grouped by task (``TaskTable.arg_offsets``), file order inside."""

    idx: I4
    type: U1
    """:class:`ArgType`."""
    tensor: I4
    view: I4
    inferred: Bool
    """The tensor id was inferred from the one creator edge leaving the task."""

    def __len__(self) -> int:
        return len(self.idx)


@dataclass(frozen=True, slots=True)
class TensorTable:
    """Tensors in file order; shown as T0, T1, …"""

    tensor_id: U8
    buffer_addr: U8
    version: I4
    dtype: I2
    """Index into ``meta.dtypes``, -1 unknown."""
    buffer_numel: I8
    """-1 unknown."""

    def __len__(self) -> int:
        return len(self.tensor_id)


@dataclass(frozen=True, slots=True)
class ViewTable:
    """Strided views (shape, offset, strides) that arguments and annotations refer to."""

    dtype: I2
    start_offset: I8
    """In elements; -1 unknown."""
    dim_offsets: I8
    """(n + 1): slice of ``shape``."""
    shape: I8
    stride_offsets: I8
    """(n + 1): slice of ``stride``."""
    stride: I8

    def __len__(self) -> int:
        return len(self.dtype)


@dataclass(frozen=True, slots=True)
class PhaseTable:
    """Scheduler phases, sorted by (stream, start, end)."""

    stream: I4
    """Scheduler id as in the file."""
    kind: I2
    """Index into ``meta.phase_kinds``."""
    lane: U1
    """:class:`PhaseLane`."""
    start_ticks: I8
    end_ticks: I8
    loop_iter: I8
    tasks_processed: I8
    task: I4
    pop_hit: I8
    """-1 where not recorded (also the three below)."""
    pop_miss: I8
    shared_start: I4
    """(n, 3): aic, aiv, mix queue depth."""
    shared_end: I4
    row: I2
    """Sub-row inside (stream, lane), 0 unless phases overlap."""

    def __len__(self) -> int:
        return len(self.stream)


@dataclass(frozen=True, slots=True)
class OrchTable:
    """Orchestrator records (device or host), sorted by (stream, start, end)."""

    stream: I4
    kind: I2
    start_ticks: I8
    end_ticks: I8
    submit_idx: I8
    task: I4
    host: Bool
    """The record came from the host clock (see ``meta.host_clock``)."""
    host_start_ns: I8
    """Raw host stamp relative to ``origin_ns``; MISSING for device records."""
    host_end_ns: I8
    row: I2

    def __len__(self) -> int:
        return len(self.stream)


@dataclass(frozen=True, slots=True)
class UploadTable:
    """Host-to-device uploads of a host-orchestrated run, by start."""

    kind: I2
    start_ticks: I8
    end_ticks: I8
    detail: I8

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, slots=True)
class UnmatchedTable:
    """AICore rows at level >= 2 without an AICPU partner: drawn hatched, in neither functions nor makespan."""

    core_id: I4
    task_id: U8
    reg_id: I8
    receive_ticks: I8
    start_ticks: I8
    end_ticks: I8
    row: I2

    def __len__(self) -> int:
        return len(self.core_id)


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
        """What a person calls the task: its function name, or its kind for alloc, dummy and graph tasks.

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
            node = int(self.tasks.task_id[task]) & GRAPH_NODE_MASK
            return f"{task_label(int(self.tasks.task_id[outer]))} node {node}"
        return "unresolved"

    @property
    def makespan_ticks(self) -> int | None:
        """max end - min start over records, or None without records."""
        if not len(self.records):
            return None
        return int(self.records.end_ticks.max()) - int(self.records.start_ticks.min())


def task_label(task_id: int) -> str:
    """Ring & Task ID as people say it: ``t<local>`` in ring 0, ``r<ring>t<local>`` elsewhere."""
    ring = (task_id >> 32) & 0xFF
    local = task_id & 0xFFFFFFFF
    return f"r{ring}t{local}" if ring else f"t{local}"
