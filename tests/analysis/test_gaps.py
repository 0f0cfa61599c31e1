"""Does every gap name its cause and blocker, and do the parts add up?"""

from __future__ import annotations

import pytest
from hypothesis import given

from analysis.errors import NotAvailable
from analysis.paths.critical_path import critical_path
from analysis.paths.gaps import JSON_KEYS, gaps
from tests.analysis.dag_builder import UNTIMED, Row, capture_of, runs

US = 1 / 50
"""One tick of the builder's 50 MHz clock, in µs."""


def us(*ticks: int) -> list[object]:
    return [pytest.approx(t * US) for t in ticks]


def test_a_run_worked_out_by_hand() -> None:
    # Task 1 on core 0; task 2 waits for core 0; task 3 (core 1) waits for task 2's data; setup is 1 tick everywhere.
    capture = capture_of(
        [(0, 101, 105, 1), (0, 110, 120, 2), (1, 140, 150, 3)],
        [(2, 3)],
        stamps={0: (90, 107), 1: (104, 125), 2: (130, 151)},
        setup=1,
    )
    first, second, third = gaps(capture).to_json()
    assert list(first) == list(JSON_KEYS)
    assert (first["cause"], first["blocker_task_id"], first["gap_us"]) == ("launch", None, 0)
    assert [first[key] for key in JSON_KEYS[6:]] == [None] * 4
    assert (second["cause"], second["blocker_task_id"], second["core_id"]) == ("core busy", "1", 0)
    # 105 ends → 107 finish → 104 dispatch (before it) → 109 receive → 110 start
    assert [second["gap_us"], *(second[key] for key in JSON_KEYS[6:])] == us(5, 2, -3, 5, 1)
    assert (third["cause"], third["blocker_task_id"], third["core_id"]) == ("waiting for predecessor", "2", 1)
    assert [third["gap_us"], *(third[key] for key in JSON_KEYS[6:])] == us(20, 5, 5, 9, 1)
    table = gaps(capture).table
    zero = capture.meta.zero_ticks
    assert table.cells("blocker_until_us") == [None, *us(105 - zero, 120 - zero)]
    assert table.cells("blocker_name") == [None, "QK", "QK"]
    assert gaps(capture).by_cause.cells("cause") == ["waiting for predecessor", "core busy", "launch"]
    assert gaps(capture).by_cause.cells("gap_us") == us(20, 5, 0)


@UNTIMED
@given(runs())
def test_parts_add_up_to_the_gap(run: tuple[list[Row], list[tuple[int, int]]]) -> None:
    rows, edges = run
    stamps = {i: (row[1] - 2 if row[1] > 2 else row[1], row[2] + 1) for i, row in enumerate(rows)}
    capture, with_receive = (capture_of(rows, edges, stamps=stamps, setup=setup) for setup in (0, 1))
    for kind in ("static", "observed"):
        for row in gaps(capture, kind).to_json()[1:]:
            assert row["setup_us"] is None  # no receive stamp: propagation runs to the start
            assert sum(row[key] for key in JSON_KEYS[6:9]) == pytest.approx(row["gap_us"], abs=1e-9)
        for row in gaps(with_receive, kind).to_json()[1:]:
            assert row["setup_us"] == pytest.approx(us(1)[0])
            assert sum(row[key] for key in JSON_KEYS[6:]) == pytest.approx(row["gap_us"], abs=1e-9)


@UNTIMED
@given(runs())
def test_the_observed_path_is_a_chain_of_blockers(run: tuple[list[Row], list[tuple[int, int]]]) -> None:
    rows = gaps(capture_of(*run)).to_json()
    assert [row["blocker_task_id"] for row in rows] == [None, *(row["task_id"] for row in rows[:-1])]
    kinds = {"data-wait": "waiting for predecessor", "core-wait": "core busy", "front-gap": "launch"}
    path = critical_path(capture_of(*run)).to_json()["tasks"]
    assert [row["cause"] for row in rows] == [kinds[task["stall_kind"]] for task in path]


@UNTIMED
@given(runs())
def test_cores_are_those_of_the_records(run: tuple[list[Row], list[tuple[int, int]]]) -> None:
    capture = capture_of(*run)
    table = gaps(capture).table
    for task_id, cores, core_id, cause in zip(
        table.cells("task_id"), table.cells("cores"), table.cells("core_id"), table.cells("cause"), strict=True
    ):
        mine = [row for row in run[0] if row[3] == int(task_id)]
        assert cores == tuple(str(core) for core in sorted({row[0] for row in mine}))
        first = min(row[1] for row in mine)
        starting = [row[0] for row in mine if row[1] == first]
        assert core_id in starting if cause == "core busy" else core_id == min(starting)


def test_threshold_keeps_larger_gaps_only() -> None:
    capture = capture_of([(0, 1, 5, 1), (0, 10, 20, 2), (0, 40, 50, 3)], [])
    assert [row["gap_us"] for row in gaps(capture).to_json()] == us(0, 5, 20)
    assert [row["gap_us"] for row in gaps(capture, threshold_us=0.1).to_json()] == us(20)


def test_level_one_has_causes_but_no_parts() -> None:
    rows = gaps(capture_of([(0, 1, 5, 1), (0, 10, 20, 2)], [])).to_json()
    assert rows[1]["cause"] == "core busy"
    assert [rows[1][key] for key in JSON_KEYS[6:]] == [None] * 4


def test_not_available_without_edges_or_records() -> None:
    with pytest.raises(NotAvailable, match=r"deps\.json"):
        gaps(capture_of([(0, 1, 5, 1)], None))
    with pytest.raises(NotAvailable, match="record"):
        gaps(capture_of([], [(1, 2)]))
