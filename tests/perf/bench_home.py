"""How fast is the runs page with 2,000 captures in the tree?

``python tests/perf/bench_home.py`` or ``make bench``. Prints CPU and wall seconds of a first scan, of the rows as JSON,
and of the page in Chromium from navigation to the first rows: during the first scan, and afterwards. The yardstick is
``os.walk`` with a ``stat`` of every file of the same tree.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import orjson
from playwright.sync_api import sync_playwright

from analysis.synth.capture import write_capture
from app.runs import rows
from app.server.factory import make_services
from app.server.settings import Root, Settings
from tests.e2e import harness

CAPTURES = 2_000
REACH_S = 1.0
"""Issue 2: home page with 2,000 captures in the tree, first rows."""


def make_tree(root: pathlib.Path) -> None:
    """2,000 small captures, 100 to a directory."""
    files = write_capture(root / "sample", 60, 1).files
    for at in range(CAPTURES):
        folder = root / "tree" / f"g{at // 100}" / f"c{at}" / "dfx_outputs"
        folder.mkdir(parents=True)
        for file in files:
            shutil.copy(file, folder / file.name)


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU seconds, wall seconds and result of one call."""
    cpu, wall = time.process_time(), time.monotonic()
    result = work()
    return time.process_time() - cpu, time.monotonic() - wall, result


def walk(root: pathlib.Path) -> int:
    """The least any scan must do."""
    return sum(os.stat(os.path.join(at, name)).st_size for at, _dirs, names in os.walk(root) for name in names)


def measure(folder: pathlib.Path) -> None:
    """Print the table."""
    make_tree(folder)
    root = folder / "tree"
    base, _, _ = timed(lambda: walk(root))
    services = make_services(Settings(roots=(Root("r", root),), data_dir=folder / "data", facts_max_bytes=0))
    print(f"\n{CAPTURES:,} captures; os.walk with stat: {base:.3f} s CPU")
    cpu, wall, _ = timed(services.library.scan_once)
    print(f"{'first scan':<34}{cpu:8.3f} s CPU {wall:8.3f} s wall {cpu / base:8.1f} × os.walk")
    cpu, wall, found = timed(lambda: rows.rows(services))
    size = len(orjson.dumps(found))
    print(f"{'rows':<34}{cpu:8.3f} s CPU {wall:8.3f} s wall {size / 1024:8.0f} KiB of JSON")
    with harness.serve({"r": root}, folder) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=harness.find_chromium(), args=list(harness.CHROMIUM_FLAGS))
        page = browser.new_page()
        for name in ("page while the first scan runs", "again", "again", "again"):
            _, wall, _ = timed(lambda: (page.goto(server.url), page.wait_for_selector("#runs-grid .ag-row")))
            print(f"{name:<34}{wall:8.2f} s wall {wall / REACH_S:14.0%} of what the issue allows")
            page.wait_for_timeout(2_000)
        browser.close()


@pytest.mark.perf
def test_bench_home(tmp_path: pathlib.Path) -> None:
    measure(tmp_path)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        measure(pathlib.Path(temporary))
