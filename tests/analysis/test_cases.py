"""The small inputs that failed in use (``cases/README.md`` of the shared data says what is right for each)."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from analysis import formats
from analysis.capture import Capture
from analysis.discovery.tree import scan
from analysis.errors import LimitError, NotAvailable
from analysis.formats.containers.cycles import PLAN
from analysis.formats.text.reading import Text, sections
from analysis.formats.text.walk import walk
from analysis.measures.scheduler_loop import scheduler_loop
from analysis.registry import ANALYSES
from analysis.timeline.items import View, view_items
from tests.shared_data import SHARED, needs_shared

CASES = SHARED / "cases"
pytestmark = [needs_shared, pytest.mark.skipif(not CASES.is_dir(), reason=f"no cases at {CASES}")]
OPENING = [
    "aligned", "boundary-overflow", "core-65535", "duplicate-key", "epoch-not-in-boundaries", "far-stamp",
    "fast-scanner-orch-submit", "float-frequency", "hbg_loop", "hbg_new", "many-kinds", "negative-length",
    "no-aicore-rows", "p_node/node0/rank0/d0", "phase-span-overflow", "sentinel", "two_epochs",
]  # fmt: skip


def load(name: str, launch: int = 0, include_flagged: bool = False) -> Capture:
    return formats.load(CASES / name, launch, include_flagged)


def labels(capture: Capture) -> list[str]:
    return [capture.meta.task_label(int(task_id)) for task_id in capture.tasks.task_id]


def notice(capture: Capture, code: str) -> str:
    return next(found.message for found in capture.meta.notices if found.code == code)


@pytest.mark.parametrize("name", OPENING)
def test_every_analysis_answers(name: str) -> None:
    """Plain or with flagged rows, each launch: a result, or the reason why there is none."""
    for launch in range(load(name).meta.launches):
        for include in (False, True):
            capture = load(name, launch, include)
            for analysis in ANALYSES:
                with contextlib.suppress(NotAvailable):
                    assert analysis.run(capture).to_json() is not None
            for in_file, left_out, elsewhere in capture.meta.stream_rows.values():
                assert 0 <= left_out + elsewhere <= in_file


def test_labels_of_a_host_built_graph() -> None:
    for name in ("hbg_new", "hbg_loop", "aligned"):
        assert labels(load(name)) == ["t0", "t1", "g1t0", "g1t1", "g257t0"]
    assert [lane.label for lane in view_items(load("hbg_new"), View.PHASES).lanes][-1] == "AICPU lifecycle 0"


def test_aligned_is_inside_its_bounds() -> None:
    capture = load("aligned")
    clock = capture.meta.host_clock
    assert clock is not None
    assert clock.merged
    assert clock.origin_ns is not None
    # Where the anchor (device cycle 900) lies on the host axis, from a host bar: 1 GHz, a tick is a nanosecond.
    start = int(capture.orch.start_ticks[0]) + capture.meta.zero_ticks
    anchor_ns = clock.origin_ns + int(capture.orch.host_start_ns[0]) + 900 - start
    assert anchor_ns - clock.earlier_ns == 5_010_000 <= anchor_ns <= 5_012_000 == anchor_ns + clock.later_ns


def test_the_loop_of_an_aicore_scheduler() -> None:
    loop = scheduler_loop(load("hbg_loop"))
    (thread,) = loop.threads.to_records()
    assert (thread["busy_ticks"], thread["idle_ticks"]) == (500, 500)
    assert {row["phase"]: row["lane"] for row in loop.table.to_records()}["resolve"] == "outer"


def test_a_sentinel_is_no_task_label() -> None:
    capture = load("sentinel")
    assert labels(capture)[-1] == "invalid 18446744073709551615"
    assert "corrupt_id" in {found.code for found in capture.meta.notices}
    assert not any(label.startswith("r") for label in labels(capture))


def test_epochs() -> None:
    both = [load("two_epochs", launch) for launch in (0, 1)]
    assert [(len(c.records), len(c.unmatched), c.meta.launches) for c in both] == [(2, 0, 2)] * 2
    odd = [load("epoch-not-in-boundaries", launch) for launch in range(3)]
    assert [len(capture.records) for capture in odd] == [1, 1, 2]
    assert "epoch 5" in notice(odd[0], "epoch_without_boundary")


def test_damage_is_a_finding() -> None:
    double = load("duplicate-key")
    assert len(double.records) == 4
    assert len(double.edges) == 1
    assert "aicore_tasks" in notice(double, "duplicate_json_key")
    assert "edges" in notice(double, "duplicate_json_key")
    assert notice(load("no-aicore-rows"), "no_rows")
    for name in ("boundary-overflow", "phase-span-overflow"):
        assert notice(load(name), "out_of_range")
        assert len(load(name).records) == 4
    assert len(load("many-kinds").meta.phase_kinds) == 100
    assert load("float-frequency").meta.clock_freq_hz == 50_000_000


def test_a_damaged_core_is_one_lane() -> None:
    lanes = view_items(load("core-65535"), View.WORKER).lanes
    assert [(lane.label, lane.items) for lane in lanes] == [("AIC 0", 4), ("CORE 65535", 1)]


def test_impossible_stamps_are_in_no_figure() -> None:
    for name, records, flagged in (("far-stamp", 11, 1), ("negative-length", 10, 2)):
        capture = load(name)
        assert (len(capture.records), len(capture.flagged), capture.makespan_ticks) == (records, flagged, 7500)
        assert len(load(name, include_flagged=True).records) == 12


def test_a_bomb_is_refused() -> None:
    with pytest.raises(LimitError, match="MAX_GZIP_RATIO"):
        load("gzip-spaces")


def test_nodes_are_one_tree() -> None:
    found = list(scan(CASES / "p_node"))
    assert [(source.group, source.rank) for source in found] == [("", "node0/rank0/d0"), ("", "node1/rank0/d0")]


def test_both_readers_agree(tmp_path: Path) -> None:
    path = CASES / "fast-scanner-orch-submit" / "chip_swimlane_records.json"
    text = Text.of(path.read_bytes())
    fast = walk(text, PLAN, worth_bytes=0)
    assert fast is not None
    assert fast.keys() == sections(text.view, "x").keys()
    assert fast.streams["aicpu_orchestrator_phases"].streams == 1
    assert "orch_submit" not in load("fast-scanner-orch-submit").meta.phase_kinds
