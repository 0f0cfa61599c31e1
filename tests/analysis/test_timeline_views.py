"""The timeline's questions on real captures and small built ones: lanes, search, highlights, lines, details, wire."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from analysis.capture import EARLY_YES, MISSING, Capture, PhaseLane, TaskKind
from analysis.errors import NotAvailable, NotFoundError
from analysis.formats import load
from analysis.results import task_names
from analysis.timeline.details import item_facts, maximum_lead, task_facts
from analysis.timeline.find import cell_summary, class_names, item_name, nearest, neighbour_in_lane, visible_table
from analysis.timeline.highlight import highlight_items, search_items
from analysis.timeline.items import ItemKind, View, available_views, view_items
from analysis.timeline.lines import PRED, SUCC, dependency_lines
from analysis.timeline.message import view_info, window_message
from analysis.timeline.query import build_index, index_from_store, stored_arrays
from components.swimlane.details import details
from tests.builders import Rec, capture
from tests.shared_data import capture_dir, capture_names, oracle, shared_params

SMALL = ["qwen3_14b_decode_device", "manual_scope_mid_l1", "dummy_only_l4", "pa_hostgraph_mid_l4", "mixed_example_l4"]


def read(name: str) -> Capture:
    return load(capture_dir(name))


@pytest.mark.parametrize("name", shared_params([n for n in SMALL if n in capture_names()]))
def test_every_row_of_every_table_is_an_item_once(name: str) -> None:
    run = read(name)
    worker = view_items(run, View.WORKER)
    assert (worker.kind == ItemKind.RECORD).sum() == len(run.records) == oracle(name)["records"]
    assert (worker.kind == ItemKind.UNMATCHED).sum() == len(run.unmatched)
    assert (worker.kind == ItemKind.PHASE).sum() == (run.phases.lane == PhaseLane.MARKER).sum()
    stamped = (run.records.dispatch_ticks != MISSING) & (run.records.finish_ticks != MISSING)
    assert len(view_items(run, View.SCHEDULER).track) == stamped.sum()
    assert len(view_items(run, View.PHASES).track) == (run.phases.lane != PhaseLane.MARKER).sum()
    assert len(view_items(run, View.ORCH).track) == len(run.orch) + len(run.uploads)
    for view in View:
        items = view_items(run, view)
        assert sum(lane.items for lane in items.lanes) == len(items.track)
        same = np.diff(items.track) == 0
        assert (items.start_ticks[1:][same] >= items.end_ticks[:-1][same]).all(), "items of a track never overlap"
        reason = available_views(run)[view]
        assert bool(reason) == (len(items.track) == 0)


@pytest.mark.parametrize("name", shared_params([n for n in SMALL if n in capture_names()]))
def test_the_whole_capture_in_one_window_counts_everything(name: str) -> None:
    run = read(name)
    for view in View:
        index = build_index(run, view)
        low, high = index.span_ticks
        got = index.query(low, high + 1, 1200, np.arange(index.n_tracks), 100_000)
        assert got.n_total == len(index)
        header_size = int.from_bytes(window_message(index, got, run, 100)[:4], "little")
        message = window_message(index, got, run, 100)
        header = json.loads(message[4 : 4 + header_size])
        assert (header["n_shown"], header["n_total"]) == (got.n_shown, len(index))
        last = header["arrays"][-1]
        sizes = {"u1": 1, "u2": 2, "u4": 4, "f8": 8}
        assert 4 + header_size + last["offset"] + sizes[last["dtype"]] * last["length"] <= len(message)
        assert (4 + header_size) % 8 == 0


def test_setup_hidden_starts_at_start() -> None:
    run = capture([Rec(1, 0, 100, 200, receive=60), Rec(2, 0, 300, 400, receive=220)])
    assert view_items(run, View.WORKER).start_ticks.tolist() == [60, 220]
    assert view_items(run, View.WORKER).middle_ticks.tolist() == [100, 300]
    assert view_items(run, View.WORKER, with_setup=False).start_ticks.tolist() == [100, 300]


def test_stored_arrays_carry_lanes_and_info() -> None:
    run = capture([Rec(1, 0, 100, 200), Rec(2, 1, 150, 250, func=1)])
    index = index_from_store(View.WORKER, stored_arrays(run, View.WORKER, True))
    info = view_info(run, index)
    assert [lane["key"] for lane in info["lanes"]][:2] == ["core:0", "core:1"]
    named = [{info["classes"][cls]["value"] for cls in lane["classes"]} for lane in info["lanes"]]
    assert named[:2] == [{0}, {1}]
    assert info["items"] == 2


def test_search_finds_items_by_name_and_nothing_for_blank() -> None:
    run = capture([Rec(1, 0, 0, 10), Rec(2, 1, 20, 30, func=3)])
    index = build_index(run, View.WORKER)
    name = run.meta.func_name(3)
    assert index.task[search_items(run, index, name)].tolist() == [1]
    assert not search_items(run, index, "  ").any()


def test_highlights_follow_the_analyses() -> None:
    run = capture([Rec(1, 0, 0, 10), Rec(2, 0, 20, 30), Rec(3, 1, 40, 50), Rec(9, 1, 60, 70)], [(1, 2), (2, 3)])
    index = build_index(run, View.WORKER)

    def tasks(spec: str) -> list[int]:
        return sorted(run.tasks.task_id[index.task[highlight_items(run, index, spec)]].tolist())

    assert tasks("task:2") == [2]
    assert tasks("chain:1") == tasks("chains") == [1, 2, 3]
    assert tasks("path:static") == [1, 2, 3]
    assert tasks("func:0") == [1, 2, 3, 9]
    with pytest.raises(NotFoundError, match="no task '77'"):
        highlight_items(run, index, "task:77")
    with pytest.raises(NotFoundError, match="chain starts"):
        highlight_items(run, index, "chain:2")
    with pytest.raises(NotFoundError, match="nothing that can be highlighted"):
        highlight_items(run, index, "nonsense")


def test_lines_join_tasks_once_from_the_earliest_block_with_violations_marked() -> None:
    records = [
        Rec(1, 0, 0, 100), Rec(1, 1, 5, 90), Rec(2, 2, 50, 120), Rec(2, 0, 130, 150), Rec(3, 1, 200, 220),
        Rec(4, 2, 300, 310),
    ]  # fmt: skip
    run = capture(records, [(1, 2), (2, 3), (3, 4), (1, 3)])
    index = build_index(run, View.WORKER)
    none = np.zeros(index.n_tracks, dtype=bool)

    def lines(
        task_id: int, depth: int, sides: str = "both", hidden: np.ndarray = none
    ) -> set[tuple[int, int, int, bool]]:
        found = dependency_lines(run, index, run.task_index(task_id), depth, sides, hidden, 100)
        ids = run.tasks.task_id
        return {
            (int(ids[index.task[a]]), int(ids[index.task[b]]), int(side), bool(bad))
            for a, b, side, bad in zip(found.from_item, found.to_item, found.side, found.violation, strict=True)
        }

    assert lines(2, 0) == set()
    assert lines(2, 1) == {(1, 2, PRED, True), (2, 3, SUCC, False)}
    assert lines(2, -1) == {(1, 2, PRED, True), (2, 3, SUCC, False), (3, 4, SUCC, False)}
    assert lines(3, 1, "pred") == {(2, 3, PRED, False), (1, 3, PRED, False)}
    first = dependency_lines(run, index, run.task_index(2), 1, "pred", none, 100)
    assert int(index.start_ticks[first.from_item[0]]) == 0
    hide = none.copy()
    hide[int(index.track_of(first.from_item)[0])] = True
    other = dependency_lines(run, index, run.task_index(2), 1, "pred", hide, 100)
    assert int(index.start_ticks[other.from_item[0]]) == 5
    everything = np.ones(index.n_tracks, dtype=bool)
    gone = dependency_lines(run, index, run.task_index(2), 1, "both", everything, 100)
    assert (gone.n_total, gone.n_hidden, len(gone.side)) == (2, 2, 0)
    capped = dependency_lines(run, index, run.task_index(3), -1, "both", none, 1)
    assert (capped.n_total, len(capped.side)) == (4, 1)


def test_cells_neighbours_and_nearest() -> None:
    run = capture([Rec(1, 0, 0, 10), Rec(2, 0, 20, 40), Rec(3, 1, 100, 110)])
    index = build_index(run, View.WORKER)
    found = cell_summary(index, 0, 0, 40, class_names(run, index))
    assert (found.n_items, found.classes[0][1]) == (2, 2)
    assert found.busy_share == pytest.approx(found.classes[0][2] / 40)
    first = index.position(ItemKind.RECORD, 0)
    second = neighbour_in_lane(index, first, 1)
    assert item_name(index, second) == "r1"
    assert neighbour_in_lane(index, second, 1) == -1
    assert neighbour_in_lane(index, first, -1) == -1
    assert item_name(index, nearest(index, np.array([0]), 30)) == "r1"
    assert item_name(index, nearest(index, np.array([1]), 0)) == "r2"
    assert nearest(index, np.array([], dtype=np.int32), 0) == -1


def test_csv_of_what_is_in_view_has_the_records_stamps() -> None:
    run = capture([Rec(1, 0, 100, 200, receive=60, dispatch=40, finish=230), Rec(2, 1, 500, 600)])
    index = build_index(run, View.WORKER)
    table = visible_table(run, index, np.arange(index.n_tracks, dtype=np.int32), 0, 300)
    assert table.cells("item") == ["r0"]
    assert table.cells("task_id") == ["1"]
    assert table.cells("start_ticks") == [100]
    assert table.cells("dispatch_us") == [pytest.approx(40 / run.meta.ticks_per_us)]
    empty = visible_table(run, index, np.arange(index.n_tracks, dtype=np.int32), 700, 800)
    assert empty.to_csv().count("\n") == 1


def test_details_of_record_and_task() -> None:
    run = capture(
        [Rec(1, 0, 100, 200), Rec(2, 1, 150, 260, receive=140, dispatch=120, finish=300)], [(1, 2)]
    )  # fmt: skip
    facts = item_facts(run, "r1")
    assert facts is not None
    assert dict(facts.stamps_ticks) == {"dispatch": 120, "receive": 140, "start": 150, "end": 260, "finish": 300}
    assert dict(facts.differences_ticks) == {
        "duration": 110, "setup": 10, "head": 30, "propagation": 20, "tail": 40, "latency": 180,
    }  # fmt: skip
    task = task_facts(run, run.task_index(2))
    assert [(n.task_id, n.wait_ticks, n.violation) for n in task.predecessors] == [("1", -50, True)]
    assert (task.n_predecessors, task.n_successors, task.blocks) == (1, 0, ("r1",))
    assert item_facts(run, "r99") is None
    assert item_facts(run, "x1") is None
    assert item_facts(run, "") is None


def test_missing_stamps_stay_missing() -> None:
    run = capture([Rec(1, 0, 100, 200)], level=1)
    facts = item_facts(run, "r0")
    assert facts is not None
    assert dict(facts.stamps_ticks)["dispatch"] is None
    assert dict(facts.differences_ticks)["latency"] is None
    assert available_views(run)[View.SCHEDULER].startswith("No dispatch")


def test_without_receive_stamps_setup_is_unknown_not_zero() -> None:
    run = capture([Rec(1, 0, 100, 200, dispatch=90, finish=210)])
    facts = item_facts(run, "r0")
    assert facts is not None
    assert dict(facts.stamps_ticks)["receive"] is None
    assert {dict(facts.differences_ticks)[part] for part in ("setup", "propagation")} == {None}
    assert dict(facts.differences_ticks)["head"] == 10
    assert dict(task_facts(run, 0).stamps_ticks) == {
        "dispatch": 90, "receive": None, "start": 100, "end": 200, "finish": 210,
    }  # fmt: skip
    index = build_index(run, View.WORKER)
    table = visible_table(run, index, np.arange(index.n_tracks, dtype=np.int32), 0, 1000)
    assert table.cells("receive_us") == [None]


def test_maximum_lead_says_why_there_is_none() -> None:
    run = capture([Rec(1, 0, 100, 200), Rec(2, 0, 300, 400)], [(1, 2)])
    with pytest.raises(NotAvailable, match="no early-dispatch target"):
        maximum_lead(run, run.task_index(2))


def test_maximum_lead_names_the_missing_stamp() -> None:
    def target(level: int, *records: Rec) -> tuple[Capture, int]:
        run = capture(records, [(1, 2)], tasks=(1, 2), early={1: EARLY_YES}, level=level)
        return run, run.task_index(2)

    with pytest.raises(NotAvailable, match="level 2 on"):
        maximum_lead(*target(1, Rec(1, 0, 100, 200), Rec(2, 0, 300, 400)))
    with pytest.raises(NotAvailable, match="no record with a dispatch"):
        maximum_lead(*target(2, Rec(1, 0, 100, 200)))
    with pytest.raises(NotAvailable, match="None of its predecessors"):
        maximum_lead(*target(2, Rec(2, 0, 300, 400)))
    assert maximum_lead(*target(2, Rec(1, 0, 100, 200, finish=230), Rec(2, 0, 300, 400, dispatch=150))) == (150, 230)


def node_id(outer: int, node: int) -> int:
    return (1 << 32) | (outer << 10) | node


def replayed(records: list[Rec], outers: tuple[int, ...], edges: tuple[tuple[int, int], ...] = ()) -> Capture:
    """A capture whose ring-1 tasks are nodes of the graph tasks ``outers``, without function ids."""
    run = capture(records, edges, kinds=dict.fromkeys(outers, TaskKind.GRAPH))
    ids = run.tasks.task_id.astype(np.int64)
    owner = [run.task_index((i & 0xFFFFFFFF) >> 10) if i >> 32 else -1 for i in ids.tolist()]
    func_id = np.where(np.array(owner) >= 0, -1, run.tasks.func_id).astype(np.int32)
    tasks = dataclasses.replace(run.tasks, outer=np.array(owner, dtype=np.int32), func_id=func_id)
    rows = dataclasses.replace(run.records, func_id=func_id[run.records.task])
    return dataclasses.replace(run, tasks=tasks, records=rows)


TWO_GRAPHS = [
    Rec(node_id(4, 1), 0, 100, 200, receive=60), Rec(node_id(4, 3), 1, 150, 320, receive=140),
    Rec(node_id(4, 3), 0, 210, 260, receive=205), Rec(node_id(5, 0), 2, 300, 350, receive=290), Rec(9, 2, 400, 450),
]  # fmt: skip


def test_graph_envelopes_last_from_first_start_to_last_end_of_the_nodes() -> None:
    run = replayed(TWO_GRAPHS, (4, 5, 6))
    index = build_index(run, View.WORKER)
    lane = index.lanes[-1]
    assert (lane.key, lane.label, lane.rows, lane.items) == ("graph:0", "Graph tasks", 2, 2)
    at = np.flatnonzero(index.kind == ItemKind.GRAPH)
    found = {int(run.tasks.task_id[index.task[p]]): (int(index.start_ticks[p]), int(index.end_ticks[p])) for p in at}
    assert found == {4: (100, 320), 5: (300, 350)}
    assert len(set(index.track_of(at).tolist())) == 2
    assert not (build_index(run, View.SCHEDULER).kind == ItemKind.GRAPH).any()
    without = dataclasses.replace(run, tasks=dataclasses.replace(run.tasks, outer=np.full(7, -1, dtype=np.int32)))
    plain = build_index(without, View.WORKER)
    assert len(plain) == len(index) - 2 == len(run.records)
    assert plain.overview.tolist() == index.overview.tolist(), "an envelope is not busy time"


def test_graph_envelopes_and_nodes_say_what_they_are() -> None:
    run = replayed(TWO_GRAPHS, (4, 5, 6), ((4, 5),))
    index = build_index(run, View.WORKER)
    table = visible_table(run, index, np.arange(index.n_tracks, dtype=np.int32), 0, 1000)
    names = dict(zip(table.cells("item"), table.cells("name"), strict=True))
    graph = {name: title for name, title in names.items() if name[0] == "g"}
    assert graph == {"g0": "graph t4", "g1": "graph t5"}
    assert sorted(names[f"r{row}"] for row in range(5)) == sorted(
        ["t4 node 1", "t4 node 3", "t4 node 3", "t5 node 0", run.meta.func_name(0)]
    )
    envelope, node = item_facts(run, "g0"), item_facts(run, "r0")
    assert envelope is not None
    assert node is not None
    assert (envelope.title, dict(envelope.stamps_ticks)) == ("graph t4", {"start": 100, "end": 320})
    assert (dict(envelope.differences_ticks)["duration"], dict(envelope.facts)["records of its nodes"]) == (220, 3)
    assert dict(task_facts(run, node.task).facts)["function, edges"].startswith("not known: deps.json names only")
    assert node.title == task_facts(run, node.task).name == "t4 node 1"
    assert item_facts(run, "g2") is None, "t6 has no node with a record"
    assert item_facts(run, f"g{run.task_index(9)}") is None
    assert task_names(run, np.arange(len(run.tasks))) == [run.task_name(task) for task in range(len(run.tasks))]
    lines = dependency_lines(run, index, 0, 1, "both", np.zeros(index.n_tracks, dtype=bool), 9)
    assert [item_name(index, int(p)) for p in (*lines.from_item, *lines.to_item)] == ["g0", "g1"]


def test_search_finds_graph_tasks_and_their_nodes() -> None:
    run = replayed(TWO_GRAPHS, (4, 5, 6))
    index = build_index(run, View.WORKER)

    def found(text: str) -> list[str]:
        return sorted(item_name(index, int(p)) for p in np.flatnonzero(search_items(run, index, text)))

    assert found("t4") == ["g0"]
    assert found("graph") == ["g0", "g1"]
    nodes = {label: [f"r{row}" for row in np.flatnonzero(run.records.task == run.task_index(task)).tolist()]
             for label, task in (("one", node_id(4, 1)), ("three", node_id(4, 3)))}  # fmt: skip
    assert found("T4 node 3") == nodes["three"]
    assert found("t4 node") == sorted(nodes["one"] + nodes["three"])
    assert found("t6 node") == found("t77 node 1") == []


GRAPHS = ["qwen3_graph_replay_l4", "graph_replay_2d_l4", "graph_replay_mix_spmd_l4"]


@pytest.mark.parametrize("name", shared_params([n for n in GRAPHS if n in capture_names()]))
def test_graph_envelopes_of_real_captures(name: str) -> None:
    run = read(name)
    items = view_items(run, View.WORKER)
    assert (items.kind == ItemKind.RECORD).sum() == len(run.records) == oracle(name)["records"]
    at = np.flatnonzero(items.kind == ItemKind.GRAPH)
    outers = np.flatnonzero(run.tasks.kind == TaskKind.GRAPH)
    assert sorted(items.task[at].tolist()) == outers.tolist()
    for p in at:
        stamps = dict(task_facts(run, int(items.task[p])).stamps_ticks)
        kind = run.meta.phase_kinds.index("graph_prepare") if "graph_prepare" in run.meta.phase_kinds else -1
        prepared = run.phases.start_ticks[(run.phases.kind == kind) & (run.phases.task == items.task[p])]
        assert items.start_ticks[p] == min([stamps["start"], *prepared.tolist()])
        assert items.end_ticks[p] == max(stamps["end"], stamps["finish"] or stamps["end"])
    node = int(np.flatnonzero(run.tasks.outer >= 0)[0])
    outer, task_id = int(run.tasks.outer[node]), int(run.tasks.task_id[node])
    assert run.task_name(node) == f"t{int(run.tasks.task_id[outer])} node {task_id & 1023}"


def test_a_graph_task_shows_the_envelope_of_its_nodes() -> None:
    first, second = node_id(7, 2), node_id(7, 5)
    run = replayed(
        [Rec(first, 0, 100, 200, receive=90, dispatch=80, finish=210), Rec(second, 1, 150, 260, finish=270)], (7, 8)
    )
    outer, node, without = (task_facts(run, run.task_index(i)) for i in (7, second, 8))
    assert dict(outer.stamps_ticks) == {"dispatch": 80, "receive": 90, "start": 100, "end": 260, "finish": 270}
    assert ("graph nodes with records", 2) in outer.facts
    assert [node.facts[-2], node.facts[-1]] == [("graph task", "t7"), ("graph node", 5)]
    assert set(dict(without.stamps_ticks).values()) == {None}


def test_a_task_the_graph_does_not_name_has_unknown_neighbours_not_none() -> None:
    run = capture([Rec(1, 0, 100, 200), Rec(2, 0, 300, 400)], [(1, 2)])
    known = task_facts(run, run.task_index(1))
    bare = dataclasses.replace(run.tasks, in_graph=np.zeros(len(run.tasks), dtype=np.bool_))
    unknown = task_facts(dataclasses.replace(run, tasks=bare), run.task_index(1))
    assert (known.has_graph, unknown.has_graph) == (True, False)
    shown, hidden = (str(details(None, facts, run.meta.us, {})) for facts in (known, unknown))
    assert "Fan-in (0)" in shown
    assert "Fan-in (" not in hidden
    assert "not captured: no deps.json names this task" in hidden


@pytest.mark.parametrize(
    "name",
    shared_params(
        [
            n
            for n in ("qwen3_14b_decode_device", "mixed_example_l4", "pa_hostgraph_mid_l4", *GRAPHS[:2])
            if n in capture_names()
        ]
    ),
)
def test_every_item_and_task_of_real_captures_has_details(name: str) -> None:
    run = read(name)
    for view in View:
        index = build_index(run, view)
        for position in range(0, len(index), max(1, len(index) // 40)):
            facts = item_facts(run, item_name(index, position))
            assert facts is not None
            assert facts.title
    for task in range(0, len(run.tasks), max(1, len(run.tasks) // 60)):
        facts = task_facts(run, task)
        assert facts.kind == TaskKind(int(run.tasks.kind[task])).name.lower()
        assert facts.n_predecessors == run.edges.in_offsets[task + 1] - run.edges.in_offsets[task]
