"""Plans, history, back edges and damaged expressions of memory maps, against slow obvious versions and small programs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import cli
from analysis.errors import InputError, NotFoundError, ParameterError
from analysis.memory.chips import Chip, choose_chip
from analysis.memory.history import history, rises
from analysis.memory.maps import load_map, read_map
from analysis.memory.model import Box, FunctionMap
from analysis.memory.pieces import Unparsed, functions
from analysis.memory.plans import plan
from analysis.memory.questions import peak, to_free
from tests.shared_data import SHARED, needs_shared

CHIP = Chip("910B", "chosen")
HEAD = "import pypto.language as pl\n\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.AIV)\n    def f(self, a):\n"


def tile(name: str, offset: str, base: str = "m", size: int = 64, value: str = "pl.tile.load(a)") -> str:
    memory = f"pl.MemRef({base}, {offset}, {size})"
    return f"{name}: pl.Tile[[16], pl.FP32, {memory}, pl.Mem.Vec] = {value}"


def const(offset: int) -> str:
    return f"pl.const({offset}, pl.INT64)"


def program(*lines: str) -> str:
    """A snapshot with one function; its first statement is line 8."""
    return HEAD + "".join(f"        {line}\n" for line in lines)


def only(*lines: str) -> FunctionMap:
    (function,) = read_map(program(*lines), "35_after_AllocateMemoryAddr.py", CHIP).functions
    return function


DEEP = {
    "callee": tile("t", const(0), value="(" + "+".join(["a"] * 900) + ")(1)"),
    "dimension": tile("t", const(0)).replace("[16]", "[" + "+".join(["1"] * 900) + "]"),
    "long dimension": tile("t", const(0)).replace("[16]", "[0x" + "f" * 6000 + "]"),
    "signs": tile("t", "pl.const(" + "-" * 1500 + "1, pl.INT64)"),
}


@pytest.mark.parametrize("line", DEEP.values(), ids=DEEP)
def test_expressions_too_deep_or_too_long_are_refused_with_their_function(line: str) -> None:
    with pytest.raises(InputError, match=r"line 7, function f\): not a readable snapshot: (nested|a number)"):
        read_map(program(line), "x.py", CHIP)


def test_a_mention_on_the_first_line_of_a_loop_crosses_no_back_edge() -> None:
    function = only(
        tile("t", const(0)),
        "for i, (c,) in pl.range(4, init_values=(t,)):",
        "    pl.store(c)",
        "for j in pl.range(2):",
        "    for k, (d,) in pl.range(4, init_values=(t,)):",
        "        pl.store(d)",
        "    x = 1",
    )
    edges = [(b.name, b.start_line, b.end_line) for b in function.beyond if b.beyond == "back-edge"]
    assert edges == [("t", 12, 14)]  # the inner loop's first line is read in every round of the outer loop


def test_a_later_owner_of_the_bytes_made_inside_a_loop_does_not_keep_the_earlier_one() -> None:
    function = only(
        tile("t", const(0)),
        tile("n", const(0), value="pl.tile.exp(t)"),
        "for i in pl.range(4):",
        "    pl.store(a)",
    )
    assert [b.aliases for b in function.boxes] == [("n",)]
    assert function.beyond == ()
    inside = only(
        tile("t", const(0)), "for i in pl.range(4):", "    " + tile("n", const(0)), "    pl.store(n)", "    x = 1"
    )
    assert inside.beyond == ()
    mixed = only(
        tile("t", const(0)),
        "for i in pl.range(4):",
        "    x = t",
        "    " + tile("n", const(0)),
        "    y = n",
        "    z = 1",
    )
    assert [(b.name, b.end_line) for b in mixed.beyond] == [("t", 13)]


def test_without_addresses_every_base_counts_and_nothing_conflicts() -> None:
    function = only(tile("t", const(0)), tile("u", const(0), base="n"), "pl.store(t, u)")
    assert function.unassigned == ("Vec",)
    assert [box.conflict_kind for box in function.boxes] == ["", ""]
    assert [box["offset"] for box in function.to_json()["boxes"]] == [None, None]
    found = peak(function, "Vec")
    assert found is not None
    assert (found.alive_bytes, found.used_bytes) == (128, None)
    assert [box.name for box in to_free(found, 64)] == ["t"]
    wanted = plan(function, "Vec", 64)
    assert wanted is not None
    assert [(s.boxes[0].name, s.before_line, s.freed_bytes) for s in wanted.steps] == [("t", 9, 64)]


def test_a_function_without_boxes_says_why() -> None:
    made = read_map(program(tile("t", const(10**30))), "x.py", CHIP)
    assert made.functions == ()
    assert made.notes == ("f: line 8: t has no address that can be drawn",)


@needs_shared
def test_a_failed_compile_says_how_much_was_asked_for() -> None:
    (function,) = load_map(SHARED / "passes" / "fail_vec_overflow").functions
    found = peak(function, "Vec")
    assert found is not None
    assert (found.alive_bytes, found.used_bytes, function.spaces[0].capacity_bytes) == (262_144, None, 188_416)


ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.integers(1, 4), st.integers(1, 9), st.integers(0, 5)),
    min_size=1,
    max_size=12,
)


def boxes_of(rows: list[tuple[str, int, int, int, int]]) -> tuple[Box, ...]:
    return tuple(Box(f"t{i}", "Vec", base, at, size, s, s + n) for i, (base, at, size, s, n) in enumerate(rows))


def alive(boxes: list[Box], line: int) -> int:
    return len({byte for b in boxes if b.start_line <= line <= b.end_line for byte in range(b.offset, b.end)})


@settings(max_examples=200, deadline=None)
@given(ROWS, st.integers(0, 10))
def test_a_plan_does_what_it_says(rows: list[tuple[str, int, int, int, int]], target: int) -> None:
    boxes = boxes_of(rows)
    made = plan(FunctionMap("f", "AIV", 1, 20, (), boxes), "Vec", target)
    assert made is not None
    ends = {box.name: box.end_line for box in boxes}
    for step in made.steps:
        assert step.end_line == max(ends[box.name] for box in step.boxes)
        assert step.freed_bytes == len({byte for b in step.boxes for byte in range(b.offset, b.end)})
        for box in step.boxes:
            assert box.start_line < step.before_line <= ends[box.name]
            ends[box.name] = step.before_line - 1
    left = [Box(b.name, b.space, b.base, b.offset, b.size, b.start_line, ends[b.name]) for b in boxes]
    assert made.peak_bytes == max(alive(left, line) for line in range(1, 16)) == alive(left, made.peak_line)
    assert made.reached == (made.peak_bytes <= target)
    assert bool(made.reason) != made.reached


def test_a_plan_needs_a_size_and_a_space() -> None:
    function = only(tile("t", const(0)))
    assert plan(function, "Mat", 0) is None
    with pytest.raises(ParameterError, match="0 bytes or more"):
        plan(function, "Vec", -1)


def test_history_names_the_pass_that_raised_a_peak(tmp_path: Path) -> None:
    dump = tmp_path / "passes_dump"
    dump.mkdir()
    one = program(tile("t", const(0)), tile("u", const(64), base="n"))
    two = program(tile("t", const(0)), tile("u", const(64), base="n"), "pl.store(t)")
    for name, text in (("01_after_A", one), ("02_after_B", one), ("03_after_C", two), ("04_after_D", "def f(:")):
        (dump / f"{name}.py").write_text(text)
    steps: list[tuple[int, int]] = []
    passes = history(tmp_path, lambda done, of: steps.append((done, of)))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert [each.changed for each in passes] == [True, False, True, True]
    assert [each.uses["f", "Vec"].alive_bytes for each in passes[:3]] == [64, 64, 128]
    assert "04_after_D.py (line 1)" in passes[3].problem
    (rise,) = rises(passes)
    assert (rise.number, rise.pass_name, rise.before_bytes, rise.after_bytes) == (3, "C", 64, 128)
    assert rise.tiles == ("u",)
    with pytest.raises(NotFoundError, match="no directory"):
        history(dump / "01_after_A.py")


def test_a_capacity_can_be_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "35_after_AllocateMemoryAddr.py"
    file.write_text(program(tile("t", const(0))))
    assert load_map(file, capacity_bytes={"Vec": 128}).functions[0].spaces[0].share == 0.5
    with pytest.raises(ParameterError, match="positive"):
        load_map(file, capacity_bytes={"Vec": 0})
    assert cli.main(["memory-map", str(file), "--capacity", "Vec=128", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("f,AIV,Vec,64,128,0.5,")
    for wrong in ("Vec", "Vec=x", "=5", "Vec=0"):
        assert cli.main(["memory-map", str(file), "--capacity", wrong]) == 2


def test_kernels_of_unknown_chips_and_closed_directories_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.pto").write_text('module attributes {pto.target_arch = "a9"} {')
    assert choose_chip(None, tmp_path).origin == "assumed"
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.pto").write_text('module attributes {pto.target_arch = "a5"} {')
    assert choose_chip(None, tmp_path) == Chip("950", "detected")
    assert choose_chip(None, tmp_path / "gone") == Chip("910B", "assumed")


ORCHESTRATION = "    @pl.function(type=pl.FunctionType.Orchestration)\n    def o(self):\n"
KERNEL = "    @pl.function(type=pl.FunctionType.AIV)\n    def {}(self, a):\n        " + tile("t", const(0)) + "\n"
TEXTS = {
    "plain": ["        return 1\n"],
    "string": ['        x = """\n', KERNEL.format("fake"), '    """\n'],
    "two in a string": ['        x = """\n', KERNEL.format("fake"), KERNEL.format("fake2"), '    """\n'],
    "matrix product": ["        x = (a\n    @ b)\n"],
    "continued": ["        x = a \\\n    @ b\n"],
    "stacked": ["        return 1\n", "    @staticmethod\n", KERNEL.format("second")],
    "second class": ["        return 1\n", "class Q:\n", KERNEL.format("q")],
}


@pytest.mark.parametrize("middle", TEXTS.values(), ids=TEXTS)
def test_pieces_find_what_the_whole_tree_holds(middle: list[str]) -> None:
    head = "class P:\n"
    text = head + KERNEL.format("k") + ORCHESTRATION + "".join(middle) + KERNEL.format("last")
    wanted = [
        (node.name, node.lineno)
        for top in ast.parse(text).body
        if isinstance(top, ast.ClassDef)
        for node in top.body
        if isinstance(node, ast.FunctionDef) and any("AIV" in ast.unparse(mark) for mark in node.decorator_list)
    ]
    found = list(functions(text, "x.py"))
    assert not [part for part in found if isinstance(part, Unparsed)]
    assert [(f.name, f.node.lineno + f.line_shift) for f in found if not isinstance(f, Unparsed)] == wanted


def test_a_broken_kernel_leaves_the_others_open() -> None:
    text = "class P:\n" + KERNEL.format("k") + KERNEL.format("broken").replace("= pl", "= = pl") + KERNEL.format("last")
    made = read_map(text, "35_after_AllocateMemoryAddr.py", CHIP)
    assert [(f.name, f.start_line, f.boxes[0].start_line) for f in made.functions] == [("k", 2, 4), ("last", 8, 10)]
    assert made.notes[0].startswith("lines 5 to 7 cannot be read: not a readable snapshot: invalid syntax")
