"""Two clocks on one axis: host nanoseconds to device cycles by anchors (FORMATS section 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.capture import I8, MISSING, HostClock
from analysis.formats.join.raw import RawSwimlane
from analysis.formats.join.rows import STAMP_LIMIT
from analysis.formats.report import Report
from analysis.formats.text.reading import whole

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
    """(numerator, denominator) of the nominal rate, where there are no two anchors."""
    anchor_ns: int = 0
    """Host stamp that lies at ``shift_ticks``."""

    def to_device(self, host_ns: I8) -> I8:
        """Absolute device stamps: interpolated between two anchors, at the nominal rate from one, else laid out so that
        host time ends where device time begins. Results beyond any stamp are clipped."""
        if self.anchors is None:
            up, down = self.ticks_per_ns
            found = [self.shift_ticks + ((ns - self.anchor_ns) * up) // down for ns in host_ns.tolist()]
        else:
            first, last = self.anchors
            span, ticks = last.twice_host_ns - first.twice_host_ns, last.device - first.device
            found = [first.device + round_div((2 * ns - first.twice_host_ns) * ticks, span) for ns in host_ns.tolist()]
        return np.array([min(max(at, -STAMP_LIMIT), STAMP_LIMIT) for at in found], np.int64)


def round_div(number: int, by: int) -> int:
    """Nearest integer to number / by (by > 0), halves up."""
    return (2 * number + by) // (2 * by)


def mapping(raw: RawSwimlane, device_low: int | None, device_high: int | None, report: Report) -> Mapping | None:
    """How this capture's host times relate to its device times; None when it has no host side."""
    metadata = raw.metadata
    host_side = len(raw.host_orch) or len(raw.uploads) or metadata.get("orchestrator_source") == "host"
    if not host_side and "clock_alignment" not in metadata and "clock_anchors" not in metadata:
        return None
    status, dropped = _host_capture(raw, report)
    rate = (raw.clock_freq_hz or 10**9, 10**9)
    origin = whole(metadata.get("host_orchestration_origin_ns"))
    domain = str(metadata.get("host_clock_domain_id") or "")[:200]
    fixed = HostClock(False, None, "", status, dropped, origin, domain=domain)
    blur = max(0, whole(metadata.get("host_timestamp_quantization_ns")) or 0)
    aligned = _aligned(raw, fixed, blur, device_low, rate, report)
    if aligned is not None:
        return aligned
    reason, anchors = _anchors(metadata, device_low, device_high)
    clock = replace(
        fixed,
        merged=anchors is not None,
        uncertainty_ns=max(a.uncertainty_ns for a in anchors) + blur if anchors else None,
        reason=reason,
        anchor=(anchors[0].device, anchors[0].twice_host_ns // 2) if anchors else None,
    )
    return Mapping(clock, anchors, 0 if anchors else _shift(raw, device_low, rate), rate)


def _host_capture(raw: RawSwimlane, report: Report) -> tuple[str, int]:
    """(status, records dropped): complete only if every count agrees with the rows of the file (FORMATS-2 section 1.3)."""
    rows = len(raw.host_orch)
    capture = raw.metadata.get("host_capture")
    if not isinstance(capture, dict):
        report.add("host_capture", int(rows > 0), reason="of unknown completeness: metadata.host_capture is missing")
        return "unknown", 0
    named = str(capture.get("status", "not recorded"))[:40]
    dropped = max(0, whole(capture.get("dropped_records")) or 0)
    expected, recorded = (whole(capture.get(f"{word}_records")) for word in ("expected", "recorded"))
    if named == "complete" and dropped == 0 and expected == recorded == rows:
        return named, 0
    report.add("host_dropped", dropped, reason=named)
    counts = ", ".join(
        f"{word} {'?' if n is None else n}" for word, n in (("expected", expected), ("recorded", recorded))
    )
    report.add(
        "host_capture", 1, reason=f"partial: status {named}, {counts}, dropped {dropped}, rows in the file {rows}"
    )
    return "partial" if named == "complete" else named, dropped


def _aligned(
    raw: RawSwimlane,
    fixed: HostClock,
    blur_ns: int,
    device_low: int | None,
    rate: tuple[int, int],
    report: Report,
) -> Mapping | None:
    """The mapping that ``metadata.clock_alignment`` gives (FORMATS-2 section 3.2); None without a usable one."""
    found = raw.metadata.get("clock_alignment")
    if found is None:
        return None
    if isinstance(found, dict) and found.get("status") == "unavailable":
        reason = f"clock_alignment is unavailable: {str(found.get('reason', 'no reason given'))[:200]}"
        return Mapping(replace(fixed, reason=reason), None, _shift(raw, device_low, rate), rate)
    keys = ("device_anchor_cycles", "host_anchor_ns", "host_anchor_min_ns", "host_anchor_max_ns")
    numbers = [whole(found.get(key)) for key in keys] if isinstance(found, dict) else [None]
    values = [number for number in numbers if number is not None and 0 < number < STAMP_LIMIT]
    if len(values) != len(keys) or not values[2] <= values[1] <= values[3] or found.get("status") != "bounded":
        report.add("clock_alignment", 1, reason="an anchor is missing, not positive, or outside its own bounds")
        return None
    device, host, low, high = values
    earlier, later = host - low + blur_ns, high - host + blur_ns
    clock = replace(
        fixed,
        merged=True,
        uncertainty_ns=max(earlier, later),
        reason="placed by metadata.clock_alignment",
        earlier_ns=earlier,
        later_ns=later,
        anchor=(device, host),
    )
    return Mapping(clock, None, device, rate, host)


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
        return "the file has neither clock_alignment nor clock anchors", None
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
        before, after = whole(sample.get("host_before_ns")), whole(sample.get("host_after_ns"))
        device = whole(sample.get("device_cycles"))
        if before is None or after is None or device is None or after < before:
            continue
        trip = after - before
        if best is None or trip < best[0]:
            best = trip, Anchor(before + after, device, (trip + 1) // 2 + coarse_ns)
    return best[1] if best else None


def relative(host_ns: I8, origin_ns: int | None) -> I8:
    """Host stamps relative to the origin; as they are without one."""
    return host_ns - (origin_ns or 0) if len(host_ns) else np.full(0, MISSING, np.int64)
