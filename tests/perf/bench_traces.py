"""How long does opening a Chrome trace of 1e6 events take, and how much memory, against ``json.loads`` of the same file?

``python tests/perf/bench_traces.py [--events N]`` prints a table; ``make bench`` runs it through pytest. Each figure is the
best of three, each in a process of its own; the compiled loops are loaded before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
from typing import Any

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
EVENTS = 1_000_000
_HEAD = """
import json, pathlib, re, sys, time
path = pathlib.Path(sys.argv[1])
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024
def run(work):
    idle, wall, cpu = peak(), time.perf_counter(), time.process_time()
    work()
    print(json.dumps({"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "peak_mb": peak() - idle}))
"""
_WARM = _HEAD + (
    "from analysis.traces.build import build, open_trace\nfrom analysis.traces.scan import scan_file\n"
    "from analysis.traces.timeline import build_trace_index\n"
    'small = b\'[{"ph":"X","name":"a","ts":1,"dur":2},{"ph":"C","name":"c","ts":1,"args":{"v":1}}]\'\n'
    "build_trace_index(build(scan_file(path, text=small), 'warm'))\n"
)
STEPS = {
    "json.loads": _HEAD + "run(lambda: json.loads(path.read_bytes()))",
    "open_trace": _WARM + "run(lambda: open_trace(path))",
    "open_trace + timeline index": _WARM + "run(lambda: build_trace_index(open_trace(path)))",
}


def write(path: pathlib.Path, events: int) -> None:
    """A trace of nested spans and counters, as profilers write them."""
    dice, now = random.Random(7), 1_778_000_000_000_000.0
    with path.open("w") as out:
        out.write('{"traceEvents":[\n')
        for i in range(events):
            now += dice.random()
            event: dict[str, Any] = {"ph": "X", "name": f"fn{dice.randrange(300)}", "cat": "op", "pid": i % 4, "tid": i % 16, "ts": now, "dur": round(dice.random() * 9, 3), "args": {"step": i, "shape": [1, 2]}}  # fmt: skip
            if i % 20 == 0:
                event = {
                    "ph": "C",
                    "name": "queue",
                    "pid": i % 4,
                    "ts": now,
                    "args": {"ready": i % 9, "running": i % 5},
                }
            out.write(("" if i == 0 else ",\n") + json.dumps(event))
        out.write("\n]}\n")


def measure(program: str, path: pathlib.Path) -> dict[str, float]:
    """Best of three by CPU seconds."""
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", program, str(path)], cwd=REPO, env={"PYTHONPATH": str(REPO)}, capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]  # fmt: skip
    return min(runs, key=lambda run: run["cpu_s"])


def report(events: int) -> str:
    """The table."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "trace.json")
        write(path, events)
        found = {name: measure(program, path) for name, program in STEPS.items()}
        base = found["json.loads"]["cpu_s"]
        lines = [f"{events:,} events, {path.stat().st_size / 1e6:.0f} MB"]
        lines += [
            f"{name:30} {run['wall_s']:7.2f} s wall {run['cpu_s']:7.2f} s CPU {run['peak_mb']:7.0f} MB  {run['cpu_s'] / base:5.2f} × json.loads"
            for name, run in found.items()
        ]
    return "\n".join(lines)


@pytest.mark.perf
def test_opening_a_trace() -> None:
    print("\n" + report(EVENTS))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    print(report(parser.parse_args().events))
