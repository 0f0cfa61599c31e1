"""Are 🔥 and ⭐ the sets of the definition, and are the leads those of the stamps?"""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from analysis.capture import EARLY_UNKNOWN, EARLY_YES, MISSING, Capture, TaskKind
from analysis.errors import NotAvailable
from analysis.measures.early_dispatch import early_dispatch, markers
from tests.analysis.strategies import TASKS, captures
from tests.builders import TICKS_PER_US, Rec, capture


def predecessors(built: Capture, task: int) -> list[int]:
    return [int(p) for p, s in zip(built.edges.pred, built.edges.succ, strict=True) if s == task]


@given(captures())
def test_markers_equal_the_definition(built: Capture) -> None:
    tasks = built.tasks
    alloc = {t for t in range(len(tasks)) if tasks.kind[t] == TaskKind.ALLOC}
    early = alloc | {t for t in range(len(tasks)) if tasks.early_dispatch[t] == EARLY_YES}
    star = {t for t in range(len(tasks)) if (p := predecessors(built, t)) and set(p) <= early and set(p) - alloc}
    found = markers(built)
    assert set(found.fire.tolist()) == early
    assert set(found.star.tolist()) == star
    assert list(found.to_json()["star"]) == [str(tasks.task_id[t]) for t in sorted(star)]
    assert [r["task_id"] for r in found.table.to_records()] == [str(tasks.task_id[t]) for t in sorted(early | star)]


@given(captures())
def test_leads_equal_the_definition(built: Capture) -> None:
    assume(len(built.records))
    tasks, records = built.tasks, built.records
    found = early_dispatch(built)
    assert sorted(found.tasks.tolist()) == markers(built).star.tolist()
    for task, row in zip(found.tasks.tolist(), found.table.to_records(), strict=True):
        fins = [int(tasks.finish_ticks[p]) for p in predecessors(built, task) if tasks.n_records[p]]
        own = [int(records.dispatch_ticks[i]) for i in range(len(records)) if records.task[i] == task]
        assert row["blocks"] == len(own)
        assert row["last_fin_ticks"] == (max(fins) if fins else None)
        assert row["dispatch_ticks"] == (min(own) if own else None)
        if not fins or not own:
            assert (row["lead_ticks"], row["early"], row["early_blocks"]) == (None, None, None)
            continue
        assert row["lead_ticks"] == max(fins) - min(own)
        assert row["early"] == (row["lead_ticks"] > 0)
        assert row["early_blocks"] == sum(d < max(fins) for d in own)
    leads = found.table.cells("lead_ticks")
    known = [lead for lead in leads if lead is not None]
    assert leads == sorted(known, reverse=True) + [None] * (len(leads) - len(known))


def test_two_blocks_one_early() -> None:
    built = capture(
        [Rec(1, 0, 0, 40, finish=50), Rec(2, 1, 60, 70, dispatch=45), Rec(2, 2, 60, 70, dispatch=55)],
        [(0, 1), (0, 2), (1, 2)],
        kinds={0: TaskKind.ALLOC},
        early={1: EARLY_YES},
    )
    (row,) = early_dispatch(built).to_json()
    assert (row["task_id"], row["lead_us"], row["early"]) == ("2", 5 / TICKS_PER_US, True)
    assert (row["blocks"], row["early_blocks"], row["predecessors"]) == (2, 1, ("0", "1"))


def test_an_old_deps_json_is_known_as_such() -> None:
    unknown = dict.fromkeys(range(TASKS), EARLY_UNKNOWN)
    built = capture([Rec(1, 0, 0, 4)], [(0, 1)], kinds={0: TaskKind.ALLOC}, early=unknown)
    assert markers(built).to_json() == {"fire": ["0"], "star": [], "early_dispatch_known": False}
    assert markers(capture([Rec(1, 0, 0, 4)], [(0, 1)])).known


def test_a_missing_dispatch_stamp_leaves_the_lead_open() -> None:
    built = capture([Rec(1, 0, 0, 40), Rec(2, 1, 60, 70, dispatch=MISSING)], [(1, 2)], early={1: EARLY_YES})
    (row,) = early_dispatch(built).to_json()
    assert (row["lead_us"], row["early"], row["blocks"]) == (None, None, 1)


def test_what_is_missing_is_named() -> None:
    rows = [Rec(1, 0, 0, 4)]
    with pytest.raises(NotAvailable, match="level 2"):
        early_dispatch(capture(rows, level=1))
    unstamped = [Rec(1, 0, 0, 4, dispatch=MISSING, finish=MISSING)]
    with pytest.raises(NotAvailable, match="none of its records holds them"):
        early_dispatch(capture(unstamped, level=3))
    with pytest.raises(NotAvailable, match=r"deps\.json"):
        early_dispatch(capture(rows, has_deps=False))
    with pytest.raises(NotAvailable, match="this capture has none"):
        early_dispatch(capture([], [(1, 2)]))
    assert markers(capture(rows, level=1)).fire_ids == ()
