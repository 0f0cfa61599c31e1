"""Files as the newest runtimes write them, late September 2026: do ids, launches, clocks, phases and names come out right?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import formats
from analysis.capture import Capture, EdgeSource, PhaseLane, ids
from analysis.discovery.tree import scan
from analysis.errors import LimitError, NotFoundError
from analysis.formats.text import reading
from analysis.formats.text.reading import Text, expand
from analysis.measures.scheduler_loop import scheduler_loop
from analysis.selection import find_tasks
from analysis.synth.capture import write_capture
from analysis.timeline.details import item_facts
from analysis.timeline.items import View, view_items
from analysis.timeline.query import build_index

DATA = Path(__file__).parents[1] / "data"
SUB = 1 << 62


def load(fixture: str, folder: Path, launch: int = 0, **more: Any) -> Capture:
    shutil.copy(DATA / f"{fixture}.json", folder / "chip_swimlane_records.json")
    return formats.load(folder, launch, **more)


def codes(capture: Capture) -> dict[str, int]:
    return {notice.code: notice.count for notice in capture.meta.notices}


def write(folder: Path, name: str, value: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


LABELS = [
    (5, ids.LEGACY, "t5"),
    (1 << 32 | 5, ids.LEGACY, "r1t5"),
    (5, ids.RINGS, "r0t5"),
    (255 << 32 | 7, ids.RINGS, "r255t7"),
    (256 << 32 | 7, ids.RINGS, f"invalid {256 << 32 | 7}"),
    (5, ids.HOST_GRAPH, "t5"),
    (SUB | 256 << 32 | 5, ids.HOST_GRAPH, "g256t5"),
    (2 << 62 | 3, ids.HOST_GRAPH, "p3"),
    (3 << 62 | 3, ids.HOST_GRAPH, f"invalid {3 << 62 | 3}"),
    (1 << 32 | 5, ids.HOST_GRAPH, f"invalid {1 << 32 | 5}"),
    (SUB | 1 << 52, ids.HOST_GRAPH, f"invalid {SUB | 1 << 52}"),
    (2**64 - 1, ids.LEGACY, f"invalid {2**64 - 1}"),
    (1 << 32 | 5, ids.RAW_IDS, str(1 << 32 | 5)),
]


@pytest.mark.parametrize(("task_id", "runtime", "label"), LABELS)
def test_a_label_is_right_or_says_that_the_id_is_not(task_id: int, runtime: str, label: str) -> None:
    assert ids.label(task_id, runtime) == label
    assert bool(ids.flawed(np.array([task_id], np.uint64), runtime)[0]) == bool(ids.flaw(task_id, runtime))
    everything = np.array(sorted({row[0] for row in LABELS}), np.uint64)
    assert task_id in everything[ids.find_label(str(task_id), everything, runtime)].tolist()
    assert task_id in everything[ids.find_label(hex(task_id), everything, runtime)].tolist()
    if "invalid" not in label:
        found = everything[ids.find_label(label, everything, runtime)].tolist()
        assert task_id in found
        if label[0] in "rgp":
            assert found == [task_id]


def test_host_graph_ids_membership_and_search(tmp_path: Path) -> None:
    capture = load("hostgraph/healthy", tmp_path)
    label = capture.meta.task_label
    assert [label(int(i)) for i in capture.tasks.task_id] == ["t5", "g5t0", "g5t1", "p3"]
    assert capture.tasks.outer.tolist() == [-1, 0, 0, -1]
    assert capture.task_name(2) == "t5 node 1"
    for text, want in (("g5t1", [2]), ("p3", [3]), ("t3", []), ("g5 t0", [1]), (str(2 << 62 | 3), [3])):
        assert find_tasks(capture, text).tolist() == want


def test_unknown_runtimes_show_numbers(tmp_path: Path) -> None:
    capture = load("rings/strange_runtime", tmp_path)
    assert capture.meta.task_label(1 << 32) == str(1 << 32)
    assert "'warp_drive'" in next(n.message for n in capture.meta.notices if n.code == "unknown_runtime")


def test_epochs_are_launches_without_boundaries(tmp_path: Path) -> None:
    for fixture in ("rings/two_epochs", "rings/rows_by_time"):
        for launch in (0, 1):
            capture = load(fixture, tmp_path, launch)
            assert (capture.meta.launches, len(capture.records), len(capture.unmatched)) == (2, 5, 0)
            assert capture.meta.stream_rows["aicore_tasks"] == (10, 0, 5)
            assert (capture.records.finish_ticks >= capture.records.end_ticks).all()
    with pytest.raises(NotFoundError, match="launches 0 to 1"):
        load("rings/two_epochs", tmp_path, 2)


def test_device_is_placed_on_the_host_axis_as_an_interval(tmp_path: Path) -> None:
    capture = load("hostgraph/healthy", tmp_path)
    clock = capture.meta.host_clock
    assert clock is not None
    assert clock.merged
    assert (clock.earlier_ns, clock.later_ns, clock.uncertainty_ns) == (20, 60, 60)
    assert clock.uncertainty_text == "−20 / +60 ns"
    # 1 GHz: a tick is a nanosecond; the anchor says that device cycle 1000 is host nanosecond 60,000.
    assert (capture.orch.start_ticks + capture.meta.zero_ticks).tolist() == [50_000 - 60_000 + 1000]
    facts = dict(item_facts(capture, "o0").facts)  # type: ignore[union-attr]
    assert (facts["host duration"], facts["uncertainty"]) == ("400 ns", "−20 / +60 ns")
    blurred = load("hostgraph/quantized", tmp_path).meta.host_clock
    assert blurred is not None
    assert (blurred.earlier_ns, blurred.later_ns) == (40, 80)
    without = load("hostgraph/no_alignment", tmp_path).meta.host_clock
    assert without is not None
    assert not without.merged
    assert "no log" in without.reason


def test_host_capture_is_complete_only_if_every_count_agrees(tmp_path: Path) -> None:
    found = {
        fixture: load(f"hostgraph/{fixture}", tmp_path)
        for fixture in ("healthy", "host_capture", "incomplete", "no_host_capture")
    }
    status = {name: capture.meta.host_clock.status for name, capture in found.items() if capture.meta.host_clock}
    assert status == {
        "healthy": "complete",
        "host_capture": "partial",
        "incomplete": "incomplete",
        "no_host_capture": "unknown",
    }
    assert all("host_dropped" not in codes(capture) for capture in found.values())


def test_phases_count_by_runtime_and_producer(tmp_path: Path) -> None:
    (loop,) = scheduler_loop(load("hostgraph/healthy", tmp_path)).threads.to_records()
    assert (loop["busy_ticks"], loop["idle_ticks"], loop["unrecorded_us"]) == (14, 14, 2 / 1000)
    first, _ = scheduler_loop(load("rings/healthy", tmp_path)).threads.to_records()
    # complete 4 + dispatch 4 + the resolve that stands alone 4; the nested one counts nothing.
    assert (first["busy_ticks"], first["idle_ticks"]) == (12, 10)
    assert first["logical_tasks"] == 2  # A, and C whose last finish was on core 0
    (poll,) = scheduler_loop(load("hostgraph/poll_only", tmp_path)).threads.to_records()
    assert (poll["role"], poll["busy_ticks"]) == ("resolution", 6)
    polled = load("hostgraph/poll_only", tmp_path)
    assert "resolve" in polled.meta.phase_kinds
    assert ("note", "sum of poll calls: the length is exact, the start is not") in item_facts(polled, "p0").facts  # type: ignore[union-attr]


def test_lifecycle_steps_are_lanes_of_their_own(tmp_path: Path) -> None:
    capture = load("hostgraph/healthy", tmp_path)
    lanes = {lane.label: lane.items for lane in view_items(capture, View.PHASES).lanes}
    assert lanes == {"Scheduler 2": 6, "AICPU lifecycle 0": 2, "AICPU lifecycle 1": 1}
    assert capture.meta.zero_ticks == 990
    assert (capture.phases.lane == PhaseLane.LIFECYCLE).sum() == 3


def test_far_rows_are_listed_left_out_and_can_be_included(tmp_path: Path) -> None:
    capture, whole = (load("rings/far_stamp", tmp_path, include_flagged=flag) for flag in (False, True))
    assert (len(capture.records), len(whole.records), len(capture.flagged)) == (5, 6, 1)
    assert capture.makespan_ticks == 70
    assert whole.makespan_ticks is not None
    assert whole.makespan_ticks > 10**12
    assert capture.meta.capture_id != whole.meta.capture_id
    assert capture.meta.stream_rows["aicore_tasks"] == (6, 1, 0)


def test_a_frequency_with_a_fraction_of_zero_is_accepted(tmp_path: Path) -> None:
    assert load("rings/fraction_frequency", tmp_path).meta.clock_freq_hz == 50_000_000


def test_repeated_keys_keep_the_first_and_name_the_rest(tmp_path: Path) -> None:
    text = (DATA / "chip/healthy.json").read_text().rstrip()[:-1] + ', "aicore_tasks": [[0,1,2,3,4,5]], "x": 1, "x": 2}'
    capture = formats.load(write(tmp_path, "chip_swimlane_records.json", text))
    (found,) = (notice for notice in capture.meta.notices if notice.code == "duplicate_json_key")
    assert (len(capture.records), found.detail) == (5, {"aicore_tasks": 1, "x": 1})
    assert capture.meta.stream_rows["aicore_tasks"] == (6, 1, 0)


def test_an_edge_without_source_is_not_recorded(tmp_path: Path) -> None:
    shutil.copy(DATA / "deps/no_source.json", tmp_path / "deps.json")
    capture = load("chip/healthy", tmp_path)
    assert "unknown_value" not in codes(capture)
    assert "not recorded" in {EdgeSource(int(code)).word for code in capture.annotations.source}


def test_runtimes_of_two_files_must_agree(tmp_path: Path) -> None:
    write(tmp_path, "deps.json", {"runtime": ids.HOST_GRAPH, "tasks": [], "edges": []})
    assert "runtime_mismatch" in codes(load("rings/healthy", tmp_path))


def test_a_listed_dummy_without_marker_is_a_finding(tmp_path: Path) -> None:
    deps = json.loads((DATA / "deps/unmarked_dummy.json").read_text())
    deps["tasks"].append({"task_id": "9", "kernel_ids": [-1, -1, -1]})
    write(tmp_path, "deps.json", deps)
    assert codes(load("rings/healthy", tmp_path))["unmarked_dummy"] == 1


def test_names_of_another_program_are_not_used(tmp_path: Path) -> None:
    write(
        tmp_path,
        "name_map_Decode.json",
        {"level": 2, "orchestrator_name": "Decode", "callable_id_to_name": {"0": "QK"}},
    )
    for capture, program in (("d0", "Decode"), ("d1", "Prefill")):
        folder = write(tmp_path / "rank0" / capture, "dispatch_program.json", {"program": program})
        shutil.copy(DATA / "rings/healthy.json", folder / "chip_swimlane_records.json")
    own, other = (formats.load(tmp_path / "rank0" / name) for name in ("d0", "d1"))
    assert own.meta.func_names == {0: "QK"}
    assert other.meta.func_names == {}
    assert "foreign_names" in codes(other)
    assert (own.meta.label, other.meta.label) == ("rank0/d0", "rank0/d1")


def test_retained_runs_and_unfinished_writes(tmp_path: Path) -> None:
    run = tmp_path / "case" / "swimlane-3"
    shutil.copy(DATA / "rings/healthy.json", write(run, "records_e9.json.tmp", "{") / "records_e7.json")
    write(tmp_path / "case", "deps.json", {"runtime": ids.RINGS, "tasks": [], "edges": []})
    write(tmp_path / "alone", "deps.json.tmp", "{")
    capture = formats.load(run)
    assert capture.meta.has_deps
    assert codes(capture)["unfinished_file"] == 1
    found = {source.relative: source for source in scan(tmp_path)}
    assert found["case/swimlane-3"].files["swimlane"] == "records_e7.json"
    assert found["case"].missing[0].startswith("no swimlane file")
    assert found["alone"].missing == ("deps.json.tmp is an unfinished write: not read",)


def test_nodes_and_networks_are_parts_of_one_case(tmp_path: Path) -> None:
    for part in ("node0/rank0/d0", "network12/node1/rank0/d0"):
        shutil.copy(DATA / "rings/healthy.json", write(tmp_path / part, "x.json", "{}") / "chip_swimlane_records.json")
    assert {(source.group, source.rank) for source in scan(tmp_path)} == {
        ("", "node0/rank0/d0"),
        ("", "network12/node1/rank0/d0"),
    }


def test_a_list_of_damaged_rows_is_counted_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reading, formats.join.rows, formats.text.structs):  # type: ignore[attr-defined]
        monkeypatch.setattr(module, "MAX_DAMAGED_ROWS", 100, raising=False)
    text = json.dumps({"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 50_000_000}, "aicore_tasks": 0})
    folder = write(tmp_path, "chip_swimlane_records.json", text.replace('s": 0', 's": [' + "[]," * 999_999 + "[]]"))
    write(folder, "deps.json", '{"edges": [' + "{}," * 499_999 + "{}]}")
    capture = formats.load(folder)
    assert capture.meta.stream_rows == {
        "aicore_tasks": (1_000_000, 1_000_000, 0),
        "deps.edges": (500_000, 500_000, 0),
    }
    assert codes(capture)["too_many_damaged"] > 1_000_000


def test_every_distinct_kind_costs_the_same(tmp_path: Path) -> None:
    phases = [{"kind": f"k{i}", "start_cycles": 1000 + i, "end_cycles": 1001 + i} for i in range(40_000)]
    base = json.loads((DATA / "chip/healthy.json").read_text())
    capture = formats.load(write(tmp_path, "chip_swimlane_records.json", base | {"aicpu_scheduler_phases": [phases]}))
    assert len(capture.meta.phase_kinds) == 40_001
    assert capture.meta.phase_kinds[int(capture.phases.kind[-1])] == "k39999"
    assert len(scheduler_loop(capture).table) == 40_000


def test_a_damaged_core_id_makes_one_lane(tmp_path: Path) -> None:
    base = json.loads((DATA / "chip/healthy.json").read_text())
    base["aicore_tasks"].append([65535, 1, 9, 1090, 1095, 0])
    base["aicpu_tasks"].append([65535, 9, 1089, 1096])
    capture = formats.load(write(tmp_path, "chip_swimlane_records.json", base))
    assert [lane.label for lane in build_index(capture, View.SCHEDULER).lanes][-1] == "CORE 65535"
    assert len(build_index(capture, View.SCHEDULER).lanes) == 5


def test_gzip_is_bounded_by_ratio() -> None:
    import zlib

    machine = zlib.compressobj(9, wbits=31)
    bomb = machine.compress(b" " * 8_000_000) + machine.flush()
    with pytest.raises(LimitError, match="MAX_GZIP_RATIO"):
        expand(Text.of(bomb), "bomb.json.gz")


@pytest.mark.parametrize("runtime", ids.RUNTIMES)
@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_generated_captures_of_both_runtimes_are_healthy(runtime: str, level: int, tmp_path: Path) -> None:
    frequency = 1_000_000_000 if runtime == ids.HOST_GRAPH else 50_000_000
    made = write_capture(tmp_path, 300, 3, level=level, runtime=runtime, clock_freq_hz=frequency)
    capture = formats.load(tmp_path)
    assert set(codes(capture)) <= {"hb_violation", "assumed_aiv_slot", "unmarked_dummy"}
    assert (len(capture.records), capture.meta.runtime, capture.meta.deps_runtime) == (made.records, runtime, runtime)
    label = capture.meta.task_label(int(capture.tasks.task_id[0]))
    assert label == ("t0" if runtime == ids.HOST_GRAPH else "r1t0")
    if level >= 3:
        assert int((capture.phases.lane != PhaseLane.LIFECYCLE).sum()) == made.phases
        assert len(scheduler_loop(capture).threads)
    clock = capture.meta.host_clock
    assert (clock is not None and clock.merged) == (runtime == ids.HOST_GRAPH and level == 4)
