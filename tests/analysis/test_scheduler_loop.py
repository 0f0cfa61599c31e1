"""Do phases and idle fill the budget of a scheduler thread?"""

from __future__ import annotations

import pytest
from hypothesis import given

from analysis.capture import Capture
from analysis.errors import NotAvailable
from analysis.measures.scheduler_loop import scheduler_loop
from tests.analysis.strategies import loops
from tests.builders import TICKS_PER_US, Phase, capture


@given(loops())
def test_threads_equal_the_slow_version(built: Capture) -> None:
    p = built.phases
    found = scheduler_loop(built)
    rows = found.threads.to_records()
    assert [row["thread"] for row in rows] == [0, 2, 5]
    for row in rows:
        own = [i for i in range(len(p)) if p.stream[i] == row["thread"]]
        outer = [i for i in own if p.lane[i] == 0]
        assert row["phases"] == len(outer)
        if outer:
            t0, t1 = min(int(p.start_ticks[i]) for i in outer), max(int(p.end_ticks[i]) for i in outer)
            covered = sum(any(p.start_ticks[i] <= t < p.end_ticks[i] for i in outer) for t in range(t0, t1))
            assert row["idle_ticks"] == t1 - t0 - covered
            assert row["loop_us"] == (t1 - t0) / TICKS_PER_US
        else:
            assert (row["loop_us"], row["idle_us"], row["idle_share"]) == (None, None, None)
        hits = [int(p.pop_hit[i]) for i in own if p.pop_hit[i] >= 0]
        misses = [int(p.pop_miss[i]) for i in own if p.pop_miss[i] >= 0]
        assert row["pop_hit"] == (sum(hits) if hits else None)
        pops = sum(hits) + sum(misses)
        assert row["pop_hit_rate"] == (pytest.approx(sum(hits) / pops) if pops else None)


@given(loops())
def test_phase_rows_equal_the_slow_version(built: Capture) -> None:
    p = built.phases
    want: dict[tuple[int, str, str], list[int]] = {}
    for i in range(len(p)):
        key = (int(p.stream[i]), built.meta.phase_kinds[p.kind[i]], ("outer", "inner")[p.lane[i]])
        want.setdefault(key, []).append(i)
    rows = scheduler_loop(built).table.to_records()
    assert {(row["thread"], row["phase"], row["lane"]) for row in rows} == set(want)
    for row in rows:
        own = want[row["thread"], row["phase"], row["lane"]]
        lengths = [int(p.end_ticks[i] - p.start_ticks[i]) for i in own]
        processed = [int(p.tasks_processed[i]) for i in own if p.tasks_processed[i] >= 0]
        assert (row["count"], row["total_ticks"]) == (len(own), sum(lengths))
        assert row["max_us"] == max(lengths) / TICKS_PER_US
        assert row["tasks"] == (sum(processed) if processed else None)


def test_shares_and_idle_fill_the_loop() -> None:
    phases = [Phase(1, "complete", 0, 4), Phase(1, "dispatch", 6, 9, hit=2, miss=6), Phase(1, "resolve", 1, 2, lane=1)]
    (thread,) = scheduler_loop(capture(level=3, phases=phases)).to_json()["threads"]
    outer = [row["share"] for row in thread["phases_by_kind"] if row["lane"] == "outer"]
    assert sum(outer) + thread["idle_share"] == pytest.approx(1)
    assert thread["pop_hit_rate"] == 0.25
    assert [row["phase"] for row in thread["phases_by_kind"]] == ["complete", "dispatch", "resolve"]


@pytest.mark.parametrize(("level", "why"), [(2, "level 2"), (4, "none were recorded")])
def test_without_phases_says_why(level: int, why: str) -> None:
    with pytest.raises(NotAvailable, match=why):
        scheduler_loop(capture(level=level))
