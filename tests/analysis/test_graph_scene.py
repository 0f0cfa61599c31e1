"""Is every edge of the file accounted for, whatever is drawn? Do groups cover every task once?"""

from __future__ import annotations

import functools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.capture import Capture
from analysis.errors import NotAvailable
from analysis.formats import load
from analysis.graph.layers import longest_path_layers
from analysis.graph.neighbourhood import adjacency
from analysis.graph.reduction import MODES, edges
from analysis.graph.scene import (
    MAX_ELEMENTS,
    Scene,
    around_scene,
    build_scene,
    fits_whole,
    path_scene,
    summary_scene,
    whole_scene,
)
from analysis.graph.summary import Partition, backward_edges, group_exec_us, levels, partition, summarise
from tests.analysis.dag_builder import UNTIMED
from tests.builders import Rec, capture
from tests.shared_data import capture_dir, capture_names, shared_params

PAIRS = st.sets(st.tuples(st.integers(1, 12), st.integers(1, 12)), min_size=1, max_size=40)


@functools.cache
def capture_at(name: str) -> Capture:
    return load(capture_dir(name))


def check(made: Capture, scene: Scene) -> None:
    """Drawn + not drawn = edges of the file; lines and nodes as the assignment says; under the cap."""
    count = scene.edges
    assert count.visible + count.not_drawn == count.total == len(made.edges)
    assert int(scene.line_count.sum()) == count.visible
    assert int((scene.line_edge >= 0).sum()) == count.drawn
    assert scene.n_elements <= MAX_ELEMENTS
    assert (scene.task[: scene.n_tasks] >= 0).all()
    assert (scene.task[scene.n_tasks :] == -1).all()
    for line in np.flatnonzero(scene.line_edge >= 0).tolist():
        edge = int(scene.line_edge[line])
        assert scene.task[scene.line_pred[line]] == made.edges.pred[edge]
        assert scene.task[scene.line_succ[line]] == made.edges.succ[edge]


def parts_of(made: Capture) -> Partition:
    return partition(made, levels(made))


@pytest.mark.parametrize("name", shared_params(capture_names()))
def test_every_edge_of_every_capture_is_accounted_for_in_every_mode_and_scope(name: str) -> None:
    made = capture_at(name)
    parts = parts_of(made)
    middle = np.array([int(np.flatnonzero(made.tasks.in_graph).mean())] if made.tasks.in_graph.any() else [], np.int32)
    first = summary_scene(made, parts)
    assert first.n_represented == int(made.tasks.in_graph.sum())
    biggest = max(first.groups, key=lambda group: group.n_tasks, default=None)
    opened = (biggest.key,) if biggest else ()
    for mode in MODES:
        try:
            selection = edges(made, mode)
        except NotAvailable:
            assert not made.meta.has_deps
            continue
        keep = np.zeros(len(made.edges), bool)
        keep[selection.edge] = True
        scenes = [
            whole_scene(made, keep),
            summary_scene(made, parts, keep=keep),
            summary_scene(made, parts, opened, middle, keep),
            *(around_scene(made, int(task), 2, adjacency(made), keep) for task in middle),
        ]
        for scene in scenes:
            check(made, scene)
            assert scene.edges.left_out == len(made.edges) - len(selection.edge)
        if fits_whole(made):
            assert scenes[0].edges.drawn == len(selection.edge)
            assert scenes[0].n_tasks == selection.nodes


@UNTIMED
@given(pairs=PAIRS, data=st.data())
def test_any_set_of_tasks_accounts_for_every_edge(pairs: set[tuple[int, int]], data: st.DataObject) -> None:
    made = capture(edges=sorted(pairs))
    chosen = data.draw(st.sets(st.integers(0, len(made.tasks) - 1)))
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))), dtype=bool)
    tasks = np.array(sorted(chosen), np.int32)
    scene = build_scene(made, "around", tasks, keep=keep)
    check(made, scene)
    ids = [int(i) for i in made.tasks.task_id]
    inside = [(p, s) for p, s in sorted(pairs) if ids.index(p) in chosen and ids.index(s) in chosen]
    kept = {pair for pair, flag in zip(sorted(pairs), keep, strict=True) if flag}
    assert scene.edges.drawn == len([pair for pair in inside if pair in kept])
    assert len(scene.frame_pred) == len(inside)


