"""How long does a person wait? A warm capture of 1,000,000 records in Chromium: link → drawn, gesture → redrawn.

``python tests/perf/bench_browser.py [--records N]`` or ``make bench``. The yardstick of the same run is a blank page of
the same server: navigation to its load event. Also prints the resident memory of the worker with the capture open.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from playwright.sync_api import Browser, Page, sync_playwright

from analysis.synth.capture import write_capture
from tests.e2e import harness

DRAWN = "() => document.querySelector('#swim-root[data-drawn]:not([data-busy])') !== null"
LINKS = 8
ZOOMS = 40
WAIT_MS = 90_000


def opened(browser: Browser, url: str, done: str) -> float:
    """Seconds from navigation, in a fresh context, until ``done`` holds."""
    context = browser.new_context(viewport=harness.VIEWPORTS["small"])
    page = context.new_page()
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_function(done, polling=10, timeout=WAIT_MS)
    taken = time.perf_counter() - began
    context.close()
    return taken


def zooms(page: Page, count: int) -> list[float]:
    """Milliseconds from a key press to the redrawn figure: zoom in and out over random places."""
    page.locator("#swim-plot").focus()
    taken = []
    for at in range(count):
        key = "w" if at % 8 < 5 else ("d" if at % 8 == 5 else "s")
        taken.append(
            page.evaluate(
                """key => new Promise(done => {
                  const root = document.getElementById('swim-root');
                  const graph = document.querySelector('#swim-graph .js-plotly-plot') ||
                    document.querySelector('.swim-graph .js-plotly-plot');
                  const began = performance.now();
                  graph.once('plotly_afterplot', () => requestAnimationFrame(() => done(performance.now() - began)));
                  document.getElementById('swim-plot').dispatchEvent(
                    new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
                })""",
                key,
            )
        )
        page.wait_for_function(DRAWN, polling=10)
    return taken


def resident_mib(pid: int) -> float:
    """Resident memory of a process."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def server_pid(server: harness.Server) -> int:
    """The process that listens at the server's address."""
    port = f"--port={server.url.rsplit(':', 1)[1]}"
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and port.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
            return int(entry.name)
    raise LookupError(port)


def p95(values: list[float]) -> float:
    """95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


def measure(records: int, folder: pathlib.Path) -> tuple[list[float], list[float]]:
    """Print the table; link times in s and zoom times in ms."""
    write_capture(folder / "tree" / "big" / "dfx_outputs", records, 1, level=2, deps=False)
    with harness.serve({"big": folder / "tree"}, folder) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=harness.find_chromium(), args=list(harness.CHROMIUM_FLAGS))
        idle = resident_mib(server_pid(server))
        url = server.page("big", "swimlane")
        first = opened(browser, url, DRAWN)
        blank = [opened(browser, f"{server.url}/health", "() => document.readyState === 'complete'") for _ in range(5)]
        links = [opened(browser, url, DRAWN) for _ in range(LINKS)]
        context = browser.new_context(viewport=harness.VIEWPORTS["small"])
        page = harness.open_page(context.new_page(), url)
        times = zooms(page, ZOOMS)
        grown = resident_mib(server_pid(server)) - idle
        browser.close()
    least = statistics.median(blank)
    print(f"\n{records:,} records, level 2, {harness.VIEWPORTS['small']}")
    print(f"blank page of the same server: {least:.2f} s")
    print(f"first link ever (cold open and index): {first:.1f} s")
    print(
        f"link → drawn, warm: median {statistics.median(links):.2f} s ({statistics.median(links) / least:.0f} x), ",
        end="",
    )
    print(f"worst {max(links):.2f} s of {LINKS}; reach 2 s")
    print(
        f"gesture → redrawn: median {statistics.median(times):.0f} ms, p95 {p95(times):.0f} ms of {ZOOMS}; reach 500 ms"
    )
    print(f"worker: {grown:.0f} MiB above idle; reach 300 MiB")
    return links, times


@pytest.mark.perf
def test_browser(tmp_path: pathlib.Path) -> None:
    links, times = measure(20_000, tmp_path)
    assert len(links) == LINKS
    assert len(times) == ZOOMS


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    with tempfile.TemporaryDirectory(prefix="swimscope-bench-") as place:
        measure(parser.parse_args().records, pathlib.Path(place))
