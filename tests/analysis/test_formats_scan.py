"""The compiled scanners give what the decoders give, or refuse; they accept nothing that is not JSON."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import msgspec
import numpy as np
import pytest

from analysis.formats.containers.cycles import ORCH, PHASES, PLAN
from analysis.formats.join import phases
from analysis.formats.join.raw import AicoreRows, AicpuRows, RawSwimlane, empty
from analysis.formats.join.rows import RowFormat, int_rows
from analysis.formats.registry import Sections
from analysis.formats.report import Report
from analysis.formats.text import scan, walk
from analysis.formats.text.reading import Text, sections

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


def both_ways(value: dict[str, Any], indent: int | None = None) -> Sections:
    """Sections by the walk when it takes the text, else by the decoder."""
    text = Text.of(json.dumps(value, indent=indent).encode())
    found = walk.walk(text, PLAN)
    return found if found is not None else Sections(sections(text.view, "x"))


def read_phases(value: Any, indent: int | None = None) -> tuple[RawSwimlane, Report]:
    raw, report = swimlane(), Report()
    found = both_ways({PHASES: value, "more": [1, {"a": "]"}]}, indent)
    phases.read_scheduler_phases(found[PHASES], found.streams.get(PHASES), raw, "x", report)
    return raw, report


def read_orch(value: Any) -> tuple[RawSwimlane, Report]:
    raw, report = swimlane(), Report()
    found = both_ways({ORCH: value})
    raw.orch = phases.read_orchestrator(found[ORCH], found.streams.get(ORCH), False, raw, "x", report)
    return raw, report


@pytest.fixture(autouse=True)
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns have room for a few rows at first, so that they have to grow."""
    monkeypatch.setattr(scan, "_capacity", lambda data, at, mark: 3)
    monkeypatch.setattr(scan, "_SPARE_ROWS", 1)


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
    monkeypatch.setattr(walk, "WORTH_BYTES", 0)
    assert PHASES in both_ways({PHASES: value}, indent).streams
    scanned, report = read_phases(value, indent)
    assert report.notices() == ()
    assert_same(typed, scanned, "phases")


def test_orchestrator_records_are_the_same_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    value = [
        [{"submit_idx": at, "task_id": 2**32 + at, "start_cycles": at, "end_cycles": at + 1} for at in range(9)],
        [],
    ]
    typed, _ = read_orch(value)
    monkeypatch.setattr(walk, "WORTH_BYTES", 0)
    assert ORCH in both_ways({ORCH: value}).streams
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
    monkeypatch.setattr(walk, "WORTH_BYTES", 0)
    scanned, got = read_phases(value)
    assert_same(typed, scanned, "phases")
    assert got.notices() == want.notices()


@pytest.mark.parametrize("value", [5, None, {}, [], [[]], [5], [[5]], [None], [[None]], "text"])
def test_sections_of_another_shape(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    typed, want = read_phases(value)
    monkeypatch.setattr(walk, "WORTH_BYTES", 0)
    scanned, got = read_phases(value)
    assert_same(typed, scanned, "phases")
    assert got.notices() == want.notices()


def test_number_rows_are_the_same_strict_and_tolerant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.formats.join.rows._PIECE_BYTES", 64)
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


@pytest.mark.parametrize("width", [4, 5, 6, 7, 8])
@pytest.mark.parametrize("indent", [None, 1])
def test_number_rows_are_the_same_compiled(width: int, indent: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(width)
    rows = [[rng.choice([0, 7, 10**9, 10**18 - 1]) for _ in range(width)] for _ in range(40)]
    found = both_ways({"aicore_tasks": rows}, indent)
    want = int_rows(found["aicore_tasks"], FORM, "x", Report())
    monkeypatch.setattr(walk, "WORTH_BYTES", 0)
    got = both_ways({"aicore_tasks": rows}, indent)
    assert ("aicore_tasks" in got.rows) == (width in FORM.widths)
    mine = got.rows.get("aicore_tasks", want)
    assert mine.ids.tolist() == want.ids.tolist()
    assert [column.tolist() for column in mine.columns] == [column.tolist() for column in want.columns]


@pytest.mark.parametrize(
    "rows", [[], [[]], 5, None, [[1, 2, 3, 4, 10**18]], [[1, 2, 3, 4, -5]], [[1, 2, 3, 4, "5"]], [[1, 2, 3, 4, 5], [1]]]
)
def test_other_number_rows_are_left_to_the_decoder(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "WORTH_BYTES", 0)
    found = both_ways({"aicore_tasks": rows})
    assert found.rows == {}
    assert msgspec.json.decode(found["aicore_tasks"]) == rows


@pytest.mark.parametrize("number", [2**64, 10**30, -(2**63) - 1])
def test_numbers_beyond_64_bits_are_dropped_and_counted(number: int) -> None:
    report = Report()
    rows = [[1, 2, 3, 4, 5], [1, 2, 3, 4, number]]
    assert int_rows(msgspec.Raw(json.dumps(rows).encode()), FORM, "x", report).ids.tolist() == [2]
    assert [(notice.code, notice.count) for notice in report.notices()] == [("out_of_range", 1)]


def _damaged(text: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(text))
    kind = rng.randrange(4)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + text[at + 1 :]
    new = bytes([rng.choice(b'0123456789-+.eE"\\,:[]{} \n\x00\xffnul')])
    return text[:at] + new + text[at + kind - 2 :]


@pytest.mark.parametrize("seed", range(8))
def test_the_walk_takes_nothing_that_the_decoder_refuses(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "WORTH_BYTES", 0)
    rng = random.Random(seed)
    value = {
        "chip_swimlane_level": 4,
        "metadata": {"core_types": ["aic", 'a"\\]iv'], "x": [1.5e3, None]},
        "aicore_tasks": [[0, 10**9 + at, at, 5 * at, 5 * at + 3, 1] for at in range(4)],
        PHASES: [[phase(rng, at) for at in range(3)], []],
        ORCH: [[{"submit_idx": 0, "task_id": 1, "start_cycles": 0, "end_cycles": 12}]],
        "note": "end",
    }
    text = json.dumps(value, indent=rng.choice([None, 1])).encode()
    taken = 0
    for _ in range(400):
        broken = Text.of(_damaged(text, rng))
        found = walk.walk(broken, PLAN)
        if found is None:
            continue
        taken += 1
        want = msgspec.json.decode(broken.view, type=dict[str, msgspec.Raw])
        plain = {key: bytes(memoryview(raw)).strip() for key, raw in want.items()}
        assert {key: bytes(memoryview(raw)).strip() for key, raw in found.items()} == plain
        for name, rows in found.rows.items():
            assert rows.ids.tolist() == [row[1] for row in msgspec.json.decode(want[name])]
        for name, scanned in found.streams.items():
            assert [len(rows) for rows in msgspec.json.decode(want[name])] == [
                int((scanned.stream == stream).sum()) for stream in range(scanned.streams)
            ]
    assert taken > 20


def test_a_key_named_twice_is_left_to_the_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "WORTH_BYTES", 0)
    assert walk.walk(Text.of(b'{"a": 1, "a": 2}'), PLAN) is None
    assert walk.walk(Text.of(b'{"a": 1, "b": 2}'), PLAN) is not None


def test_short_files_never_load_the_compiled_scanners() -> None:
    import subprocess
    import sys

    script = (
        "import sys; from analysis.formats.containers import cycles; from analysis.formats.text import reading, walk\n"
        "assert walk.walk(reading.Text.of(b'{}'), cycles.PLAN) is None\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
