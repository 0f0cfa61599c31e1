"""Are dumps found, their broken rules named, and their list, search, history and reports right?"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from analysis import cli
from analysis.errors import AmbiguousError, NotFoundError, ParameterError
from analysis.passes.dump import find_dumps, open_dump, tool_dumps
from analysis.passes.history import history
from analysis.passes.listing import (
    PassList,
    first_selection,
    level_conflict,
    list_from_bytes,
    list_passes,
    nearest_visible,
)
from analysis.passes.logs import warnings
from analysis.passes.opening import open_one
from analysis.passes.reports import read_report, report_files
from analysis.passes.search import search
from analysis.synth.passes import write_passes
from tests.shared_data import PRESENT, SHARED, needs_shared, shared_params

DUMPS = sorted(p.name for p in (SHARED / "passes").iterdir()) if PRESENT else []


def make(root: Path, files: dict[str, str | bytes | None]) -> Path:
    """A dump directory with these files; ``None`` makes a directory."""
    dump = root / "passes_dump"
    dump.mkdir(parents=True)
    for name, text in files.items():
        if text is None:
            (dump / name).mkdir()
        else:
            (dump / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return dump


def codes(root: Path, files: dict[str, str | bytes | None]) -> list[str]:
    return [problem.code for problem in list_passes(open_dump(make(root, files))).problems]


ONE, TWO = "def f():\n    a()\n", "def f():\n    b()\n"
GOOD: dict[str, str | bytes | None] = {"00_frontend.py": ONE, "01_after_A.py": ONE, "02_after_B.py": TWO}


@pytest.mark.parametrize(
    "change, expected",
    [
        ({}, []),
        ({"00_frontend.py": ""}, []),
        ({"03_after_C_EXTRACT.py": "x", "notes.py": "x", "readme.txt": "x"}, []),
        ({"04_after_D.py": TWO}, ["gap"]),
        ({"02_after_C.py": TWO}, ["duplicate"]),
        ({"02_after_C.py": TWO, "01_after_C.py": TWO}, ["duplicate", "duplicate", "several-compiles"]),
        ({"00_after_A.py": ONE}, ["index-00"]),
        ({"3_after_C.py": TWO}, ["one-digit"]),
        ({"03_C.py": TWO}, ["unusual-name"]),
        ({"03_after_C.py": None}, ["directory"]),
        ({"03_after_C.log": "x"}, ["log-without-snapshot"]),
        ({"02_after_B.log": None}, ["directory"]),
        ({"03_after_C.py": b"x = '\xff'\n"}, ["not-utf-8"]),
        ({"02_after_B.log": b"p:1:2: warning: \xff [C]\n"}, ["not-utf-8"]),
        ({"02_after_B.log": "gibberish\n"}, ["log-lines"]),
        ({"03_after_C.py": "def f(:\n"}, ["unparsable"]),
        ({"03_after_C.py": ONE + TWO}, ["repeated-function"]),
        ({"03_after_C.py": "x = '" + "y" * 5_000_000 + "'\n"}, ["huge-line"]),
        ({"03_after_C.py": "(" * 5_000 + "\n"}, ["unparsable"]),
        ({"03_after_C.py": "x = 1\0\n"}, ["unparsable"]),
    ],
)
def test_each_broken_rule_is_named_and_the_rest_opens(
    tmp_path: Path, change: dict[str, str | bytes | None], expected: list[str]
) -> None:
    assert codes(tmp_path, {**GOOD, **change}) == expected
    made = list_passes(open_dump(tmp_path / "passes_dump"))
    assert [p.changed for p in made.passes if p.name == "B"] == ["several-compiles" not in expected]
    assert not [p.message for p in made.problems if str(tmp_path) in p.message]


def test_a_dump_without_frontend_or_passes_says_so(tmp_path: Path) -> None:
    assert codes(tmp_path / "a", {}) == ["no-passes"]
    assert codes(tmp_path / "b", {"00_frontend.py": ONE}) == ["no-passes"]
    assert codes(tmp_path / "c", {"01_after_A.py": ONE}) == ["no-frontend"]
    assert codes(tmp_path / "d", {"02_after_A.py": ONE}) == ["no-frontend", "not-from-01"]
    gap = list_passes(open_dump(make(tmp_path / "e", {**GOOD, "04_after_D.py": TWO}))).problems
    assert gap[0].message == "03 missing between 02_after_B.py and 04_after_D.py"


def test_line_ends_are_no_change(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {**GOOD, "03_after_C.py": TWO.replace("\n", "\r\n").rstrip()}
    made = list_passes(open_dump(make(tmp_path, files)))
    assert [p.changed for p in made.passes] == [False, False, True, False]
    assert (made.passes[2].added, made.passes[2].removed) == (1, 1)


def test_dumps_are_found_at_below_and_beside_a_path(tmp_path: Path) -> None:
    run = tmp_path / "case"
    dump = make(run, GOOD)
    (run / "dfx_outputs").mkdir()
    kernel = run / "ptoas_passes" / "gemm" / "deep"
    kernel.mkdir(parents=True)
    (kernel / "1_x.mlir").write_text("module {}")
    for place in (dump, run, tmp_path, run / "dfx_outputs"):
        assert [d.path for d in find_dumps(place)] == [dump]
    assert [(t.kernel, t.files) for t in tool_dumps(dump)] == [("gemm", ("deep/1_x.mlir",))]
    make(tmp_path / "later", GOOD)
    with pytest.raises(AmbiguousError) as error:
        open_one(tmp_path)
    assert len(error.value.choices) == 2
    assert str(tmp_path) not in str(error.value)
    with pytest.raises(NotFoundError):
        open_one(kernel)
    with pytest.raises(NotFoundError):
        find_dumps(tmp_path / "nowhere")


def test_fact_8_first_and_nearest_selection() -> None:
    assert first_selection([False, False, True]) == 2
    assert first_selection([False, False]) == 0
    assert first_selection([]) is None
    assert nearest_visible(5, [1, 3, 7]) == 3
    assert nearest_visible(5, [6, 9]) == 6
    assert nearest_visible(5, []) is None


def test_warnings_of_every_form() -> None:
    text = """../x/06_after_N.py:226:21: warning: Unused variable 'v' in function 'f' [UnusedVariableCheck]
 226 |     v: T = g()[3]
     |     ^

