"""Are the ranks of a tree paired, placed and compared as the generated truth says?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import cli
from analysis.errors import NotFoundError
from analysis.formats import load
from analysis.ranks.compare import Placed, dispatch_table, heat, last_start, median_rank, order, place, straggler_table
from analysis.ranks.facts import RankFacts, rank_facts
from analysis.ranks.tree import RankTree, find_tree
from analysis.synth.ranks import RankPlan, write_ranks
from tests.shared_data import SHARED, needs_shared


def facts_of(tree: RankTree) -> dict[tuple[str, str], RankFacts]:
    return {(d.key, m.rank): rank_facts(load(m.path)) for d in tree.dispatches for m in d.members}


def rows(tree: RankTree, by_hand: str = "") -> list[dict[str, Any]]:
    return dispatch_table(tree, facts_of(tree), by_hand).to_records()


def test_known_skews_come_back(tmp_path: Path) -> None:
    plans = [
        [RankPlan(0), RankPlan(500), RankPlan(5_000, extra_ns=3_000), RankPlan(200)],
        [RankPlan(0, extra_ns=700), RankPlan(100), RankPlan(50), RankPlan(80)],
    ]
    tree = find_tree(write_ranks(tmp_path, plans))
    assert tree.problems == ()
    assert [(d.key, d.paired_by) for d in tree.dispatches] == [("run17.task0", "identity"), ("run17.task1", "identity")]
    first, second = rows(tree)
    assert (first["start_skew_us"], first["end_skew_us"], first["skew_pm_us"]) == (5.0, 8.0, 0.2)
    assert (first["slowest"], first["excess_us"], first["spent_on"], first["spent_us"]) == (
        "rank2",
        3.0,
        "all_reduce",
        3.0,
    )
    assert (second["start_skew_us"], second["slowest"], second["excess_us"]) == (0.1, "rank0", 0.7)
    stragglers = straggler_table(tree, facts_of(tree)).to_records()
    assert [(r["rank"], r["excess_us"], r["slowest"], r["last_start"]) for r in stragglers[:2]] == [
        ("rank2", 3.0, 1, 1),
        ("rank0", 0.7, 1, 0),
    ]
    assert heat(tree, facts_of(tree)).tolist() == [[0, 0.7], [0, 0], [3.0, 0], [0, 0]]


def test_pairing_follows_the_identity_and_never_the_directory_number(tmp_path: Path) -> None:
    tree = find_tree(write_ranks(tmp_path, [[RankPlan(), RankPlan()]] * 3))
    assert [[m.index for m in d.members] for d in tree.dispatches] == [[0, 1], [1, 2], [2, 3]]


def test_without_identity_directories_pair_and_the_table_says_so(tmp_path: Path) -> None:
    tree = find_tree(
        write_ranks(tmp_path / "a", [[RankPlan(), RankPlan(missing=True)], [RankPlan(), RankPlan()]], identity=False)
    )
    assert [(d.key, d.paired_by, d.missing) for d in tree.dispatches] == [
        ("d0", "directory", ("rank1",)),
        ("d1", "directory", ()),
    ]
    assert tree.dispatch("d1").members[1].rank == "rank1"
    with pytest.raises(NotFoundError, match="no dispatch 'd7'"):
        tree.dispatch("d7")


def test_a_missing_rank_is_named(tmp_path: Path) -> None:
    tree = find_tree(write_ranks(tmp_path, [[RankPlan(), RankPlan()], [RankPlan(), RankPlan(missing=True)]]))
    assert "1 of 2 captures are missing (group index 1)" in tree.problems[0]
    assert rows(tree)[1]["missing"] == ("rank1",)
    assert np.isnan(heat(tree, facts_of(tree))[1, 1])


def test_one_unavailable_clock_leaves_every_rank_at_its_own_zero(tmp_path: Path) -> None:
    tree = find_tree(write_ranks(tmp_path, [[RankPlan(), RankPlan(400, uncertainty_ns=None)]]))
    (row,) = rows(tree)
    assert (row["start_skew_us"], row["end_skew_us"]) == (None, None)
    assert row["axis"].startswith("each rank from its own zero: rank1: clock_alignment is unavailable: no host log")
    assert row["makespan_us"] is not None
    (by_hand,) = rows(tree, "r0t4")
    assert (by_hand["start_skew_us"], by_hand["axis"]) == (0.0, "aligned by hand on the first start of r0t4")
    (lost,) = rows(tree, "r0t999")
    assert "no task r0t999" in lost["axis"]


def test_two_programs_are_not_compared(tmp_path: Path) -> None:
    made = write_ranks(tmp_path, [[RankPlan(), RankPlan()]], identity=False, programs=["a", "b"])
    tree = find_tree(made)
    assert "different programs" in tree.problems[0]
    assert [len(d.members) for d in tree.dispatches] == [1, 1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"run_id": 0}, "run_id"),
        ({"group_size": True}, "group_size"),
        ({"group_index": 9}, "group_index"),
        ({"callable_digest": "AB" * 32}, "callable_digest"),
        ({"local_capture_index": 5}, "another directory"),
        ({"schema_version": 2}, "schema_version"),
    ],
)
def test_an_identity_that_breaks_a_rule_is_named_and_not_used(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    write_ranks(tmp_path, [[RankPlan(), RankPlan()]])
    file = tmp_path / "rank0" / "d0" / "dispatch_identity.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    tree = find_tree(tmp_path)
    assert any(words in problem and problem.startswith("rank0/d0/") for problem in tree.problems)
    assert [d.paired_by for d in tree.dispatches].count("directory") == 1


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "\xff"])
def test_a_damaged_sidecar_is_a_problem_and_no_error(tmp_path: Path, text: str) -> None:
    write_ranks(tmp_path, [[RankPlan()]], identity=False)
    (tmp_path / "rank0" / "d0" / "dispatch_program.json").write_bytes(text.encode("latin-1"))
    assert "dispatch_program.json" in find_tree(tmp_path).problems[0]


def test_nodes_above_ranks_are_part_of_the_label(tmp_path: Path) -> None:
    write_ranks(tmp_path / "dfx_outputs" / "network10", [[RankPlan()]], above="node0", identity=False)
    write_ranks(tmp_path / "dfx_outputs" / "network10", [[RankPlan()]], above="node1", identity=False)
    tree = find_tree(tmp_path)
    assert tree.ranks == ("network10/node0/rank0", "network10/node1/rank0")
    with pytest.raises(NotFoundError, match="no rankN/dN"):
        find_tree(tmp_path / "dfx_outputs" / "network10" / "node0" / "rank0")


@needs_shared
def test_the_node_case_is_one_tree_of_two_ranks() -> None:
    assert find_tree(SHARED / "cases" / "p_node").ranks == ("node0/rank0", "node1/rank0")


PLACED = st.builds(Placed, st.just("r"), st.integers(0, 60), st.integers(0, 20), st.integers(0, 20), st.integers(0, 50))


@given(PLACED, PLACED)
def test_order_is_claimed_only_where_the_intervals_are_apart(a: Placed, b: Placed) -> None:
    points = [range(p.start_ns - p.earlier_ns, p.start_ns + p.later_ns + 1) for p in (a, b)]
    always_before = all(x < y for x in points[0] for y in points[1])
    always_after = all(x > y for x in points[0] for y in points[1])
    assert order(a, b) == ("before" if always_before else "after" if always_after else "undecided")


def test_who_started_last_is_undecided_where_intervals_overlap(tmp_path: Path) -> None:
    tree = find_tree(write_ranks(tmp_path, [[RankPlan(0, uncertainty_ns=300), RankPlan(500, uncertainty_ns=300)]]))
    axis = place(tree.dispatches[0], facts_of(tree))
    assert (last_start(axis), median_rank(axis)) == ("", "rank0")


def test_facts_survive_the_store_and_the_busy_curve_is_right(tmp_path: Path) -> None:
    tree = find_tree(write_ranks(tmp_path, [[RankPlan(7)]], records=8, cores=2, identity=False))
    (facts,) = facts_of(tree).values()
    assert RankFacts.from_json(json.loads(json.dumps(facts.to_json()))) == facts
    assert (facts.makespan_ns, facts.records, facts.cores, facts.first_host_ns) == (3_900, 8, 2, 5_000_000_007)
    assert sum(facts.busy) / len(facts.busy) == pytest.approx(8 * 900 / (2 * 3_900), abs=1e-3)
    assert facts.function_ns == {"matmul": 3_600, "softmax": 2_700, "all_reduce": 900}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_ranks(tmp_path, [[RankPlan(), RankPlan(1_000)]])
    (tmp_path / "rank1" / "d1" / "chip_swimlane_records.json").write_text("{")
    assert cli.main(["ranks", str(tmp_path), "--format", "json"]) == 0
    shown = capsys.readouterr()
    assert "rank1/d1" in shown.err
    document = json.loads(shown.out)
    assert (document["ranks"], document["dispatches"][0]["not_read"]) == (["rank0", "rank1"], ["rank1"])


def test_no_rank_is_called_slow_when_none_is_above_the_median(tmp_path: Path) -> None:
    plans = [[RankPlan(extra_ns=200), RankPlan(extra_ns=200), RankPlan()]]
    (row,) = rows(find_tree(write_ranks(tmp_path, plans)))
    assert (row["excess_us"], row["slowest"], row["spent_on"]) == (0.0, None, None)
