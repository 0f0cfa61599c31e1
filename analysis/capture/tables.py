"""Which columns does each table of a capture have, and what do they hold?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.capture.columns import I1, I2, I4, I8, U1, U8, Bool


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
    skipped: Bool
    """A ``predicated_skip`` marker names it: its predicate was false, it did not run."""

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
    kind: I4
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
    kind: I4
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

    kind: I4
    start_ticks: I8
    end_ticks: I8
    detail: I8
    host_start_ns: I8
    """Raw host stamp relative to ``origin_ns``."""
    host_end_ns: I8

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
class FlaggedTable:
    """Rows left out of records, phases and orchestrator because their stamps cannot be right, in file order per stream.

    With ``meta.includes_flagged`` the same rows are in those tables as well.
    """

    stream: U1
    """:class:`~analysis.capture.FlagStream`."""
    flaw: U1
    """:class:`~analysis.capture.Flaw`."""
    place: I4
    """Core id, scheduler id or orchestrator stream."""
    kind: I4
    """Index into ``meta.phase_kinds``; -1 for records."""
    task_id: U8
    has_task: Bool
    start_ticks: I8
    end_ticks: I8
    dispatch_ticks: I8
    """MISSING where not captured, and for phases (also the next)."""
    finish_ticks: I8

    def __len__(self) -> int:
        return len(self.stream)

    @classmethod
    def empty(cls) -> FlaggedTable:
        """No row."""
        small, wide = np.zeros(0, np.int32), np.zeros(0, np.int64)
        codes, ids = np.zeros(0, np.uint8), np.zeros(0, np.uint64)
        return cls(codes, codes, small, small, ids, np.zeros(0, np.bool_), wide, wide, wide, wide)
