"""Search, neighbours, annotations, arguments and exports of the graph in words."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.capture import Capture
from analysis.graph.neighbourhood import adjacency
from analysis.graph.text import (
    annotation_rows,
    arg_rows,
    dot,
    edge_index,
    edges_csv,
    neighbour_rows,
    wait_us,
)
from tests.analysis.dag_builder import UNTIMED, capture_of
from tests.builders import Rec, capture

R1T5 = (1 << 32) + 5


def tensors_capture() -> Capture:
    """r1t5 makes T0 for task 7; one creator and one explicit row on the same edge."""
    view = {
        "consumer_dtype": "FLOAT32",
        "consumer_shape": [4, 8],
        "consumer_start_offset": "16",
        "consumer_strides": [8, 1],
    }
    rows = [
        {"pred": str(R1T5), "succ": "7", "arg": 0, "source": "creator", "flags": ["wait"], "tensor_id": "900", **view},
        {"pred": str(R1T5), "succ": "7", "arg": -1, "source": "explicit", "flags": ["wait", "retain"]},
    ]
    args = [
        {
            "idx": 0,
            "type": "INPUT",
            "tensor_id": "900",
            "dtype": "FLOAT32",
            "shape": [4, 8],
            "start_offset": "16",
            "strides": [8, 1],
        }
    ]
    tasks = [
        {"task_id": str(R1T5), "kernel_ids": [0, -1, -1], "args": [{"idx": 0, "type": "OUTPUT"}]},
        {"task_id": "7", "kernel_ids": [1, -1, -1], "args": args},
    ]
    tensors = [{"tensor_id": "900", "buffer_addr": "4096", "version": 0, "dtype": "FLOAT32", "buffer_numel": "64"}]
    return capture_of([(0, 10, 20, R1T5), (0, 25, 30, 7)], rows, tasks=tasks, tensors=tensors)


def test_who_feeds_and_who_uses_with_tensors_and_wait() -> None:
    made = tensors_capture()
    late, early = made.task_index(7), made.task_index(R1T5)
    rows, total = neighbour_rows(made, late, "feeds", 1, adjacency(made), 10)
    assert total == 1
    assert (rows[0].task, rows[0].distance, rows[0].sources, rows[0].tensors) == (
        early,
        1,
        ("creator", "explicit"),
        ("T0",),
    )
    assert rows[0].wait_us == pytest.approx(0.1)
    uses, _ = neighbour_rows(made, early, "uses", -1, adjacency(made), 10)
    assert [row.task for row in uses] == [late]
    assert neighbour_rows(made, late, "uses", -1, adjacency(made), 10) == ([], 0)


def test_a_self_edge_is_no_neighbour_and_the_limit_keeps_the_total() -> None:
    made = capture(edges=[(1, 1), *((1, t) for t in range(2, 30))])
    rows, total = neighbour_rows(made, 0, "uses", 1, adjacency(made), 5)
    assert (len(rows), total) == (5, 28)
    assert all(row.task != 0 for row in rows)


def test_a_negative_wait_is_a_violation_and_a_missing_one_is_none() -> None:
    made = capture([Rec(1, 0, 0, 100), Rec(2, 1, 50, 120)], [(1, 2), (2, 3)])
    assert wait_us(made, 0, 1) == -1.0
    assert wait_us(made, 1, 2) is None


def test_annotations_say_argument_source_flags_and_shapes() -> None:
    made = tensors_capture()
    edge = edge_index(made, made.task_index(R1T5), made.task_index(7))
    creator, explicit = annotation_rows(made, edge)
    assert (creator["arg"], creator["source"], creator["flags"], creator["authoritative"]) == (
        0,
        "creator",
        "wait",
        True,
    )
    assert creator["tensor"] == "T0 FLOAT32"
    assert creator["consumer"] == "FLOAT32 [4, 8] strides [8, 1] offset 16"
    assert (explicit["source"], explicit["flags"], explicit["authoritative"]) == ("explicit", "wait retain", False)
    assert (explicit["tensor"], explicit["consumer"], explicit["producer"]) == (None, None, None)
    assert edge_index(made, made.task_index(7), made.task_index(R1T5)) == -1


def test_arguments_show_what_the_file_holds_and_none_elsewhere() -> None:
    made = tensors_capture()
    given_row = arg_rows(made, made.task_index(7))[0]
    assert given_row == {
        "idx": 0,
        "direction": "INPUT",
        "tensor": "T0",
        "inferred": False,
        "dtype": "FLOAT32",
        "shape": [4, 8],
        "strides": [8, 1],
        "offset": 16,
    }
    inferred = arg_rows(made, made.task_index(R1T5))[0]
    assert (inferred["tensor"], inferred["inferred"], inferred["shape"]) == ("T0", True, None)


@UNTIMED
@given(pairs=st.sets(st.tuples(st.integers(1, 8), st.integers(1, 8)), max_size=20))
def test_csv_and_dot_hold_every_edge_once(pairs: set[tuple[int, int]]) -> None:
    made = capture(edges=sorted(pairs), tasks=range(1, 9))
    every = np.arange(len(made.edges), dtype=np.int32)
    rows = list(csv.DictReader(io.StringIO("".join(edges_csv(made, every)))))
    assert [(int(row["pred"]), int(row["succ"])) for row in rows] == sorted(pairs)
    text = "".join(dot(made, every))
    arrows = re.findall(r'"(\d+)" -> "(\d+)"', text)
    assert sorted((int(a), int(b)) for a, b in arrows) == sorted(pairs)
    assert len(re.findall(r"\[label=", text)) == 8


def test_names_cannot_break_csv_or_dot() -> None:
    name = 'a"b,c\\d\ne'
    made = capture([Rec(1, 0, 1, 2), Rec(2, 0, 3, 4)], [(1, 2)], names={0: name})
    row = next(csv.DictReader(io.StringIO("".join(edges_csv(made, np.zeros(1, np.int32))), newline="")))
    assert row["pred_name"] == name
    text = "".join(dot(made, np.zeros(1, np.int32)))
    assert r'label="a\"b,c\\d e\nt1"' in text
