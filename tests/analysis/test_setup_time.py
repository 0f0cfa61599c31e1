"""Are the longest setups and the largest setup shares on top?"""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from analysis.capture import Capture
from analysis.errors import NotAvailable, ParameterError
from analysis.measures.needs import has_receive
from analysis.measures.setup_time import setup_times
from tests.analysis.strategies import captures
from tests.builders import TICKS_PER_US, Rec, capture

ROWS = [Rec(1, 0, 10, 20, receive=6), Rec(2, 1, 30, 31, receive=28), Rec(3, 2, 50, 90, receive=50, func=5)]


def test_the_two_orders() -> None:
    built = capture(ROWS, names={5: "PV"})
    by_setup, by_share = setup_times(built), setup_times(built, "share")
    assert [r["task_id"] for r in by_setup.to_json()] == ["1", "2", "3"]
    assert [r["task_id"] for r in by_share.to_json()] == ["2", "1", "3"]
    assert by_setup.to_json()[0]["setup_us"] == 4 / TICKS_PER_US
    assert by_share.to_json()[0]["share"] == pytest.approx(2 / 3)
    assert by_setup.to_json()[2]["name"] == "PV"


@given(captures())
def test_top_rows_are_the_largest(built: Capture) -> None:
    assume(len(built.records) and has_receive(built))
    setups = (built.records.start_ticks - built.records.receive_ticks).tolist()
    found = setup_times(built, top=3)
    assert found.table.cells("setup_ticks") == sorted(setups, reverse=True)[:3]
    assert found.n_total == len(setups)
    assert found.notes == ((f"The first 3 of {len(setups):,} records.",) if len(setups) > 3 else ())
    shares = [s for s in setup_times(built, "share", top=99).table.cells("share") if s is not None]
    assert shares == sorted(shares, reverse=True)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(NotAvailable, match="no record holds a receive stamp"):
        setup_times(capture([Rec(1, 0, 10, 20)]))
    with pytest.raises(NotAvailable, match="this capture has none"):
        setup_times(capture())


def test_setup_is_there_at_level_1() -> None:
    assert setup_times(capture(ROWS, level=1)).to_json()[0]["setup_ticks"] == 4


@pytest.mark.parametrize(("order", "top"), [("length", 5), ("setup", -1)])
def test_impossible_parameters(order: str, top: int) -> None:
    with pytest.raises(ParameterError, match="order"):
        setup_times(capture(ROWS), order, top)  # type: ignore[arg-type]
