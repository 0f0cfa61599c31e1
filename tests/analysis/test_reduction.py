"""Do the five edge modes equal the definition, networkx and a byte-by-byte version of the data-flow rule?"""

from __future__ import annotations

import itertools
import random
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import NotAvailable, ParameterError
from analysis.graph.reduction import MODES, edge_masks, edges, redundant_edges
from tests.analysis.dag_builder import UNTIMED, capture_of, dags
from tests.analysis.slow_reduction import slow_omitted_df


def pairs(capture: Any, mode: str) -> set[tuple[int, int]]:
    return {(int(p), int(s)) for p, s in edges(capture, mode).to_json()["pairs"]}


@UNTIMED
@given(dags(max_nodes=20))
def test_plain_reduction_equals_networkx(graph: list[tuple[int, int]]) -> None:
    capture = capture_of([], graph)
    reduced = nx.transitive_reduction(nx.DiGraph(graph)) if graph else nx.DiGraph()
    assert pairs(capture, "reduced") == set(reduced.edges)
    assert pairs(capture, "omitted") == set(graph) - set(reduced.edges)


def test_more_sources_than_one_block_of_bits() -> None:
    # Two chains of 1,500 with an edge from every third task to the one two further on, interleaved by number.
    chain = [(i, i + 2) for i in range(3000)]
    skips = [(i, i + 4) for i in range(0, 2996, 3)]
    capture = capture_of([], chain + skips)
    assert pairs(capture, "omitted") == set(skips)


def test_wide_graph_with_early_and_late_ends() -> None:
    rng = np.random.default_rng(7)
    graph = {(int(a), int(b)) for a, b in rng.integers(1, 1200, (3000, 2)) if a < b}
    capture = capture_of([], sorted(graph))
    assert pairs(capture, "reduced") == set(nx.transitive_reduction(nx.DiGraph(sorted(graph))).edges)


@UNTIMED
@given(dags(), st.data())
def test_creator_edges_stay_in_the_plain_mode(graph: list[tuple[int, int]], data: st.DataObject) -> None:
    creators = data.draw(st.sets(st.sampled_from(graph))) if graph else set()
    rows = [{"pred": p, "succ": s, "arg": 0, "source": "explicit"} for p, s in graph]
    rows += [{"pred": p, "succ": s, "arg": 0, "source": "creator"} for p, s in creators]
    redundant = set(graph) - set(nx.transitive_reduction(nx.DiGraph(graph)).edges if graph else ())
    assert pairs(capture_of([], rows), "omitted") == redundant - creators


@UNTIMED
@given(st.sets(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=1, max_size=20))
def test_modes_split_the_edges_and_a_cycle_is_one(graph: set[tuple[int, int]]) -> None:
    capture = capture_of([], sorted(graph))
    found = {mode: edges(capture, mode) for mode in MODES}
    assert pairs(capture, "full") == graph
    for suffix in ("", "-df"):
        assert pairs(capture, f"reduced{suffix}") | pairs(capture, f"omitted{suffix}") == graph
        assert not pairs(capture, f"reduced{suffix}") & pairs(capture, f"omitted{suffix}")
    full = found["full"]
    assert full.is_dag == nx.is_directed_acyclic_graph(nx.DiGraph(sorted(graph)))
    if not full.is_dag:
        assert found["omitted"].to_json()["shown"] == 0
        cycle = capture.tasks.task_id[full.cycle].tolist()
        assert set(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) <= graph
        assert len(set(cycle)) == len(cycle)
        assert "The graph has a cycle" in full.notes[0]


def test_a_long_cycle_is_named_short() -> None:
    capture = capture_of([], [(i, i % 500 + 1) for i in range(1, 501)])
    found = edges(capture)
    assert len(found.cycle) == 500
    assert found.notes[0].endswith("→ … (500 tasks).")
    assert len(found.notes[0]) < 250


def test_json_is_sorted_by_number() -> None:
    found = edges(capture_of([], [(10, 11), (9, 10), (2, 100), (2, 9)])).to_json()
    assert found == {
        "nodes": 5,
        "edges": 4,
        "shown": 4,
        "is_dag": True,
        "pairs": [["2", "9"], ["2", "100"], ["9", "10"], ["10", "11"]],
    }


def test_masks_can_be_reused() -> None:
    capture = capture_of([], [(1, 2), (2, 3), (1, 3)])
    masks = edge_masks(capture)
    assert [edges(capture, mode, masks).to_json()["shown"] for mode in MODES] == [3, 2, 1, 2, 1]
    assert edges(capture, "omitted", masks).frame().iloc[0][["pred", "succ"]].tolist() == ["1", "3"]


def test_not_available_and_wrong_mode() -> None:
    with pytest.raises(NotAvailable, match=r"deps\.json is missing"):
        edges(capture_of([(0, 1, 2, 1)], None))
    with pytest.raises(ParameterError, match="choose one of full"):
        edges(capture_of([], [(1, 2)]), "tidy")


