"""The parts of the import, each against an obvious version: sub-rows, id index, host clock arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.capture import MISSING
from analysis.formats.join import lanes, sorting, tables
from analysis.formats.join import records as joining
from analysis.formats.join.host_clock import round_div
from analysis.formats.join.idindex import IdIndex
from analysis.formats.join.lanes import sub_rows
from analysis.formats.join.raw import AicoreRows, AicpuRows, RawSwimlane
from analysis.formats.report import MAX_PLACES, OTHER_PLACES, Report
from analysis.formats.text import warm

BARS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 8), st.booleans()), max_size=60)


def first_free_row(bars: list[tuple[int, int, int]]) -> list[int]:
    """(lane, start, end) → the lowest row whose last bar has ended, in (start, end, index) order."""
    rows = [0] * len(bars)
    free: dict[int, list[int]] = {}
    for at in sorted(range(len(bars)), key=lambda at: (bars[at][1], bars[at][2], at)):
        lane, start, end = bars[at]
        if MISSING in (start, end):
            continue
        lane_rows = free.setdefault(lane, [])
        row = next((r for r, last in enumerate(lane_rows) if last <= start), len(lane_rows))
        lane_rows[row : row + 1] = [max(start, end)]
        rows[at] = row
    return rows


def columns(bars: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = np.array(bars, np.int64).reshape(-1, 3)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


WORTH = st.sampled_from([0, 1_000_000])
"""Compiled loops for every table, or for none."""


@settings(max_examples=400, deadline=None)
@given(bars=BARS, in_order=st.booleans(), far=st.booleans(), peel=st.sampled_from([1, 2, 32]), worth=WORTH)
def test_sub_rows_equal_first_fit(
    bars: list[tuple[int, int, int, bool]], in_order: bool, far: bool, peel: int, worth: int
) -> None:
    scale = 2**57 if far else 1
    given_bars = [
        (lane, MISSING if gone else start * scale, (start + length - 1) * scale) for lane, start, length, gone in bars
    ]
    if in_order:
        given_bars.sort()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lanes, "_PEEL_ROWS", peel)
        patch.setattr(lanes, "WORTH_ROWS", worth)
        patch.setattr(sorting, "WORTH_ROWS", worth)
        assert sub_rows(*columns(given_bars)).tolist() == first_free_row(given_bars)


def test_many_bars_at_once_stay_in_bounds() -> None:
    n = 40_000
    rows = sub_rows(np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, 9, np.int64))
    assert rows[:33].tolist() == list(range(33))
    assert int(rows.max()) == lanes.MAX_ROWS


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 9))), nearly=st.booleans())
def test_the_order_of_rows_is_that_of_a_stable_sort(rows: list[tuple[int, int, int]], nearly: bool) -> None:
    if nearly:
        rows = sorted(rows)
        rows[1:3] = rows[1:3][::-1]
    group, start, end = columns(rows)
    want = sorted(range(len(rows)), key=lambda at: rows[at])
    with pytest.MonkeyPatch.context() as patch:
        for worth in (0, 1_000_000):
            patch.setattr(sorting, "WORTH_ROWS", worth)
            found = sorting.order_of(group, start, end)
            assert (list(range(len(rows))) if found is None else found.tolist()) == want


def test_rows_far_from_their_order_are_sorted_by_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "WORTH_ROWS", 0)
    start = np.arange(1000, 0, -1)
    found = sorting.order_of(np.zeros(1000, np.int64), start, start)
    assert found is not None
    assert found.tolist() == list(range(999, -1, -1))


KEYS = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 6)), max_size=20)


@settings(max_examples=300, deadline=None)
@given(ours=KEYS, theirs=KEYS, unique=st.booleans())
def test_the_join_is_the_same_by_table_and_by_sorting(
    ours: list[tuple[int, int]], theirs: list[tuple[int, int]], unique: bool
) -> None:
    if unique:
        ours, theirs = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        for worth in (1, 1_000_000):
            patch.setattr(joining, "WORTH_ROWS", worth)
            report = Report()
            found = joining.join(_keyed(ours, theirs), 2, report)
            columns_of = [found.rows.reg, found.rows.core, found.dispatch, found.finish, found.unmatched.reg]
            seen.append(([column.tolist() for column in columns_of], report.notices()))
    assert seen[0] == seen[1]


def _keyed(ours: list[tuple[int, int]], theirs: list[tuple[int, int]]) -> RawSwimlane:
    """A swimlane with these (core, reg) keys in its two streams; every stamp is different."""
    core, reg = np.array(ours, np.int64).reshape(-1, 2).T
    other_core, other_reg = np.array(theirs, np.int64).reshape(-1, 2).T
    n, m = len(ours), len(theirs)
    stamp, none = np.arange(1, n + 1), np.full(n, -1, np.int64)
    aicore = AicoreRows(core, np.zeros(n, np.uint64), reg, stamp, stamp + 1, stamp, none)
    aicpu = AicpuRows(other_core, other_reg, np.arange(m) + 100, np.arange(m) + 200, np.full(m, -1, np.int64))
    return RawSwimlane("chip", 2, 1, 4, ["aic"] * 4, None, aicore, aicpu)


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 5), st.one_of(st.just(MISSING), st.integers(-9, 9))), max_size=30))
def test_records_are_grouped_by_task_the_same_both_ways(rows: list[tuple[int, int]]) -> None:
    task = np.array([owner for owner, _ in rows], np.int32)
    values = np.array([value for _, value in rows], np.int64)
    of_task = [[at for at, (owner, _) in enumerate(rows) if owner == wanted] for wanted in range(6)]
    captured = [[values[at] for at in members if values[at] != MISSING] for members in of_task]
    with pytest.MonkeyPatch.context() as patch:
        for worth in (0, 1_000_000):
            patch.setattr(tables, "WORTH_ROWS", worth)
            groups = tables.group_by_task(task, 6)
            assert groups.order.tolist() == [at for members in of_task for at in members]
            assert groups.block.tolist() == [of_task[owner].index(at) for at, (owner, _) in enumerate(rows)]
            for largest, pick in ((False, min), (True, max)):
                found = tables.per_task(values, groups, largest).tolist()
                assert found == [pick(part, default=MISSING) for part in captured]


def test_every_compiled_loop_can_be_made_ready() -> None:
    warm.warm_up()
    child = warm.warm_in_background()
    assert child.wait(timeout=120) == 0


IDS = st.lists(
    st.one_of(st.integers(0, 20), st.integers(2**32, 2**32 + 20), st.integers(0, 2**64 - 1)), min_size=0, max_size=40
)


@settings(max_examples=300, deadline=None)
@given(known=IDS, wanted=IDS)
def test_ids_are_found_as_a_dict_finds_them(known: list[int], wanted: list[int]) -> None:
    index = IdIndex([np.array(known, np.uint64)])
    table = {task_id: at for at, task_id in enumerate(sorted(set(known)))}
    assert index.ids.tolist() == list(table)
    asked = wanted + known
    assert index.find(np.array(asked, np.uint64)).tolist() == [table.get(task_id, -1) for task_id in asked]


def test_dense_rings_use_tables() -> None:
    ids = np.concatenate([np.arange(50, dtype=np.uint64) + np.uint64(ring << 32) for ring in (0, 2, 1)])
    index = IdIndex([ids])
    assert index.ids.tolist() == sorted(ids.tolist())
    assert index.find(ids).tolist() == [*range(50), *range(100, 150), *range(50, 100)]
    assert index.find(np.array([60, 3 << 32, 2**64 - 1], np.uint64)).tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("number", "by", "want"), [(7, 2, 4), (-7, 2, -3), (6, 4, 2), (5, 4, 1), (10**30, 3, 10**30 // 3)]
)
def test_rounding_is_exact(number: int, by: int, want: int) -> None:
    assert round_div(number, by) == want


def test_the_report_never_grows_without_bound() -> None:
    report = Report()
    for at in range(MAX_PLACES + 50):
        report.add("wrong_type", 1, f"row {at}")
    (notice,) = report.notices()
    assert notice.count == MAX_PLACES + 50
    assert notice.detail[OTHER_PLACES] == 50
    assert sum(notice.detail.values()) == notice.count
    with pytest.raises(KeyError):
        report.add("no such code")
    report.add("overlap", 0)
    assert len(report.notices()) == 1
