"""Do the curves count busy cores, and does a window hold what lies in it?"""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analysis.capture import Capture
from analysis.errors import NotAvailable, ParameterError
from analysis.measures.cores import core_statistics
from analysis.measures.ranges import range_statistics
from analysis.measures.utilisation import utilisation
from tests.analysis.strategies import captures
from tests.builders import TICKS_PER_US, Rec, capture

windows = st.tuples(st.integers(-5, 80), st.integers(1, 60)).map(lambda w: (w[0], w[0] + w[1]))


def busy_cores(built: Capture, core_type: str, t: int) -> int:
    r = built.records
    inside = [int(r.core_id[i]) for i in range(len(r)) if r.start_ticks[i] <= t < r.end_ticks[i]]
    return len({core for core in inside if built.meta.core_types[core] == core_type})


@given(captures(), windows)
def test_curves_count_busy_cores(built: Capture, window: tuple[int, int]) -> None:
    assume(len(built.records))
    t0, t1 = window
    found = utilisation(built, t0, t1)
    for curve in found.curves:
        want = [busy_cores(built, curve.core_type, t) for t in range(t0, t1)]
        assert curve.curve.at(np.arange(t0, t1)).tolist() == want
        assert curve.busy_ticks == sum(want)
        assert curve.curve.times[[0, -1]].tolist() == [t0, t1]
        assert curve.curve.values[-1] == 0


@given(captures(), windows)
def test_a_window_holds_what_lies_in_it(built: Capture, window: tuple[int, int]) -> None:
    assume(len(built.records))
    t0, t1 = window
    r = built.records
    found = range_statistics(built, t0, t1)

    def moments(i: int) -> int:
        return len(range(max(t0, int(r.start_ticks[i])), min(t1, int(r.end_ticks[i]))))

    inside = [
        i for i in range(len(r)) if moments(i) or (r.start_ticks[i] == r.end_ticks[i] and t0 <= r.start_ticks[i] < t1)
    ]
    assert found.records == len(inside)
    assert found.tasks == len({int(r.task[i]) for i in inside})
    assert found.whole_records == sum(r.start_ticks[i] >= t0 and r.end_ticks[i] <= t1 for i in inside)
    for row in found.table.to_records():
        own = [i for i in inside if r.func_id[i] == row["func_id"]]
        assert (row["records"], row["busy_ticks"]) == (len(own), sum(moments(i) for i in own))
    assert sum(found.table.cells("records")) == len(inside)
    for row in found.by_type.to_records():
        busy = sum(busy_cores(built, row["core_type"], t) for t in range(t0, t1))
        assert row["busy_ticks"] == busy
        assert row["share"] == pytest.approx(busy / (2 * (t1 - t0)))


@given(captures())
def test_the_whole_makespan_agrees_with_the_core_table(built: Capture) -> None:
    assume(built.makespan_ticks)
    by_type = {row["core_type"]: row["utilisation"] for row in core_statistics(built).by_type.to_records()}
    assert {c["core_type"]: c["share"] for c in range_statistics(built).by_type.to_records()} == pytest.approx(by_type)
    found = utilisation(built).to_json()
    assert {name: c["share"] for name, c in found["by_type"].items()} == pytest.approx(by_type)


def test_json_of_a_range() -> None:
    built = capture([Rec(1, 0, 0, 100, func=3), Rec(2, 2, 40, 60)], names={3: "QK"})
    found = range_statistics(built, 50, 100).to_json()
    assert (found["t0_us"], found["length_us"], found["records"], found["whole_records"]) == (1.0, 1.0, 2, 0)
    assert [(f["name"], f["busy_us"], f["share"]) for f in found["functions"]] == [
        ("QK", 1.0, pytest.approx(5 / 6)),
        ("func_0", 10 / TICKS_PER_US, pytest.approx(1 / 6)),
    ]
    json.dumps(found)


def test_the_step_table_and_frame_list_every_type() -> None:
    found = utilisation(capture([Rec(1, 0, 0, 100), Rec(2, 2, 40, 60)]))
    assert found.table.cells("core_type") == ["aic", "aic", "aiv", "aiv", "aiv", "aiv"]
    assert found.frame()["busy"].tolist() == [1, 0, 0, 1, 0, 0]
    assert found.to_json()["by_type"]["aiv"]["time_us"] == [0, 0.8, 1.2, 2.0]


@pytest.mark.parametrize("analysis", [utilisation, range_statistics])
def test_impossible_windows_and_missing_records(analysis: object) -> None:
    with pytest.raises(ParameterError, match="ends at 5 before it begins at 9"):
        analysis(capture([Rec(1, 0, 0, 100)]), 9, 5)  # type: ignore[operator]
    with pytest.raises(NotAvailable, match="this capture has none"):
        analysis(capture())  # type: ignore[operator]


def test_an_empty_window_has_no_share() -> None:
    built = capture([Rec(1, 0, 0, 100)])
    assert range_statistics(built, 50, 50).by_type.cells("share") == [None, None]
    assert utilisation(built, 50, 50).to_json()["by_type"]["aic"]["share"] is None
