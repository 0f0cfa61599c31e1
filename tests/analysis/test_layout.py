"""Layered layout: layers are longest paths, nodes never overlap, few edges cross, time is bounded."""

from __future__ import annotations

import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.formats import load
from analysis.graph.layers import longest_path_layers
from analysis.graph.layout import Layout, Sizes, in_rows, layered
from analysis.graph.layout_order import crossings, proper, reduce_crossings
from analysis.graph.neighbourhood import adjacency, neighbourhood
from analysis.graph.scene import whole_scene
from tests.analysis.dag_builder import UNTIMED, dags
from tests.shared_data import capture_dir, needs_shared

SIZES = Sizes()
GRAPHS = st.sets(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=50)


def arrays(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def overlaps(layout: Layout) -> int:
    """Pairs of node boxes that share area."""
    order = np.argsort(layout.x, kind="stable")
    x, y = layout.x[order], layout.y[order]
    count = 0
    for i in range(len(x)):
        near = slice(i + 1, int(np.searchsorted(x, x[i] + SIZES.node_width - 1e-6)))
        count += int((np.abs(y[near] - y[i]) < SIZES.node_height - 1e-6).sum())
    return count


@UNTIMED
@given(pairs=dags())
def test_layers_of_a_dag_are_longest_path_lengths(pairs: list[tuple[int, int]]) -> None:
    n = max((max(pair) for pair in pairs), default=0) + 1
    found = longest_path_layers(n, *arrays(pairs))
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(range(n))
    expected: dict[int, int] = {}
    for node in nx.topological_sort(graph):
        expected[node] = max((expected[p] + 1 for p in graph.predecessors(node)), default=0)
    assert found.layer.tolist() == [expected[i] for i in range(n)]
    assert not found.turned.any()


@UNTIMED
@given(pairs=GRAPHS)
def test_cycles_are_opened_and_every_other_edge_leads_on(pairs: set[tuple[int, int]]) -> None:
    pred, succ = arrays(list(pairs))
    found = longest_path_layers(15, pred, succ)
    ahead = found.layer[succ] > found.layer[pred]
    behind = found.layer[succ] < found.layer[pred]
    assert (ahead == ~found.turned).all()
    assert (behind == (found.turned & (pred != succ))).all()
    parts = {frozenset(part) for part in nx.strongly_connected_components(nx.DiGraph(pairs))}
    for start, end in zip(pred[found.turned].tolist(), succ[found.turned].tolist(), strict=True):
        assert any(start in part and end in part for part in parts)


@UNTIMED
@given(pairs=GRAPHS, direction=st.sampled_from(["LR", "TB"]), n=st.integers(15, 20))
def test_no_overlap_in_either_direction_whatever_the_graph(pairs: set[tuple[int, int]], direction: str, n: int) -> None:
    pred, succ = arrays(list(pairs))
    layout = layered(n, pred, succ, direction=direction, budget_s=5)
    assert overlaps(layout) == 0
    assert layout.x.min() >= SIZES.node_width / 2 - 1e-6
    assert layout.y.min() >= SIZES.node_height / 2 - 1e-6
    assert layout.x.max() <= layout.width
    assert layout.y.max() <= layout.height
    along = layout.x if direction == "LR" else layout.y
    for edge in np.flatnonzero(~layout.turned):
        assert along[succ[edge]] > along[pred[edge]]


@UNTIMED
@given(pairs=dags())
def test_bends_lie_between_the_ends_in_order(pairs: list[tuple[int, int]]) -> None:
    pred, succ = arrays(pairs)
    layout = layered(13, pred, succ)
    for edge, points in layout.bends.items():
        path = [layout.x[pred[edge]], *(x for x, _ in points), layout.x[succ[edge]]]
        assert path == sorted(path)


@UNTIMED
@given(pairs=dags(), seed=st.integers(0, 9))
def test_counted_crossings_equal_a_count_by_hand(pairs: list[tuple[int, int]], seed: int) -> None:
    n = 13
    pred, succ = arrays(pairs)
    layer = longest_path_layers(n, pred, succ).layer
    short = layer[succ] - layer[pred] == 1
    graph = proper(layer, pred[short], succ[short])
    position = np.random.default_rng(seed).permutation(n).astype(float)
    edges = list(zip(pred[short].tolist(), succ[short].tolist(), strict=True))
    by_hand = sum(
        (position[a] - position[c]) * (position[b] - position[d]) < 0
        for i, (a, b) in enumerate(edges)
        for c, d in edges[i + 1 :]
        if layer[a] == layer[c]
    )
    assert crossings(graph, position) == by_hand
    _, after, _ = reduce_crossings(graph, position, lambda: False)
    assert after <= by_hand


def random_crossings(layout: Layout, pred: np.ndarray, succ: np.ndarray) -> tuple[int, float]:
    """Crossings between neighbouring layers as laid out, and the mean over random orders of the same layers."""
    short = np.abs(layout.layer[succ] - layout.layer[pred]) == 1
    start = np.where(layout.turned, succ, pred)[short]
    end = np.where(layout.turned, pred, succ)[short]
    graph = proper(layout.layer, start, end)
    rng = np.random.default_rng(7)
    shuffled = [crossings(graph, rng.permutation(len(layout.x)).astype(float)) for _ in range(5)]
    return crossings(graph, layout.y), float(np.mean(shuffled))


@needs_shared
@pytest.mark.parametrize(
    ("name", "task", "depth"),
    [("qwen3_40_layers_l4", 4000, 14), ("qwen3_40_layers_l4", 8000, -1), ("qwen3_14b_decode_device", 5, -1)],
)
def test_a_large_real_neighbourhood_has_no_overlap_and_half_the_crossings(name: str, task: int, depth: int) -> None:
    capture = load(capture_dir(name))
    around = adjacency(capture)
    found = neighbourhood(capture, task, depth, max_nodes=2_000, around=around)
    nodes = found.shown
    inside = np.isin(capture.edges.pred, nodes) & np.isin(capture.edges.succ, nodes)
    pred = np.searchsorted(nodes, capture.edges.pred[inside]).astype(np.int32)
    succ = np.searchsorted(nodes, capture.edges.succ[inside]).astype(np.int32)
    layout = layered(len(nodes), pred, succ, budget_s=5)
    assert len(nodes) > 250

    assert overlaps(layout) == 0
    ours, shuffled = random_crossings(layout, pred, succ)
    assert ours <= shuffled / 2, f"{ours} crossings, {shuffled} in a random order"


@pytest.mark.parametrize("seed", range(3))
def test_two_thousand_nodes_cross_at_most_half_as_often_as_at_random(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layer = np.sort(rng.integers(0, 40, 2_000))
    position = rng.random(2_000)
    pairs = set()
    for _ in range(3_000):
        a = int(rng.integers(0, 2_000))
        near = np.flatnonzero((layer > layer[a]) & (layer <= layer[a] + 2) & (np.abs(position - position[a]) < 0.1))
        if len(near):
            pairs.add((a, int(rng.choice(near))))
    shuffle = rng.permutation(2_000)
    pred, succ = arrays([(int(shuffle[a]), int(shuffle[b])) for a, b in pairs])
    layout = layered(2_000, pred, succ, budget_s=5)
    assert overlaps(layout) == 0
    ours, shuffled = random_crossings(layout, pred, succ)
    assert ours <= shuffled / 2


def test_equal_components_are_laid_out_alike() -> None:
    pairs = [(4 * k + a, 4 * k + b) for k in range(30) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]
    layout = layered(120, *arrays(pairs))
    shape = (layout.x - np.repeat(layout.x[::4], 4)).reshape(-1, 4)
    assert np.allclose(shape, shape[0])
    assert overlaps(layout) == 0


def test_a_stop_ends_the_sweeps_and_the_layout_is_still_whole() -> None:
    rng = np.random.default_rng(1)
    pairs = {(int(a), int(b)) for a, b in zip(rng.integers(0, 300, 900), rng.integers(300, 600, 900), strict=True)}
    pred, succ = arrays(list(pairs))
    stopped = layered(600, pred, succ, should_stop=lambda: True)
    whole = layered(600, pred, succ, budget_s=5)
    assert (stopped.sweeps, stopped.finished) == (0, False)
    assert whole.sweeps > 0
    assert overlaps(stopped) == 0
    assert whole.crossings < stopped.crossings


def test_the_time_budget_holds() -> None:
    rng = np.random.default_rng(3)
    pairs = {(int(a), int(a + rng.integers(1, 60))) for a in rng.integers(0, 1_900, 6_000)}
    pred, succ = arrays([(a, min(b, 1_999)) for a, b in pairs])
    began = time.monotonic()
    layout = layered(2_000, pred, succ, budget_s=0.0)
    assert not layout.finished
    assert layout.sweeps == 0
    assert time.monotonic() - began < 20


def test_nothing_and_lonely_nodes() -> None:
    none = np.zeros(0, np.int32)
    assert layered(0, none, none).width == 0
    lonely = layered(50, none, none)
    assert overlaps(lonely) == 0
    assert lonely.width > lonely.height


def test_a_layer_with_ten_thousand_nodes_is_wrapped() -> None:
    pred, succ = np.zeros(10_000, np.int32), np.arange(1, 10_001, dtype=np.int32)
    layout = layered(10_001, pred, succ, budget_s=0.2)
    assert overlaps(layout) == 0
    assert layout.height < 10_000 * SIZES.node_height / 20
    assert layout.width < 10 * layout.height


@needs_shared
def test_a_scene_lays_out_over_its_own_lines() -> None:
    capture = load(capture_dir("pa_small_l4"))
    scene = whole_scene(capture)
    layout = layered(scene.n_nodes, scene.frame_pred, scene.frame_succ)
    assert layout.crossings == 0
    assert overlaps(layout) == 0


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 900])
def test_a_sequence_reads_row_by_row_without_overlap(direction: str, n: int) -> None:
    layout = in_rows(n, direction=direction)
    assert overlaps(layout) == 0
    line, place = (layout.y, layout.x) if direction == "LR" else (layout.x, layout.y)
    assert np.lexsort((place, line)).tolist() == list(range(n))
    if n == 900:
        assert 1 < layout.width / layout.height < 3
