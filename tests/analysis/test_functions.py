"""Are the function statistics those of the records, and empty where nothing was captured?"""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import assume, given

from analysis.capture import MISSING, Capture
from analysis.errors import NotAvailable
from analysis.measures.functions import STAMP_COLUMNS, elapsed_test_ticks, function_statistics
from analysis.measures.needs import has_receive
from tests.analysis.strategies import captures
from tests.builders import TICKS_PER_US, Rec, capture


def quantile(values: list[int], q: float) -> float:
    """Linear interpolation between the two neighbours, written out."""
    ordered = sorted(values)
    position = (len(ordered) - 1) * q
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def slow(built: Capture, rows: list[int]) -> dict[str, float | int]:
    """Statistics of some records with lists and sums."""
    r = built.records
    lengths = [int(r.end_ticks[i] - r.start_ticks[i]) for i in rows]
    latency = [int(r.finish_ticks[i] - r.dispatch_ticks[i]) for i in rows]
    return {
        "count": len(rows),
        "total_ticks": sum(lengths),
        "min_ticks": min(lengths),
        "max_ticks": max(lengths),
        "mean_us": statistics.fmean(lengths) / TICKS_PER_US,
        "std_us": statistics.pstdev(lengths) / TICKS_PER_US,
        "p50_us": quantile(lengths, 0.5) / TICKS_PER_US,
        "p95_us": quantile(lengths, 0.95) / TICKS_PER_US,
        "latency_us": statistics.fmean(latency) / TICKS_PER_US,
        "head_us": statistics.fmean(int(r.start_ticks[i] - r.dispatch_ticks[i]) for i in rows) / TICKS_PER_US,
        "tail_us": statistics.fmean(int(r.finish_ticks[i] - r.end_ticks[i]) for i in rows) / TICKS_PER_US,
        "propagation_us": statistics.fmean(int(r.receive_ticks[i] - r.dispatch_ticks[i]) for i in rows) / TICKS_PER_US,
        "setup_us": statistics.fmean(int(r.start_ticks[i] - r.receive_ticks[i]) for i in rows) / TICKS_PER_US,
        **({"exec_share": sum(lengths) / sum(latency)} if sum(latency) else {}),
    }


@given(captures())
def test_every_function_equals_the_slow_version(built: Capture) -> None:
    assume(len(built.records))
    found = function_statistics(built)
    rows = found.to_json()
    func_ids = built.records.func_id.tolist()
    assert [row["func_id"] for row in rows] == sorted(set(func_ids))
    for row in rows:
        want = slow(built, [i for i, f in enumerate(func_ids) if f == row["func_id"]])
        if not has_receive(built):
            assert (want.pop("setup_us"), row["setup_us"], row["propagation_us"]) == (0, None, None)
            del want["propagation_us"]
        assert {key: row[key] for key in want} == pytest.approx(want, abs=1e-9)
    (total,) = found.total.to_records()
    want = slow(built, list(range(len(func_ids))))
    if not has_receive(built):
        del want["setup_us"], want["propagation_us"]
    assert {key: total[key] for key in want} == pytest.approx(want, abs=1e-9)
    assert (total["name"], total["func_id"]) == ("TOTAL", None)
    if total["total_ticks"]:
        assert sum(row["share"] for row in rows) == pytest.approx(1)


@given(captures(level=1))
def test_level_1_leaves_the_stamp_columns_empty(built: Capture) -> None:
    assume(len(built.records))
    found = function_statistics(built)
    for row in [*found.to_json(), *found.total.to_records()]:
        assert {row[name] for name in STAMP_COLUMNS if name != "setup_us"} == {None}
        assert row["count"] > 0


def test_records_without_aicpu_stamps_are_left_out_of_the_stamp_means() -> None:
    built = capture([Rec(1, 0, 10, 20, 8, 5, 25), Rec(2, 1, 10, 30, 9, MISSING, MISSING), Rec(3, 1, 40, 41, func=2)])
    first, second = function_statistics(built).to_json()
    assert first["count"] == 2
    assert first["latency_us"] == 20 / TICKS_PER_US
    assert first["exec_share"] == 0.5
    assert second["tail_us"] == 0


def test_names_and_test_time() -> None:
    rows = [Rec(1, 0, 10, 20, 8, 5, 25, func=7), Rec(2, 1, 12, 30, 11, 6, 28, func=-1)]
    built = capture(rows, names={7: "QK"})
    assert [row["name"] for row in function_statistics(built).to_json()] == ["unresolved", "QK"]
    assert elapsed_test_ticks(built) == 28 - 5
    assert elapsed_test_ticks(capture(rows, level=1)) == 30 - 8
    assert function_statistics(built).test_time_us == 23 / TICKS_PER_US


def test_one_record_has_no_deviation() -> None:
    (row,) = function_statistics(capture([Rec(1, 0, 3, 9)])).to_json()
    assert (row["std_us"], row["p50_us"], row["p95_us"]) == (0, 6 / TICKS_PER_US, 6 / TICKS_PER_US)
    assert row["share"] == 1


def test_without_records_says_so() -> None:
    with pytest.raises(NotAvailable, match="task records; this capture has none"):
        function_statistics(capture())


def test_the_frame_has_the_columns_of_the_json() -> None:
    found = function_statistics(capture([Rec(1, 0, 3, 9), Rec(2, 1, 3, 9, func=3)]))
    assert list(found.frame().columns) == list(found.to_json()[0])
    assert np.array_equal(found.frame()["func_id"], [0, 3])
