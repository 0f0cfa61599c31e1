"""Two clocks on one axis: host nanoseconds to device cycles by anchors (FORMATS section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.capture import I8, MISSING, HostClock
from analysis.formats.join.raw import RawSwimlane
from analysis.formats.text.reading import integer

BEFORE, AFTER = "pre_host_orchestration", "post_device_execution"
_RAW_MICROSECONDS = "device_uptime_us"


@dataclass(frozen=True)
class Anchor:
    """One pair of stamps taken at the same moment, twice the host time to stay whole."""

    twice_host_ns: int
    device: int
    uncertainty_ns: int


@dataclass(frozen=True)
class Mapping:
    """Host stamps to absolute device stamps."""

    clock: HostClock
    anchors: tuple[Anchor, Anchor] | None
    shift_ticks: int
    ticks_per_ns: tuple[int, int]
    """(numerator, denominator) of the nominal rate, for the unmerged layout."""

    def to_device(self, host_ns: I8) -> I8:
        """Absolute device stamps: interpolated when merged, else laid out so that host time ends where device
        time begins."""
        if self.anchors is None:
            up, down = self.ticks_per_ns
            return np.array([self.shift_ticks + (ns * up) // down for ns in host_ns.tolist()], np.int64)
        first, last = self.anchors
        span, ticks = last.twice_host_ns - first.twice_host_ns, last.device - first.device
        return np.array(
            [first.device + round_div((2 * ns - first.twice_host_ns) * ticks, span) for ns in host_ns.tolist()],
            np.int64,
        )


def round_div(number: int, by: int) -> int:
    """Nearest integer to number / by (by > 0), halves up."""
    return (2 * number + by) // (2 * by)


def mapping(raw: RawSwimlane, device_low: int | None, device_high: int | None) -> Mapping | None:
    """How this capture's host times relate to its device times; None when it has no host side."""
    metadata = raw.metadata
    if not len(raw.host_orch) and not len(raw.uploads) and metadata.get("orchestrator_source") != "host":
        return None
    capture = metadata.get("host_capture")
    capture = capture if isinstance(capture, dict) else {}
    frequency = raw.clock_freq_hz or 10**9
    reason, anchors = _anchors(metadata, device_low, device_high)
    clock = HostClock(
        merged=anchors is not None,
        uncertainty_ns=max(a.uncertainty_ns for a in anchors) if anchors else None,
        reason=reason,
        status=str(capture.get("status", "not recorded")),
        dropped_records=integer(capture.get("dropped_records")) or 0,
        origin_ns=integer(metadata.get("host_orchestration_origin_ns")),
    )
    rate = (frequency, 10**9)
    return Mapping(clock, anchors, 0 if anchors else _shift(raw, device_low, rate), rate)


def _shift(raw: RawSwimlane, device_low: int | None, rate: tuple[int, int]) -> int:
    """Offset that makes the last host stamp coincide with the first device stamp."""
    ends = [int(part.end.max()) for part in (raw.host_orch, raw.uploads) if len(part)]
    if not ends or device_low is None:
        return 0
    return device_low - (max(ends) * rate[0]) // rate[1]


def _anchors(metadata: dict[str, Any], low: int | None, high: int | None) -> tuple[str, tuple[Anchor, Anchor] | None]:
    anchors = metadata.get("clock_anchors")
    samples = anchors.get("samples") if isinstance(anchors, dict) else None
    if not isinstance(samples, list):
        return "the file has no clock anchors", None
    coarse = 1000 if isinstance(anchors, dict) and anchors.get("raw_device_timestamp_unit") == _RAW_MICROSECONDS else 0
    first, last = (_best(samples, position, coarse) for position in (BEFORE, AFTER))
    if first is None or last is None:
        return f"no usable clock anchor at {BEFORE if first is None else AFTER}", None
    if last.twice_host_ns <= first.twice_host_ns or last.device <= first.device:
        return "the clock anchors do not advance", None
    if low is None or high is None:
        return "the run has no device time", None
    if low < first.device or high > last.device:
        return "device times lie outside the clock anchors", None
    return "interpolated between two clock anchors", (first, last)


def _best(samples: list[Any], position: str, coarse_ns: int) -> Anchor | None:
    """The sample of least round trip at ``position``."""
    best: tuple[int, Anchor] | None = None
    for sample in samples:
        if not isinstance(sample, dict) or sample.get("position") != position or sample.get("error") is not None:
            continue
        before, after = integer(sample.get("host_before_ns")), integer(sample.get("host_after_ns"))
        device = integer(sample.get("device_cycles"))
        if before is None or after is None or device is None or after < before:
            continue
        trip = after - before
        if best is None or trip < best[0]:
            best = trip, Anchor(before + after, device, (trip + 1) // 2 + coarse_ns)
    return best[1] if best else None


def relative(host_ns: I8, origin_ns: int | None) -> I8:
    """Host stamps relative to the origin; as they are without one."""
    return host_ns - (origin_ns or 0) if len(host_ns) else np.full(0, MISSING, np.int64)
