"""Does the product start, list its runs and open one, in a real browser?"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.harness import THEMES, VIEWPORTS, Guard, Server, open_page, page_paths, set_theme
from tests.shared_data import needs_shared
from tests.waiting import until


@pytest.mark.parametrize("theme", THEMES)
def test_home_lists_the_mounted_runs(page: Page, server: Server, theme: str) -> None:
    open_page(page, server.url)
    set_theme(page, theme)
    expect(page.get_by_text("attention", exact=True).first).to_be_visible()
    expect(page.get_by_text("layers", exact=True).first).to_be_visible()


def test_broken_capture_is_listed_and_others_still_open(page: Page, server: Server) -> None:
    open_page(page, server.page("broken"))
    expect(page.locator("body")).to_contain_text("chip_swimlane_records.json")
    open_page(page, server.page("attention"))
    expect(page.locator("body")).to_contain_text("attention")


def test_unknown_run_says_so(page: Page, server: Server) -> None:
    open_page(page, f"{server.url}/r/0123456789abcdef")
    expect(page.locator("body")).to_contain_text("no run")


def check_every_page(page: Page, server: Server, run: str) -> None:
    """Visit every page of ``run``: each shows something or says what is missing, and none fails on the server."""
    for path in page_paths().values():
        open_page(page, server.url + path.replace("<run>", server.run_key(run)))
        expect(page.locator("main > .page-body")).not_to_be_empty()
        expect(page.get_by_text("Something went wrong")).to_have_count(0)


@pytest.mark.parametrize("run", ["attention", "layers", "level_1", "no_deps", "no_names"])
def test_every_page_opens_on_every_kind_of_sample(page: Page, server: Server, run: str) -> None:
    check_every_page(page, server, run)


def test_every_page_of_a_broken_capture_says_why(page: Page, server: Server, guard: Guard) -> None:
    guard.allow(r"status of 4\d\d")
    check_every_page(page, server, "broken")


@needs_shared
@pytest.mark.parametrize("run", ["dummy_only_l4", "graph_replay_2d_l4", "pa_hostgraph_a5_mid_nodeps_l4"])
def test_every_page_opens_on_unusual_real_captures(page: Page, server: Server, run: str) -> None:
    check_every_page(page, server, run)


def width_of(page: Page, name: str) -> Any:
    """``name``, the width of the page, the width of the window."""
    return [
        name,
        *page.evaluate("() => { const all = document.documentElement; return [all.scrollWidth, all.clientWidth]; }"),
    ]


@pytest.mark.parametrize("size", sorted(VIEWPORTS))
def test_no_page_is_wider_than_the_window(page: Page, server: Server, size: str) -> None:
    page.set_viewport_size(VIEWPORTS[size])
    for name, path in page_paths().items():
        open_page(page, server.url + path.replace("<run>", server.run_key("attention")))
        assert until(lambda name=name: width_of(page, name), lambda seen: seen[1] <= seen[2])
