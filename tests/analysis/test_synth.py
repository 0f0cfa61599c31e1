"""Does the generator keep its promises: exact counts, schema, order of stamps, determinism, every kind of task?"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from analysis import formats
from analysis.capture import Capture, PhaseLane, TaskKind
from analysis.errors import InputError, LimitError
from analysis.synth import demo as synth_demo
from analysis.synth.capture import SHAPES, write_capture
from analysis.synth.schedule import draws
from tests.reference_loader import load


def check_plausible(capture: Capture, *, level: int) -> None:
    """Assert what a healthy capture keeps: stamp order, one record at a time per core, happens-before."""
    r, tasks = capture.records, capture.tasks
    assert (r.receive_ticks <= r.start_ticks).all()
    assert (r.start_ticks < r.end_ticks).all()
    if level >= 2:
        assert (r.dispatch_ticks <= r.receive_ticks).all()
        assert (r.end_ticks <= r.finish_ticks).all()
    order = np.lexsort((r.start_ticks, r.core_id))
    same = np.diff(r.core_id[order]) == 0
    assert (r.receive_ticks[order][1:][same] >= r.end_ticks[order][:-1][same]).all()
    timed = (tasks.n_records[capture.edges.pred] > 0) & (tasks.n_records[capture.edges.succ] > 0)
    pred, succ = capture.edges.pred[timed], capture.edges.succ[timed]
    assert (tasks.end_ticks[pred] <= tasks.start_ticks[succ]).all()
    assert (r.func_id >= 0).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("records", [10, 11, 25, 40, 100, 1000])
def test_counts_are_exact_and_stamps_plausible(tmp_path: Path, shape: str, records: int) -> None:
    wrote = write_capture(tmp_path, records, 3, shape=shape)
    capture = load(tmp_path)
    assert len(capture.records) == records == wrote.records
    assert len(capture.edges) == wrote.edges
    assert len(capture.annotations) == wrote.annotations
    assert int(capture.tasks.in_graph.sum()) == wrote.nodes
    assert int(capture.tasks.listed.sum()) == wrote.tasks_listed
    assert len(capture.phases) == wrote.phases > 0
    assert (np.diff(capture.orch.start_ticks) > 0).all()
    check_plausible(capture, level=4)


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_levels_hold_what_they_should_and_no_more(tmp_path: Path, level: int) -> None:
    write_capture(tmp_path, 300, 5, level=level)
    data = json.loads((tmp_path / "chip_swimlane_records.json").read_text())
    assert data["chip_swimlane_level"] == level
    assert len(data["aicore_tasks"]) == 300
    assert len(data["aicpu_tasks"]) == (300 if level >= 2 else 0)
    assert ("aicpu_scheduler_phases" in data) == (level >= 3)
    assert ("core_to_thread" in data["metadata"]) == (level >= 3)
    assert ("aicpu_orchestrator_phases" in data) == (level >= 4)
    check_plausible(load(tmp_path), level=level)


def test_default_shape_shows_every_kind_of_task(tmp_path: Path) -> None:
    write_capture(tmp_path, 1000, 7)
    capture = load(tmp_path)
    kinds = set(capture.tasks.kind.tolist())
    assert kinds == {TaskKind.AIC, TaskKind.AIV, TaskKind.MIX, TaskKind.ALLOC, TaskKind.DUMMY}
    assert (capture.tasks.block_num > 1).any()
    assert set((capture.tasks.task_id >> np.uint64(32)).tolist()) == {1, 2}
    assert {"QK", "SF", "PV", "UP"} <= set(capture.meta.func_names.values())
    phases = {capture.meta.phase_kinds[k] for k in capture.phases.kind.tolist()}
    assert {"complete", "dispatch", "release", "resolve", "dummy", "dummy_task", "drain", "early_dispatch"} <= phases


def test_paged_attention_blocks_run_qk_sf_pv_up(tmp_path: Path) -> None:
    write_capture(tmp_path, 1000, 7)
    capture = load(tmp_path)
    names = [capture.task_name(t) for t in range(len(capture.tasks))]
    links = {(names[p], names[s]) for p, s in zip(capture.edges.pred, capture.edges.succ, strict=True)}
    assert {("QK", "SF"), ("SF", "PV"), ("SF", "UP"), ("PV", "UP"), ("UP", "UP"), ("alloc", "UP")} <= links
    assert ("UP", "QK") not in links


def test_some_targets_are_dispatched_before_their_predecessors_finish(tmp_path: Path) -> None:
    write_capture(tmp_path, 1000, 7)
    capture = load(tmp_path)
    tasks = capture.tasks
    timed = (tasks.n_records[capture.edges.pred] > 0) & (tasks.n_records[capture.edges.succ] > 0)
    pred, succ = capture.edges.pred[timed], capture.edges.succ[timed]
    early = tasks.dispatch_ticks[succ] < tasks.finish_ticks[pred]
    assert early.any()
    assert tasks.early_dispatch[pred[early]].all()


def test_outer_phases_of_a_thread_never_overlap(tmp_path: Path) -> None:
    write_capture(tmp_path, 3000, 9, shape="decoder-layers")
    phases = load(tmp_path).phases
    outer = np.flatnonzero(phases.lane == PhaseLane.OUTER)
    order = outer[np.lexsort((phases.start_ticks[outer], phases.stream[outer]))]
    same = np.diff(phases.stream[order]) == 0
    assert (phases.start_ticks[order][1:][same] >= phases.end_ticks[order][:-1][same]).all()
    assert (phases.end_ticks[order] > phases.start_ticks[order]).all()


def test_same_arguments_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    def digest(name: str, seed: int) -> str:
        wrote = write_capture(tmp_path / name, 6000, seed)
        return hashlib.sha256(b"".join(f.read_bytes() for f in wrote.files)).hexdigest()

    assert digest("a", 1) == digest("b", 1) != digest("c", 2)


@pytest.mark.parametrize("shape", SHAPES)
def test_readers_find_nothing_wrong(tmp_path: Path, shape: str) -> None:
    write_capture(tmp_path, 2000, 8, shape=shape)
    capture = formats.load(tmp_path)
    assert [notice.code for notice in capture.meta.notices] == []
    assert len(capture.records) == 2000


@pytest.mark.parametrize(
    ("shape", "digest"),
    [
        ("paged-attention", "365cb967f5d609dc9e4cc33acb8fadbfaa3c2189600f3249d9a390f018a6546f"),
        ("decoder-layers", "ff6b5a038b71b5d6d7d02a2ee8418560a3355653c87999541c28d37ce517558c"),
    ],
)
def test_bytes_are_the_same_on_every_machine(tmp_path: Path, shape: str, digest: str) -> None:
    files = write_capture(tmp_path, 500, 1, shape=shape).files
    assert hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest() == digest


def test_compiled_and_interpreted_schedules_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.synth.schedule._COMPILE_FROM", 1)
    compiled = write_capture(tmp_path / "compiled", 1200, 4).files[0].read_bytes()
    monkeypatch.setattr("analysis.synth.schedule._COMPILE_FROM", 10**9)
    assert write_capture(tmp_path / "interpreted", 1200, 4).files[0].read_bytes() == compiled


def test_draws_are_pinned() -> None:
    assert draws(1, 2, 3).tolist() == [int(draws(1, 2, 1, i)[0]) for i in range(3)]
    assert len(set(draws(1, 2, 10_000).tolist())) == 10_000


def test_cores_and_clock_are_configurable(tmp_path: Path) -> None:
    write_capture(tmp_path, 500, 2, aic=2, aiv=4, clock_freq_hz=1_000_000_000, threads=2)
    capture = load(tmp_path)
    assert capture.meta.core_types == ("aic",) * 2 + ("aiv",) * 4
    assert capture.meta.clock_freq_hz == 1_000_000_000
    assert set(capture.records.core_id.tolist()) == set(range(6))
    check_plausible(capture, level=4)


def test_host_orchestrated_run_has_two_clocks_with_anchors_around_the_device(tmp_path: Path) -> None:
    write_capture(tmp_path, 300, 2, host=True)
    data = json.loads((tmp_path / "chip_swimlane_records.json").read_text())
    samples = data["metadata"]["clock_anchors"]["samples"]
    ticks = [s["device_cycles"] for s in samples]
    starts = [row[3] - row[5] for row in data["aicore_tasks"]]
    assert min(ticks) < min(starts)
    assert max(ticks) > max(row[3] for row in data["aicpu_tasks"])
    assert "aicpu_orchestrator_phases" not in data
    host_end = max(row["end_host_ns"] for row in data["host_orchestrator_phases"][0])
    assert host_end < data["host_device_uploads"][0]["start_host_ns"]
    assert all(int(row["task_id"]) < 2**32 for row in data["host_orchestrator_phases"][0])
    assert '"flags"' not in (tmp_path / "deps.json").read_text()


@pytest.mark.parametrize(
    ("records", "options", "word"),
    [
        (9, {}, "records"),
        (1_000_001, {}, "records"),
        (10, {"level": 5}, "level"),
        (10, {"shape": "ring"}, "shape"),
        (10, {"aiv": 1}, "cores"),
    ],
)
def test_bad_arguments_are_named(tmp_path: Path, records: int, options: dict, word: str) -> None:
    with pytest.raises(LimitError, match=word):
        write_capture(tmp_path, records, 1, **options)


def test_demo_tree_is_complete_and_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tuple(dataclasses.replace(s, records=min(s.records, 500)) for s in synth_demo.SAMPLES)
    monkeypatch.setattr(synth_demo, "SAMPLES", small)
    lines: list[str] = []
    synth_demo.write_demo(tmp_path, lines.append)
    captures = {p.parent.parent.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("chip_swimlane_records.json")}
    assert captures == {sample.name for sample in small}
    assert len(lines) == len(small) + 2 >= 12  # and the pass dump and the trace
    assert not (tmp_path / "missing/no_deps/dfx_outputs/deps.json").exists()
    assert not list((tmp_path / "missing/no_name_map/dfx_outputs").glob("name_map*"))
    lines.clear()
    synth_demo.write_demo(tmp_path, lines.append)
    assert lines == []


def test_demo_damage_is_what_readers_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tuple(dataclasses.replace(s, records=400) for s in synth_demo.SAMPLES if s.damage)
    monkeypatch.setattr(synth_demo, "SAMPLES", damaged)
    synth_demo.write_demo(tmp_path)

    def codes(name: str) -> set[str]:
        return {notice.code for notice in formats.load(tmp_path / "damaged" / name / "dfx_outputs").meta.notices}

    assert codes("rows_dropped") >= {"unmatched_aicore", "unmatched_aicpu", "reserved_row"}
    assert codes("stamps_disordered") >= {"order_violation", "negative_length", "zero_length", "unknown_kind"}
    with pytest.raises(InputError, match="cut off"):
        codes("cut_short")
