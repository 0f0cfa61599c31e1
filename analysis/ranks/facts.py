"""What does the comparison of ranks need of one capture? A few numbers, small enough to keep for 512 ranks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.capture import Capture

CURVE_POINTS = 512


@dataclass(frozen=True, slots=True)
class RankFacts:
    """One capture in numbers; times are ns after the capture's own first start.

    Args:
        records: task records; 0 leaves every time None.
        makespan_ns: first start to last end.
        first_host_ns: host time of the first start, best value; None when the device is not placed on the host axis.
        earlier_ns, later_ns: how much earlier or later than that it can be.
        domain: identity of the host clock; "" when not recorded.
        reason: why the device is, or is not, placed.
        function_ns: total execution per function name.
        busy: share of the capture's cores that are busy, in :data:`CURVE_POINTS` equal parts of the makespan.
        tasks: first start of each task label, for alignment by hand (at most 4,096 of them, by start).
    """

    label: str
    runtime: str
    records: int
    cores: int
    makespan_ns: int | None
    first_host_ns: int | None
    earlier_ns: int
    later_ns: int
    domain: str
    reason: str
    function_ns: dict[str, int]
    busy: list[float]
    tasks: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """As JSON, for the store."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RankFacts:
        """The facts that :meth:`to_json` wrote."""
        return cls(**data)


MAX_TASKS = 4_096


def rank_facts(capture: Capture) -> RankFacts:
    """The facts of ``capture``; see :class:`RankFacts`."""
    records, meta = capture.records, capture.meta
    count = len(records)
    start, end = records.start_ticks, records.end_ticks
    first = int(start.min()) if count else None
    last = int(end.max()) if count else None
    host, earlier, later, domain, reason = _placed(capture, first)
    cores = len(np.unique(records.core_id)) if count else 0
    span = None if first is None or last is None else _ns(capture, last - first)
    return RankFacts(
        label=meta.label,
        runtime=meta.runtime,
        records=count,
        cores=cores,
        makespan_ns=span,
        first_host_ns=host,
        earlier_ns=earlier,
        later_ns=later,
        domain=domain,
        reason=reason,
        function_ns=_function_ns(capture),
        busy=_busy(capture, first, last, cores) if first is not None and last is not None else [],
        tasks=_first_starts(capture, first) if first is not None else {},
    )


def _ns(capture: Capture, ticks: int) -> int:
    return round(ticks * 1000 / capture.meta.ticks_per_us)


def _placed(capture: Capture, first: int | None) -> tuple[int | None, int, int, str, str]:
    """Host time of tick ``first``: anchor + (stamp − anchor's stamp) · 1e9 / frequency (FORMATS-2 section 3.2)."""
    clock = capture.meta.host_clock
    if clock is None:
        return None, 0, 0, "", "the file says nothing about the host clock"
    if first is None:
        return None, 0, 0, clock.domain, "no task record"
    if not clock.merged or clock.anchor is None:
        return None, 0, 0, clock.domain, clock.reason
    stamp, host = clock.anchor
    blur = clock.uncertainty_ns or 0
    earlier, later = clock.earlier_ns or blur, clock.later_ns or blur
    return host + _ns(capture, capture.meta.zero_ticks + first - stamp), earlier, later, clock.domain, clock.reason


def _function_ns(capture: Capture) -> dict[str, int]:
    ids = capture.records.func_id
    known, inverse = np.unique(ids, return_inverse=True)
    ticks = np.bincount(inverse, weights=capture.records.end_ticks - capture.records.start_ticks, minlength=len(known))
    out: dict[str, int] = {}
    for func, total in zip(known.tolist(), ticks.tolist(), strict=True):
        name = capture.meta.func_name(func)
        out[name] = out.get(name, 0) + _ns(capture, int(total))
    return out


def _busy(capture: Capture, first: int, last: int, cores: int) -> list[float]:
    """Busy share per part: the integral of running records over each part, by differences of cumulative sums."""
    edges = np.linspace(first, last, CURVE_POINTS + 1)
    start, end = np.sort(capture.records.start_ticks), np.sort(capture.records.end_ticks)
    done = _integral(start, edges) - _integral(end, edges)
    width = max((last - first) / CURVE_POINTS, 1e-9)
    share = np.diff(done) / (width * max(cores, 1))
    return [round(float(value), 4) for value in np.clip(share, 0, 1)]


def _integral(times: np.ndarray[Any, Any], edges: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Sum over ``times`` of max(0, edge − time), per edge."""
    sums = np.concatenate([[0.0], np.cumsum(times, dtype=np.float64)])
    at = np.searchsorted(times, edges, side="right")
    return np.asarray(at * edges - sums[at])


def _first_starts(capture: Capture, first: int) -> dict[str, int]:
    records = capture.records
    order = np.argsort(records.start_ticks, kind="stable")
    tasks = records.task[order]
    _, at = np.unique(tasks, return_index=True)
    chosen = order[np.sort(at)[:MAX_TASKS]]
    ids = capture.tasks.task_id[records.task[chosen]].tolist()
    starts = records.start_ticks[chosen].tolist()
    return {capture.meta.task_label(int(i)): _ns(capture, s - first) for i, s in zip(ids, starts, strict=True)}
