"""Does the panel show every table of its pages, follow the window, draw what its rows offer, and say what is missing?"""

from __future__ import annotations

import io
import pathlib
from collections.abc import Callable
from contextlib import redirect_stdout

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from analysis import cli
from tests.e2e.harness import THEMES, VIEWPORTS, Server, open_page, set_theme
from tests.e2e.panel_page import Panel, arrive, box
from tests.e2e.test_pages import check_accessible, draw_in
from tests.shared_data import capture_dir, needs_shared
from tests.waiting import until

DEVICE = "qwen3_14b_decode_device"


def command_line(path: pathlib.Path, *words: str) -> bytes:
    """What ``python -m analysis`` prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert cli.main([words[0], str(path), *words[1:], "--format", "csv"]) == 0
    return out.getvalue().encode()


def test_closed_at_a_small_size_until_asked_for(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "swimlane"))
    expect(page.locator("#panel")).to_have_attribute("data-state", "closed")
    panel = Panel(page)
    panel.settle()
    assert page.locator("#panel-body .panel-answer").count() == 0, "nothing is loaded for a closed panel"
    page.click("#panel-open")
    expect(page.locator(".panel-answer h2")).to_have_text("Overview")
    expect(page.locator(".panel-answer")).to_have_attribute("data-n", "1")  # the first question there was
    panel.check_url(tab="overview")
    page.click("#panel-close")
    expect(page.locator("#panel")).to_have_attribute("data-state", "closed")
    panel.check_url(tab=None)
    page.go_back()
    expect(page.locator("#panel")).to_have_attribute("data-state", "open")


def test_open_by_itself_where_there_is_room_and_closable(
    new_context: Callable[..., BrowserContext], server: Server
) -> None:
    page = new_context(viewport=VIEWPORTS["large"]).new_page()
    open_page(page, server.page("attention", "swimlane"))
    expect(page.locator(".panel-answer h2")).to_have_text("Overview")
    Panel(page).settle()
    page.keyboard.press("t")
    expect(page.locator("#panel")).to_have_attribute("data-state", "closed")
    Panel(page).check_url(tab="none")
    page.reload()
    expect(page.locator("#panel")).to_have_attribute("data-state", "closed")


def test_a_link_comes_back_to_the_panel_as_it_was_left(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "cores")
    page.click(".tabs a[href*='/graph']")
    arrive(page, "graph")
    page.click(".tabs a[href*='/swimlane']")
    arrive(page, "swimlane")
    panel.check_url(tab="cores")
    panel.settle()
    open_page(page, server.page("attention", "swimlane"))
    panel.settle()
    assert "tab" not in panel.url(), "a link from elsewhere shows what it says"


@pytest.mark.parametrize("tab", ["functions", "gaps", "critical-path"])
def test_each_tab_has_the_table_of_its_page(page: Page, server: Server, tab: str) -> None:
    """Same columns, same first rows, and a link to the page that shows the same."""
    panel = Panel.at(page, server, "attention", tab)
    read = """id => { const api = window.dash_ag_grid.getApi(id); const out = [];
        api.forEachNodeAfterFilterAndSort(n => out.length < 5 && out.push(n.data));
        return [api.getColumnDefs().map(c => c.field).sort(), out]; }"""
    expect(page.locator("#panel .ag-row").first).to_be_visible()
    mine = page.evaluate(read, "panel-grid")
    page.click(".panel-page-link")
    grid = "functions-grid" if tab == "functions" else "table-grid"
    arrive(page, tab)
    expect(page.locator(f'[data-grid="{grid}"] .ag-row').first).to_be_visible()
    until(lambda: page.evaluate(read, grid), lambda theirs: theirs == mine)
    page.go_back()
    panel.check_url(tab=tab)
    panel.settle()


@pytest.mark.parametrize(
    ("tab", "words", "query"),
    [
        ("functions", ["functions"], "sort=func_id:asc"),
        ("critical-path", ["critical-path", "--kind", "static"], "kind=static&q=nothing-of-this-name"),
    ],
)
def test_csv_is_that_of_the_command_line(
    page: Page, server: Server, samples: pathlib.Path, tab: str, words: list[str], query: str
) -> None:
    panel = Panel.at(page, server, "attention", tab, query)
    mine, theirs = panel.csv(), command_line(samples / "attention" / "dfx_outputs", *words)
    if tab == "functions":  # the panel shows the longest first, the command line has its own order
        assert sorted(mine.splitlines()) == sorted(theirs.splitlines())
    else:
        assert mine == theirs
    assert len(mine.splitlines()) > 1


def test_csv_keeps_filter_and_order(page: Page, server: Server, samples: pathlib.Path) -> None:
    panel = Panel.at(page, server, "attention", "gaps", "thr=2")
    everything = panel.csv()
    page.evaluate(
        "() => { const api = window.dash_ag_grid.getApi('panel-grid');"
        "api.setFilterModel({gap_us: {filterType: 'number', type: 'greaterThan', filter: 2}}); }"
    )
    page.wait_for_function("() => new URLSearchParams(location.search).has('f')")
    chosen = panel.csv()
    assert chosen == command_line(samples / "attention" / "dfx_outputs", "gaps", "--threshold-us", "2")
    assert 1 < len(chosen.splitlines()) < len(everything.splitlines())


def test_threshold_marks_longer_gaps_red_and_lives_in_the_url(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "gaps")
    assert page.locator("#panel .over-threshold").count() == 0
    threshold = page.locator("input#panel-threshold")
    threshold.fill("2")
    threshold.press("Enter")
    panel.check_url(thr="2")
    expect(page.locator("#panel .over-threshold").first).to_be_visible()
    panel.settle()
    cells = """() => [...document.querySelectorAll('#panel .ag-cell[col-id=gap_us]')]
        .map(cell => [cell.classList.contains('over-threshold'), cell.innerText.replaceAll(',', '')])"""
    until(lambda: page.evaluate(cells), lambda found: found and all(red == (float(text) > 2) for red, text in found))
    panel.check_text("are longer than 2 µs")


def test_range_follows_the_window_and_the_measure(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "range")
    panel.check_text("the whole run")
    whole = panel.csv()
    low, high = panel.window()
    middle = round((low + high) / 2)
    panel.look("show", [middle, middle + round((high - low) / 8)])
    panel.check_text("the visible window")
    panel.settle()
    part = panel.csv()
    assert part != whole
    panel.look("measure", [middle, middle + 200])
    panel.check_text("the measured range")
    panel.settle()
    assert panel.csv() not in (whole, part)


def test_utilisation_curve_spans_the_visible_window(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "utilisation")
    low, high = panel.window()
    panel.look("show", [low, round((low + high) / 2)])
    panel.check_text("the visible window")
    panel.settle()
    ticks = panel.look("ticks_per_us")
    curve = """() => { const d = document.querySelector('#panel-plot .js-plotly-plot').calcdata[0];
        return [d[0].x, d[d.length - 1].x]; }"""
    first, last = until(lambda: page.evaluate(curve), lambda ends: ends[1] * ticks <= (low + high) / 2)
    assert first * ticks == pytest.approx(low, abs=2)
    assert low < last * ticks


def test_gap_is_drawn_as_two_named_markers(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "gaps")
    number = next(n for n in range(1, 20) if panel.data(n)["blocker_task_id"] and panel.data(n)["gap_us"] > 0)
    row = panel.data(number)
    panel.act(number, "Draw the preceding gap", changes="mk")
    marks = panel.url()["mk"].split(",")
    assert len(marks) == 2
    (start, _, why), (end, _, what) = (mark.split(":", 2) for mark in marks)
    per_us = panel.look("ticks_per_us")
    assert int(end) == round(row["start_us"] * per_us)
    assert int(end) - int(start) == round(row["gap_us"] * per_us)
    assert row["blocker_name"] in why
    assert ("core busy" if row["cause"] == "core busy" else "waiting for") in why
    assert row["name"] in what
    low, high = panel.window()
    assert low < int(start) <= int(end) < high
    expect(page.locator(".swim-flag")).to_have_count(2)
    page.go_back()
    expect(page.locator(".swim-flag")).to_have_count(0)


def test_a_rows_menu_by_keyboard(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "gaps")
    panel.choose(2)
    cell = panel.row(2).locator(".ag-cell").first
    expect(cell).to_be_focused()
    page.keyboard.press("ContextMenu")
    menu = page.locator(".menu-context")
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    expect(cell).to_be_focused()
    page.keyboard.press("ContextMenu")
    expect(menu).to_contain_text("Draw the preceding gap as two markers")


def test_maximum_lead_is_drawn_in_the_scheduler_view(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "early-dispatch")
    number = next(n for n in range(40) if panel.data(n)["lead_us"] is not None)
    row = panel.data(number)
    panel.act(number, "Draw maximum lead", changes="mk")
    state = panel.url()
    assert state["view"] == "scheduler"
    ticks = sorted(int(mark.split(":")[0]) for mark in state["mk"].split(","))
    assert ticks == sorted([row["dispatch_ticks"], row["last_fin_ticks"]])


def test_path_and_function_are_highlighted_from_their_rows(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "critical-path", "kind=static")
    panel.act(2, "Highlight the whole path", changes="sel")
    assert (panel.url()["sel"], panel.url()["hl"]) == ("path:static", "path:static")
    assert panel.look("highlight") == "path:static"
    panel.tab("functions")
    name = panel.data(0)["func_id"]
    panel.act(0, "Highlight the function", changes="hl")
    assert panel.url()["hl"] == f"func:{name}"


def test_path_says_which_it_is_and_where_it_differs(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "critical-path")
    panel.check_text("Computed here: observed path")
    panel.check_text("no imported path to compare")
    page.click("#panel .segments button:has-text('Imported observed')")
    panel.check_text("is not available")
    panel.check_text("CPM_observed")


@needs_shared
def test_imported_and_computed_path_are_compared(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, DEVICE, "critical-path")
    panel.check_text("name the same 23 tasks")
    page.click("#panel .segments button:has-text('Imported observed')")
    panel.check_text("Imported from CPM_observed")
    panel.settle()
    assert panel.csv() == command_line(capture_dir(DEVICE), "critical-path", "--kind", "imported-observed")


@pytest.mark.parametrize(
    ("run", "tab", "words"),
    [
        ("level_1", "overhead", "level 2"),
    ],
)
def test_a_tab_without_an_answer_says_why(page: Page, server: Server, run: str, tab: str, words: str) -> None:
    panel = Panel.at(page, server, run, tab)
    panel.check_text("is not available")
    panel.check_text(words)


@needs_shared
@pytest.mark.parametrize("tab", ["critical-path", "utilisation"])
def test_only_dummies_have_no_table(page: Page, server: Server, tab: str) -> None:
    page.goto(server.page("dummy_only_l4", "swimlane", f"tab={tab}"))
    Panel(page).check_text("is not available")


def test_an_unknown_tab_is_named(page: Page, server: Server) -> None:
    page.goto(server.page("attention", "swimlane", "tab=nonsense"))
    expect(page.locator("#panel-body .notice")).to_contain_text("no tab 'nonsense'")


def test_width_is_dragged_and_kept(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "functions")
    before = box(page, "#panel")[2]
    x, y, _width, _height = box(page, "#panel-handle")
    page.mouse.move(x + 4, y + 200)
    page.mouse.down()
    page.mouse.move(x - 96, y + 200, steps=4)
    page.mouse.up()
    after = until(lambda: box(page, "#panel")[2], lambda width: abs(width - before - 100) <= 3)
    panel.settle()
    page.reload()
    panel.settle()
    assert until(lambda: box(page, "#panel")[2], lambda width: abs(width - after) <= 1)


def test_tabs_by_keyboard(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "functions")
    page.focus("#panel-tab-functions")
    expect(page.locator("#panel-tab-functions")).to_be_focused()
    page.keyboard.press("ArrowRight")
    panel.check_url(tab="setup")
    expect(page.locator("#panel-tab-setup")).to_have_attribute("aria-selected", "true")
    panel.settle()
    expect(page.locator("#panel-tab-setup")).to_be_focused()
    page.keyboard.press("Home")
    panel.check_url(tab="overview")
    panel.settle()


def check_places(panel: Panel, size: str) -> None:
    """Every control lies in the window, the panel beside the lanes, its table tall enough."""
    page = panel.page
    width, height = VIEWPORTS[size]["width"], VIEWPORTS[size]["height"]
    places = """() => [...document.querySelectorAll('#panel button, #panel input')]
        .filter(each => each.checkVisibility({ visibilityProperty: true }))
        .map(each => [each.getBoundingClientRect().left, each.getBoundingClientRect().right, each.outerHTML])
        .filter(([left, right]) => right > left)"""
    controls = page.evaluate(places)
    assert controls
    for left, right, html in controls:
        assert 0 <= left <= right <= width + 1, html
    x, _y, wide, _high = box(page, "#swim-plot")
    assert wide > 400
    assert x + wide <= box(page, "#panel")[0] + 1
    _x, y, _wide, high = box(page, "#panel .panel-grid")
    assert high >= 190
    assert y + 100 < height
    expect(panel.row(0)).to_be_visible()


@pytest.mark.parametrize("size", sorted(VIEWPORTS))
def test_nothing_is_clipped_or_overlaps(page: Page, server: Server, size: str) -> None:
    page.set_viewport_size(VIEWPORTS[size])
    panel = Panel.at(page, server, "attention", "gaps", "thr=2")
    for theme in THEMES:
        set_theme(page, theme)
        panel.settle()
        check_places(panel, size)


@pytest.mark.parametrize("tab", ["gaps", "overview", "overhead", "critical-path"])
def test_no_serious_accessibility_violation(page: Page, server: Server, tab: str) -> None:
    panel = Panel.at(page, server, "attention", tab, "thr=2")
    for theme in THEMES:
        draw_in(page, theme)
        panel.settle()
        check_accessible(page)
