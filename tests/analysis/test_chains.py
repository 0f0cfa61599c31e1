"""Are chains the maximal single-dependency runs, with honest gaps?"""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given

from analysis.capture import Capture, TaskKind
from analysis.errors import NotAvailable
from analysis.measures.chains import single_dependency_chains
from tests.analysis.strategies import captures
from tests.builders import TICKS_PER_US, Rec, capture


def slow(built: Capture) -> set[tuple[str, ...]]:
    """Links kept in a networkx graph, chains as its non-cyclic components."""
    graph = nx.DiGraph((int(p), int(s)) for p, s in zip(built.edges.pred, built.edges.succ, strict=True))
    links = nx.DiGraph((u, v) for u, v in graph.edges if graph.out_degree(u) == graph.in_degree(v) == 1 and u != v)
    parts = [links.subgraph(c) for c in nx.weakly_connected_components(links)]
    ids = built.tasks.task_id.tolist()
    return {tuple(str(ids[t]) for t in nx.topological_sort(p)) for p in parts if nx.is_directed_acyclic_graph(p)}


@given(captures())
def test_chains_equal_the_slow_version(built: Capture) -> None:
    rows = single_dependency_chains(built).to_json()
    assert {row["tasks"] for row in rows} == slow(built)
    assert len(rows) == len(slow(built))


@given(captures())
def test_figures_and_order(built: Capture) -> None:
    found = single_dependency_chains(built)
    gaps = found.table.cells("gap_ticks")
    known = [g for g in gaps if g is not None]
    assert gaps == sorted(known, reverse=True) + [None] * (len(gaps) - len(known))
    tasks = built.tasks
    for at, row in enumerate(found.table.to_records()):
        members = found.members[found.offsets[at] : found.offsets[at + 1]].tolist()
        assert [str(tasks.task_id[m]) for m in members] == list(row["tasks"])
        timed = [m for m in members if tasks.n_records[m]]
        assert row["exec_ticks"] == sum(int(tasks.end_ticks[m] - tasks.start_ticks[m]) for m in timed)
        if len(timed) < len(members):
            assert row["gap_us"] is None
        else:
            pairs = itertools.pairwise(members)
            assert row["gap_ticks"] == sum(int(tasks.start_ticks[v] - tasks.end_ticks[u]) for u, v in pairs)
        if timed:
            ends, starts = (int(tasks.end_ticks[timed].max()), int(tasks.start_ticks[timed].min()))
            assert row["span_ticks"] == ends - starts
        else:
            assert row["span_us"] is None


def test_a_member_without_records_leaves_the_gap_open() -> None:
    built = capture(
        [Rec(1, 0, 0, 10), Rec(3, 0, 30, 50), Rec(5, 1, 0, 4), Rec(6, 1, 6, 9)],
        [(1, 2), (2, 3), (5, 6)],
        kinds={2: TaskKind.DUMMY},
    )
    closed, opened = single_dependency_chains(built).to_json()
    assert closed["tasks"] == ("5", "6")
    assert closed["gap_us"] == 2 / TICKS_PER_US
    assert opened["names"] == ("func_0", "dummy", "func_0")
    assert (opened["gap_us"], opened["exec_us"], opened["span_us"]) == (None, 30 / TICKS_PER_US, 50 / TICKS_PER_US)


def test_a_long_chain_and_a_cycle() -> None:
    n = 3000
    built = capture([], [(i, i + 1) for i in range(n)] + [(9001, 9002), (9002, 9001)])
    (row,) = single_dependency_chains(built).to_json()
    assert row["tasks"] == tuple(str(i) for i in range(n + 1))


def test_no_edges_give_no_chains_and_no_deps_say_so() -> None:
    assert single_dependency_chains(capture([Rec(1, 0, 0, 1)])).to_json() == []
    with pytest.raises(NotAvailable, match=r"deps\.json is missing"):
        single_dependency_chains(capture([Rec(1, 0, 0, 1)], has_deps=False))