def test_no_edges_at_all() -> None:
    capture = capture_of([(0, 1, 2, 1)], [])
    assert edges(capture, "reduced").to_json() == {"nodes": 1, "edges": 0, "shown": 0, "is_dag": True, "pairs": []}
    assert len(redundant_edges(capture)[0]) == 0


TENSORS = [
    {"tensor_id": "1", "buffer_addr": "4096", "version": 0, "dtype": "FLOAT32", "buffer_numel": "16"},
    {"tensor_id": "2", "buffer_addr": "4096", "version": 1, "dtype": "INT8", "buffer_numel": "64"},
    {"tensor_id": "3", "buffer_addr": "8192", "version": 0, "dtype": "FLOAT32", "buffer_numel": "16"},
]
VIEWS: list[dict[str, Any]] = [
    {"shape": [16], "start_offset": "0", "strides": [1]},
    {"shape": [8], "start_offset": "0", "strides": [1]},
    {"shape": [8], "start_offset": "8", "strides": [1]},
    {"shape": [2, 4], "start_offset": "0", "strides": [8, 1]},
    {"shape": [4, 2], "start_offset": "2", "strides": [4, 2]},
    {"shape": [17], "start_offset": "0", "strides": [1]},
    {},
]


def noted(pred: int, succ: int, source: str, arg: int = 0, tensor: str = "1", **views: int) -> dict[str, Any]:
    row: dict[str, Any] = {"pred": pred, "succ": succ, "arg": arg, "source": source, "tensor_id": tensor}
    for side, view in {"consumer": 0, **views}.items():
        row |= {f"{side}_{key}": value for key, value in VIEWS[view].items()}
    return row


def owner_and_users(types: dict[int, str]) -> list[dict[str, Any]]:
    return [
        {"task_id": str(task), "kernel_ids": [0, -1, -1], "args": [{"idx": 0, "type": types.get(task, "INOUT")}]}
        for task in (1, 2, 3, 4)
    ]


def data_flow(types: dict[int, str] | None = None, producer: int = 0, consumer: int = 0) -> Any:
    """Owner 1 of a buffer that 2, 3 and 4 update one after the other."""
    rows = [noted(1, task, "creator") for task in (2, 3, 4)]
    rows += [noted(a, b, "tensormap", producer=producer, consumer=consumer) for a, b in ((2, 3), (3, 4))]
    return capture_of([], rows, tasks=owner_and_users(types or {}), tensors=TENSORS)


def test_only_the_middle_of_an_update_chain_is_spared() -> None:
    assert pairs(data_flow(), "omitted-df") == {(1, 3)}
    assert pairs(data_flow(), "omitted") == set()
    assert pairs(data_flow(), "reduced-df") == {(1, 2), (1, 4), (2, 3), (3, 4)}


@pytest.mark.parametrize(
    "case",
    [
        {"types": {3: "OUTPUT_EXISTING"}},
        {"types": {3: "INPUT"}},
        {"types": {4: "INPUT"}},
        {"producer": 1},
        {"consumer": 3},
        {"producer": 5},
        {"producer": 6},
    ],
    ids=str,
)
def test_anything_less_keeps_the_edge(case: dict[str, Any]) -> None:
    assert pairs(data_flow(**case), "omitted-df") == set()


@UNTIMED
@given(st.integers(0, 2**32))
def test_data_flow_rule_equals_bytes(seed: int) -> None:
    """Mutations of an update chain 1 → 2 → 3 → 4 in which the middle edges are often, but not always, spared."""
    rng = random.Random(seed)

    def view() -> int:
        return rng.randrange(1, len(VIEWS)) if rng.random() < 0.15 else 0

    rows: list[dict[str, Any]] = []
    for (p, s), arg in itertools.product(itertools.combinations((1, 2, 3, 4), 2), range(rng.randint(1, 2))):
        source = "creator" if p == 1 else "tensormap"
        if rng.random() < 0.95:
            sides = {"consumer": view()} | ({"producer": view()} if source == "tensormap" else {})
            rows.append(noted(p, s, source, arg, "3" if rng.random() < 0.05 else str(arg + 1), **sides))
            if rng.random() < 0.1:
                rows[-1]["consumer_dtype"] = rng.choice(["FLOAT32", "INT8"])
    kinds = ["INOUT"] * 12 + ["INPUT", "OUTPUT_EXISTING"]
    tasks = [
        {
            "task_id": str(task),
            "kernel_ids": [0, -1, -1],
            "args": [{"idx": i, "type": rng.choice(kinds)} for i in (0, 1)],
        }
        for task in (1, 2, 3, 4)
    ]
    deps = {"tasks": tasks, "tensors": TENSORS, "edges": rows}
    assert pairs(capture_of([], rows, tasks=tasks, tensors=TENSORS), "omitted-df") == slow_omitted_df(deps)
