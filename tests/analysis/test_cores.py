"""Is a core as busy as its records, and is its longest idle time really idle?"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given

from analysis.capture import Capture
from analysis.errors import NotAvailable
from analysis.measures.cores import core_statistics
from tests.analysis.strategies import captures
from tests.builders import TICKS_PER_US, Rec, capture


@given(captures())
def test_busy_and_idle_equal_the_slow_version(built: Capture) -> None:
    assume(len(built.records) and built.makespan_ticks)
    r = built.records
    found = core_statistics(built)
    t0, t1 = int(r.start_ticks.min()), int(r.end_ticks.max())
    for row in found.table.to_records():
        rows = np.flatnonzero(r.core_id == row["core_id"]).tolist()
        busy = [any(r.start_ticks[i] <= t < r.end_ticks[i] for i in rows) for t in range(t0, t1)]
        assert row["busy_ticks"] == sum(busy)
        assert row["records"] == len(rows)
        assert row["tasks"] == len({int(r.task[i]) for i in rows})
        longest = max((len(run) for run in "".join("x" if b else "." for b in busy).split("x")), default=0)
        begin, end = row["idle_start_ticks"], row["idle_end_ticks"]
        assert end - begin <= longest
        assert not any(busy[begin - t0 : end - t0])
        if not any(r.start_ticks[i] == r.end_ticks[i] for i in rows):
            assert end - begin == longest


def test_types_divide_by_all_their_cores() -> None:
    built = capture([Rec(1, 0, 0, 100), Rec(1, 2, 50, 100), Rec(2, 2, 0, 25)], names={})
    found = core_statistics(built)
    aic, aiv = found.by_type.to_records()
    assert (aic["cores"], aic["used_cores"], aic["tasks"], aic["utilisation"]) == (2, 1, 1, 0.5)
    assert (aiv["records"], aiv["tasks"], aiv["utilisation"]) == (2, 2, 0.375)
    json = found.to_json()
    assert json["makespan_us"] == 100 / TICKS_PER_US
    assert json["cores"][1]["longest_idle_us"] == 100 / TICKS_PER_US
    assert json["cores"][2]["idle_start_us"] == 25 / TICKS_PER_US


def test_threads_and_unknown_core_types() -> None:
    built = capture([Rec(1, 0, 0, 10), Rec(2, 5, 0, 10)])
    built = dataclasses.replace(built, meta=dataclasses.replace(built.meta, core_to_thread=(2, -1)))
    rows = core_statistics(built).table.to_records()
    assert [row["thread"] for row in rows] == [2, None, None, None, None]
    assert (rows[4]["core_id"], rows[4]["core_type"]) == (5, "?")


def test_records_of_no_length_have_no_utilisation() -> None:
    row = core_statistics(capture([Rec(1, 0, 5, 5)])).table.to_records()[0]
    assert row["utilisation"] is None
    assert row["busy_ticks"] == 0


def test_without_records_says_so() -> None:
    with pytest.raises(NotAvailable, match="this capture has none"):
        core_statistics(capture())
