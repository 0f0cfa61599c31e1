"""How fast are critical paths, gaps, the edge reduction and the trace export?

``python tests/perf/bench_paths.py [--records N …]`` prints a table; ``make bench`` runs it through pytest.
The baseline is :mod:`tests.analysis.slow_paths`: plain dicts and lists, given its rows and edges ready made. Files are
synthetic (``paged-attention-dense``: about three edges per record) and read once per size, outside every figure.
Figures are CPU seconds of this process (everything here runs on one thread), so that neighbours on the machine count
less.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import pathlib
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from analysis.capture import Capture
from analysis.export.trace import write_trace
from analysis.formats import load
from analysis.graph.reduction import edge_masks
from analysis.paths.critical_path import critical_path
from analysis.paths.gaps import gaps
from analysis.synth.capture import write_capture
from tests.analysis.slow_paths import edges_of, rows_of, slow_paths

SIZES = (100_000, 1_000_000)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of one call, and its result."""
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def peak_mb() -> float:
    """Largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def both_paths(capture: Capture) -> list[list[str]]:
    """Task ids of static and observed path, as the doors make them."""
    return [critical_path(capture, kind).table.cells("task_id") for kind in ("static", "observed")]


def compare(records: int, directory: pathlib.Path, export: bool) -> None:
    """Print one row per work at this size; the paths must be the baseline's."""
    write_capture(directory, records, seed=1, level=2, shape="paged-attention-dense")
    capture = load(directory)
    print(f"\n{records:,} records, {len(capture.tasks):,} tasks, {len(capture.edges):,} edges")
    rows, edges = rows_of(capture), edges_of(capture)
    slow_s, slow = seconds(functools.partial(slow_paths, rows, edges, capture.meta.tolerance_ticks))
    del rows, edges
    fast_s, fast = seconds(lambda: both_paths(capture))
    assert fast == [[str(i) for i in slow.static], [str(step[0]) for step in slow.observed]]
    print(
        f"  static + observed path   {fast_s:8.3f} s   dicts and lists {slow_s:8.3f} s   {slow_s / fast_s:6.1f} x faster"
    )
    for label, work in (
        ("gaps, observed", lambda: gaps(capture).to_json()),
        ("observed, through untimed", lambda: critical_path(capture, "observed", through_untimed=True)),
        ("edge reduction", lambda: edge_masks(capture, with_df=False)),
        ("edge reduction with DF", lambda: edge_masks(capture)),
    ):
        before = peak_mb()
        taken, _ = seconds(work)
        print(f"  {label:25}{taken:8.3f} s   peak memory {peak_mb():,.0f} MB (+{peak_mb() - before:,.0f})")
    if export:
        with open(os.devnull, "wb") as out:
            taken, counts = seconds(lambda: write_trace(capture, out))
        print(f"  trace export             {taken:8.3f} s   {counts.total_slices:,} slices")


def load_kernels() -> None:
    """Load (or compile) the kernels, so that no figure contains it."""
    taken, _ = seconds(lambda: importlib.import_module("analysis.graph.reduction_kernels"))
    print(f"kernels ready after {taken:.2f} s (some seconds on the first run after an install)")


@pytest.mark.perf
@pytest.mark.parametrize("records", SIZES)
def test_paths_equal_the_baseline_and_print_the_ratio(tmp_path: pathlib.Path, records: int) -> None:
    load_kernels()
    compare(records, tmp_path, export=records == SIZES[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=int, nargs="+", default=SIZES)
    parser.add_argument("--export", action="store_true", help="also measure the trace export")
    options = parser.parse_args()
    load_kernels()
    for records in options.records:
        with tempfile.TemporaryDirectory() as directory:
            compare(records, pathlib.Path(directory), export=options.export)


if __name__ == "__main__":
    main()
