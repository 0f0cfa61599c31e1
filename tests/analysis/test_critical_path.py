"""Do happens-before graph and critical paths equal the definition, the oracles and slow, obvious versions?"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import types

from analysis.capture import Capture
from analysis.errors import LimitError, NotAvailable, ParameterError
from analysis.paths import happens_before
from analysis.paths.critical_path import critical_path, path_difference
from analysis.paths.kernels import compiled, text_less
from tests.analysis.dag_builder import IDS, UNTIMED, Row, capture_of, runs
from tests.analysis.slow_paths import contract_untimed, edges_of, rows_of, slow_paths

BIG = st.integers(0, 2**64 - 1)


@UNTIMED
@given(st.one_of(BIG, st.sampled_from(IDS)), st.one_of(BIG, st.sampled_from(IDS), st.integers(0, 20)))
def test_ids_compare_as_text(a: int, b: int) -> None:
    assert text_less(a, b) == (str(a) < str(b))
    assert text_less(b, a) == (str(b) < str(a))
    assert not text_less(a, a)
    assert text_less(a // 10, a) == (str(a // 10) < str(a))


def as_slow(capture: Capture, through: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    return tuple(critical_path(capture, kind, through).to_json() for kind in ("static", "observed"))  # type: ignore[return-value]


@UNTIMED
@given(runs(), st.booleans())
def test_paths_equal_the_slow_version(run: tuple[list[Row], list[tuple[int, int]]], through: bool) -> None:
    rows, edges = run
    capture = capture_of(rows, edges)
    rows = rows_of(capture)
    slow = slow_paths(rows, contract_untimed(rows, edges) if through else edges, tol=2)
    static, observed = as_slow(capture, through)
    assert static["hb_edges"] == observed["hb_edges"] == slow.hb_edges
    assert [int(t["task_id"]) for t in static["tasks"]] == slow.static
    assert static["length_ticks"] == slow.static_length
    got = [(int(t["task_id"]), t["compute_ticks"], t["stall_ticks"], t["stall_kind"]) for t in observed["tasks"]]
    assert got == slow.observed


@UNTIMED
@given(runs())
def test_compute_and_stall_tile_the_makespan(run: tuple[list[Row], list[tuple[int, int]]]) -> None:
    capture = capture_of(*run)
    path = critical_path(capture, "observed")
    assert path.compute_total_ticks + path.stall_total_ticks == capture.makespan_ticks
    assert path.table.cells("stall_kind")[0] == "front-gap"
    assert (path.stall_ticks >= 0).all()
    assert (path.compute_ticks >= 0).all()


@UNTIMED
@given(runs())
def test_static_length_is_networkx_longest_path(run: tuple[list[Row], list[tuple[int, int]]]) -> None:
    capture = capture_of(*run)
    kept = happens_before.kept_edges(capture)
    tasks = capture.tasks
    graph = nx.DiGraph()
    graph.add_nodes_from(np.flatnonzero(tasks.n_records > 0).tolist())
    duration = (tasks.end_ticks - tasks.start_ticks).tolist()
    for s in range(len(tasks)):
        for p in kept.pred[kept.offsets[s] : kept.offsets[s + 1]].tolist():
            graph.add_edge(p, s, weight=duration[p])
    for s in list(graph):
        graph.add_edge(s, "end", weight=duration[s])
    longest = nx.dag_longest_path_length(graph) if graph.number_of_edges() else 0
    assert critical_path(capture, "static").length_ticks == longest


@UNTIMED
@given(runs())
def test_core_predecessor_equals_brute_force(run: tuple[list[Row], list[tuple[int, int]]]) -> None:
    capture = capture_of(*run)
    rows, tasks = rows_of(capture), capture.tasks
    found = happens_before.core_predecessors(capture)
    for at in np.flatnonzero(tasks.n_records > 0).tolist():
        task_id, start = int(tasks.task_id[at]), int(tasks.start_ticks[at])
        best: list[int] = []
        for core in {row[0] for row in rows}:
            lane = sorted((r for r in rows if r[0] == core), key=lambda r: (r[1], r[2], str(r[3])))
            for i, row in enumerate(lane):
                if row[3] == task_id and row[1] == start:
                    ends = [r[2] for r in lane[:i] if r[3] != task_id]
                    best += [max(ends)] if ends and max(ends) <= start + 2 else []
        assert (found.task[at] >= 0) == bool(best)
        if best:
            assert found.until_ticks[at] == max(best)


def test_text_order_breaks_ties() -> None:
    # Latest end is a tie of 9 and 10: "9" is the larger text. Both data predecessors end together: "9" again.
    capture = capture_of([(0, 1, 5, 10), (1, 1, 5, 9), (2, 6, 9, 100)], [(10, 100), (9, 100)])
    assert [t["task_id"] for t in critical_path(capture).to_json()["tasks"]] == ["9", "100"]
    # Equal lengths on the static path: the smaller number.
    assert [t["task_id"] for t in critical_path(capture, "static").to_json()["tasks"]] == ["9", "100"]
    last = capture_of([(0, 1, 5, 10), (1, 1, 5, 9)], [])
    assert [t["task_id"] for t in critical_path(last).to_json()["tasks"]] == ["9"]
    assert [t["task_id"] for t in critical_path(last, "static").to_json()["tasks"]] == ["9"]


def test_tolerance_of_two_ticks() -> None:
    kept = [
        len(happens_before.kept_edges(capture_of([(0, 1, 10, 1), (1, start, 20, 2)], [(1, 2)])))
        for start in (7, 8, 9, 10)
    ]
    assert kept == [0, 1, 1, 1]


def test_data_wait_wins_over_core_wait_of_the_same_task() -> None:
    capture = capture_of([(0, 1, 5, 1), (0, 6, 9, 2)], [(1, 2)])
    assert [t["stall_kind"] for t in critical_path(capture).to_json()["tasks"]] == ["front-gap", "data-wait"]
    capture = capture_of([(0, 1, 5, 1), (0, 6, 9, 2)], [])
    assert [t["stall_kind"] for t in critical_path(capture).to_json()["tasks"]] == ["front-gap", "core-wait"]


def test_through_untimed_finds_what_the_reference_loses() -> None:
    capture = capture_of([(0, 1, 5, 1), (1, 9, 20, 4)], [(1, 2), (2, 3), (3, 4)])
    plain, through = critical_path(capture, "static"), critical_path(capture, "static", through_untimed=True)
    assert (plain.hb_edges, plain.length_ticks) == (0, 11)
    assert (through.hb_edges, through.length_ticks) == (1, 15)
    assert "2 tasks without records are between others" in plain.notes[0]
    assert "Led also through tasks without records" in through.notes[0]


def test_too_dense_untimed_graph_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(happens_before, "MAX_CONTRACTION_STEPS", 1)
    capture = capture_of([(0, 1, 5, 1), (1, 9, 20, 4)], [(1, 2), (2, 3), (3, 4)])
    with pytest.raises(LimitError, match="untimed tasks"):
        happens_before.kept_edges(capture, through_untimed=True)


def test_one_task() -> None:
    capture = capture_of([(0, 3, 10, 7)], [])
    for kind in ("static", "observed"):
        found = critical_path(capture, kind).to_json()
        assert [t["task_id"] for t in found["tasks"]] == ["7"]
        assert (found["length_ticks"], found["makespan_ticks"], found["hb_edges"]) == (7, 7, 0)


def test_a_cycle_in_the_graph_does_not_matter_to_the_clock() -> None:
    capture = capture_of([(0, 1, 5, 1), (1, 6, 9, 2)], [(1, 2), (2, 1), (1, 1)])
    assert critical_path(capture, "static").hb_edges == 1


def test_reasons_when_not_available() -> None:
    with pytest.raises(NotAvailable, match="no task of this capture has an AICore record"):
        critical_path(capture_of([], [(1, 2)]))
    with pytest.raises(NotAvailable, match=r"deps\.json is missing"):
        critical_path(capture_of([(0, 1, 2, 1)], None))
    with pytest.raises(NotAvailable, match=r"no CPM_static\*\.json"):
        critical_path(capture_of([(0, 1, 2, 1)], []), "imported-static")
    with pytest.raises(NotAvailable, match="1 records end before they start"):
        critical_path(capture_of([(0, 9, 4, 1), (0, 1, 2, 2)], []), "observed")
    with pytest.raises(ParameterError, match="choose one of static"):
        critical_path(capture_of([(0, 1, 2, 1)], []), "longest")


def bar(task: int, name: str, start: int) -> dict[str, Any]:
    return {"ph": "X", "pid": 4, "name": name, "ts": start, "dur": 1, "args": {"taskId": task}}


def test_imported_path_is_shown_as_it_is_and_compared() -> None:
    cpm = {"static": [bar(1, "QK(t1)", 1), bar(2, "·(t2)", 6), bar(3, "SF(t3)", 6)]}
    rows = [(0, 1, 5, 1), (1, 6, 20, 2), (2, 6, 9, 3)]
    capture = capture_of(rows, [(1, 2), (1, 3)], cpm=cpm)
    imported = critical_path(capture, "imported-static")
    assert [t["task_id"] for t in imported.to_json()["tasks"]] == ["1", "3"]
    assert imported.to_json()["hb_edges"] is None
    assert "read from a CPM file" in imported.notes[0]
    difference = path_difference(capture, "static")
    assert not difference.same
    assert [(row["task_id"], row["on"]) for row in difference.to_json()] == [
        ("1", "both"),
        ("2", "computed"),
        ("3", "imported"),
    ]


def test_shares_by_kind_and_function() -> None:
    capture = capture_of([(0, 1, 5, 1), (0, 7, 9, 2), (1, 12, 20, 3)], [(2, 3)])
    path = critical_path(capture)
    by_kind = {row["kind"]: (row["tasks"], row["total_us"]) for row in path.by_kind.to_records()}
    assert by_kind == {"compute": (3, 0.28), "data-wait": (1, 0.06), "core-wait": (1, 0.04), "front-gap": (1, 0.0)}
    assert sum(row["share"] for row in path.by_kind.to_records()) == pytest.approx(1)
    rows = path.by_function.to_records()
    assert [(row["func_id"], row["name"], row["tasks"]) for row in rows] == [(1, "SF", 1), (0, "QK", 2)]
    assert path.frame()["stall_kind"].tolist() == ["front-gap", "core-wait", "data-wait"]


def test_json_keys_are_the_documented_ones() -> None:
    found = critical_path(capture_of([(0, 1, 5, 2**64 - 1)], [])).to_json()
    assert list(found) == [
        "kind", "makespan_ticks", "length_ticks", "compute_ticks", "stall_ticks", "hb_edges", "tasks",
    ]  # fmt: skip
    assert found["tasks"] == [
        {
            "task_id": str(2**64 - 1),
            "name": "QK",
            "start_ticks": 0,
            "end_ticks": 4,
            "compute_ticks": 4,
            "stall_ticks": 0,
            "stall_kind": "front-gap",
        }
    ]


def test_slow_version_reads_edges_as_the_model_does() -> None:
    assert edges_of(capture_of([(0, 1, 2, 9)], [(9, 10), (1, 9), (9, 9)])) == [(1, 9), (9, 9), (9, 10)]


def test_kernels_work_where_no_cache_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_ = numba.njit

    def without_cache(signature: Any, **options: Any) -> Any:
        if options:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_(signature)

    monkeypatch.setattr(numba, "njit", without_cache)
    twice = compiled(types.int64, types.int64)(lambda value: 2 * value)
    assert twice(21) == 42
    assert twice.signatures == [(types.int64,)]
