"""How long does opening a capture of 1e6 records take, and how much memory, against ``json.loads`` of the same file?

``python tests/perf/bench_open.py [--records N]`` prints a table; ``make bench`` runs it through pytest. Captures are
synthetic. Every figure is taken in a process of its own: wall and CPU seconds, peak memory above the idle process. The
compiled scanner is warmed up before (its first use on a machine compiles for some seconds, once). *cold open* is
bytes → columns → store of a run directory; *warm open* maps the stored columns.
"""

from __future__ import annotations

import argparse
import json
import pathlib
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
from analysis.formats import deps
from analysis.formats.reading import paused_collector, read_file, sections
from analysis.formats.report import Report
def work():
    with paused_collector():
        deps.read(sections(read_file(path), path.name), path.name, Report())
run(work)
"""
)
OPEN = (
    _HEAD
    + """
from analysis.store import Store
store = Store(sys.argv[2])
run(lambda: store.open(path))
"""
)
RESIDENT = (
    _HEAD
    + """
from analysis.store import Store
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
    """Run one measurement in its own process; what it printed."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPO, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def row(name: str, took: dict[str, float], loads: dict[str, float], size_bytes: int, reach: str) -> None:
    """Print one line: seconds, share of json.loads, memory as a multiple of the file."""
    size_mb = size_bytes / 2**20
    print(
        f"{name:<34}{size_mb:>8.0f}{took['wall_s']:>9.2f}{took['cpu_s']:>9.2f}{loads['cpu_s']:>9.2f}"
        f"{took['wall_s'] / loads['wall_s']:>9.2f}{took['cpu_s'] / loads['cpu_s']:>9.2f}"
        f"{took['peak_mb']:>9.0f}{took['peak_mb'] / size_mb:>8.1f}x  {reach}"
    )


def bench(records: int, folder: pathlib.Path) -> None:
    """Print the table for captures of ``records`` records."""
    print(f"\n{records:,} records, synthetic")
    print(
        f"{'work':<34}{'MB':>8}{'wall s':>9}{'cpu s':>9}{'loads s':>9}{'wall /':>9}{'cpu /':>9}{'peak MB':>9}{'':>9}  reach"
    )
    for level, reach in ((2, "0.35, 5x"), (4, "0.35, 4x")):
        run, root = folder / f"level{level}", folder / f"store{level}"
        write_capture(run, records, seed=1, level=level, deps=False)
        size = (run / SWIMLANE).stat().st_size
        measure(OPEN, run, folder / "warm-up")
        loads = measure(LOADS, run / SWIMLANE)
        cold = measure(OPEN, run, root)
        row(f"cold open, level {level}", cold, loads, size, reach)
        warm = [measure(OPEN, run, root)["wall_s"] for _ in range(5)]
        print(
            f"{'  warm open':<34}{min(warm) * 1000:>17.1f} ms{min(warm) / cold['wall_s']:>9.1%} of cold   100 ms, 5 %"
        )
        print(f"{'  resident with it open':<34}{measure(RESIDENT, run, root)['resident_mb']:>17.0f} MB   300 MB")
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
    with tempfile.TemporaryDirectory() as folder:
        bench(parser.parse_args(arguments).records, pathlib.Path(folder))


if __name__ == "__main__":
    main()
