"""Browser fixtures: one server and one Chromium per test process, a fresh guarded context per test."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterator

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


WAITED_TOO_LONG = ("TimeoutError", r"Timeout .*exceeded", r"Locator expected")
"""A busy machine may keep the browser waiting: such a test runs once more, and the summary line says so.

Not in slow mode (:data:`harness.SLOW`), which is there to find tests that look before the page is ready.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = pathlib.Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("e2e")
            item.add_marker(pytest.mark.timeout(TEST_TIMEOUT_S))
            if harness.SLOW in os.environ:
                continue
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=list(WAITED_TOO_LONG)))


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A small tree of synthetic captures: attention, layers, level_1, no_deps, no_names, large, broken."""
    root = tmp_path_factory.mktemp("samples")
    write_capture(root / "attention" / "dfx_outputs", 1_000, 1)
    write_capture(root / "layers" / "dfx_outputs", 1_300, 2, shape="decoder-layers")
    write_capture(root / "level_1" / "dfx_outputs", 300, 3, level=1)
    write_capture(root / "no_deps" / "dfx_outputs", 300, 3, deps=False)
    write_capture(root / "no_names" / "dfx_outputs", 300, 3, name_map=False)
    write_capture(root / "large" / "dfx_outputs", 30_000, 4)
    broken = write_capture(root / "broken" / "dfx_outputs", 100, 5).files[0]
    broken.write_bytes(broken.read_bytes()[:5_000])
    return root


@pytest.fixture(scope="session")
def server(samples: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The product, serving the samples and, where present, the real captures (root ``captures``)."""
    roots = {"samples": samples}
    if PRESENT:
        roots["captures"] = SHARED / "captures"
    with harness.serve(roots, tmp_path_factory.mktemp("server")) as running:
        yield running


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


@pytest.fixture
def new_context(browser: Browser, server: Server) -> Iterator[Callable[..., BrowserContext]]:
    """Make contexts (separate people); each is guarded, and checked when the test ends."""
    made: list[tuple[BrowserContext, Guard]] = []

    def make(**options: object) -> BrowserContext:
        settings: dict[str, object] = {"viewport": harness.VIEWPORTS["small"], "accept_downloads": True} | options
        context = browser.new_context(**settings)  # type: ignore[arg-type]
        context.set_default_timeout(TIMEOUT_MS)
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
def context(new_context: Callable[..., BrowserContext]) -> BrowserContext:
    """One guarded context at 1366 × 768."""
    return new_context()


@pytest.fixture
def guard(context: BrowserContext) -> Guard:
    """The guard of ``context``: requests so far, and :meth:`Guard.allow` for errors that are meant."""
    found: Guard = context.guard  # type: ignore[attr-defined]
    return found


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """One page of ``context``."""
    return context.new_page()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add the server's last lines to a failed browser test's report."""
    report = yield
    server = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(server, Server):
        report.sections.append(("server output", "\n".join(server.output().splitlines()[-40:])))
    return report
