"""A real server and a real browser for tests: how they start, what is forbidden on every page, how to wait."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
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
IDLE_MS = 120_000
"""How long a page may take to come to rest: a large run is imported first, on a busy machine."""

WATCH = """(() => {
  if (window.underWay) return;
  const LONGEST_MS = 1000;
  const underWay = (window.underWay = new Map());
  let last = 0;
  const begin = (what) => (underWay.set(++last, what), last);
  const during = (what, promise) => {
    const id = begin(what);
    const end = () => underWay.delete(id);
    promise.then(end, end);
    return promise;
  };
  const { setTimeout, clearTimeout, fetch } = window;
  const idOf = new Map();
  window.setTimeout = (work, delay, ...rest) => {
    if (typeof work !== 'function' || delay > LONGEST_MS) return setTimeout(work, delay, ...rest);
    const id = begin(`a timer of ${delay || 0} ms`);
    const timer = setTimeout((...given) => {
      underWay.delete(id);
      idOf.delete(timer);
      work(...given);
    }, delay, ...rest);
    idOf.set(timer, id);
    return timer;
  };
  window.clearTimeout = (timer) => {
    underWay.delete(idOf.get(timer));
    idOf.delete(timer);
    clearTimeout(timer);
  };
  window.fetch = (...given) => during('fetch ' + (given[0].url || given[0]), fetch.apply(window, given));
  for (const name of ['json', 'text', 'arrayBuffer', 'blob']) {
    const read = Response.prototype[name];
    Response.prototype[name] = function () {
      return during(`${name} of ${this.url}`, read.call(this));
    };
  }
  const load = (one) => {
    if (!(one instanceof HTMLScriptElement) || !one.src) return;
    const id = begin('script ' + one.src);
    for (const end of ['load', 'error']) one.addEventListener(end, () => underWay.delete(id));
  };
  for (const [kind, name] of [[Node, 'appendChild'], [Node, 'insertBefore'], [Element, 'append']]) {
    const add = kind.prototype[name];
    kind.prototype[name] = function (...given) {
      given.forEach(load);
      return add.apply(this, given);
    };
  }
})()"""
"""Runs in every document before its own scripts: keeps a list of what the page has begun and not ended, which is questions
to the server (until their body is read), scripts that load, and timers up to a second (a notice stays longer; nobody waits
for it). What an action sets off is on the list before the action's event is over, so an empty list means: done."""

# What keeps the page from rest: [] once nothing was lacking for three frames (what a frame draws may ask again). It looks
# at the watch above and at what every user of the page's HTML can see, never at the state of its scripts.
_LACKING = """async (milliseconds) => {
  if (!window.underWay) return ['the watch: take pages from page or new_context, or give the context harness.WATCH'];
  const until = performance.now() + milliseconds;
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  const pageName = () => {
    const parts = location.pathname.split('/r/');
    if (parts.length < 2) return location.pathname.endsWith('/admin') ? 'admin' : 'runs';
    return parts[1].split('/')[1] || 'overview';
  };
  const lacking = () => {
    const out = [...window.underWay.values()];
    if (document.readyState !== 'complete') out.push('the document');
    if (!document.querySelector(`#page > .page-body.page-${pageName()}`)) out.push('the page ' + pageName());
    for (const busy of document.querySelectorAll('[data-busy="true"], [aria-busy="true"]')) out.push('busy: #' + busy.id);
    for (const box of shown('.grid-box')) {
      const bound = box.dataset.bound || box.closest('#graph-side');  // whose tables keep nothing in the URL
      if (!bound || !box.querySelector('.ag-row, .ag-overlay:not(.ag-hidden)')) out.push('table ' + box.dataset.grid);
    }
    if (shown('.opening progress').length) out.push('the capture, which is being opened');
    for (const plot of shown('.dash-graph')) if (!plot.querySelector('.main-svg')) out.push('plot ' + plot.id);
    return out;
  };
  for (let frames = 0; frames < 3; ) {
    await new Promise((done) => requestAnimationFrame(done));
    const now = lacking();
    frames = now.length ? 0 : frames + 1;
    if (now.length && performance.now() > until) return now;
  }
  return [];
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
    process, server = start(roots, folder, *options)
    try:
        yield server
    finally:
        stop(process.pid)
        process.wait()


def start(
    roots: dict[str, pathlib.Path], folder: pathlib.Path, *options: str
) -> tuple[subprocess.Popen[bytes], Server]:
    """Start a server as :func:`serve` does, and leave it running: its process, and where it answers."""
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
        return process, Server(url, log, _run_keys(roots, folder))
    except BaseException:
        stop(process.pid)
        raise


def stop(pid: int) -> None:
    """Ask the process ``pid`` to end; insist when it has not after 10 s."""
    for sign, patience_s in ((signal.SIGTERM, 10.0), (signal.SIGKILL, 1.0)):
        deadline = time.monotonic() + patience_s
        try:
            os.kill(pid, sign)
            while time.monotonic() < deadline:
                os.kill(pid, 0)
                if _is_zombie(pid):
                    return
                time.sleep(0.05)
        except ProcessLookupError:
            return


def _is_zombie(pid: int) -> bool:
    """Whether the process has ended and waits for its parent to take note."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@contextmanager