a/06_after_N.py: warning: no position: at all [Some-Check]
junk
"""
    found, other = warnings(text)
    assert [(w.line, w.column, w.check, w.function, w.file) for w in found] == [
        (226, 21, "UnusedVariableCheck", "f", "06_after_N.py"),
        (0, 0, "Some-Check", "", "06_after_N.py"),
    ]
    assert found[1].text == "no position: at all"
    assert other == 1


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_passes(tmp_path_factory.mktemp("synthetic"), 3_000).path


def test_a_synthetic_dump_is_whole_seeded_and_of_the_size_asked_for(synthetic: Path, tmp_path: Path) -> None:
    made = list_passes(open_dump(synthetic))
    assert [p.code for p in made.problems] == ["concise"]
    assert 2_000 < made.line_count < 6_000
    changed = [p.name for p in made.passes if p.changed]
    assert changed[:2] == ["ConvertToSSA", "OutlineIncoreScopes"]
    assert len(changed) == 9
    outlined = {c.status for p in made.passes if p.name == "OutlineIncoreScopes" for c in p.function_changes}
    assert outlined == {"outlined"}
    assert sum(len(p.warnings) for p in made.passes) > 0
    assert all(p.table.find("main") for p in made.passes)
    again = write_passes(tmp_path, 3_000)
    assert [f.read_bytes() for f in again.files] == [(synthetic / f.name).read_bytes() for f in again.files]
    assert list_from_bytes(made.to_bytes()) == made
    assert list_from_bytes(b"damaged") is None
    with pytest.raises(ParameterError):
        write_passes(tmp_path, 10)


def test_search_finds_the_first_pass_that_contains_changes_and_drops(synthetic: Path) -> None:
    dump = open_dump(synthetic)
    made = list_passes(dump)

    def firsts(pattern: str, **options: bool) -> list[str | None]:
        found = search(dump, made, pattern, **options)
        return [None if at is None else made.passes[at].name for at in (found.contains, found.changes, found.drops)]

    assert firsts(r"\bunused\w* *:") == ["frontend", "ConvertToSSA", "LowerCompositeOps"]
    assert firsts("pl.MemRef(", regex=False) == ["InitMemRef", "MemoryReuse", None]
    assert firsts("pl.memref(", regex=False, ignore_case=True)[0] == "InitMemRef"
    assert firsts("nowhere") == [None, None, None]
    assert firsts(r"(a*)*b$")[0] is None
    for bad in ("", "(", r"(?=x)", "x" * 2_000):
        with pytest.raises(ParameterError):
            search(dump, made, bad)


def test_history_follows_values_and_functions(synthetic: Path) -> None:
    dump = open_dump(synthetic)
    made = list_passes(dump)

    def events(name: str, **options: str) -> dict[str, str]:
        steps = history(dump, made, name, **options).steps
        return {s.file[:2]: s.event for s in steps if s.event not in ("same", "absent")}

    unused = events("unused")
    assert unused["00"] == "created"
    assert unused["02"] == "renamed"
    assert unused["06"] == "dropped"
    stage = events("stage_0")
    assert stage["04"] == "created"
    assert events("x", function="synthetic.stage_0_incore_0")["04"] == "created"
    with pytest.raises(NotFoundError):
        history(dump, made, "nowhere")
    with pytest.raises(ParameterError):
        history(dump, made, "a b")


def test_history_sees_renames_splits_and_drops_by_the_paired_line(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "00_frontend.py": "def f(a):\n    x = pl.tile.exp(a)\n    return x\n",
        "01_after_A.py": "def f(a):\n    fresh = pl.tile.exp(a, 1)\n    return fresh\n",
        "02_after_B.py": "def f(a):\n    fresh_0 = pl.tile.exp(a)\n    fresh_1 = pl.tile.exp(a)\n    return fresh_1\n",
        "03_after_C.py": "def f(a):\n    return a\n",
    }
    dump = open_dump(make(tmp_path, files))
    steps = history(dump, list_passes(dump), "x").steps
    assert [s.event for s in steps] == ["created", "renamed", "split", "dropped"]
    assert steps[2].names == ("fresh_0", "fresh_1")
    assert steps[1].line == 2


def test_reports_become_tables(tmp_path: Path) -> None:
    dump = make(tmp_path, GOOD)
    (tmp_path / "report").mkdir()
    hint = "[perf_hint PH001] Rule: tile.load has innermost dim = 32B; moves 512B as 16 x 32B rows. at <string>:2:5\n"
    odd = "[perf_hint PH-MR-001] MemoryReuse: meet at noon, no place\nsomething else\n"
    (tmp_path / "report" / "perf_hints.log").write_text(hint + hint + odd)
    (file,) = report_files(dump)
    made = read_report(file, list_passes(open_dump(dump)).passes[-1].table)
    rows = made.table.to_records()
    assert made.unread_lines == 1
    assert [(r["line"], r["function"], r["moved_bytes"], r["repeats"], r["operation"]) for r in rows] == [
        (2, "f", 512, 2, "tile.load"),
        (None, "", None, 1, ""),
    ]
    assert rows[1]["message"] == "meet at noon, no place"


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = cli.main(list(argv))
    return code, *capsys.readouterr()


def test_commands(synthetic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "passes", str(synthetic), "--format", "json")
    listed = json.loads(out)
    assert code == 0
    assert "concise" in err
    assert {"index", "name", "changed", "added", "removed", "functions", "warnings"} <= set(listed[0])
    code, out, _ = run(capsys, "diff", str(synthetic), "2", "--function", "main")
    assert code == 0
    assert out.startswith("--- passes_dump/01_after_InlineFunctions.py\n+++ passes_dump/02_after_ConvertToSSA.py\n@@ ")
    code, out, _ = run(capsys, "diff", str(synthetic), "MemoryReuse", "--against", "7", "--format", "json")
    assert code == 0
    assert json.loads(out)["hunks"]
    structure = run(capsys, "diff", str(synthetic), "9", "--against", "7", "--structure")
    assert structure == (0, "", "")
    assert run(capsys, "diff", str(synthetic), "9", "--other", str(synthetic)) == (0, "", "")
    for bad in (["99"], ["0"], ["2", "--function", "no"]):
        code, out, err = run(capsys, "diff", str(synthetic), *bad)
        assert (code, out) == (3, "")
        assert err.startswith("swimscope: ")


# real dumps


def listed(name: str) -> PassList:
    return list_passes(open_dump(SHARED / "passes" / name / "passes_dump"))


@pytest.mark.parametrize("name", shared_params(DUMPS))
def test_real_lists_equal_a_comparison_of_the_lines_and_an_ast_walk(name: str) -> None:
    directory = SHARED / "passes" / name / "passes_dump"
    made = listed(name)
    assert [p.file for p in made.passes] == sorted(f.name for f in directory.glob("*.py"))
    before: list[str] | None = None
    walked: dict[str, list[str]] = {}
    for entry in made.passes:
        text = (directory / entry.file).read_text()
        now = text.splitlines()
        assert entry.changed == (before is not None and now != before)
        if entry.sha256 not in walked and len(text) < 400_000:
            walked[entry.sha256] = names(ast.parse(text))
        assert list(entry.functions) == walked.get(entry.sha256, list(entry.functions))
        before = now


def names(tree: ast.Module) -> list[str]:
    out: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            out += [f"{node.name}.{n.name}" for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            out.append(node.name)
    return out


@needs_shared
def test_facts_of_the_real_dumps() -> None:
    made = {name: listed(name) for name in DUMPS if name != "ds4_decode_layer"}
    changed = {name: sum(p.changed for p in one.passes) for name, one in made.items()}
    assert all(2 <= count <= 35 for count in changed.values())
    whole = [one for name, one in made.items() if not name.startswith(("dup", "fail", "t_test"))]
    assert {len(one.passes) for one in whole} == {48, 49, 50}
    assert all([p.name for p in one.passes].count("Simplify") == 2 for one in whole)
    problems: dict[str, list[Any]] = {name: [p.code for p in one.problems] for name, one in made.items()}
    assert "several-compiles" in problems["dup_dir"]
    assert made["v_explicit_pa_spmd"].level == "EXPLICIT"
    assert made["ex_09_paged_attention_spmd"].level == "CONCISE"
    assert level_conflict(made["v_explicit_pa_spmd"], made["ex_09_paged_attention_spmd"])
    logged = made["v_log_pa"].passes
    assert sum(p.name != "frontend" and len(p.warnings) > 0 for p in logged) == 49
    assert sum(len(p.warnings) for p in logged) == 169
    assert {w.check for p in logged for w in p.warnings} == {"UnusedVariableCheck"}


@needs_shared
def test_real_reports() -> None:
    run = SHARED / "captures" / "qwen3_14b_decode_device" / "dfx_outputs"
    assert len(list_passes(open_one(run)).passes) == 42
    hints, memory = (read_report(file) for file in reversed(report_files(run)))
    assert (len(hints.table), hints.unread_lines) == (16, 0)
    assert (len(memory.table), memory.unread_lines) == (62, 0)
    for name in DUMPS:
        for file in report_files(SHARED / "passes" / name / "passes_dump"):
            assert read_report(file).unread_lines == 0
