"""Are memory maps right? The reference of every dump, the field's own facts, and a slow, obvious version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import cli
from analysis.errors import InputError, NotFoundError, ParameterError
from analysis.memory.boxes import _marked, _merged
from analysis.memory.chips import Chip, choose_chip
from analysis.memory.maps import load_map, read_map
from analysis.memory.model import Box, FunctionMap
from analysis.memory.questions import compare, neighbours, overview, peak, to_free
from tests.shared_data import PRESENT, SHARED, shared_params

DUMPS = sorted(p.name for p in (SHARED / "passes").iterdir() if p.is_dir()) if PRESENT else []
CHIP = Chip("910B", "assumed")
HEAD = "import pypto.language as pl\n\n\n@pl.program\nclass P:\n"


def tile(
    name: str, offset: int, size: int = 1024, base: str = "mem_vec_1", space: str = "Vec", op: str = "tile.load(a)"
) -> str:
    """One statement that binds a tile."""
    memory = f"pl.MemRef({base}, pl.const({offset}, pl.INT64), {size})"
    return f"{name}: pl.Tile[[16, 16], pl.FP32, {memory}, pl.Mem.{space}] = pl.{op}"


def program(*lines: str, kind: str = "AIV", parameters: str = "a: pl.Tensor[[1], pl.FP32]") -> str:
    """A snapshot with one function ``f`` of these statements; its first statement is line 8."""
    body = "\n".join(f"        {line}" for line in lines)
    return f"{HEAD}    @pl.function(type=pl.FunctionType.{kind})\n    def f(self, {parameters}):\n{body}\n"


def only(text: str, **options: Any) -> FunctionMap:
    found = read_map(text, "35_after_AllocateMemoryAddr.py", CHIP, **options).functions
    assert len(found) == 1
    return found[0]


def spans(function: FunctionMap) -> list[tuple[Any, ...]]:
    return [(b.name, b.aliases, b.offset, b.size, b.start_line, b.end_line) for b in function.boxes]


@pytest.mark.parametrize("name", shared_params(DUMPS))
def test_the_map_equals_the_reference(name: str) -> None:
    wanted = SHARED / "passes" / name / "oracle" / "memory_map.json"
    made = load_map(SHARED / "passes" / name)
    if not wanted.exists():
        assert "AllocateMemoryAddr" in made.reason
        assert all(space.used_bytes is None for f in made.functions if f.unassigned for space in f.spaces)
        return
    reference = json.loads(wanted.read_text())
    assert made.snapshot == reference["dump"]
    assert made.chip.name == reference["backend"]["name"].removeprefix("Ascend")
    mine = [item for item in made.to_json()["functions"] if any(not b["beyond_reference"] for b in item["boxes"])]
    assert [item["name"] for item in mine] == [item["name"] for item in reference["functions"]]
    for got, want in zip(mine, reference["functions"], strict=True):
        assert (got["type"], got["start_line"], got["end_line"]) == (want["ftype"], want["src_start"], want["src_end"])
        renamed = {"used_bytes": "hwm", "capacity_bytes": "limit", "space": "space", "tiles": "tiles", "bases": "bases"}
        assert [{renamed[k]: v for k, v in s.items()} for s in got["spaces"]] == want["spaces"]
        boxes = [box for box in got["boxes"] if not box["beyond_reference"]]
        assert len(boxes) == len(want["boxes"])
        for box, other in zip(boxes, want["boxes"], strict=True):
            shown = box | {"start": box["start_line"], "end": box["end_line"]}
            shown["shape"] = [int(part) if part.lstrip("-").isdigit() else part for part in box["shape"]]
            assert {key: shown[key] for key in other} == other


@pytest.mark.parametrize("kind", ["Group", "Orchestration", "Spmd"])
def test_only_aic_aiv_and_incore_functions_own_a_map(kind: str) -> None:
    made = read_map(program(tile("t", 0), kind=kind), "35_after_AllocateMemoryAddr.py", CHIP)
    assert made.functions == ()
    assert "binds a tile" in made.reason
    for owner in ("AIC", "AIV", "InCore"):
        assert only(program(tile("t", 0), kind=owner)).type == owner


def test_lines_begin_at_the_decorator_and_both_ends_count() -> None:
    function = only(program(tile("t", 0), "x = pl.add(t,\n            t)"))
    assert (function.start_line, function.end_line) == (6, 10)
    assert spans(function) == [("t", (), 0, 1024, 8, 10)]


def test_a_statement_over_several_lines_counts_to_its_last() -> None:
    assert spans(only(program(tile("t", 0, op="load(\n            a,\n        )"))))[0][4:] == (8, 10)


def test_a_tile_parameter_owns_a_map_and_lives_from_the_signature() -> None:
    memory = "pl.Tile[[1], pl.FP32, pl.MemRef(mem_vec_1, pl.const(64, pl.INT64), 32), pl.Mem.Vec]"
    function = only(program("pl.store(p)", parameters=f"p: pl.InOut[{memory}]"))
    assert (function.boxes[0].op, *spans(function)[0]) == ("param", "p", (), 64, 32, 7, 8)


def test_ddr_is_left_out() -> None:
    assert [b.name for b in only(program(tile("t", 0), tile("d", 0, space="DDR"))).boxes] == ["t"]


def test_aliases_that_touch_merge_and_others_are_reuse() -> None:
    touching = only(program(tile("x", 0), tile("y", 0, op="tile.exp(x)"), "pl.store(y)"))
    assert spans(touching) == [("x", ("y",), 0, 1024, 8, 10)]
    reused = only(program(tile("x", 0), "pl.store(x)", tile("y", 0), "pl.store(y)"))
    assert [box[:2] for box in spans(reused)] == [("x", ()), ("y", ())]
    assert not any(box.conflict or box.view for box in reused.boxes)


def test_same_base_and_narrower_is_a_view_and_the_wide_one_is_not() -> None:
    function = only(program(tile("wide", 0, 1024), tile("part", 256, 128), "pl.use(wide, part)"))
    assert [(box.name, box.view, box.conflict) for box in function.boxes] == [
        ("wide", False, False),
        ("part", True, False),
    ]


def test_different_bases_over_bytes_and_lines_are_a_conflict_on_both_sides() -> None:
    body = [tile("x", 0, 1024), tile("y", 512, 1024, base="mem_vec_2"), "pl.use(x)", "pl.use(y)"]
    function = only(program(*body))
    assert [(box.conflict_kind, box.view) for box in function.boxes] == [("overlap", False)] * 2
    touching = only(program(tile("x", 0), tile("y", 512, base="mem_vec_2", op="tile.exp(x)"), "pl.use(y)"))
    assert [box.conflict_kind for box in touching.boxes] == ["touch", "touch"]


def test_both_branches_of_an_if_are_one_tile() -> None:
    function = only(program("if a:", "    " + tile("t", 0), "else:", "    " + tile("t", 64), "pl.use(t)"))
    assert spans(function) == [("t", (), 0, 1024, 9, 12)]


def test_addresses_that_are_not_assigned_name_the_pass_to_open() -> None:
    made = read_map(program(tile("x", 0), tile("y", 0, base="mem_vec_2")), "34_after_MemoryReuse.py", CHIP)
    assert "AllocateMemoryAddr" in made.reason
    assert made.functions[0].unassigned == ("Vec",)
    assert made.functions[0].spaces[0].used_bytes is None
    assert overview(made).cells("share") == [None]
    real = read_map(program(tile("x", 0), tile("y", 0, base="mem_mat", space="Mat")), "x.py", CHIP)
    assert real.reason == ""
    bare = read_map(program("t: pl.Tile[[1], pl.FP32, pl.Mem.Vec] = pl.tile.create([1])"), "x.py", CHIP)
    assert "no MemRef" in bare.reason


def test_slots_are_one_box_per_address() -> None:
    memory = "pl.MemRef(l0c, 0 + (i + 1) % 2 * 16384, 16384, slots=2)[(i + 1) % 2]"
    function = only(program(f"t: pl.Tile[[1], pl.FP32, {memory}, pl.Mem.Acc] = pl.tile.matmul(a)"))
    assert function.boxes == ()
    assert [(b.beyond, b.offset) for b in function.beyond] == [("slot", 0), ("slot", 16384)]
    assert all(box.to_json()["beyond_reference"] for box in function.beyond)


def test_loops_carry_values_and_keep_what_crosses_their_back_edge() -> None:
    body = [
        tile("x", 0),
        tile("k", 2048),
        "for i, (c,) in pl.range(0, 4, init_values=(x,)):",
        "    n = pl.add(c, k)",
        "    m = pl.exp(n)",
        "(r,) = pl.yield_(c)",
        "pl.store(r)",
    ]
    beyond = only(program(*body)).beyond
    assert [(b.name, b.beyond, b.start_line, b.end_line) for b in beyond] == [
        ("c", "carried", 10, 12),
        ("r", "carried", 13, 14),
        ("k", "back-edge", 11, 12),
    ]


def test_a_ring_is_drawn_slot_by_slot_with_what_is_popped_from_it() -> None:
    body = [
        'ring: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name="ring", size=4096, base=128)',
        "pl.system.aiv_initialize_pipe(ring, slot_num=2)",
        "t: pl.Tile[[1], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=1)",
    ]
    function = only(program(*body))
    assert [(b.name, b.offset, b.size, b.aliases, b.end_line) for b in function.beyond] == [
        ("ring[0]", 128, 2048, ("t",), 10),
        ("ring[1]", 2176, 2048, ("t",), 10),
    ]


def test_unknown_spaces_follow_with_an_unknown_capacity() -> None:
    function = only(program(tile("u", 0, space="Nook"), tile("v", 0)))
    assert [(s.space, s.capacity_bytes, s.share) for s in function.spaces] == [
        ("Vec", 188_416, 1024 / 188_416),
        ("Nook", None, None),
    ]


def test_chips(tmp_path: Path) -> None:
    assert choose_chip(None, None) == Chip("910B", "assumed")
    (tmp_path / "ptoas" / "deep").mkdir(parents=True)
    (tmp_path / "ptoas" / "deep" / "k.pto").write_text('module { pto.target_arch = "a5" }')
    assert choose_chip(None, tmp_path) == Chip("950", "detected")
    assert choose_chip("910B", tmp_path) == Chip("910B", "chosen")
    with pytest.raises(ParameterError, match="no chip 'x'"):
        choose_chip("x", None)
    bias = {name: Chip(name, "chosen") for name in ("910B", "950")}
    assert [bias[name].capacity_bytes("LeftScale") for name in bias] == [None, 4096]
    assert [bias[name].capacity_bytes("Bias") for name in bias] == [1024, 4096]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(:\n", "line 1"),
        ("x = " + "(" * 300 + ")" * 300, "nested too deeply|too many nested"),
        ("x = " + "-" * 200_000 + "1", "nested too deeply|recursion"),
        ("x = '\0'", "null"),
    ],
)
def test_damaged_text_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(InputError, match=f"(?i){words}"):
        read_map(text, "35_after_AllocateMemoryAddr.py", CHIP)


@pytest.mark.parametrize("offset", [10**30, -1, 1 << 41])
def test_addresses_that_cannot_be_are_left_out_with_a_note(offset: int) -> None:
    function = only(program(tile("t", offset), tile("u", 0)))
    assert [box.name for box in function.boxes] == ["u"]
    assert "no address that can be drawn" in function.notes[0]


def test_the_snapshot_that_is_taken(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no snapshot"):
        load_map(tmp_path)
    dump = tmp_path / "case" / "passes_dump"
    dump.mkdir(parents=True)
    for name in ("00_frontend.py", "19_after_AllocateMemoryAddr.py", "35_after_AllocateMemoryAddr.py", "40_after_X.py"):
        (dump / name).write_text(program(tile("t", 0)))
    assert load_map(tmp_path / "case").snapshot == "35_after_AllocateMemoryAddr.py"
    assert load_map(dump / "19_after_AllocateMemoryAddr.py").snapshot == "19_after_AllocateMemoryAddr.py"
    for name in ("19_after_AllocateMemoryAddr.py", "35_after_AllocateMemoryAddr.py"):
        (dump / name).unlink()
    assert "no snapshot after AllocateMemoryAddr" in load_map(dump).reason
    (dump / "40_after_X.py").write_bytes(b"\xff")
    with pytest.raises(InputError, match="byte 0"):
        load_map(dump / "40_after_X.py")
    with pytest.raises(NotFoundError, match="no function 'g'"):
        load_map(dump / "00_frontend.py", "g")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "35_after_AllocateMemoryAddr.py"
    file.write_text(program(tile("t", 0), kind="AIC"))
    assert cli.main(["memory-map", str(file), "--chip", "950", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["chip"], shown["chip_origin"], shown["functions"][0]["boxes"][0]["name"]) == ("950", "chosen", "t")
    assert cli.main(["memory-map", str(file), "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("f,AIC,Vec,1024,188416,")
    assert cli.main(["memory-map", str(file), "--chip", "x"]) != 0


BOXES = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.integers(1, 4), st.integers(1, 9), st.integers(0, 5)),
    max_size=14,
)


def made_boxes(rows: list[tuple[str, int, int, int, int]]) -> list[Box]:
    return [
        Box(f"t{at}", "Vec", base, offset, size, start, start + length)
        for at, (base, offset, size, start, length) in enumerate(rows)
    ]


@settings(max_examples=200, deadline=None)
@given(BOXES)
def test_marks_equal_a_comparison_of_every_pair(rows: list[tuple[str, int, int, int, int]]) -> None:
    boxes = made_boxes(rows)
    for got in _marked(boxes):
        others = [b for b in boxes if b.name != got.name and b.offset < got.end and b.end > got.offset]
        shared = [(b, min(b.end_line, got.end_line) - max(b.start_line, got.start_line)) for b in others]
        near = [(b, lines) for b, lines in shared if lines >= 0]
        assert got.view == any(b.base == got.base and b.size > got.size for b, _ in near)
        kinds = {"overlap" if lines else "touch" for b, lines in near if b.base != got.base}
        assert got.conflict_kind == ("overlap" if "overlap" in kinds else "touch" if kinds else "")


@settings(max_examples=200, deadline=None)
@given(BOXES)
def test_merging_leaves_every_tile_in_one_box_and_no_two_that_touch(rows: list[tuple[str, int, int, int, int]]) -> None:
    boxes = made_boxes(rows)
    merged = _merged(boxes)
    assert sorted(name for box in merged for name in box.names()) == sorted(box.name for box in boxes)
    by_name = {box.name: box for box in boxes}
    for box in merged:
        parts = [by_name[name] for name in box.names()]
        assert (box.start_line, box.end_line) == (min(p.start_line for p in parts), max(p.end_line for p in parts))
        assert {(p.base, p.offset, p.size) for p in parts} == {(box.base, box.offset, box.size)}
    for one in merged:
        for two in merged:
            if one is not two and (one.base, one.offset, one.size) == (two.base, two.offset, two.size):
                assert one.end_line < two.start_line or two.end_line < one.start_line


@settings(max_examples=200, deadline=None)
@given(BOXES.filter(bool), st.integers(0, 12))
def test_the_peak_and_what_would_free_it(rows: list[tuple[str, int, int, int, int]], target: int) -> None:
    boxes = tuple(made_boxes(rows))
    function = FunctionMap("f", "AIV", 1, 99, (), boxes)
    found = peak(function, "Vec")
    assert found is not None

    def alive_bytes(line: int) -> int:
        return len({b for x in boxes if x.start_line <= line <= x.end_line for b in range(x.offset, x.end)})

    assert found.alive_bytes == max(alive_bytes(line) for line in range(20))
    assert alive_bytes(found.line) == found.alive_bytes
    sizes = [box.size for box in found.alive]
    assert sizes == sorted(sizes, reverse=True)
    gone = to_free(found, target)
    left = {b for x in found.alive if x not in gone for b in range(x.offset, x.end)}
    assert len(left) <= target


def test_neighbours_in_time_and_in_address() -> None:
    def box(name: str, offset: int, size: int, start: int, end: int) -> Box:
        return Box(name, "Vec", name, offset, size, start, end)

    boxes = (
        box("x", 100, 100, 10, 20),
        box("old", 50, 100, 1, 9),
        box("new", 150, 10, 25, 30),
        box("low", 0, 50, 5, 15),
    )
    high = box("high", 300, 5, 20, 21)
    function = FunctionMap("f", "AIV", 1, 99, (), (*boxes, high))
    found = neighbours(function, boxes[0])
    names = [None if b is None else b.name for b in (found.before, found.after, found.below, found.above)]
    assert (names, found.idle_lines) == (["old", "new", "low", "high"], 5)


def test_two_maps_compared() -> None:
    before = read_map(program(tile("x", 0)), "a.py", CHIP)
    after = read_map(program(tile("x", 0), tile("y", 2048, base="mem_vec_2")), "b.py", CHIP)
    rows = compare(before, after).to_records()
    assert [
        (r["function"], r["space"], r["before_bytes"], r["after_bytes"], r["change_bytes"], r["tile"]) for r in rows
    ] == [("f", "Vec", 1024, 3072, 2048, "y")]
    assert len(compare(before, read_map("x = 1\n", "c.py", CHIP))) == 1
    found = peak(after.functions[0], "Vec")
    assert found is not None
    with pytest.raises(ParameterError):
        to_free(found, -1)
