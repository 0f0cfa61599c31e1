"""The runs page in a real browser: list, search, sort, filter, group, open, CSV, new runs."""

from __future__ import annotations

import csv
import pathlib
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.harness import THEMES, Server, open_page, wait_idle
from tests.waiting import until

ROWS = "#runs-grid .ag-center-cols-container .ag-row"
CHOICES = ("system", *THEMES)
"""What a click on the theme switch goes through, from the start."""


def names(page: Page) -> list[str]:
    """Names of the rows from top to bottom, now."""
    cells = page.locator(f"{ROWS} [col-id=name] .cell-link")
    pairs = cells.evaluate_all("all => all.map(a => [a.getBoundingClientRect().top, a.textContent])")
    return [text for _top, text in sorted(pairs)]


def expect_names(page: Page, *expected: str) -> None:
    """Wait until the rows are ``expected`` from top to bottom."""
    until(lambda: names(page), lambda seen: seen == list(expected))


def test_search_narrows_and_lives_in_the_url(page: Page, server: Server) -> None:
    open_page(page, server.url)
    page.get_by_placeholder("Search name, path, root …").fill("no_")
    expect(page.locator(ROWS)).to_have_count(2)
    expect(page.locator(".grid-shown")).to_contain_text("2 of")
    expect(page).to_have_url(re.compile(r"\?q=no_$"))
    page.reload()
    wait_idle(page)
    expect(page.locator(".grid-shown")).to_contain_text("2 of")
    until(lambda: set(names(page)), lambda seen: seen == {"no_deps", "no_names"})


def test_what_is_typed_while_the_page_loads_counts(page: Page, server: Server) -> None:
    page.goto(server.url)
    page.get_by_placeholder("Search name, path, root …").fill("no_")
    expect(page).to_have_url(re.compile(r"\?q=no_$"))
    expect(page.locator(".grid-shown")).to_contain_text("2 of")


def test_sort_lives_in_the_url_and_survives_reload(page: Page, server: Server) -> None:
    open_page(page, f"{server.url}/?q=no_")
    expect(page.locator(".grid-shown")).to_contain_text("2 of")
    header = page.locator("#runs-grid .ag-header-cell[col-id=name]")
    header.click()
    expect(page).to_have_url(re.compile("sort=name:asc"))
    expect_names(page, "no_deps", "no_names")
    header.click()
    expect(page).to_have_url(re.compile("sort=name:desc"))
    page.reload()
    wait_idle(page)
    expect_names(page, "no_names", "no_deps")
    for way in ("none", "ascending", "descending"):
        header.click()
        expect(header).to_have_attribute("aria-sort", way)
    expect(page).to_have_url(re.compile("sort=name:desc"))
    expect_names(page, "no_names", "no_deps")


def test_a_row_opens_its_run_and_back_returns(page: Page, server: Server) -> None:
    open_page(page, server.url)
    page.get_by_text("attention", exact=True).first.click()
    expect(page).to_have_url(re.compile(f"/r/{server.run_key('attention')}$"))
    expect(page.locator(".card-label", has_text="Makespan")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()


def test_the_keyboard_alone_opens_a_run(page: Page, server: Server) -> None:
    open_page(page, f"{server.url}/?q=attention")
    expect_names(page, "attention")
    page.locator("#runs-grid .ag-header-cell[col-id=name]").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(f"{ROWS} .ag-cell-focus")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/r/"))


def test_csv_holds_the_rows_that_are_shown(page: Page, server: Server, tmp_path: pathlib.Path) -> None:
    open_page(page, f"{server.url}/?q=no_&sort=name:desc")
    expect(page.locator(".grid-shown")).to_contain_text("2 of")
    expect_names(page, "no_names", "no_deps")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    target = tmp_path / "runs.csv"
    download.value.save_as(target)
    rows = list(csv.DictReader(target.open(encoding="utf-8-sig")))
    assert [row["Run"] for row in rows] == ["no_names", "no_deps"]
    assert [row["Path"] for row in rows] == ["no_names/dfx_outputs", "no_deps/dfx_outputs"]


def test_columns_can_be_picked(page: Page, server: Server) -> None:
    open_page(page, server.url)
    expect(page.locator("#runs-grid .ag-header-cell[col-id=name]")).to_have_count(1)
    expect(page.locator("#runs-grid .ag-header-cell[col-id=size]")).to_have_count(0)
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("checkbox", name="Size").check()
    page.keyboard.press("Escape")
    expect(page.get_by_role("checkbox", name="Size")).to_have_count(0)
    expect(page.locator("#runs-grid .ag-header-cell[col-id=size]")).to_have_count(1)


def test_two_people_do_not_influence_each_other(new_context: Callable[..., BrowserContext], server: Server) -> None:
    one, two = new_context().new_page(), new_context().new_page()
    open_page(one, server.url)
    open_page(two, server.url)
    one.get_by_placeholder("Search name, path, root …").fill("no_deps")
    one.locator("#runs-grid .ag-header-cell[col-id=records]").click()
    expect_names(one, "no_deps")
    expect(one).to_have_url(re.compile("q=no_deps&sort=records:"))
    expect(two.locator(ROWS).nth(3)).to_be_visible()
    assert "q=" not in two.url
    two.reload()
    wait_idle(two)
    expect(two.locator(ROWS).nth(3)).to_be_visible()
    expect(two.locator(".grid-shown")).to_have_text("")
    open_page(one, server.page("attention", "gaps"))
    open_page(two, server.page("attention", "gaps"))
    one.locator("#table-grid .ag-center-cols-container .ag-row").nth(2).locator("[col-id=cause]").click()
    expect(one).to_have_url(re.compile("sel=gap:"))
    expect(one.locator("#table-grid .row-selected")).not_to_have_count(0)
    wait_idle(two)
    assert "sel=" not in two.url
    expect(two.locator(".row-selected")).to_have_count(0)


@pytest.mark.parametrize("theme", THEMES)
def test_the_theme_switch_is_remembered(page: Page, server: Server, theme: str) -> None:
    open_page(page, server.url)
    for choice in CHOICES[1 : CHOICES.index(theme) + 1]:
        page.locator("#theme-switch").click()
        page.wait_for_function("choice => swimscope.theme.choice() === choice", arg=choice)
    page.reload()
    wait_idle(page)
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in re.findall(r"\d+", background)[:3]) > 384
    assert light == (theme == "light")
