"""How long does opening a capture of 1e6 records take, and how much memory, against ``json.loads`` of the same file?

``python tests/perf/bench_open.py [--records N] [--no-deps]`` prints a table; ``make bench`` runs it through pytest. Captures are
synthetic. Every figure is taken in a process of its own, cold opens and json.loads as the best of three: wall and CPU seconds, peak memory above the idle process. The
compiled loops are loaded before the clock starts, as in a server that has opened a capture before (what loading them
costs is printed too). *cold open* is bytes → columns → store of a run directory; *warm open* maps the stored columns.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from analysis.synth.capture import write_capture

REPO = pathlib.Path(__file__).resolve().parents[2]
SWIMLANE, DEPS = "chip_swimlane_records.json", "deps.json"
RECORDS = 1_000_000
STEP_SECONDS = 300
"""Longest time for one measurement; on a machine busier than that, measure fewer records."""

_HEAD = """
import json, pathlib, re, resource, sys, time
path = pathlib.Path(sys.argv[1])
def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024
def run(work):
    idle = peak()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "peak_mb": peak() - idle}))
"""
LOADS = _HEAD + "data = path.read_bytes()\nrun(lambda: json.loads(data))"
DEPS_ONLY = (
    _HEAD
    + """
from analysis.formats.containers import deps
from analysis.formats.text.reading import paused_collector, read_file, sections
from analysis.formats.registry import Sections
from analysis.formats.report import Report
def work():
    with paused_collector():
        deps.read(Sections(sections(read_file(path).view, path.name)), path.name, Report())
run(work)
"""
)
WARM_UP = _HEAD + "from analysis.formats.text.warm import warm_up\nrun(warm_up)"
OPEN = (
    _HEAD
    + """
from analysis.formats.text.warm import warm_up
from analysis.capture.store import Store
warm_up()
store = Store(sys.argv[2])
run(lambda: store.open(path))
"""
)
RESIDENT = (
    _HEAD
    + """
from analysis.capture.store import Store
def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
store = Store(sys.argv[2])
idle = resident()
capture = store.open(path)
total = sum(int(column.sum()) for column in (capture.records.start_ticks, capture.records.end_ticks, capture.records.task))
print(json.dumps({"resident_mb": resident() - idle, "total": total}))
"""
)


def measure(script: str, *arguments: object) -> dict[str, float]:
    """Run one measurement in its own process; what it printed.

    Raises:
        subprocess.TimeoutExpired: it took longer than :data:`STEP_SECONDS`.
    """
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPO, check=True, timeout=STEP_SECONDS)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def best(script: str, path: pathlib.Path, store: pathlib.Path | None = None) -> dict[str, float]:
    """The run of three that took the least CPU time; each opens into an empty store."""
    found = []
    for _ in range(3):
        if store is not None:
            shutil.rmtree(store, ignore_errors=True)
        found.append(measure(script, path, *([store] if store is not None else [])))
    return min(found, key=lambda took: took["cpu_s"])


def row(name: str, took: dict[str, float], loads: dict[str, float], size_bytes: int, reach: str) -> None:
    """Print one line: seconds, share of json.loads, memory as a multiple of the file."""
    size_mb = size_bytes / 2**20
    print(
        f"{name:<34}{size_mb:>8.0f}{took['wall_s']:>9.2f}{took['cpu_s']:>9.2f}{loads['cpu_s']:>9.2f}"
        f"{took['wall_s'] / loads['wall_s']:>9.2f}{took['cpu_s'] / loads['cpu_s']:>9.2f}"
        f"{took['peak_mb']:>9.0f}{took['peak_mb'] / size_mb:>8.1f}x  {reach}"
    )


HEADER = (
    f"{'work':<34}{'MB':>8}{'wall s':>9}{'cpu s':>9}{'loads s':>9}{'wall /':>9}{'cpu /':>9}{'peak MB':>9}{'':>9}  reach"
)


def bench(records: int, folder: pathlib.Path, with_deps: bool = True) -> None:
    """Print the table for captures of ``records`` records; deps.json is the largest file by far."""
    print(f"\n{records:,} records, synthetic\n{HEADER}", flush=True)
    measure(WARM_UP, folder)
    loading = measure(WARM_UP, folder)
    print(
        f"{'compiled loops, from their cache':<34}{'':>8}{loading['wall_s']:>9.2f}{loading['cpu_s']:>9.2f}", flush=True
    )
    for level, reach in ((2, "0.35, 5x"), (4, "0.35, 4x")):
        bench_level(records, level, reach, folder)
    if with_deps:
        bench_deps(records, folder)


def bench_level(records: int, level: int, reach: str, folder: pathlib.Path) -> None:
    """Cold open, warm open and resident memory of one swimlane file."""
    run, root = folder / f"level{level}", folder / f"store{level}"
    write_capture(run, records, seed=1, level=level, deps=False)
    size = (run / SWIMLANE).stat().st_size
    loads = best(LOADS, run / SWIMLANE)
    cold = best(OPEN, run, root)
    row(f"cold open, level {level}", cold, loads, size, reach)
    warm = [measure(OPEN, run, root)["wall_s"] for _ in range(3)]
    print(f"{'  warm open':<34}{min(warm) * 1000:>17.1f} ms{min(warm) / cold['wall_s']:>9.1%} of cold   100 ms, 5 %")
    resident = measure(RESIDENT, run, root)["resident_mb"]
    print(f"{'  resident with it open':<34}{resident:>17.0f} MB   300 MB", flush=True)


def bench_deps(records: int, folder: pathlib.Path) -> None:
    """Decoding of one deps.json."""
    run = folder / "deps"
    write_capture(run, records, seed=1, level=1, deps=True)
    size = (run / DEPS).stat().st_size
    row("deps.json alone", measure(DEPS_ONLY, run / DEPS), measure(LOADS, run / DEPS), size, "0.5")


@pytest.mark.perf
@pytest.mark.timeout(1800)
def test_bench_open(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        bench(RECORDS, tmp_path)
    assert (tmp_path / "deps" / DEPS).exists()


def main(arguments: Any = None) -> None:
    """Print the table from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--no-deps", action="store_true", help="leave deps.json out")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        bench(chosen.records, pathlib.Path(folder), not chosen.no_deps)


if __name__ == "__main__":
    main()
