"""Are core switches the gaps before records that were already dispatched?"""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from analysis.capture import Capture
from analysis.errors import NotAvailable
from analysis.measures.core_switch import core_switch
from analysis.measures.overhead import system_overhead
from tests.analysis.strategies import captures
from tests.builders import TICKS_PER_US, Rec, capture


def gaps_of(built: Capture, core: int) -> tuple[list[tuple[int, int]], int]:
    """Gaps of one core with a loop, and how many starts lie before the previous end."""
    r = built.records
    rows = [i for i in range(len(r)) if r.core_id[i] == core]
    gaps, overlapping = [], 0
    latest = None
    for i in rows:
        start, end = int(r.start_ticks[i]), int(r.end_ticks[i])
        if latest is not None and r.dispatch_ticks[i] < latest:
            if start >= latest:
                gaps.append((latest, start))
            else:
                overlapping += 1
        latest = end if latest is None else max(latest, end)
    return gaps, overlapping


@given(captures())
def test_switches_equal_the_slow_version(built: Capture) -> None:
    assume(len(built.records))
    ready = {t.core_type: t.ready for t in system_overhead(built).by_type}
    found = core_switch(built, ready)
    per_core = {core: gaps_of(built, core) for core in range(4)}
    assert found.overlapping == sum(n for _, n in per_core.values())
    rows = {row["core_id"]: row for row in found.table.to_records()}
    assert set(rows) == {core for core, (gaps, _) in per_core.items() if gaps}
    for core, row in rows.items():
        gaps, _ = per_core[core]
        curve = ready[built.meta.core_types[core]]
        busy = [any(curve.at([t])[0] > 0 for t in range(a, b)) for a, b in gaps]
        lengths = [b - a for a, b in gaps]
        assert (row["count"], row["ready_count"], row["calm_count"]) == (len(gaps), sum(busy), len(gaps) - sum(busy))
        assert row["min_us"] == min(lengths) / TICKS_PER_US
        assert row["max_us"] == max(lengths) / TICKS_PER_US
        assert row["mean_us"] == pytest.approx(sum(lengths) / len(lengths) / TICKS_PER_US)
        of_ready = [n for n, b in zip(lengths, busy, strict=True) if b]
        assert row["ready_total_us"] == sum(of_ready) / TICKS_PER_US
        assert row["ready_max_us"] == (max(of_ready) / TICKS_PER_US if of_ready else None)
    (total,) = found.total.to_records()
    assert total["count"] == sum(len(gaps) for gaps, _ in per_core.values())


def test_json_without_dependencies_leaves_the_split_open() -> None:
    built = capture([Rec(1, 0, 0, 10), Rec(2, 0, 13, 20, dispatch=5), Rec(3, 0, 30, 40)])
    found = core_switch(built, None).to_json()
    assert (found["count"], found["mean_us"], found["overlapping"]) == (1, 3 / TICKS_PER_US, 0)
    assert (found["ready_count"], found["calm_mean_us"]) == (None, None)
    assert found["cores"][0]["core_type"] == "aic"


def test_no_switch_at_all() -> None:
    found = core_switch(capture([Rec(1, 0, 0, 10)]), {}).to_json()
    assert (found["count"], found["min_us"], found["cores"]) == (0, None, [])


def test_what_is_missing_is_named() -> None:
    with pytest.raises(NotAvailable, match="level 2"):
        core_switch(capture([Rec(1, 0, 0, 10)], level=1), None)
    with pytest.raises(NotAvailable, match="none"):
        core_switch(capture(), None)
