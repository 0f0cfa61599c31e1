"""The function page in a real browser: table, plots, selection, links."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.harness import THEMES, Server, open_page, set_theme, wait_idle
from tests.waiting import until

ROWS = "#functions-grid .ag-center-cols-container .ag-row"


def text_of(place: Locator) -> str:
    """Text of ``place``, once there is one."""
    expect(place).to_have_text(re.compile(r"\S"))
    return place.inner_text()


def test_a_row_selects_its_function_and_the_plots_follow(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "functions"))
    first = text_of(page.locator("#functions-selected > :first-child"))
    expect(page.locator("#functions-histogram .bars .point")).not_to_have_count(0)
    row = page.locator(ROWS).nth(1)
    name = text_of(row.locator("[col-id=name]"))
    assert name != first
    row.locator("[col-id=count]").click()
    expect(page).to_have_url(re.compile(r"sel=func:\d+"))
    expect(page.locator("#functions-selected > :first-child")).to_have_text(name)
    page.reload()
    wait_idle(page)
    expect(page.locator("#functions-selected > :first-child")).to_have_text(name)
    page.go_back()
    expect(page.locator("#functions-selected > :first-child")).to_have_text(first)


def test_the_links_lead_to_the_same_function_in_the_other_views(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "functions", "sel=func:1"))
    page.get_by_role("link", name="Show in swimlane").click()
    expect(page).to_have_url(re.compile(r"/swimlane\?.*hl=func:1.*sel=func:1"))
    expect(page.locator(".page-swimlane")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile(r"/functions\?sel=func:1$"))
    expect(page.locator("#functions-selected > :first-child")).to_be_visible()


def test_the_histogram_counts_every_record(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "functions", "sel=func:0"))
    count = page.locator(ROWS, has=page.locator("[col-id=func_id]", has_text=re.compile("^0$"))).locator(
        "[col-id=count]"
    )
    shown = text_of(count)
    expect(page.locator("#functions-histogram .bars .point")).not_to_have_count(0)
    until(
        lambda: page.evaluate(
            "() => document.querySelector('#functions-histogram .js-plotly-plot').calcdata[0]"
            ".reduce((sum, bar) => sum + bar.s, 0)"
        ),
        lambda total: f"{total:,.0f}" == shown,
    )


@pytest.mark.parametrize("theme", THEMES)
def test_a_function_has_one_colour_on_table_and_plot(page: Page, server: Server, theme: str) -> None:
    open_page(page, server.page("attention", "functions"))
    set_theme(page, theme)
    name = text_of(page.locator(ROWS).first.locator("[col-id=name]"))
    expected = page.evaluate(
        "name => { const probe = document.createElement('i'); probe.style.color = swimscope.theme.color(name);"
        " document.body.append(probe); return getComputedStyle(probe).color; }",
        name,
    )
    expect(page.locator(ROWS).first.locator(".fn-swatch")).to_have_css("background-color", expected)


def test_no_plot_offers_to_share_with_a_cloud(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "functions"))
    for plot in ("#functions-histogram", "#functions-over-time"):
        expect(page.locator(f"{plot} .point").first).to_be_attached()
        page.locator(plot).hover()
        expect(page.locator(f"{plot} .modebar-btn").first).to_be_visible()
    titles = page.locator(".modebar-btn").evaluate_all("all => all.map(b => b.dataset.title || '')")
    assert titles
    assert not [title for title in titles if re.search("share|cloud|plotly", title, re.I)]


def test_a_point_of_the_plot_over_time_selects_its_task(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "functions"))
    point = page.locator("#functions-over-time .scatterlayer .point").first
    label = page.locator("#functions-over-time .hoverlayer .hovertext")
    expect(point).to_be_visible()

    def hover() -> int:
        box = point.bounding_box()
        assert box is not None
        for offset in (1, 0):
            page.mouse.move(box["x"] + box["width"] / 2 - offset, box["y"] + box["height"] / 2)
        return label.count()

    until(hover, lambda labels: labels == 1)
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"sel=task:\d+"))
