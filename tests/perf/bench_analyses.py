"""How long does every analysis of the registry take at 1e5 and 1e6 records?

``python tests/perf/bench_analyses.py [--records N …]`` prints a table; ``make bench`` runs it through pytest. Captures
are synthetic (``paged-attention-dense``, level 4: about three edges per record) and opened outside every figure. A row
gives CPU seconds of computing the result and of making its JSON, the share of the time the issue allows, and how many
``json.loads`` of the capture's own swimlane file that is.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import orjson

from analysis.errors import NotAvailable
from analysis.formats import load
from analysis.registry import ANALYSES
from analysis.synth.capture import write_capture

SIZES = (100_000, 1_000_000)
ALLOWED_S = {100_000: 2.0, 1_000_000: 15.0}
"""Issue 4: each analysis at 1e5 records / 3e5 edges, and at 1e6 / 3e6."""


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of one call, and its result."""
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def measure(records: int, directory: pathlib.Path) -> None:
    """Print one row per analysis at this size."""
    made = write_capture(directory, records, seed=1, shape="paged-attention-dense")
    text = (directory / "chip_swimlane_records.json").read_bytes()
    loads, _ = seconds(lambda: json.loads(text))
    print(
        f"\n{records:,} records, {made.edges:,} edges; json.loads of the swimlane file ({len(text) >> 20} MB): {loads:.2f} s"
    )
    capture = load(directory)
    print(f"{'analysis':<18}{'result s':>10}{'json s':>10}{'json MB':>10}{'of allowed':>12}{'of json.loads':>15}")
    for analysis in ANALYSES:
        try:
            took, result = seconds(lambda analysis=analysis: analysis.run(capture))
        except NotAvailable as error:
            print(f"{analysis.name:<18}  not available: {error.reason}")
            continue
        writing, written = seconds(lambda result=result: orjson.dumps(result.to_json()))
        share = f"{took / ALLOWED_S[records]:.1%}" if records in ALLOWED_S else "–"
        size = len(written) / 1e6
        print(f"{analysis.name:<18}{took:>10.3f}{writing:>10.3f}{size:>10.1f}{share:>12}{took / loads:>15.2f}")


@pytest.mark.perf
@pytest.mark.parametrize("records", SIZES)
def test_every_analysis(records: int, tmp_path: pathlib.Path) -> None:
    measure(records, tmp_path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=list(SIZES))
    for wanted in parser.parse_args().records:
        with tempfile.TemporaryDirectory() as made_in:
            measure(wanted, pathlib.Path(made_in))
