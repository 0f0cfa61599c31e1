"""How is a number written? Pure functions; a missing value is always an en dash, never 0."""

from __future__ import annotations

from datetime import UTC, datetime

from analysis.capture import HostClock

MISSING_TEXT = "–"


def count(value: int | None) -> str:
    """1234567 → ``1,234,567``."""
    return MISSING_TEXT if value is None else f"{value:,}"


def us(value: float | None, digits: int = 3) -> str:
    """Microseconds with thousands separators: 1234.5 → ``1,234.500 µs``."""
    return MISSING_TEXT if value is None else f"{value:,.{digits}f} µs"


def duration_us(value: float | None) -> str:
    """A length in the most readable unit: ns below 1 µs, µs below 10 ms, ms below 10 s, else s."""
    if value is None:
        return MISSING_TEXT
    size = abs(value)
    if size == 0:
        return "0 µs"
    if size < 1:
        return f"{value * 1000:,.0f} ns"
    if size < 10_000:
        return f"{value:,.2f} µs"
    if size < 10_000_000:
        return f"{value / 1000:,.2f} ms"
    return f"{value / 1_000_000:,.2f} s"


def percent(share: float | None, digits: int = 1) -> str:
    """0.1234 → ``12.3 %``."""
    return MISSING_TEXT if share is None else f"{share * 100:.{digits}f} %"


def size(size_bytes: int | None) -> str:
    """Bytes in binary units: 1536 → ``1.5 KiB``."""
    if size_bytes is None:
        return MISSING_TEXT
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def frequency(hz: int | None) -> str:
    """50000000 → ``50 MHz``."""
    if hz is None:
        return MISSING_TEXT
    if hz >= 1_000_000_000:
        return f"{hz / 1e9:g} GHz"
    return f"{hz / 1e6:g} MHz"


def host_clock(clock: HostClock) -> str:
    """How host stamps relate to the device's axis, and with which uncertainty."""
    if clock.merged and clock.uncertainty_ns is not None:
        return f"merged with the device clock, {clock.uncertainty_text}"
    return f"not merged: {clock.reason}; the gap between host and device part is unknown"


def when(epoch_s: float | None) -> str:
    """Seconds since the epoch as ``2026-06-25 18:49`` UTC."""
    return MISSING_TEXT if epoch_s is None else datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%d %H:%M")


def plural(number: int, noun: str) -> str:
    """``1 task``, ``2 tasks``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
