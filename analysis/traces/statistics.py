"""Which spans cost what: count, mean, extremes, percentiles, total and self time per process, thread and name.

Percentiles are nearest-rank: the smallest duration that at least that share of the spans do not exceed. Spans without a
measured end (never closed, no length) are left out and counted as ``unmeasured``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.results import Column, Table
from analysis.traces.codes import codes
from analysis.traces.model import TICKS_PER_US, Trace

By = Literal["name", "thread_name", "thread", "process", "worker"]
_WORKER = re.compile(r"(WorkerProcess)\b")

COLUMNS = (
    Column("process", "text", "name of the process"),
    Column("worker", "text", "the part of the name before its first dot, where that is a worker's (WorkerProcess)"),
    Column("thread", "text", "name of the thread or lane"),
    Column("name", "text", "name of the span"),
    Column("count", "count", "spans with a measured length"),
    Column("mean_us", "us", "mean length"),
    Column("min_us", "us", "shortest"),
    Column("max_us", "us", "longest"),
    Column("p50_us", "us", "half of the spans are not longer (nearest rank)"),
    Column("p95_us", "us", "95 % of the spans are not longer (nearest rank)"),
    Column("total_us", "us", "sum of lengths; spans in spans count twice"),
    Column("self_us", "us", "sum of lengths without what the spans inside cover"),
    Column("unmeasured", "count", "spans without a measured end, in no other column"),
)


@dataclass(frozen=True, slots=True)
class SpanStatistics:
    """The table, and for each row one of its slices to locate (the longest)."""

    table: Table
    longest: NDArray[np.int64]

    def to_json(self) -> list[dict[str, Any]]:
        """One object per row."""
        return self.table.to_records()


def span_statistics(trace: Trace, by: By = "name") -> SpanStatistics:
    """Statistics of all slices, largest total first.

    Args:
        trace: the trace.
        by: ``name``: per process and name; ``thread_name``: per lane and name; ``thread``; ``process``; ``worker``: as
            ``name`` with only the ``WorkerProcess.*`` spans.
    """
    slices = trace.slices
    process_of = np.asarray([lane.process for lane in trace.lanes], np.int64)
    is_worker = np.asarray([bool(_WORKER.match(name)) for name in trace.names], bool)
    at = np.flatnonzero(is_worker[slices.name]) if by == "worker" else np.arange(len(slices))
    lane, name = slices.lane[at].astype(np.int64), slices.name[at]
    process = process_of[lane] if len(at) else np.empty(0, np.int64)
    none = np.full(len(at), -1, np.int64)
    group, keys = codes(
        process, lane if by in ("thread", "thread_name") else none, none if by in ("process", "thread") else name
    )
    length, own = (slices.end_ns - slices.start_ns)[at], slices.self_ns[at]
    good = slices.marks[at] == 0
    order = np.flatnonzero(good)
    order = order[np.lexsort((length[order], group[order]))]
    sizes = np.bincount(group[order], minlength=len(keys))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    some = sizes > 0
    sorted_length = length[order]

    def pick(share: float) -> NDArray[np.float64]:
        rank = np.maximum(np.ceil(sizes * share - 1e-9).astype(np.int64), 1) - 1
        out = np.full(len(keys), np.nan)
        out[some] = sorted_length[(bounds[:-1] + rank)[some]] / TICKS_PER_US
        return out

    total, self_total = (_sums(group[order], values[order], len(keys)) for values in (length, own))
    mean = np.full(len(keys), np.nan)
    mean[some] = total[some] / sizes[some] / TICKS_PER_US
    longest = np.full(len(keys), -1, np.int64)
    longest[some] = at[order[(bounds[1:] - 1)[some]]]
    data: dict[str, Any] = {
        "process": [trace.processes[i].name for i in keys[:, 0].tolist()],
        "worker": [_worker_name(trace, i) for i in keys[:, 2].tolist()],
        "thread": [trace.lanes[i].label if i >= 0 else None for i in keys[:, 1].tolist()],
        "name": [trace.names[i] if i >= 0 else None for i in keys[:, 2].tolist()],
        "count": sizes.astype(np.int64), "mean_us": mean, "min_us": pick(0.0), "max_us": pick(1.0), "p50_us": pick(0.5),
        "p95_us": pick(0.95), "total_us": total / TICKS_PER_US, "self_us": self_total / TICKS_PER_US,
        "unmeasured": np.bincount(group[~good], minlength=len(keys)).astype(np.int64),
    }  # fmt: skip
    rows = np.argsort(-total, kind="stable")
    return SpanStatistics(Table(COLUMNS, data).take(rows), longest[rows])


def _worker_name(trace: Trace, name: int) -> str | None:
    found = _WORKER.match(trace.names[name]) if name >= 0 else None
    return found[1] if found else None


def _sums(group: NDArray[np.int64], values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    out = np.zeros(size, np.int64)
    np.add.at(out, group, values)
    return out
