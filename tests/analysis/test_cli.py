"""Does the command line give the documented keys, exit codes and one line of error?"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import pytest

from analysis.cli import main
from analysis.registry import ANALYSES
from analysis.synth.capture import write_capture
from tests import shared_data

KEYS = {
    "functions": {"func_id", "name", "count", "total_us", "min_us", "max_us", "mean_us", "p50_us", "p95_us"},
    "gaps": {
        *("task_id", "name", "gap_us", "cause", "blocker_task_id", "core_id"),
        *("detection_us", "scheduling_us", "propagation_us", "setup_us"),
    },
    "chains": {"tasks", "names", "exec_us", "gap_us", "span_us"},
    "early-dispatch": {
        *("task_id", "name", "dispatch_us", "last_fin_us", "lead_us", "early", "blocks", "early_blocks"),
    },
}
OBJECT_KEYS = {
    "info": {"level", "records", "tasks", "cores", "clock_freq_hz", "makespan_ticks", "span_us", "quality"},
    "critical-path": {
        *("kind", "makespan_ticks", "length_ticks", "compute_ticks", "stall_ticks", "hb_edges", "tasks"),
    },
    "overhead": {"window_us", "by_type", "all_us", "has_us", "switch", "loop"},
    "edges": {"nodes", "edges", "shown", "is_dag", "pairs"},
    "utilisation": {"by_type", "functions", "t0_us", "t1_us"},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A synthetic decoder run of level 4, so that early dispatch and every other analysis has rows."""
    directory = tmp_path_factory.mktemp("made") / "dfx_outputs"
    write_capture(directory, 400, 7, shape="decoder-layers")
    return directory


