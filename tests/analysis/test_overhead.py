"""Is the overhead the ticks at which a core idles while work is ready?"""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given

from analysis.capture import MISSING, Capture
from analysis.errors import NotAvailable
from analysis.measures.overhead import scheduler_overhead, system_overhead
from tests.analysis.strategies import captures
from tests.builders import TICKS_PER_US, Phase, Rec, capture


def slow(built: Capture) -> dict[str, int]:
    """Tick by tick, as ALGORITHMS says it."""
    r, tasks, edges = built.records, built.tasks, built.edges
    types = [built.meta.core_types[c] for c in r.core_id.tolist()]
    t0, t1 = int(r.start_ticks.min()), int(r.end_ticks.max())
    ready = {}
    for task in range(len(tasks)):
        pairs = zip(edges.pred.tolist(), edges.succ.tolist(), strict=True)
        ends = [int(tasks.end_ticks[p]) for p, s in pairs if s == task and p != s and tasks.n_records[p]]
        ready[task] = max(ends) if ends else int(tasks.dispatch_ticks[task])
    found = {"all": 0, "has": 0, **dict.fromkeys(set(types), 0)}
    for t in range(t0, t1):
        idle, has_work = {}, {}
        for name in set(types):
            rows = [i for i, x in enumerate(types) if x == name]
            running = sum(r.start_ticks[i] <= t < r.end_ticks[i] for i in rows)
            idle[name] = running < len({int(r.core_id[i]) for i in rows})
            has_work[name] = any(ready[k] <= t < tasks.dispatch_ticks[k] for k in {int(r.task[i]) for i in rows})
        for name in idle:
            found[name] += idle[name] and has_work[name]
        found["all"] += all(idle[n] and has_work[n] for n in idle)
        found["has"] += any(has_work.values()) and all(idle[n] for n in idle if has_work[n])
    return found


@given(captures())
def test_overhead_equals_the_tick_by_tick_version(built: Capture) -> None:
    assume(len(built.records))
    found = system_overhead(built)
    got = {t.core_type: t.overhead_ticks for t in found.by_type}
    assert {**got, "all": found.all_ticks, "has": found.has_ticks} == slow(built)
    assert found.window_ticks == built.makespan_ticks


def test_a_case_worked_out_by_hand() -> None:
    # Task 2 is ready when task 1 ends at 10, is dispatched at 16 and starts at 20 on the idle core 1.
    built = capture([Rec(1, 0, 0, 10), Rec(3, 0, 10, 30, dispatch=0), Rec(2, 1, 20, 30, dispatch=16)], [(1, 2)])
    found = scheduler_overhead(built, curves=True).to_json()
    assert found["window_us"] == 30 / TICKS_PER_US
    assert found["by_type"] == {
        "aic": {"cores": 2, "overhead_us": 6 / TICKS_PER_US, "share": 0.2, "overhead_ticks": 6},
    }
    assert (found["all_us"], found["has_us"], found["has_share"]) == (6 / TICKS_PER_US, 6 / TICKS_PER_US, 0.2)
    assert found["curves"]["by_type"]["aic"]["overhead"] == {"time_us": [0.2, 0.32], "value": [1, 0]}
    assert found["curves"]["has"]["value"] == [1, 0]
    json.dumps(found)


def test_a_task_without_a_dispatch_stamp_is_never_ready() -> None:
    rows = [Rec(1, 0, 0, 10), Rec(2, 1, 20, 30, dispatch=MISSING)]
    assert system_overhead(capture(rows, [(1, 2)])).has_ticks == 0


def test_the_table_closes_with_the_system_rows() -> None:
    found = scheduler_overhead(capture([Rec(1, 0, 0, 10), Rec(2, 2, 0, 10)]))
    assert found.table.cells("scope") == ["aic", "aiv", "all", "has"]
    assert found.table.cells("cores") == [1, 1, None, None]
    assert list(found.frame().columns) == [column.name for column in found.table.columns]


def test_parts_without_their_stamps_say_why() -> None:
    rows = [Rec(1, 0, 0, 10), Rec(2, 0, 12, 20, dispatch=5)]
    no_deps = scheduler_overhead(capture(rows, has_deps=False)).to_json()
    assert (no_deps["by_type"], no_deps["window_us"], no_deps["loop"]) == (None, None, None)
    assert no_deps["switch"]["count"] == 1
    assert "deps.json is missing" in no_deps["not_available"]["system"]
    assert "level 3" in no_deps["not_available"]["loop"]
    phases_only = scheduler_overhead(capture(level=3, phases=[Phase(0, "complete", 0, 5)]))
    assert (phases_only.system, phases_only.switch_table) == (None, None)
    assert phases_only.loop_table is not None
    assert phases_only.thread_table is not None
    assert len(phases_only.table) == 0


def test_nothing_at_all_says_so() -> None:
    unstamped = [Rec(1, 0, 0, 4, dispatch=MISSING, finish=MISSING)]
    with pytest.raises(NotAvailable, match="none of its records holds them"):
        system_overhead(capture(unstamped))
    with pytest.raises(NotAvailable, match=r"level 2.*level 3"):
        scheduler_overhead(capture([Rec(1, 0, 0, 10)], level=1))