@UNTIMED
@given(pairs=PAIRS, groups=st.integers(1, 6), data=st.data())
def test_groups_hold_every_task_once_and_bundles_count_their_edges(
    pairs: set[tuple[int, int]], groups: int, data: st.DataObject
) -> None:
    made = capture([Rec(t, 0, 10 * t, 10 * t + 5, func=t % 3) for t in range(1, 13)], sorted(pairs))
    parts = parts_of(made)
    summary = summarise(made, parts, max_groups=groups, max_tasks=100)
    members = np.concatenate([summary.tasks, *(parts.order[group.first : group.last] for group in summary.closed)])
    assert sorted(members.tolist()) == np.flatnonzero(made.tasks.in_graph).tolist()
    for group in summary.closed:
        own = parts.order[group.first : group.last]
        assert set(made.tasks.func_id[own].tolist()) == {group.func_id}
        assert parts.level[own].min() == group.level_lo
        assert parts.level[own].max() == group.level_hi
    keys = [group.key for group in summary.closed]
    opened = data.draw(st.sets(st.sampled_from(keys))) if keys else set()
    scene = summary_scene(made, parts, tuple(sorted(opened)), max_groups=groups)
    check(made, scene)
    assert scene.n_represented == 12
    assert not {group.key for group in scene.groups} & opened
    node_of = {int(task): i for i, task in enumerate(scene.task[: scene.n_tasks])}
    for i, group in enumerate(scene.groups):
        node_of |= {int(t): scene.n_tasks + i for t in parts.order[group.first : group.last]}
    lines: dict[tuple[int, int], int] = {}
    for pred, succ in zip(made.edges.pred.tolist(), made.edges.succ.tolist(), strict=True):
        pair = (node_of[pred], node_of[succ])
        if pair[0] != pair[1] or pair[0] < scene.n_tasks:
            lines[pair] = lines.get(pair, 0) + 1
    drawn = zip(scene.line_pred.tolist(), scene.line_succ.tolist(), scene.line_count.tolist(), strict=True)
    assert {(pred, succ): count for pred, succ, count in drawn} == lines


@UNTIMED
@given(pairs=PAIRS)
def test_depth_is_the_longest_path_and_stays_when_groups_open(pairs: set[tuple[int, int]]) -> None:
    made = capture(edges=sorted(pairs))
    found = levels(made)
    assert found.tolist() == longest_path_layers(len(made.tasks), made.edges.pred, made.edges.succ).layer.tolist()


@UNTIMED
@given(pairs=PAIRS)
def test_edges_lead_back_only_where_there_is_a_cycle(pairs: set[tuple[int, int]]) -> None:
    made = capture(edges=sorted(pairs))
    assert (backward_edges(made, levels(made)) == 0) == nx.is_directed_acyclic_graph(nx.DiGraph(pairs))


def test_a_big_group_opens_step_by_step_down_to_tasks() -> None:
    made = capture(edges=[(1, t) for t in range(2, 3_002)])
    parts = parts_of(made)
    opened: list[str] = []
    for _ in range(4):
        scene = summary_scene(made, parts, tuple(opened))
        check(made, scene)
        if scene.n_tasks:
            break
        opened.append(min(scene.groups, key=lambda group: (-group.level_lo, group.first)).key)
    assert 0 < scene.n_tasks <= 150
    assert scene.n_represented == 3_001


def test_opening_more_than_fits_keeps_groups_closed_and_says_so() -> None:
    pairs = [(1 + 100 * k + i, 1 + 100 * (k + 1) + i) for k in range(39) for i in range(100)]
    made = capture(edges=pairs)
    parts = parts_of(made)
    keys = [group.key for group in summarise(made, parts, max_groups=100, max_tasks=0).closed]
    closer = tuple(keys)
    for _ in range(3):
        summary = summarise(made, parts, closer, max_groups=10, max_tasks=1_000)
        closer = tuple({*closer, *(group.key for group in summary.closed)})
    scene = summary_scene(made, parts, closer, max_groups=10)
    check(made, scene)
    assert any("stays closed" in note for note in scene.notes)
    assert scene.n_represented == 4_000


def test_unknown_keys_of_an_old_link_are_named() -> None:
    made = capture(edges=[(1, 2)])
    scene = summary_scene(made, parts_of(made), ("f99.0-3",))
    assert any("f99.0-3" in note for note in scene.notes)


def test_the_element_cap_drops_lines_and_counts_them() -> None:
    made = capture(edges=[(p, 1000 + s) for p in range(1, 65) for s in range(64)])
    scene = whole_scene(made)
    check(made, scene)
    assert scene.n_elements == MAX_ELEMENTS
    assert scene.edges.over_cap == 4_096 - (MAX_ELEMENTS - 128)
    assert any("no line" in note for note in scene.notes)


def test_a_self_edge_is_a_line_of_its_own_and_never_inside() -> None:
    made = capture(edges=[(1, 1), (1, 2)])
    scene = build_scene(made, "all", np.array([0, 1], np.int32))
    assert scene.edges.drawn == 2
    assert scene.edges.inside == 0


def test_group_time_is_the_sum_of_its_records_and_missing_without_records() -> None:
    made = capture([Rec(1, 0, 0, 50), Rec(2, 1, 0, 100)], [(3, 1), (4, 2)])
    parts = parts_of(made)
    times = {group.name: group_exec_us(made, parts, group) for group in summarise(made, parts, max_tasks=0).closed}
    assert sorted(times.values(), key=str) == [3.0, None]


def test_a_path_keeps_its_order_and_names_its_steps() -> None:
    made = capture([Rec(t, 0, 10 * t, 10 * t + 5) for t in (1, 2, 3)], [(3, 1)])
    scene = path_scene(made, np.array([2, 0, 1], np.int32), (None, "data-wait", "core-wait"))
    check(made, scene)
    assert scene.task.tolist() == [2, 0, 1]
    assert scene.steps == ("data-wait", "core-wait")
    assert scene.edges.drawn == 1
    short = path_scene(made, np.array([2, 0, 1], np.int32), (None, "data-wait", "core-wait"), max_nodes=2)
    assert (short.n_tasks, short.steps) == (2, ("data-wait",))
    assert any("first 2 of 3" in note for note in short.notes)
