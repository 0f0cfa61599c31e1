"""Does the product start, list its runs and open one, in a real browser?"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from app.factory import PAGES, load
from tests.e2e.harness import THEMES, VIEWPORTS, Server, open_page, set_theme
from tests.shared_data import needs_shared


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


_PAGES = sorted({module.PAGE.path_template for module in load(PAGES)})


@pytest.mark.parametrize("path", _PAGES)
@pytest.mark.parametrize("run", ["attention", "layers", "level_1", "no_deps", "no_names", "broken"])
def test_every_page_opens_on_every_kind_of_sample(page: Page, server: Server, path: str, run: str) -> None:
    """A page shows something or says what is missing; it never fails on the server (the guard sees console errors)."""
    open_page(page, server.url + path.replace("<run>", server.run_key(run)))
    expect(page.locator("main")).not_to_be_empty()
    expect(page.get_by_text("Something went wrong")).to_have_count(0)


@needs_shared
@pytest.mark.parametrize("path", [p for p in _PAGES if "<run>" in p])
@pytest.mark.parametrize("run", ["dummy_only_l4", "graph_replay_2d_l4", "pa_hostgraph_a5_mid_nodeps_l4"])
def test_every_page_opens_on_unusual_real_captures(page: Page, server: Server, path: str, run: str) -> None:
    open_page(page, server.url + path.replace("<run>", server.run_key(run)))
    expect(page.locator("main")).not_to_be_empty()
    expect(page.get_by_text("Something went wrong")).to_have_count(0)


@pytest.mark.parametrize("size", sorted(VIEWPORTS))
@pytest.mark.parametrize("path", _PAGES)
def test_no_page_is_wider_than_the_window(page: Page, server: Server, path: str, size: str) -> None:
    page.set_viewport_size(VIEWPORTS[size])
    open_page(page, server.url + path.replace("<run>", server.run_key("attention")))
    wide = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