def shared(
    folder: pathlib.Path, make: Callable[[], dict[str, Any]], end: Callable[[dict[str, Any]], None]
) -> Iterator[Any]:
    """What one test process makes and all of them use: the first makes it, the last ends it.

    Args:
        folder: the same for all processes.
        make: returns what the others must know, as JSON values.
        end: called with that by the last process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state, users = folder / "state.json", folder / "users"
    with _locked(folder):
        if not state.exists():
            state.write_text(json.dumps(make()))
        known = json.loads(state.read_text())
        users.write_text(str(1 + int(users.read_text() if users.exists() else 0)))
    try:
        yield known
    finally:
        with _locked(folder):
            left = int(users.read_text()) - 1
            users.write_text(str(left))
            if not left:
                state.unlink()
                end(known)


@contextmanager
def _locked(folder: pathlib.Path) -> Iterator[None]:
    """Alone among the processes that use ``folder``."""
    with open(folder / "lock", "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


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
        self.paused = False
        context.on("console", self._console)
        context.on("weberror", lambda error: self._add(f"page error: {error.error}"))
        context.on("request", self._request)
        context.on("response", lambda r: r.status >= 500 and self._add(f"{r.status} from {r.url}"))

    def allow(self, pattern: str) -> None:
        """Expect findings that match ``pattern``."""
        self.allowed.append(re.compile(pattern))

    def pause(self, work: Callable[[], None]) -> None:
        """Do ``work``, whatever happens meanwhile on pages that are being left; forget all that was seen and allowed."""
        self.paused = True
        work()
        self.paused = False
        for seen in (self.found, self.allowed, self.requests):
            seen.clear()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._add(f"console error: {message.text} at {message.location}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob", "about") and parts.netloc != self.host:
            self._add(f"request to another host: {request.url}")

    def _add(self, text: str) -> None:
        if not self.paused:
            self.found.append(text)

    def check(self) -> None:
        """Assert that nothing forbidden happened, and forget what was seen."""
        bad = [text for text in self.found if not any(p.search(text) for p in self.allowed)]
        self.found.clear()
        assert not bad, "\n".join(bad)


def wait_idle(page: Page, timeout_ms: int = IDLE_MS) -> None:
    """Wait until all that was set off so far has ended: asked, answered, drawn, and written to the address bar.

    Raises:
        TimeoutError: it never was; says what was still lacking.
    """
    lacking = page.evaluate(_LACKING, timeout_ms)
    if lacking:
        raise TimeoutError(f"{page.url} does not come to rest, there is still: {lacking}")


def open_page(page: Page, url: str) -> Page:
    """Go to ``url`` and wait until it is idle."""
    page.goto(url)
    wait_idle(page)
    return page


def set_theme(page: Page, theme: str) -> None:
    """Have the page drawn in ``theme``; it follows the system's preference unless a person chose."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
