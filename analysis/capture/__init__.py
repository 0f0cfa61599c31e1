"""The capture in memory: immutable columns with integer ticks.

One :class:`Capture` is one launch of one run, whatever container it came from. Tables are frozen dataclasses of numpy
arrays of equal length (structure of arrays); ragged data is in CSR form (``*_offsets`` has one more entry than the
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

from analysis.capture.columns import (
    I1,
    I2,
    I4,
    I8,
    U1,
    U8,
    Bool,
)
from analysis.capture.kinds import (
    EARLY_NO,
    EARLY_UNKNOWN,
    EARLY_YES,
    FLAG_RETAIN,
    FLAG_WAIT,
    MISSING,
    OVERLAP_COVERED,
    OVERLAP_NONE,
    OVERLAP_OTHER,
    ArgType,
    EdgeSource,
    FlagStream,
    Flaw,
    PhaseLane,
    TaskKind,
)
from analysis.capture.model import (
    Capture,
    CaptureMeta,
    HostClock,
    ImportedPaths,
    Notice,
)
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

__all__ = [
    "EARLY_NO",
    "EARLY_UNKNOWN",
    "EARLY_YES",
    "FLAG_RETAIN",
    "FLAG_WAIT",
    "I1",
    "I2",
    "I4",
    "I8",
    "MISSING",
    "OVERLAP_COVERED",
    "OVERLAP_NONE",
    "OVERLAP_OTHER",
    "U1",
    "U8",
    "AnnotationTable",
    "ArgTable",
    "ArgType",
    "Bool",
    "Capture",
    "CaptureMeta",
    "EdgeSource",
    "EdgeTable",
    "FlagStream",
    "FlaggedTable",
    "Flaw",
    "HostClock",
    "ImportedPaths",
    "Notice",
    "OrchTable",
    "PhaseLane",
    "PhaseTable",
    "RecordTable",
    "TaskKind",
    "TaskTable",
    "TensorTable",
    "UnmatchedTable",
    "UploadTable",
    "ViewTable",
]
