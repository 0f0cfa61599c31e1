"""Does the neighbourhood search equal networkx, keep exact totals under a cap, and cost what it reaches?"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.graph.neighbourhood import NARROW, adjacency, distances, neighbourhood
from tests.analysis.dag_builder import UNTIMED
from tests.builders import capture

PAIRS = st.sets(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=30)
DEPTHS = st.integers(-1, 5)


def oracle(pairs: set[tuple[int, int]], start: int, depth: int) -> tuple[dict[int, int], dict[int, int]]:
    graph = nx.DiGraph(pairs)
    cutoff = None if depth < 0 else depth
    back = nx.single_source_shortest_path_length(graph.reverse(), start, cutoff)
    ahead = nx.single_source_shortest_path_length(graph, start, cutoff)
    return dict(back), dict(ahead)


def as_dict(ids: list[int], distance: np.ndarray) -> dict[int, int]:
    return {ids[i]: int(d) for i, d in enumerate(distance) if d >= 0}


@UNTIMED
@given(pairs=PAIRS, depth=DEPTHS, data=st.data())
def test_equals_networkx_with_cycles_and_self_edges(
    pairs: set[tuple[int, int]], depth: int, data: st.DataObject
) -> None:
    made = capture(edges=sorted(pairs))
    ids = [int(i) for i in made.tasks.task_id]
    start = data.draw(st.sampled_from(ids))
    found = neighbourhood(made, ids.index(start), depth, max_nodes=100)
    back, ahead = oracle(pairs, start, depth)
    assert as_dict(ids, found.pred_distance) == back
    assert as_dict(ids, found.succ_distance) == ahead
    assert (found.n_predecessors, found.n_successors) == (len(back) - 1, len(ahead) - 1)
    assert [ids[i] for i in found.shown] == sorted(set(back) | set(ahead))


@UNTIMED
@given(pairs=PAIRS, depth=DEPTHS, cap=st.integers(1, 6))
def test_the_cap_keeps_the_nearest_and_counts_the_rest(pairs: set[tuple[int, int]], depth: int, cap: int) -> None:
    made = capture(edges=sorted(pairs))
    whole = neighbourhood(made, 0, depth, max_nodes=100)
    capped = neighbourhood(made, 0, depth, max_nodes=cap)
    assert capped.n_total == whole.n_total
    assert len(capped.shown) == min(cap, whole.n_total)
    assert capped.n_hidden == whole.n_total - len(capped.shown)
    far = np.iinfo(np.int32).max
    near = np.minimum(
        np.where(whole.pred_distance < 0, far, whole.pred_distance),
        np.where(whole.succ_distance < 0, far, whole.succ_distance),
    )
    left_out = np.setdiff1d(whole.shown, capped.shown)
    if len(left_out):
        assert near[capped.shown].max() <= near[left_out].min()


@UNTIMED
@given(pairs=PAIRS, data=st.data())
def test_a_mask_restricts_the_search_to_its_edges(pairs: set[tuple[int, int]], data: st.DataObject) -> None:
    made = capture(edges=sorted(pairs))
    ids = [int(i) for i in made.tasks.task_id]
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))), dtype=bool)
    left = {pair for pair, kept in zip(sorted(pairs), keep, strict=True) if kept}
    graph = nx.DiGraph(left)
    graph.add_nodes_from(ids)
    links = adjacency(made, keep)
    found = distances(links.out_offsets, links.out_task, 0, -1)
    assert as_dict(ids, found) == dict(nx.single_source_shortest_path_length(graph, ids[0]))
    for task in range(len(ids)):
        edges = links.in_edge[links.in_offsets[task] : links.in_offsets[task + 1]]
        assert [int(made.edges.pred[e]) for e in edges] == sorted(ids.index(p) for p in graph.predecessors(ids[task]))


def test_depth_zero_is_nothing_but_the_task() -> None:
    found = neighbourhood(capture(edges=[(1, 2), (2, 3)]), 1, 0, max_nodes=10)
    assert found.shown.tolist() == [1]
    assert (found.n_predecessors, found.n_successors) == (0, 0)


@pytest.mark.parametrize("width", [NARROW - 1, NARROW + 1, 10_000])
def test_wide_fan_out_and_back_in(width: int) -> None:
    middle = range(2, 2 + width)
    made = capture(edges=[(1, m) for m in middle] + [(m, 2 + width) for m in middle])
    found = neighbourhood(made, 0, -1, max_nodes=50)
    assert found.n_successors == width + 1
    assert found.succ_distance[-1] == 2
    assert len(found.shown) == min(50, width + 2)


def test_frame_lists_both_sides_nearest_first() -> None:
    made = capture(edges=[(1, 2), (2, 3), (3, 4)])
    frame = neighbourhood(made, 2, -1, max_nodes=10).frame(made)
    assert frame[["side", "distance", "task_id"]].values.tolist() == [
        ["feeds", 1, "2"],
        ["feeds", 2, "1"],
        ["uses", 1, "4"],
    ]
