"""``aicpu_lifecycle_records``: what each AICPU thread did from handshake to exit (FORMATS-2 section 1.7)."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from analysis.formats.join.raw import PhaseRows, RawSwimlane
from analysis.formats.join.rows import STAMP_LIMIT
from analysis.formats.report import Report
from analysis.formats.text.reading import integer
from analysis.formats.text.structs import Int32, typed_rows

PAIRS = (
    ("handshake", "handshake_start", "handshake_complete"),
    ("config", "config_start", "topology_complete"),
    ("context_publish", "context_publish_start", "context_publish_complete"),
    ("bootstrap_wait", "bootstrap_wait_start", "bootstrap_complete"),
    ("register_release", "register_release_start", "register_release_end"),
    ("exit_signal", "exit_signal_start", "exit_signal_end"),
    ("exit_wait", "exit_wait_start", "exit_wait_end"),
)
"""Name, start and end of each step; keys carry ``_cycles``. 0 or absent: the thread did not take the step."""
KINDS = frozenset(f"lifecycle {name}" for name, _, _ in PAIRS)
STREAM = "lifecycle"


_Thread: Any = msgspec.defstruct(
    "_Thread",
    [("aicpu_thread_id", Int32 | None, None)]
    + [(f"{key}_cycles", Any, None) for _, start, end in PAIRS for key in (start, end)],
)


def _stamp(thread: Any, key: str, report: Report) -> int:
    """A stamp in cycles; 0 where it is absent or no stamp."""
    value = getattr(thread, f"{key}_cycles")
    number = integer(value)
    good = number is not None and 0 <= number < STAMP_LIMIT
    report.add("out_of_range", int(value is not None and not good), f"aicpu_lifecycle_records {key}")
    return number if good and number is not None else 0


def _steps(thread: Any, number: int, raw: RawSwimlane, report: Report) -> list[tuple[int, int, int, int]]:
    """(thread, kind, start, end) of the steps that have both stamps; half a step is counted as damaged."""
    found = []
    for name, first, last in PAIRS:
        start, end = _stamp(thread, first, report), _stamp(thread, last, report)
        if start and end:
            found.append((number, raw.kind_index(f"lifecycle {name}"), start, end))
        elif start or end:
            report.add("wrong_type", 1, f"aicpu_lifecycle_records {name}")
    return found


def read_lifecycle(section: msgspec.Raw | None, raw: RawSwimlane, source: str, report: Report) -> None:
    """All steps of all threads into ``raw.lifecycle``, one row per step; ``stream`` is the AICPU thread."""
    rows: list[tuple[int, int, int, int]] = []
    place = "aicpu_lifecycle_records"
    at = 0
    for threads, _ in typed_rows(section, _Thread, place, source, report, STREAM):
        for thread in threads:
            own = thread.aicpu_thread_id
            number = own if own is not None and own >= 0 else at
            rows += _steps(thread, number, raw, report)
            at += 1
    if not rows:
        return
    stream, kind, start, end = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    none = np.full(len(rows), -1, np.int64)
    raw.lifecycle = PhaseRows(
        stream=stream,
        kind=kind,
        start=start,
        end=end,
        loop_iter=none,
        tasks_processed=none,
        task=np.zeros(len(rows), np.uint64),
        has_task=np.zeros(len(rows), np.bool_),
        pop_hit=none,
        pop_miss=none,
        shared_start=np.full((len(rows), 3), -1, np.int32),
        shared_end=np.full((len(rows), 3), -1, np.int32),
        epoch=none,
    )
