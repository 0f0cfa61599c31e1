"""Browser fixtures: one server for all test processes, one Chromium in each, one guarded page per file."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from analysis.synth.capture import write_capture
from tests.e2e import harness
from tests.e2e.harness import Guard, Server
from tests.shared_data import PRESENT, SHARED

TIMEOUT_MS = 60_000
"""How long a browser action or expectation may take; generous, since tests share two cores."""
expect.set_options(timeout=TIMEOUT_MS)
TEST_TIMEOUT_S = 400


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = pathlib.Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("e2e")
            item.add_marker(pytest.mark.timeout(TEST_TIMEOUT_S))


QUIET = ("--facts-max-bytes=0", "--scan-interval-s=300")
"""No reading of captures in the background, no further look at the roots: what a test does not ask for costs nothing."""


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder that all test processes of this run share."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "e2e"


@pytest.fixture(scope="session")
def shared_server(common: pathlib.Path) -> Iterator[Server]:
    """The samples and one server over them (and the real captures, root ``captures``) for all test processes."""

    def make() -> dict[str, Any]:
        roots = {"samples": write_samples(common / "samples")}
        if PRESENT:
            roots["captures"] = SHARED / "captures"
        process, server = harness.start(roots, common, *QUIET)
        return {"pid": process.pid, "url": server.url, "log": str(server.log), "keys": server.keys}

    with harness.shared(common, make, lambda known: harness.stop(known["pid"])) as known:
        yield Server(known["url"], pathlib.Path(known["log"]), known["keys"])


@pytest.fixture(scope="session")
def samples(shared_server: Server, common: pathlib.Path) -> pathlib.Path:
    """A small tree of synthetic captures: attention, layers, level_1, no_deps, no_names, large, broken."""
    return common / "samples"


def write_samples(root: pathlib.Path) -> pathlib.Path:
    """Write the captures of :func:`samples`."""
    write_capture(root / "attention" / "dfx_outputs", 1_000, 1)
    write_capture(root / "layers" / "dfx_outputs", 1_300, 2, shape="decoder-layers")
    write_capture(root / "level_1" / "dfx_outputs", 300, 3, level=1)
    write_capture(root / "no_deps" / "dfx_outputs", 300, 3, deps=False)
    write_capture(root / "no_names" / "dfx_outputs", 300, 3, name_map=False)
    write_capture(root / "large" / "dfx_outputs", 30_000, 4)
    broken = write_capture(root / "broken" / "dfx_outputs", 100, 5).files[0]
    broken.write_bytes(broken.read_bytes()[:5_000])
    return root


@pytest.fixture(scope="module")
def server(shared_server: Server) -> Server:
    """The product, serving the samples and, where present, the real captures; a file may have a server of its own."""
    return shared_server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, headless."""
    chromium = harness.find_chromium()
    if chromium is None:
        pytest.fail("no Chromium found: install Debian's chromium package or set SWIMSCOPE_CHROMIUM")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=list(harness.CHROMIUM_FLAGS))
        yield running
        running.close()


@contextmanager
def guarded(browser: Browser, server: Server) -> Iterator[Callable[..., BrowserContext]]:
    """Make contexts (separate people); each is guarded, and checked at the end."""
    made: list[tuple[BrowserContext, Guard]] = []

    def make(**options: object) -> BrowserContext:
        settings: dict[str, object] = {"viewport": harness.VIEWPORTS["small"], "accept_downloads": True} | options
        context = browser.new_context(**settings)  # type: ignore[arg-type]
        context.set_default_timeout(TIMEOUT_MS)
        context.add_init_script(harness.WATCH)
        guard = Guard(context, server.url)
        context.guard = guard  # type: ignore[attr-defined]
        context.on("page", lambda page: harness.slow_down(context, page))
        made.append((context, guard))
        return context

    yield make
    for context, _guard in made:
        context.close()
    for _context, guard in made:
        guard.check()


@pytest.fixture
def new_context(browser: Browser, server: Server) -> Iterator[Callable[..., BrowserContext]]:
    """Make contexts for one test; see :func:`guarded`."""
    with guarded(browser, server) as make:
        yield make


@pytest.fixture(scope="module")
def kept_context(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """The context of :func:`page`, kept for the tests of one file."""
    with guarded(browser, server) as make:
        yield make()


@pytest.fixture(scope="module")
def kept_page(kept_context: BrowserContext) -> Page:
    """The page of :func:`page`, kept for the tests of one file: what the browser has read once, it need not read again."""
    return kept_context.new_page()


@pytest.fixture
def context(kept_context: BrowserContext, kept_page: Page, server: Server) -> Iterator[BrowserContext]:
    """One guarded context at 1366 × 768; each test finds it as a new one is."""
    yield kept_context
    guard: Guard = kept_context.guard  # type: ignore[attr-defined]
    kept_page.evaluate("1")  # what the page has said by now has then been heard
    try:
        guard.check()
    finally:
        guard.pause(lambda: _as_new(kept_context, kept_page, server))


def _as_new(context: BrowserContext, page: Page, server: Server) -> None:
    """Close every page but ``page``, and undo what a test can do to that one."""
    for other in context.pages:
        if other != page:
            other.close()
    context.clear_permissions()
    page.mouse.up()
    page.unroute_all(behavior="ignoreErrors")
    page.goto(f"{server.url}/health")  # the origin's storage, without its scripts
    page.evaluate("() => (localStorage.clear(), sessionStorage.clear())")
    page.emulate_media(color_scheme="null")
    page.set_viewport_size(harness.VIEWPORTS["small"])


@pytest.fixture
def guard(context: BrowserContext) -> Guard:
    """The guard of ``context``: requests so far, and :meth:`Guard.allow` for errors that are meant."""
    found: Guard = context.guard  # type: ignore[attr-defined]
    return found


@pytest.fixture
def page(context: BrowserContext, kept_page: Page) -> Page:
    """One page of ``context``.

    A test that gives it init scripts or a clock takes a page of its own from ``new_context``.
    """
    return kept_page


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add the server's last lines to a failed browser test's report."""
    report = yield
    server = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(server, Server):
        report.sections.append(("server output", "\n".join(server.output().splitlines()[-40:])))
    return report
