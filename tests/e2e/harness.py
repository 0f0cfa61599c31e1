"""A real server and a real browser for tests: how they start, what is forbidden on every page, how to wait."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request

from app.server.factory import FEATURES
from tests.shared_data import REPO

CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
VIEWPORTS = {"small": {"width": 1366, "height": 768}, "large": {"width": 2560, "height": 1440}}
THEMES = ("light", "dark")
START_TIMEOUT_S = 180.0
_IDLE = """() => {
  const loading = window.store ? window.store.getState().isLoading : true;
  const busy = document.querySelector('[data-busy="true"], [aria-busy="true"]');
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.offsetParent !== null);
  const grids = shown('.grid').every((grid) => grid.querySelector('.ag-header-cell') &&
    grid.querySelector('.ag-row, .ag-overlay-no-rows-wrapper'));
  const plots = shown('.dash-graph').every((plot) => plot.querySelector('.main-svg'));
  const place = window.swimscope && swimscope.url ? swimscope.url.place() : null;
  const there = place && document.querySelector(`#page > .page-body.page-${place.page || 'overview'}`);
  return document.readyState === 'complete' && there && loading === false && !busy && grids && plots;
}"""


SLOW = "SWIMSCOPE_E2E_SLOW"
"""Environment variable: how many times slower the browser's scripts run (with a slow network); races show then."""
SLOW_LATENCY_MS = 150


def slow_down(context: BrowserContext, page: Page) -> None:
    """Have ``page`` run as on a busy machine, when the environment asks for it."""
    factor = float(os.environ.get(SLOW, "1"))
    if factor > 1:
        session = context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": factor})
        conditions = {"offline": False, "latency": SLOW_LATENCY_MS, "downloadThroughput": -1, "uploadThroughput": -1}
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", conditions)


def page_paths() -> dict[str, str]:
    """Every page of the product: name → path template, in which ``<run>`` stands for a run key."""
    return {view.page.name: view.page.path_template for feature in FEATURES for view in feature.views}


def find_chromium() -> str | None:
    """Path of the system's Chromium: ``SWIMSCOPE_CHROMIUM``, else the first known name on the path."""
    names = [os.environ.get("SWIMSCOPE_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    return next((found for name in names if name and (found := shutil.which(name))), None)


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclasses.dataclass(frozen=True)
class Server:
    """A running server: its address, the runs it offers, and what it printed so far."""

    url: str
    log: pathlib.Path
    keys: dict[str, str]
    """``root:path`` → run key."""

    def run_key(self, name: str) -> str:
        """Key of the one run whose path contains ``name`` as a directory, for example ``pa_small_l4``."""
        hits = {key for path, key in self.keys.items() if name in re.split(r"[:/]", path)}
        if len(hits) != 1:
            raise LookupError(f"{name!r} names {len(hits)} runs of {sorted(self.keys)}")
        return hits.pop()

    def page(self, name: str, page: str = "", query: str = "") -> str:
        """URL of ``page`` ("" = overview) of the run called ``name``."""
        return f"{self.url}/r/{self.run_key(name)}{'/' + page if page else ''}{'?' + query if query else ''}"

    def output(self) -> str:
        """What the server printed."""
        return self.log.read_text(errors="replace")


@contextmanager
def serve(roots: dict[str, pathlib.Path], folder: pathlib.Path, *options: str) -> Iterator[Server]:
    """Run ``python -m app serve`` over ``roots`` on a free port; stop that process at the end.

    Args:
        roots: name → directory tree.
        folder: takes the server's data and log.
        options: further command-line flags.
    """
    port = free_port()
    log = folder / "server.log"
    mounts = [f"--root={name}={path}" for name, path in roots.items()]
    command = [sys.executable, "-m", "app", "serve", *mounts, f"--port={port}", f"--data-dir={folder / 'data'}"]
    with open(log, "w") as out:
        process = subprocess.Popen(
            [*command, *options], stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=REPO
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(url, process, log)
        yield Server(url, log, _run_keys(roots, folder))
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(url: str, process: subprocess.Popen[bytes], log: pathlib.Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server stopped with {process.returncode}:\n{log.read_text(errors='replace')}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"no answer from {url}/health in {START_TIMEOUT_S} s:\n{log.read_text(errors='replace')}")


def _run_keys(roots: dict[str, pathlib.Path], folder: pathlib.Path) -> dict[str, str]:
    """Scan the same roots in a process of its own; run keys depend on root names and paths only."""
    mounts = [f"{name}={path}" for name, path in roots.items()]
    program = (
        "import json, sys\n"
        "from app.server.factory import make_services\n"
        "from app.server.settings import load_settings\n"
        "library = make_services(load_settings(json.loads(sys.argv[1]))).library\n"
        "library.scan_once()\n"
        "print(json.dumps({f'{row.root}:{row.path}': row.key for row in library.runs()}))\n"
    )
    settings = json.dumps({"roots": mounts, "data_dir": str(folder / "keys"), "facts_max_bytes": 0})
    done = subprocess.run(
        [sys.executable, "-c", program, settings], cwd=REPO, capture_output=True, text=True, check=True
    )
    keys: dict[str, str] = json.loads(done.stdout)
    return keys


class Guard:
    """Collect what must not happen on any page of a context: console errors, page errors, external requests.

    A test that provokes an error on purpose names it with :meth:`allow`.
    """

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.host = urlsplit(origin).netloc
        self.found: list[str] = []
        self.allowed: list[re.Pattern[str]] = []
        self.requests: list[str] = []
        context.on("console", self._console)
        context.on("weberror", lambda error: self._add(f"page error: {error.error}"))
        context.on("request", self._request)
        context.on("response", lambda r: r.status >= 500 and self._add(f"{r.status} from {r.url}"))

    def allow(self, pattern: str) -> None:
        """Expect findings that match ``pattern``."""
        self.allowed.append(re.compile(pattern))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._add(f"console error: {message.text} at {message.location}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob", "about") and parts.netloc != self.host:
            self._add(f"request to another host: {request.url}")

    def _add(self, text: str) -> None:
        self.found.append(text)

    def check(self) -> None:
        """Assert that nothing forbidden happened, and forget what was seen."""
        bad = [text for text in self.found if not any(p.search(text) for p in self.allowed)]
        self.found.clear()
        assert not bad, "\n".join(bad)


def wait_idle(page: Page, timeout_ms: int = 60_000) -> None:
    """Wait until the page that the URL names is there, no callback is under way, and tables and plots are drawn."""
    page.wait_for_function(_IDLE, timeout=timeout_ms)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function(_IDLE, timeout=timeout_ms)


def open_page(page: Page, url: str) -> Page:
    """Go to ``url`` and wait until it is idle."""
    page.goto(url)
    wait_idle(page)
    return page


def set_theme(page: Page, theme: str) -> None:
    """Have the page drawn in ``theme``; it follows the system's preference unless a person chose."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
