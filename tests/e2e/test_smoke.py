"""Does the product start, list its runs and open one, in a real browser?"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.harness import THEMES, Server, open_page, set_theme


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