class Run:
    """One call of the command line in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *argv: object) -> int:
        code = main([str(arg) for arg in argv])
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *argv: object) -> Any:
        assert self(*argv, "--format", "json") == 0
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(capsys)


@pytest.mark.parametrize("command", KEYS)
def test_rows_have_the_documented_keys(run: Run, made: pathlib.Path, command: str) -> None:
    rows = run.json(command, made)
    assert len(rows) > 0
    assert all(KEYS[command] <= row.keys() for row in rows)


@pytest.mark.parametrize("command", OBJECT_KEYS)
def test_objects_have_the_documented_keys(run: Run, made: pathlib.Path, command: str) -> None:
    assert OBJECT_KEYS[command] <= run.json(command, made).keys()


def test_ids_are_strings_and_paths_have_their_task_keys(run: Run, made: pathlib.Path) -> None:
    path = run.json("critical-path", made, "--kind", "static")
    assert path["kind"] == "static"
    keys = {"task_id", "name", "start_ticks", "end_ticks", "compute_ticks", "stall_ticks", "stall_kind"}
    assert all(keys <= task.keys() and isinstance(task["task_id"], str) for task in path["tasks"])
    pairs = run.json("edges", made, "--mode", "reduced")["pairs"]
    assert pairs == sorted(pairs, key=lambda pair: [int(i) for i in pair])
    assert all(isinstance(i, str) for pair in pairs for i in pair)


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda a: a.name)
def test_every_analysis_has_three_formats(run: Run, made: pathlib.Path, analysis: Any) -> None:
    if analysis.name == "path-difference":
        assert run(analysis.name, made) == 3
        assert "CPM" in run.err
        return
    assert run(analysis.name, made) == 0
    assert run.out.startswith(analysis.title)
    assert run(analysis.name, made, "--format", "csv") == 0
    assert run.out.splitlines()[0] == ",".join(column.name for column in analysis.columns)
    assert run(analysis.name, made, "--format", "json") == 0
    assert json.loads(run.out)


def test_parameters_reach_the_analysis(run: Run, made: pathlib.Path) -> None:
    assert len(run.json("setup", made, "--top", 3, "--order", "share")) == 3
    whole = run.json("gaps", made)
    limit = max(row["gap_us"] for row in whole) / 2
    large = run.json("gaps", made, "--threshold-us", limit)
    assert [row for row in whole if row["gap_us"] > limit] == large
    assert 0 < len(large) < len(whole)
    span = run.json("range", made, "--t0-us", 10, "--t1-us", 30.5)
    assert (span["t0_us"], span["length_us"]) == (10, 20.5)
    assert "curves" in run.json("overhead", made, "--curves")
    assert run("critical-path", made, "--through-untimed") == 0


def test_out_writes_the_file(run: Run, made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "functions.csv"
    assert run("functions", made, "--format", "csv", "--out", target) == 0
    assert run.out == ""
    assert target.read_text().startswith("func_id,name,count")
    assert run("functions", made, "--out", tmp_path / "no" / "where") == 2
    assert "cannot write" in run.err


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("nope",),
        ("functions",),
        ("functions", "DIR", "--format", "xml"),
        ("gaps", "DIR", "--kind", "sideways"),
        ("range", "DIR", "--t0-us", "9", "--t1-us", "3"),
        ("setup", "DIR", "--top", "-1"),
        ("report", "DIR", "--link", "javascript:alert(1)"),
        ("synth", "DIR", "--records", "3"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_2_and_one_line(run: Run, made: pathlib.Path, argv: tuple[str, ...]) -> None:
    assert run(*[made if arg == "DIR" else arg for arg in argv]) == 2
    assert run.err.startswith("swimscope: ")
    assert run.err.count("\n") == 1


def test_unreadable_input_is_exit_3_and_one_line(run: Run, made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    broken = tmp_path / "chip_swimlane_records.json"
    broken.write_bytes(next(made.glob("*swimlane*")).read_bytes()[:1000])
    for path in (broken, tmp_path, tmp_path / "absent", made / "deps.json"):
        assert run("functions", path) == 3
        assert run.err.startswith("swimscope: ")
        assert run.err.count("\n") == 1
    assert run("functions", made, "--launch", 4) == 3
    assert "launch" in run.err


def test_several_captures_are_listed(run: Run, made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for rank in ("rank0", "rank1"):
        shutil.copytree(made, tmp_path / rank)
    assert run("functions", tmp_path) == 2
    assert str(tmp_path / "rank0") in run.err
    assert str(tmp_path / "rank1") in run.err
    assert run.err.count("\n") == 1
    (tmp_path / "rank1" / "chip_swimlane_records.json").write_text("{")
    good, bad = run.json("info", tmp_path)
    assert (good["records"], good["error"]) == (400, None)
    assert "rank1" in bad["path"]
    assert "cut off" in bad["error"]
    assert run("info", tmp_path) == 0
    assert len(run.out.splitlines()) == 3


def test_info_of_one_capture(run: Run, made: pathlib.Path) -> None:
    facts = run.json("info", made)
    assert (facts["records"], facts["level"], facts["launches"]) == (400, 4, 1)
    assert facts["span_us"] == facts["makespan_ticks"] / (facts["clock_freq_hz"] / 1e6)
    assert all({"code", "count", "message"} == finding.keys() for finding in facts["quality"])
    assert run("info", made) == 0
    assert "Data quality" in run.out
    assert run("info", made, "--format", "csv") == 0
    assert run.out.splitlines()[0].startswith("path,level,records")


def test_a_capture_without_records_gives_empty_lists_and_reasons(run: Run) -> None:
    if not shared_data.PRESENT:
        pytest.skip(shared_data.WHY_ABSENT)
    path = shared_data.capture_dir("dummy_only_l4")
    assert run.json("functions", path) == []
    assert run.err == "swimscope: not available: Function statistics need task records; this capture has none.\n"
    assert run("functions", path, "--format", "csv") == 0
    assert run.out.count("\n") == 1
    assert run("functions", path) == 0
    assert run.out == ""
    assert run("cores", path) == 3
    assert run.err.startswith("swimscope: not available: ")


def test_the_table_format_says_which_parts_are_missing(run: Run) -> None:
    if not shared_data.PRESENT:
        pytest.skip(shared_data.WHY_ABSENT)
    path = shared_data.capture_dir("dummy_only_l4")
    assert run("overhead", path) == 0
    assert "\nNote: Scheduler overhead needs task records; this capture has none.\n" in run.out
    assert run("overhead", path, "--format", "csv") == 0
    assert run.out == "scope,cores,overhead_us,share,overhead_ticks\n"


def test_each_launch_of_a_file_has_its_own_answers(run: Run) -> None:
    path = shared_data.REPO / "tests" / "data" / "launches" / "healthy.json"
    first = run.json("functions", path)
    assert run.err == f"swimscope: {path} holds 2 launches, this is launch 0; choose with --launch N\n"
    second = run.json("functions", path, "--launch", 1)
    assert run.err == ""
    assert sum(row["total_ticks"] for row in second) == sum(row["total_ticks"] for row in first) + 5
    assert run.json("info", path, "--launch", 1)["launch"] == 1
    assert run("functions", path, "--launch", 2) == 3
    assert "launches 0 to 1" in run.err


def test_a_lower_level_says_what_would_bring_the_answer(run: Run, tmp_path: pathlib.Path) -> None:
    write_capture(tmp_path, 50, 1, level=1)
    for command in ("early-dispatch", "overhead"):
        assert run(command, tmp_path) == 3
        assert "level 2" in run.err


def test_synth_writes_the_same_bytes_for_the_same_seed(run: Run, tmp_path: pathlib.Path) -> None:
    for name in ("a", "b"):
        assert run("synth", "--records", 60, "--seed", 3, "--level", 2, tmp_path / name) == 0
    files = [pathlib.Path(line) for line in run.out.splitlines()]
    assert len(files) >= 2
    for file in files:
        assert file.read_bytes() == (tmp_path / "a" / file.name).read_bytes()
    assert run.json("info", tmp_path / "a")["records"] == 60


def test_trace_writes_every_slice(run: Run, made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "trace.json"
    assert run("trace", made, "--out", target) == 0
    slices = [event for event in json.loads(target.read_text())["traceEvents"] if event["ph"] == "X"]
    assert f"{len(slices)} slices" in run.out
    assert run("trace", made, "--out", tmp_path / "no" / "where") == 2


def test_a_process_gives_the_same_and_no_traceback(made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def process(*argv: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "analysis", *argv]
        return subprocess.run(command, capture_output=True, text=True, cwd=shared_data.REPO, check=False)

    good = process("functions", str(made), "--format", "json")
    assert (good.returncode, good.stderr) == (0, "")
    assert sum(row["count"] for row in json.loads(good.stdout)) == 400
    bad = process("functions", str(tmp_path / "absent"))
    assert (bad.returncode, bad.stdout) == (3, "")
    assert bad.stderr == f"swimscope: {tmp_path / 'absent'}: no such file or directory\n"
    lazy = "import sys, analysis.cli; sys.exit(any(m in sys.modules for m in ('pandas', 'numba', 'dash', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", lazy], cwd=shared_data.REPO, check=False).returncode == 0


def test_a_reader_that_stops_early_is_no_error(made: pathlib.Path) -> None:
    command = f"{sys.executable} -m analysis utilisation {made} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=shared_data.REPO, check=False)
    assert (done.stdout, done.stderr) == ("Utilisation\n", "")


def test_a_path_that_is_not_utf8_is_printed_with_replacement(
    run: Run, made: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    odd = pathlib.Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff"))
    shutil.copytree(made, odd / "dfx_outputs")
    assert run.json("info", odd / "dfx_outputs")["label"] == "bad\N{REPLACEMENT CHARACTER}"
    assert run("report", odd, "--out", tmp_path / "report.html") == 0
    shutil.copytree(made, odd / "again")
    entries = run.json("info", odd)
    assert [("bad\N{REPLACEMENT CHARACTER}" in entry["path"], entry["error"]) for entry in entries] == [
        (True, None),
        (True, None),
    ]
    assert run("info", odd / "nowhere") == 3
    assert "bad\N{REPLACEMENT CHARACTER}/nowhere: no such file" in run.err
