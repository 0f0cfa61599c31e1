"""Every data-quality code has a fixture that shows exactly that finding, and healthy files show none."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from analysis import formats
from analysis.capture import MISSING, Capture, TaskKind
from analysis.errors import InputError
from analysis.formats.report import INFORMATION, MESSAGES

DATA = Path(__file__).parents[1] / "data"
SIBLING_NAMES = {"deps": "deps.json", "name_map": "name_map_Case.json", "cpm": "CPM_static.json"}
SWIMLANES = ("chip", "l2_cycles", "unified", "us", "host", "launches", "rings", "hostgraph")

# (fixture, finding, count, place or "" where the finding names none)
EXPECTED = [
    ("chip/unmatched_aicore", "unmatched_aicore", 1, "core 2"),
    ("chip/unmatched_aicpu", "unmatched_aicpu", 1, "core 3"),
    ("chip/duplicate_key", "duplicate_key", 2, "AICore core 0"),
    ("chip/reserved_row", "reserved_row", 1, "core 1"),
    ("chip/wrong_type", "wrong_type", 1, "aicore_tasks[0]"),
    ("chip/short_row", "wrong_type", 1, "aicore_tasks[3]"),
    ("chip/wrong_phase", "wrong_type", 1, "aicpu_scheduler_phases[0][3]"),
    ("chip/out_of_range", "out_of_range", 1, "aicore_tasks[5]"),
    ("chip/negative_core", "out_of_range", 1, "aicore_tasks"),
    ("chip/extra_columns", "extra_columns", 1, "aicpu_tasks"),
    ("chip/order_violation", "order_violation", 1, "core 2"),
    ("chip/negative_length", "negative_length", 1, "core 3"),
    ("chip/negative_phase", "negative_length", 1, "scheduler 1"),
    ("chip/zero_length", "zero_length", 1, "core 3"),
    ("chip/overlap", "overlap", 1, "core 2"),
    ("chip/unknown_kind", "unknown_kind", 1, "scheduler teleport"),
    ("chip/unknown_core", "unknown_core", 2, "core 6"),
    ("chip/core_count_mismatch", "core_count_mismatch", 1, ""),
    ("chip/level_too_low", "level_mismatch", 1, ""),
    ("chip/level_too_high", "level_mismatch", 1, ""),
    ("chip/missing_stamps", "missing_stamps", 1, "core 3"),
    ("unified/truncated_stream", "truncated_stream", 3, "scheduler 5"),
    ("unified/lost_metrics", "lost_metrics", 1, "scheduler_records.streams[0]"),
    ("us/wrong_type", "wrong_type", 1, "tasks[3]"),
    ("us/reserved_row", "reserved_row", 1, "core 0"),
    ("us/missing_stamps", "missing_stamps", 1, "core 3"),
    ("us/healthy", "assumed_tolerance", 1, ""),
    ("us/healthy", "fanout_edges", 2, ""),
    ("host/host_dropped", "host_dropped", 4, ""),
    ("host/separate_clocks", "separate_clocks", 1, ""),
    ("host/outside_anchors", "separate_clocks", 1, ""),
    ("launches/dropped_launches", "dropped_launches", 2, ""),
    ("launches/unsplit_rows", "unsplit_rows", 32, ""),
    ("host/host_dropped", "host_capture", 1, ""),
    ("chip/no_rows", "no_rows", 1, ""),
    ("rings/far_stamp", "far_stamp", 1, "core 1"),
    ("rings/corrupt_id", "corrupt_id", 1, f"epoch 7 core 3: {1 << 40 | 5}"),
    ("rings/sentinel", "corrupt_id", 1, f"epoch 7 core 3: {2**64 - 1}"),
    ("hostgraph/corrupt_id", "corrupt_id", 1, f"epoch 7 core 0: {3 << 62 | 5}"),
    ("rings/unknown_runtime", "unknown_runtime", 1, ""),
    ("rings/strange_runtime", "unknown_runtime", 1, ""),
    ("rings/rows_by_time", "rows_by_time", 10, "scheduler_tasks"),
    ("rings/epoch_without_boundary", "epoch_without_boundary", 18, "epoch 7"),
    ("rings/epoch_without_boundary", "empty_launch", 1, "epoch 6"),
    ("rings/repeated_boundary", "repeated_boundary", 1, "epoch 7"),
    ("rings/stream_id", "stream_id", 1, "scheduler_records.streams[1]"),
    ("rings/frequency_mismatch", "frequency_mismatch", 1, ""),
    ("rings/incomplete_collection", "incomplete_collection", 1, ""),
    ("hostgraph/no_alignment", "separate_clocks", 1, ""),
    ("hostgraph/clock_alignment", "clock_alignment", 1, ""),
    ("hostgraph/clock_alignment", "separate_clocks", 1, ""),
    ("hostgraph/host_capture", "host_capture", 1, ""),
    ("hostgraph/incomplete", "host_capture", 1, ""),
    ("hostgraph/no_host_capture", "host_capture", 1, ""),
    ("chip/healthy", "missing_deps", 1, ""),
    ("chip/healthy", "missing_name_map", 1, ""),
    ("deps/hb_violation", "hb_violation", 1, ""),
    ("deps/dangling_edge", "dangling_edge", 1, ""),
    ("deps/self_edge", "self_edge", 1, ""),
    ("deps/dangling_tensor", "dangling_tensor", 1, ""),
    ("deps/duplicate_task", "duplicate_task", 1, ""),
    ("deps/unknown_value", "unknown_value", 1, "telepathy"),
    ("deps/graph_mismatch", "graph_mismatch", 1, ""),
    ("deps/graph_mismatch", "unresolved_function", 1, "deps.json does not list the task"),
    ("deps/unresolved_function", "unresolved_function", 1, "the task has no kernel for this core type"),
    ("deps/assumed_aiv_slot", "assumed_aiv_slot", 1, ""),
    ("deps/missing_flags", "missing_flags", 1, ""),
    ("deps/wrong_type", "wrong_type", 1, "edges[1]"),
    ("deps/out_of_range", "out_of_range", 1, "edges"),
    ("name_map/wrong_type", "wrong_type", 2, "name map"),
    ("cpm/dangling_path_task", "dangling_path_task", 1, ""),
]
MORE = {
    # What else a fixture cannot help showing, besides its own finding.
    "chip/negative_length": {"order_violation"},
    "launches/unsplit_rows": {"duplicate_key", "overlap"},
}
ABSENT = {"missing_deps", "missing_name_map", "assumed_tolerance", "fanout_edges", "graph_nodes"}
"""Information every lone swimlane fixture shows."""


def place(fixture: str, folder: Path) -> Path:
    """Put the fixture, and for siblings the healthy swimlane (and graph) beside it, into ``folder``."""
    kind, _ = fixture.split("/")
    source = DATA / f"{fixture}.json"
    if kind in SWIMLANES:
        shutil.copy(source, folder / "chip_swimlane_records.json")
    else:
        shutil.copy(DATA / "chip" / "healthy.json", folder / "chip_swimlane_records.json")
        shutil.copy(DATA / "deps" / "healthy.json", folder / "deps.json")
        shutil.copy(source, folder / SIBLING_NAMES[kind])
    return folder


def load(fixture: str, folder: Path, launch: int = 0) -> Capture:
    return formats.load(place(fixture, folder), launch)


def findings(capture: Capture) -> dict[str, int]:
    return {notice.code: notice.count for notice in capture.meta.notices}


@pytest.mark.parametrize(("fixture", "code", "count", "where"), EXPECTED)
def test_each_quirk_is_found_once_and_named(fixture: str, code: str, count: int, where: str, tmp_path: Path) -> None:
    capture = load(fixture, tmp_path)
    notice = next((n for n in capture.meta.notices if n.code == code), None)
    assert notice is not None, findings(capture)
    assert notice.count == count
    if where:
        assert where in notice.detail
    if "{count}" in MESSAGES[code]:
        assert str(count) in notice.message


@pytest.mark.parametrize("fixture", sorted({fixture for fixture, *_ in EXPECTED}))
def test_a_quirk_shows_nothing_else(fixture: str, tmp_path: Path) -> None:
    own = {code for name, code, *_ in EXPECTED if name == fixture} | MORE.get(fixture, set())
    assert set(findings(load(fixture, tmp_path))) - ABSENT <= own


def test_every_code_has_a_fixture() -> None:
    # Those need several files, or text that json cannot write, and have tests of their own.
    elsewhere = {"graph_nodes", "missing_swimlane", "unreadable_file"}  # below
    elsewhere |= {"duplicate_json_key", "too_many_damaged", "runtime_mismatch", "foreign_names", "unfinished_file"}
    assert set(MESSAGES) - {code for _, code, *_ in EXPECTED} == elsewhere | {"unmarked_dummy"}  # test_newest


@pytest.mark.parametrize("kind", SWIMLANES)
def test_healthy_files_have_no_defect(kind: str, tmp_path: Path) -> None:
    for launch in range(2 if kind == "launches" else 1):
        assert set(findings(load(f"{kind}/healthy", tmp_path, launch))) <= INFORMATION


def test_unmatched_rows_are_kept_apart(tmp_path: Path) -> None:
    capture = load("chip/unmatched_aicore", tmp_path)
    assert len(capture.records) == 4
    assert capture.unmatched.core_id.tolist() == [2]
    assert capture.unmatched.start_ticks.tolist() == [30]
    assert capture.task_index(int(capture.unmatched.task_id[0])) >= 0


def test_duplicate_keys_pair_in_file_order(tmp_path: Path) -> None:
    records = load("chip/duplicate_key", tmp_path).records
    assert records.reg_id[:2].tolist() == [1, 1]
    assert records.dispatch_ticks[:2].tolist() == [5, 36]


def test_wrong_rows_leave_the_others_as_they_are(tmp_path: Path) -> None:
    good = load("chip/healthy", tmp_path).records
    for fixture in ("chip/wrong_type", "chip/short_row", "chip/out_of_range", "chip/negative_core", "chip/string_ids"):
        other = load(fixture, tmp_path).records
        for name in (
            "core_id",
            "reg_id",
            "start_ticks",
            "end_ticks",
            "receive_ticks",
            "dispatch_ticks",
            "finish_ticks",
        ):
            assert getattr(other, name).tolist() == getattr(good, name).tolist(), (fixture, name)


def test_five_columns_mean_no_setup(tmp_path: Path) -> None:
    records = load("chip/five_columns", tmp_path).records
    assert records.receive_ticks.tolist() == records.start_ticks.tolist()


def test_the_largest_id_survives(tmp_path: Path) -> None:
    capture = load("chip/largest_id", tmp_path)
    assert capture.task_index(2**64 - 1) == len(capture.tasks) - 1
    assert int(capture.tasks.task_id[-1]) == 2**64 - 1


def test_a_level_is_inferred_where_none_is_named(tmp_path: Path) -> None:
    assert load("chip/no_level", tmp_path).meta.level == 4


def test_no_clock_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        load("chip/no_clock", tmp_path)
    assert error.value.place == "metadata.clock_freq_hz"
    assert "50000000" in error.value.remedy


def test_no_rows_is_a_capture_too(tmp_path: Path) -> None:
    (tmp_path / "chip_swimlane_records.json").write_text((DATA / "chip" / "bare_minimum.json").read_text())
    capture = formats.load(tmp_path)
    assert len(capture.records) == 0
    assert capture.makespan_ticks is None
    assert capture.meta.level == 1


def test_legacy_kinds_are_known_and_keep_their_lane(tmp_path: Path) -> None:
    capture = load("chip/legacy_kinds", tmp_path)
    assert "unknown_kind" not in findings(capture)
    lanes = {
        capture.meta.phase_kinds[k]: int(lane) for k, lane in zip(capture.phases.kind, capture.phases.lane, strict=True)
    }
    assert lanes["fanout"] == 1
    assert lanes["prestage"] == 0


def test_unified_streams_keep_their_ids_and_metrics(tmp_path: Path) -> None:
    capture, plain = load("unified/healthy", tmp_path), None
    assert capture.meta.scheduler_streams == (0, 5)
    assert sorted(set(capture.phases.stream.tolist())) == [0, 5]
    folder = tmp_path / "plain"
    folder.mkdir()
    plain = load("chip/healthy", folder)
    first = capture.phases.pop_hit[capture.phases.stream == 5].tolist()
    assert first == plain.phases.pop_hit[plain.phases.stream == 0].tolist()
    depth = capture.phases.shared_start[capture.phases.stream == 5].tolist()
    assert depth == plain.phases.shared_start[plain.phases.stream == 0].tolist()


def test_an_aicore_producer_leaves_no_aicpu_stamps(tmp_path: Path) -> None:
    capture = load("unified/producer_aicore", tmp_path)
    assert len(capture.records) == 5
    assert (capture.records.dispatch_ticks == MISSING).all()
    assert not set(findings(capture)) - INFORMATION


def test_a_trailing_epoch_column_is_read(tmp_path: Path) -> None:
    capture = load("unified/run_epoch", tmp_path)
    assert len(capture.records) == 5
    assert capture.meta.launches == 1


def test_launches_are_split_by_boundary(tmp_path: Path) -> None:
    first, second = load("launches/healthy", tmp_path, 0), load("launches/healthy", tmp_path, 1)
    assert (first.meta.launches, second.meta.launch) == (2, 1)
    assert len(first.records) == len(second.records) == 5
    assert first.meta.capture_id != second.meta.capture_id
    assert (second.records.end_ticks - second.records.start_ticks).tolist() == [
        length + 1 for length in (first.records.end_ticks - first.records.start_ticks).tolist()
    ]
    assert len(first.phases) == len(second.phases) == 4


def test_host_times_are_interpolated_between_the_best_anchors(tmp_path: Path) -> None:
    capture = load("host/healthy", tmp_path)
    clock = capture.meta.host_clock
    assert clock is not None
    assert clock.merged
    assert clock.uncertainty_ns == 21  # half of 41, rounded up
    # anchors: host 49000.5 ↔ 900, host 59000.5 ↔ 1400: 20 ns per cycle
    assert (capture.orch.start_ticks + capture.meta.zero_ticks).tolist() == [950, 970]
    assert capture.orch.host_start_ns.tolist() == [0, 400]
    assert capture.orch.host.all()
    assert (capture.uploads.start_ticks + capture.meta.zero_ticks).tolist() == [985]


def test_without_anchors_the_host_part_lies_before_the_device_part(tmp_path: Path) -> None:
    capture = load("host/separate_clocks", tmp_path)
    assert capture.meta.host_clock is not None
    assert not capture.meta.host_clock.merged
    assert int(capture.uploads.end_ticks.max()) <= 0
    assert (capture.orch.end_ticks - capture.orch.start_ticks).tolist() == [20, 10]
    assert capture.meta.zero_ticks == 1003


def test_coarse_device_stamps_widen_the_uncertainty(tmp_path: Path) -> None:
    clock = load("host/coarse_anchors", tmp_path).meta.host_clock
    assert clock is not None
    assert clock.uncertainty_ns == 1021


def test_deps_give_kinds_functions_and_alloc_tasks(tmp_path: Path) -> None:
    capture = load("deps/healthy", tmp_path)
    kinds = {int(t): TaskKind(int(k)) for t, k in zip(capture.tasks.task_id, capture.tasks.kind, strict=True)}
    assert kinds[7] == TaskKind.ALLOC
    assert kinds[(1 << 32) + 2] == TaskKind.MIX
    assert capture.records.func_id.tolist() == [0, 2, 1, 3, 1]
    assert not set(findings(capture)) - INFORMATION
    inferred = capture.args.tensor[capture.args.inferred].tolist()
    assert inferred == [1]


def test_ids_as_numbers_or_text_are_the_same(tmp_path: Path) -> None:
    text = load("deps/healthy", tmp_path)
    numbers = load("deps/number_ids", tmp_path)
    assert text.tasks.task_id.tolist() == numbers.tasks.task_id.tolist()
    assert text.edges.pred.tolist() == numbers.edges.pred.tolist()


def test_edges_alone_are_a_graph(tmp_path: Path) -> None:
    capture = load("deps/edges_only", tmp_path)
    assert len(capture.edges) == 4
    assert not capture.tasks.listed.any()
    assert (capture.annotations.flags == -1).all()


def test_a_repeated_task_counts_as_its_first_entry(tmp_path: Path) -> None:
    capture = load("deps/duplicate_task", tmp_path)
    assert int(capture.tasks.block_num[capture.task_index(1 << 32)]) == 1


def test_fanout_gives_edges_without_deps(tmp_path: Path) -> None:
    capture = load("us/healthy", tmp_path)
    assert capture.meta.edges_from_fanout
    ids = capture.tasks.task_id
    edges = sorted(zip(ids[capture.edges.pred].tolist(), ids[capture.edges.succ].tolist(), strict=True))
    assert edges == [(1 << 32, (1 << 32) + 1), (1 << 32, (1 << 32) + 3)]


def test_version_1_is_level_1_without_stamps(tmp_path: Path) -> None:
    capture = load("us/version_1", tmp_path)
    assert capture.meta.level == 1
    assert (capture.records.dispatch_ticks == MISSING).all()
    assert capture.meta.clock_freq_hz is None
    assert capture.meta.tolerance_ticks == 40
    assert capture.records.start_ticks.tolist() == [200, 600, 1400]


def test_names_flat_or_nested(tmp_path: Path) -> None:
    nested = load("name_map/healthy", tmp_path)
    flat = load("name_map/flat", tmp_path)
    assert nested.meta.func_names == flat.meta.func_names == {0: "QK", 1: "SF", 2: "PV", 3: "UP"}
    assert nested.meta.orchestrator_name == "Case"


def test_a_host_level_name_map_does_not_name_functions(tmp_path: Path) -> None:
    capture = load("name_map/host_level", tmp_path)
    assert not capture.meta.has_name_map
    assert capture.meta.func_name(0) == "func_0"


def test_an_imported_path_skips_renamed_and_dummy_bars(tmp_path: Path) -> None:
    for fixture in ("cpm/healthy", "cpm/bare_list"):
        capture = load(fixture, tmp_path)
        path = capture.tasks.task_id[capture.paths.static].tolist()
        assert path == [1 << 32, (1 << 32) + 2, (1 << 32) + 3], fixture
        assert len(capture.paths.observed) == 0


def test_an_unreadable_sibling_is_reported_and_the_rest_opens(tmp_path: Path) -> None:
    place("chip/healthy", tmp_path)
    (tmp_path / "deps.json").write_text('{"tasks": [')
    capture = formats.load(tmp_path)
    assert findings(capture)["unreadable_file"] == 1
    assert not capture.meta.has_deps
    assert "cut off" in next(n.message for n in capture.meta.notices if n.code == "unreadable_file")


def test_a_graph_without_a_swimlane_opens(tmp_path: Path) -> None:
    shutil.copy(DATA / "deps" / "healthy.json", tmp_path / "deps.json")
    capture = formats.load(tmp_path)
    assert findings(capture)["missing_swimlane"] == 1
    assert not capture.meta.has_records_file
    assert len(capture.edges) == 4


def test_replayed_graphs_have_outer_tasks(tmp_path: Path) -> None:
    raw = json.loads((DATA / "chip" / "healthy.json").read_text())
    for row in raw["aicore_tasks"]:
        row[1] = (1 << 32) | (5 << 10) | row[2]
    raw["aicpu_scheduler_phases"][1][0] |= {"kind": "graph_prepare", "task_id": 5}
    (tmp_path / "chip_swimlane_records.json").write_text(json.dumps(raw))
    graph = {"tasks": [{"task_id": "5", "kernel_ids": [-1, -1, -1]}], "edges": []}
    (tmp_path / "deps.json").write_text(json.dumps(graph))
    capture = formats.load(tmp_path)
    outer = capture.task_index(5)
    assert TaskKind(int(capture.tasks.kind[outer])) == TaskKind.GRAPH
    assert set(capture.tasks.outer[capture.records.task].tolist()) == {outer}
    assert findings(capture)["graph_nodes"] == 5
    assert "unresolved_function" not in findings(capture)


@pytest.mark.parametrize("fixture", ["chip/healthy", "us/healthy", "unified/healthy"])
def test_gzip_of_any_container_is_the_same(fixture: str, tmp_path: Path) -> None:
    plain = load(fixture, tmp_path)
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "anything.json.gz").write_bytes(gzip.compress((DATA / f"{fixture}.json").read_bytes()))
    other = formats.load(packed)
    assert other.records.start_ticks.tolist() == plain.records.start_ticks.tolist()
    assert other.meta.container == plain.meta.container


def test_every_code_is_documented() -> None:
    text = (DATA.parents[1] / "docs" / "data-quality.md").read_text()
    assert [code for code in MESSAGES if f"| `{code}` |" not in text] == []
