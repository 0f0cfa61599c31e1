"""Is a comparison of two snapshots right: rows, marks, moves, folds, and does it give the second text exactly?"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analysis.errors import NotFoundError, ParameterError
from analysis.passes import rows as shown
from analysis.passes.align import MOVED_CHARS
from analysis.passes.comparison import EQUAL, KINDS, Comparison, compare, from_bytes
from analysis.passes.dump import Dump, open_dump
from analysis.passes.functions import FunctionReader, parse_whole
from analysis.passes.marks import marks
from analysis.passes.opening import load
from analysis.passes.rows import Fold, Row, View, folds
from analysis.passes.snapshot import Snapshot, snapshot
from analysis.passes.structure import structure_only
from analysis.passes.text import decode, pieces
from analysis.passes.unified import json_hunks, unified
from analysis.synth.passes import write_passes
from tests.shared_data import PRESENT, SHARED, shared_params

DUMPS = sorted(p.name for p in (SHARED / "passes").iterdir()) if PRESENT else []


def of(*lines: str) -> Snapshot:
    return snapshot("".join(f"{line}\n" for line in lines))


def numbered(made: Comparison) -> list[tuple[str, int, int]]:
    """Rows as FIELD-FACTS writes them: kind, left and right line from 1, 0 for none."""
    rows = zip(made.kind.tolist(), made.left.tolist(), made.right.tolist(), strict=True)
    return [(KINDS[kind], i + 1, j + 1) for kind, i, j in rows]


def apply(made: Comparison, left: list[str], right: list[str]) -> list[str]:
    """The right text from the left one: equal rows give the left line, the others what they carry."""
    order = np.argsort(made.right, kind="stable")
    return [
        left[made.left[row]] if made.kind[row] == EQUAL else right[made.right[row]]
        for row in order.tolist()
        if made.right[row] >= 0
    ]


def check(left: Snapshot, right: Snapshot) -> Comparison:
    """Every promise of a comparison that holds for any two texts."""
    made = compare(left, right)
    assert apply(made, left.lines, right.lines) == right.lines
    assert sorted(made.left[made.left >= 0].tolist()) == list(range(len(left.lines)))
    assert sorted(made.right[made.right >= 0].tolist()) == list(range(len(right.lines)))
    for count in ("added", "removed", "moved"):
        assert sum(getattr(section, count) for section in made.sections) == getattr(made, count)
    assert sum(section.rows for section in made.sections) == made.row_count
    away = {(i, p) for k, i, p in zip(made.kind, made.left, made.partner, strict=True) if KINDS[k] == "moved_away"}
    here = {(p, j) for k, j, p in zip(made.kind, made.right, made.partner, strict=True) if KINDS[k] == "moved_here"}
    assert away == here
    assert all(left.lines[i].strip() == right.lines[j].strip() for i, j in away)
    return made


def patched(left: list[str], patch: str) -> list[str]:
    """A slow, obvious ``patch``: hunks applied by their own numbers, each context and removed line checked."""
    out: list[str] = []
    at = 0
    for line in patch.split("\n")[2:-1]:
        if line.startswith("@@"):
            start, _, size = line.split(" ")[1][1:].partition(",")
            begin = int(start) - (0 if size == "0" else 1)
            out += left[at:begin]
            at = begin
        elif line[0] == "+":
            out.append(line[1:])
        else:
            assert left[at] == line[1:]
            out += [line[1:]] if line[0] == " " else []
            at += 1
    return out + left[at:]


# FIELD-FACTS.md, "IR trace"


def test_fact_2_line_ends_are_no_change_and_separators_break_no_line() -> None:
    assert decode(b"a\r\nb").sha256 == decode(b"a\nb\n").sha256
    assert decode("a\u2028b\u2029c\x85d\x0ce\n".encode()).text.count("\n") == 1
    assert of("a\u2028b\u2029c\x0cd").lines == ["a\u2028b\u2029c\x0cd"]
    assert pieces("a\u2028b\u202ec", ((1, 2),)) == [("a", False), ("\\u2028", True), ("b\\u202ec", False)]
    assert pieces("<script>äüß 張\t", ()) == [("<script>äüß 張\t", False)]


def test_fact_3_a_syntax_error_or_a_repeated_name_gives_a_whole_file_diff() -> None:
    good = ["def f():", "    a()", "def g():", "    b()"]
    assert len(compare(of(*good), of(*good)).sections) == 2
    for bad, why in ((["def f(:", "    a()"], "not valid Python"), (["def f():", "    a()"] * 2, "more than once")):
        made = check(of(*good), of(*bad))
        assert len(made.sections) == 1
        assert why in made.whole


def test_fact_4_functions_pair_by_name_and_others_stand_alone_in_place() -> None:
    def text(*names: str) -> list[str]:
        return [
            line for name in names for line in (f"def {name}():", f"    {name}_operation_with_a_long_name({name}1)")
        ]

    made = check(of(*text("stable", "removed", "tail")), of(*text("stable", "added", "tail")))
    assert [(s.name, s.status) for s in made.sections] == [
        ("stable", "same"), ("removed", "removed"), ("added", "added"), ("tail", "same"),
    ]  # fmt: skip
    made = check(of(*text("a", "b", "c")), of(*text("c", "a", "b")))
    assert (made.added, made.removed, made.moved) == (0, 0, 0)
    assert [(s.name, s.reordered) for s in made.sections] == [("c", True), ("a", False), ("b", False)]


def test_fact_5_the_three_alignments() -> None:
    made = check(of(*"abc"), of(*"axyc"))
    assert (made.added, made.removed) == (2, 1)
    assert numbered(made) == [("equal", 1, 1), ("replace", 2, 2), ("insert", 0, 3), ("equal", 3, 4)]
    left = of("x = pl.tile.sqrt(a)", "y = pl.tile.recip(x)")
    right = of(
        "a1 = pl.tile.reshape(a)", "x1 = pl.tile.sqrt(a1)", "x = pl.tile.reshape(x1)", "x2 = pl.tile.reshape(x)",
        "y1 = pl.tile.recip(x2)", "y = pl.tile.reshape(y1)",
    )  # fmt: skip
    assert numbered(check(left, right)) == [
        ("insert", 0, 1), ("replace", 1, 2), ("insert", 0, 3), ("insert", 0, 4), ("replace", 2, 5), ("insert", 0, 6),
    ]  # fmt: skip
    body = [f"    v{i} = pl.tile.add(v{i}, w)" for i in range(7)]
    made = check(of("def f():", "    with pl.at():", *(f"    {line}" for line in body)), of("def f():", *body))
    assert numbered(made) == [("equal", 1, 1), ("delete", 2, 0), *(("replace", n, n - 1) for n in range(3, 10))]


def test_fact_6_each_changed_piece_is_marked_separately() -> None:
    left, right = "x: T = op(alpha, 128, beta)", "x: T = op(alpha_1, 256, beta)"
    mine, theirs = marks(left, right)
    assert [left[a:b] for a, b in mine] == ["128"]
    assert [right[a:b] for a, b in theirs] == ["_1", "256"]
    assert marks("(-)-(-)", "(+)-(+)") == (((1, 2), (5, 6)), ((1, 2), (5, 6)))
    assert marks("    x", "x") == (((0, 4),), ())


def test_fact_7_folding() -> None:
    def hidden(pattern: str, context: int) -> list[tuple[int, int]]:
        return folds(np.array([0 if c == "=" else 1 for c in pattern], dtype=np.uint8), context)

    assert hidden("x====x", 2) == []
    assert hidden("x=====x", 2) == [(3, 1)]
    assert hidden("=x=x==", 0) == [(0, 1), (2, 1), (4, 2)]
    assert hidden("=====x=====", 2) == [(0, 3), (8, 3)]
    with pytest.raises(ParameterError):
        hidden("x", -1)


# any texts

WORDS = st.sampled_from(["a", "b", "    a", "x = pl.tile.add(a, b)", "    x = pl.tile.add(a, b)", "y: T = pl.tile.add(c)",
                         "z = pl.tile.exp(abcdefghijklmnopqrst)", "def f():", "def g():", "    return x", "", "é\u2028"])  # fmt: skip
TEXTS = st.lists(WORDS, max_size=25)


@given(TEXTS, TEXTS)
@example(["def f():", "    return x"], [])
@example(["a"], ["a", ""])
def test_a_comparison_gives_the_second_text_exactly(left: list[str], right: list[str]) -> None:
    a, b = of(*left), of(*right)
    made = check(a, b)
    patch = unified(made, a, b, ("l", "r"), 2)
    assert (patched(a.lines, patch) if patch else a.lines) == b.lines
    again = from_bytes(made.to_bytes())
    assert again is not None
    assert numbered(again) == numbered(made)
    assert again.sections == made.sections


@given(TEXTS, TEXTS, st.booleans(), st.sampled_from([None, 0, 1, 3]))
def test_a_view_shows_or_folds_every_row_once(
    left: list[str], right: list[str], stacked: bool, context: int | None
) -> None:
    a, b = of(*left), of(*right)
    made = compare(a, b)
    view = View(made, a, b, stacked=stacked, context=context)
    lefts, rights, hidden = [], [], 0
    for unit in view.slice(0, min(view.length, shown.MAX_ROWS)):
        if isinstance(unit, Fold):
            hidden += unit.rows
            continue
        assert not stacked or unit.kind == "equal" or unit.left is None or unit.right is None
        for line, out, snap in ((unit.left, lefts, a), (unit.right, rights, b)):
            if line is not None:
                out.append(line.number)
                assert snap.lines[line.number - 1] == line.text
                assert all(0 <= s < e <= len(line.text) for s, e in line.marks)
                assert (
                    "".join(piece for piece, _ in pieces(line.text, line.marks)).replace("\\u2028", "\u2028")
                    == line.text
                )
    assert len(lefts) == len(set(lefts)) == len(a.lines) - hidden
    assert len(rights) == len(set(rights)) == len(b.lines) - hidden
    for row in made.changes.tolist():
        unit = view.slice(view.position_of_row(row), view.position_of_row(row) + 1)[0]
        assert isinstance(unit, Row)
        assert unit.row == row


@given(st.text(max_size=60), st.text(max_size=60))
def test_marks_stay_inside_their_lines_and_the_rest_is_equal(left: str, right: str) -> None:
    found = marks(left, right)
    rest = []
    for text, spans in zip((left, right), found, strict=True):
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(edges)
        assert all(0 <= a < b <= len(text) for a, b in spans)
        starts, ends = [0, *(b for _, b in spans)], [*(a for a, _ in spans), len(text)]
        rest.append("".join(text[a:b] for a, b in zip(starts, ends, strict=True)))
    assert rest[0] == rest[1]


@given(st.integers(0, 10), st.integers(1, 6), st.integers(0, 10), st.booleans(), st.integers())
def test_a_moved_block_is_never_deleted_and_added(at: int, size: int, to: int, indented: bool, seed: int) -> None:
    rng = random.Random(seed)
    rest = [f"keep_{i} = pl.tile.add({rng.random()})" for i in range(10)]
    block = [f"block_{i} = pl.tile.moving({rng.random():.9f})" for i in range(size)]
    there = [f"    {line}" for line in block] if indented else block
    left, right = of(*rest[:at], *block, *rest[at:]), of(*rest[:to], *there, *rest[to:])
    made = check(left, right)
    mine = [KINDS[k] for k, i in zip(made.kind, made.left, strict=True) if i >= 0 and "block" in left.lines[i]]
    lost = {line.strip() for k, line in lines(made, left, right, "left") if k == "delete"}
    found = {line.strip() for k, line in lines(made, left, right, "right") if k == "insert"}
    assert not [line for line in lost & found if sum(c.isalnum() for c in line) >= MOVED_CHARS]
    assert at != to or indented or set(mine) == {"equal"}


def lines(made: Comparison, left: Snapshot, right: Snapshot, side: str) -> list[tuple[str, str]]:
    snap, at = (left, made.left) if side == "left" else (right, made.right)
    return [(KINDS[k], snap.lines[i]) for k, i in zip(made.kind.tolist(), at.tolist(), strict=True) if i >= 0]


# what functions, structure and size do


def test_a_function_that_is_renamed_or_outlined_is_said_so() -> None:
    body = [f"    v{i} = pl.tile.add(v{i}, w)" for i in range(6)]
    made = check(of("def old():", *body), of("def new():", *body))
    assert [(s.name, s.status, s.origin) for s in made.sections] == [("new", "renamed", "old")]
    assert (made.added, made.removed) == (1, 1)
    made = check(of("def main():", *body), of("def part():", *body, "def main():", "    self.part(w)"))
    assert [(s.name, s.status, s.origin) for s in made.sections] == [
        ("part", "outlined", "main"),
        ("main", "changed", ""),
    ]
    assert made.moved == 6
    assert made.only("part").row_count == 7
    with pytest.raises(NotFoundError):
        made.only("other")


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    def f(self):\n        pass\n\n    def g(self): pass\n",
        'class A:\n    """\n    def no(self): pass\n    """\n    def f(self):\n        pass\n',
        "class A:\n    @d(\n        1,\n    )\n    @e\n    async def f(self):\n        def inner(): pass\n",
        "def top():\n    def inner(): pass\n    return inner\nclass A:\n    def f(self): pass\nclass B:\n    def f(self): pass\n",
        "class A:\n    def f(self):\n        x = (\n    1)\n    def g(self): pass\nx = 1\n",
        "class A:\n    if x:\n        def no(self): pass\n    def f(self): pass\n    class C:\n        def no(self): pass\n",
        "class A:\n    def f(self):\n        return 1 + \\\n    def g(self): pass\n",
        "if x:\n    def f(): pass\n    def g(): pass\n",
        "class A:\n    def f(self): pass\n  # odd\n    def f(self): pass\n",
        "class A:\n    try:\n        x\n    except E:\n        y\n    def f(self): pass\n    else_ = 1\n",
        "",
    ],
)
def test_reading_in_pieces_equals_ast(text: str) -> None:
    reader = FunctionReader()
    assert reader.read(text) == parse_whole(text)
    assert reader.read(text) == parse_whole(text)


def test_structure_only_hides_memory_and_layout_and_wrapping() -> None:
    left = """class P:
    def k(self, a: pl.Tensor[[64], pl.FP32, pl.MemRef("d(0", pl.const(0, pl.INT64), 64)]):
        mem: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 64)
        x: pl.Tile[
            [64], pl.FP32, pl.MemRef(mem, pl.const(0, pl.INT64), 64), pl.Mem.Vec, pl.TileView(blayout=pl.TileLayout.row_major)
        ] = pl.tile.load(
            a, layout=pl.TensorLayout.ND
        )
