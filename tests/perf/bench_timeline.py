"""How fast is a timeline query, and how large is its answer? 200 random windows at 10,000 and 1,000,000 records.

``python tests/perf/bench_timeline.py [--records N …]`` prints one row per size and the ratio of the largest to the
smallest; the pytest marker ``perf`` runs two small sizes and checks sizes, not times. Windows are drawn log-uniformly
from the whole capture down to a few records, at 1,240 pixels and 24 lanes (1366 × 768) and with every lane.
"""

from __future__ import annotations

import argparse
import pathlib
import resource
import sys
import tempfile
import time

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from analysis.capture import Capture
from analysis.capture.store import Store
from analysis.synth.capture import write_capture
from analysis.timeline.items import View
from analysis.timeline.message import window_message
from analysis.timeline.query import LodIndex, index_from_store, stored_arrays, stored_key

WIDTH_PX = 1240
MAX_BARS, MAX_BYTES = 16_000, 380_000


def open_index(store: Store, capture: Capture, view: View) -> tuple[LodIndex, float]:
    """The index of a view through the store, and the seconds it took."""
    begin = time.perf_counter()
    arrays = store.derived(capture, stored_key(view, True), lambda: stored_arrays(capture, view, True))
    return index_from_store(view, arrays), time.perf_counter() - begin


def windows(index: LodIndex, count: int, seed: int) -> list[tuple[int, int]]:
    """Random windows, log-uniform in length."""
    random = np.random.default_rng(seed)
    first, last = index.span_ticks
    out = []
    for share in np.exp(random.uniform(np.log(1e-5), 0, count)):
        length = max(64, int((last - first) * share))
        start = first + int(random.uniform(0, 1) * max(last - first - length, 1))
        out.append((start, start + length))
    return out


def measure(index: LodIndex, capture: Capture, tracks: np.ndarray) -> dict[str, float]:
    """Times in ms (query and message) and message sizes over 200 windows, after one pass to map the pages."""
    for t0, t1 in windows(index, 200, 5):
        index.query(t0, t1, WIDTH_PX, tracks, MAX_BARS, MAX_BYTES)
    times, sizes, shown = [], [], []
    for t0, t1 in windows(index, 200, 5):
        begin = time.perf_counter()
        got = index.query(t0, t1, WIDTH_PX, tracks, MAX_BARS, MAX_BYTES)
        message = window_message(index, got, capture, int(26 * (t1 - t0) / WIDTH_PX))
        times.append(1000 * (time.perf_counter() - begin))
        sizes.append(len(message))
        shown.append(got.n_shown)
    return {
        "p50_ms": float(np.percentile(times, 50)),
        "p95_ms": float(np.percentile(times, 95)),
        "max_kb": max(sizes) / 1024,
        "max_bars": max(shown),
    }


def run(records: int, directory: pathlib.Path) -> dict[str, float]:
    """Write, open and measure one size; prints its rows."""
    write_capture(directory / "dfx_outputs", records, seed=1, level=2, deps=False)
    store = Store(directory / "store")
    capture = store.open(directory / "dfx_outputs")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index, build_s = open_index(store, capture, View.WORKER)
    index, warm_s = open_index(store, capture, View.WORKER)
    bytes_on_disk = sum(getattr(index, name).nbytes for name in index.__dataclass_fields__
                        if isinstance(getattr(index, name), np.ndarray))  # fmt: skip
    print(f"\n{records:,} records: index built in {build_s:.2f} s, opened in {1000 * warm_s:.1f} ms, "
          f"{bytes_on_disk / 2**20:.1f} MiB, resident +{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:.0f} MiB")  # fmt: skip
    result = measure(index, capture, np.arange(min(24, index.n_tracks), dtype=np.int32))
    for name, tracks in (("24 lanes", np.arange(min(24, index.n_tracks))), ("all lanes", np.arange(index.n_tracks))):
        row = measure(index, capture, tracks.astype(np.int32))
        print(f"  {name:10} p50 {row['p50_ms']:6.2f} ms  p95 {row['p95_ms']:6.2f} ms  "
              f"largest message {row['max_kb']:5.0f} KiB  most bars {row['max_bars']:,}")  # fmt: skip
        result = row if name == "24 lanes" else result
    return result


@pytest.mark.perf
def test_messages_stay_small(tmp_path: pathlib.Path) -> None:
    result = run(20_000, tmp_path)
    assert result["max_kb"] * 1024 <= 400_000
    assert result["max_bars"] <= MAX_BARS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[10_000, 1_000_000])
    results = []
    for records in parser.parse_args().records:
        with tempfile.TemporaryDirectory() as directory:
            results.append(run(records, pathlib.Path(directory)))
    if len(results) > 1:
        ratio = results[-1]["p95_ms"] / results[0]["p95_ms"]
        print(f"\np95 of the largest / p95 of the smallest: {ratio:.2f}")


if __name__ == "__main__":
    main()
