from __future__ import annotations

import pytest

from analysis.capture import HostClock
from components import fmt


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.0, "0 µs"), (0.5, "500 ns"), (1.0, "1.00 µs"), (9_999.0, "9,999.00 µs"),
        (10_000.0, "10.00 ms"), (9_999_999.0, "10,000.00 ms"), (12_000_000.0, "12.00 s"), (-0.02, "-20 ns"),
    ],
)  # fmt: skip
def test_duration(value: float | None, text: str) -> None:
    assert fmt.duration_us(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2**40, "1.0 TiB")]
)
def test_size(value: int | None, text: str) -> None:
    assert fmt.size(value) == text


@pytest.mark.parametrize(
    ("hz", "text"), [(None, "–"), (50_000_000, "50 MHz"), (1_000_000_000, "1 GHz"), (19_200_000, "19.2 MHz")]
)
def test_frequency(hz: int | None, text: str) -> None:
    assert fmt.frequency(hz) == text


def test_missing_is_never_zero() -> None:
    assert {fmt.count(None), fmt.us(None), fmt.percent(None), fmt.when(None)} == {"–"}
    assert (fmt.count(0), fmt.percent(0.0)) == ("0", "0.0 %")


def test_numbers_and_words() -> None:
    assert fmt.count(1_234_567) == "1,234,567"
    assert fmt.us(1234.5) == "1,234.500 µs"
    assert fmt.percent(0.12345) == "12.3 %"
    assert fmt.when(0) == "1970-01-01 00:00"
    assert (fmt.plural(1, "task"), fmt.plural(2_000, "task")) == ("1 task", "2,000 tasks")


@pytest.mark.parametrize(
    ("clock", "text"),
    [
        (HostClock(True, 21, "", "", 0, None), "merged with the device clock, ±21 ns"),
        (
            HostClock(False, None, "no anchors", "", 0, None),
            "not merged: no anchors; the gap between host and device part is unknown",
        ),
    ],
)
def test_host_clock_says_how_sure_it_is(clock: HostClock, text: str) -> None:
    assert fmt.host_clock(clock) == text
