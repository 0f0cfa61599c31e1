"""The compiled scanner gives what the typed decoder gives, or refuses."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import msgspec
import numpy as np
import pytest

from analysis.formats import phases, scan
from analysis.formats.raw import AicoreRows, AicpuRows, RawSwimlane, empty
from analysis.formats.report import Report
from analysis.formats.rows import RowFormat, int_rows

FORM = RowFormat("aicore_tasks", (5, 6, 7), (0, 0, 0, 0, 0, 0, -1), 1)


def swimlane() -> RawSwimlane:
    return RawSwimlane("chip", 4, 1, 1, ["aic"], None, empty(AicoreRows), empty(AicpuRows))


def phase(rng: random.Random, at: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kind": rng.choice(["dispatch", "complete", "resolve", "drain", "drain_prepare"]),
        "start_cycles": at,
        "end_cycles": at + rng.randrange(5),
    }
    more = {
        "loop_iter": at % 7,
        "tasks_processed": None,
        "task_id": rng.choice([None, 5, "6", 2**63]),
        "pop_hit": -1,
        "shared_at_start": [1, 2, 3],
        "shared_at_end": None,
        "run_epoch": 2,
    }
    row |= {key: value for key, value in more.items() if rng.random() < 0.6}
    keys = list(row)
    if rng.random() < 0.3:
        rng.shuffle(keys)
    return {key: row[key] for key in keys}


def read_phases(value: Any, indent: int | None = None) -> tuple[RawSwimlane, Report]:
    raw, report = swimlane(), Report()
    section = msgspec.Raw(json.dumps(value, indent=indent).encode())
    scanned = phases.scan_sections(section, None).phases
    phases.read_scheduler_phases(section, scanned, raw, "x", report)
    return raw, report


def read_orch(value: Any) -> tuple[RawSwimlane, Report]:
    raw, report = swimlane(), Report()
    section = msgspec.Raw(json.dumps(value).encode())
    scanned = phases.scan_sections(None, section).orch
    raw.orch = phases.read_orchestrator(section, scanned, False, raw, "x", report)
    return raw, report


def assert_same(left: RawSwimlane, right: RawSwimlane, name: str) -> None:
    mine, yours = getattr(left, name), getattr(right, name)
    for column in fields(mine):
        a, b = getattr(mine, column.name), getattr(yours, column.name)
        if column.name == "kind":
            a, b = [left.kinds[k] for k in a], [right.kinds[k] for k in b]
        assert np.array_equal(a, b), column.name
        assert np.asarray(a).dtype == np.asarray(b).dtype, column.name
    assert left.streams == right.streams
    assert left.orchestrator_streams == right.orchestrator_streams


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("seed", range(5))
def test_phases_are_the_same_both_ways(seed: int, indent: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    value = [[phase(rng, at) for at in range(rng.randrange(40))] for _ in range(4)] + [[]]
    typed, _ = read_phases(value, indent)
    monkeypatch.setattr(scan, "WORTH_BYTES", 0)
    section = msgspec.Raw(json.dumps(value, indent=indent).encode())
    assert scan.scan_streams(section, phases._PHASE_KEYS) is not None
    scanned, report = read_phases(value, indent)
    assert report.notices() == ()
    assert_same(typed, scanned, "phases")


def test_orchestrator_records_are_the_same_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    value = [
        [{"submit_idx": at, "task_id": 2**32 + at, "start_cycles": at, "end_cycles": at + 1} for at in range(9)],
        [],
    ]
    typed, _ = read_orch(value)
    monkeypatch.setattr(scan, "WORTH_BYTES", 0)
    assert scan.scan_streams(msgspec.Raw(json.dumps(value).encode()), phases._ORCH_KEYS) is not None
    assert_same(typed, read_orch(value)[0], "orch")


ODD: list[Callable[[dict[str, Any]], Any]] = [
    lambda row: row.update(kind="übung"),
    lambda row: row.update(kind='a"b'),
    lambda row: row.update(kind=None),
    lambda row: row.update(kind=5),
    lambda row: row.pop("kind"),
    lambda row: row.pop("start_cycles"),
    lambda row: row.update(start_cycles=None),
    lambda row: row.update(start_cycles=1.5),
    lambda row: row.update(start_cycles="7"),
    lambda row: row.update(start_cycles=10**18),
    lambda row: row.update(start_cycles=2**80),
    lambda row: row.update(loop_iter=True),
    lambda row: row.update(task_id=2**64 - 1),
    lambda row: row.update(task_id=-4),
    lambda row: row.update(task_id="4x"),
    lambda row: row.update(shared_at_end=[1, 2]),
    lambda row: row.update(shared_at_end=[1, 2, 3, 4]),
    lambda row: row.update(shared_at_end=[1, 2, 2**40]),
    lambda row: row.update(shared_at_end={"a": 1}),
    lambda row: row.update(local_at_start=[0, 0, 0]),
    lambda row: row.update(note={"deep": [1, {"er": 2}]}),
]


@pytest.mark.parametrize("edit", ODD)
def test_odd_rows_give_the_same_columns_and_report(
    edit: Callable[[dict[str, Any]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(1)
    value = [[phase(rng, at) for at in range(10)]]
    edit(value[0][4])
    typed, want = read_phases(value)
    monkeypatch.setattr(scan, "WORTH_BYTES", 0)
    scanned, got = read_phases(value)
    assert_same(typed, scanned, "phases")
    assert got.notices() == want.notices()


@pytest.mark.parametrize("value", [5, None, {}, [], [[]], [5], [[5]], [None], [[None]], "text"])
def test_sections_of_another_shape(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    typed, want = read_phases(value)
    monkeypatch.setattr(scan, "WORTH_BYTES", 0)
    scanned, got = read_phases(value)
    assert_same(typed, scanned, "phases")
    assert got.notices() == want.notices()


def test_number_rows_are_the_same_strict_and_tolerant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.formats.rows._PIECE_BYTES", 64)
    rng = random.Random(3)
    rows = [[rng.randrange(9), rng.randrange(2**64), at, 10**12 + at, 10**12 + at + 5, 3] for at in range(50)]
    strict = int_rows(msgspec.Raw(json.dumps(rows).encode()), FORM, "x", Report())
    texts = [[row[0], str(row[1]), *row[2:]] for row in rows]
    tolerant = int_rows(msgspec.Raw(json.dumps(texts, indent=1).encode()), FORM, "x", Report())
    assert strict.ids.tolist() == tolerant.ids.tolist() == [row[1] for row in rows]
    for mine, yours in zip(strict.columns, tolerant.columns, strict=True):
        assert mine.tolist() == yours.tolist()


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7]],  # twelve cells: not two rows of six
        [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5]],
        [[1, 2, 3, 4, 5]] * 3,
    ],
)
def test_rows_of_different_widths_are_not_mixed_up(rows: list[list[int]]) -> None:
    found = int_rows(msgspec.Raw(json.dumps(rows).encode()), FORM, "x", Report())
    filled = [[*row, *(0, 0, 0, 0, 0, 0, -1)[len(row) :]] for row in rows]
    assert [column.tolist() for k, column in enumerate(found.columns) if k != 1] == [
        [row[k] for row in filled] for k in range(7) if k != 1
    ]


@pytest.mark.parametrize("rows", [[[1, 2, 3, 4, [5, 6]]], [[[1, 2, 3, 4, 5, 6]]], [1, 2, 3, 4, 5, 6], [[1, 2, 3]]])
def test_nested_or_short_rows_are_dropped_and_counted(rows: Any) -> None:
    report = Report()
    found = int_rows(msgspec.Raw(json.dumps(rows).encode()), FORM, "x", report)
    assert len(found.ids) == 0
    (notice,) = report.notices()
    assert (notice.code, notice.count) == ("wrong_type", len(rows))