"""
    right = """class P:
    def k(self, a: pl.Tensor[[64], pl.FP32]):
        x: pl.Tile[[64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a)
"""
    assert structure_only(left)[0] == structure_only(right)[0] == right.split("\n")[:-1]
    assert structure_only(left)[1].tolist() == [1, 2, 4]
    a, b = snapshot(left, structure=True), snapshot(right, structure=True)
    made = check(a, b)
    assert (made.added, made.removed) == (0, 0)
    view = View(made, a, b, context=None)
    assert view.row_of_line("left", 7) == view.row_of_line("right", 3) == 2


def test_a_huge_line_is_cut_and_says_so() -> None:
    left, right = of("x" * 5_000_000 + "(a)"), of("x" * 5_000_000 + "(b)")
    view = View(compare(left, right), left, right)
    (row,) = view.slice(0, 400)
    assert isinstance(row, Row)
    assert row.left is not None
    assert len(row.left.text) == shown.MAX_SHOWN_CHARS or row.left.hidden_after == 0
    assert [row.left.text[a:b] for a, b in row.left.marks] == ["a"]
    assert row.left.hidden_before + len(row.left.text) + row.left.hidden_after == 5_000_003
    with pytest.raises(ParameterError):
        view.slice(0, 401)


def test_changes_are_stepped_through_in_both_directions() -> None:
    left = of(*(f"line {i}" for i in range(40)))
    right = of(*(f"line {i}" if i not in (10, 30) else "other" for i in range(40)))
    view = View(compare(left, right), left, right, context=1)
    first = view.next_change(-1)
    assert first is not None
    second = view.next_change(first)
    assert second is not None
    assert view.next_change(second) is None
    assert view.next_change(second, -1) == first
    opened = View(view.comparison, left, right, context=1, opened={row for row, _ in view.folds})
    assert opened.length == 40


# real and synthetic dumps


def pairs(dump: Dump) -> int:
    """Checks every consecutive pair; returns how many differ."""
    reader, differing, before = FunctionReader(), 0, None
    for item in dump.passes:
        now = load(dump, item, reader.read(dump.read(item.file).text))
        if before is not None and before.sha256 != now.sha256:
            differing += 1
            made = compare(before, now)
            assert apply(made, before.lines, now.lines) == now.lines
            patch = unified(made, before, now, ("l", "r"))
            assert patched(before.lines, patch) == now.lines
        before = now
    return differing


@pytest.mark.parametrize("name", shared_params(DUMPS))
def test_each_consecutive_pair_of_a_real_dump_gives_the_second_text(name: str) -> None:
    assert pairs(open_dump(SHARED / "passes" / name / "passes_dump")) > 0


def test_each_pair_of_a_synthetic_dump_gives_the_second_text(tmp_path: Path) -> None:
    dump = open_dump(write_passes(tmp_path, 2_000).path)
    assert pairs(dump) == 9
    made = [load(dump, dump.find(n)) for n in (6, 7)]
    hunks = json_hunks(compare(*made), *made)
    assert hunks["moved"] > 0
    kinds = {row["kind"] for hunk in hunks["hunks"] for row in hunk["rows"]}
    assert kinds == {"equal", "moved_away", "moved_here"}


def test_patch_accepts_the_unified_text(tmp_path: Path) -> None:
    dump = open_dump(write_passes(tmp_path / "d", 2_000).path)
    left, right = (load(dump, dump.find(n)) for n in (3, 4))
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in left.lines))
    patch = unified(compare(left, right), left, right, ("text", "text"))
    subprocess.run(["patch", "-s", "text"], input=patch.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "text").read_text().split("\n")[:-1] == right.lines
