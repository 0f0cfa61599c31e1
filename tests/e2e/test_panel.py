"""Does the panel show every table of its pages, follow the window, draw what its rows offer, and say what is missing?"""

from __future__ import annotations

import io
import pathlib
from collections.abc import Callable
from contextlib import redirect_stdout

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from analysis import cli
from app.panel.view import TABS
from tests.e2e.harness import THEMES, VIEWPORTS, Server, open_page, set_theme
from tests.e2e.panel_page import Panel, box
from tests.e2e.test_a11y import severe_violations
from tests.shared_data import capture_dir, needs_shared

TABLES = [name for name, _text in TABS if name != "overview"]
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
    assert page.locator("#panel-body .panel-answer").count() == 0, "nothing is loaded for a closed panel"
    page.click("#panel-open")
    expect(page.locator(".panel-answer h2")).to_have_text("Overview")
    panel = Panel(page)
    assert panel.url()["tab"] == "overview"
    page.click("#panel-close")
    expect(page.locator("#panel")).to_have_attribute("data-state", "closed")
    assert "tab" not in panel.url()
    page.go_back()
    expect(page.locator("#panel")).to_have_attribute("data-state", "open")


def test_open_by_itself_where_there_is_room_and_closable(
    new_context: Callable[..., BrowserContext], server: Server
) -> None:
    page = new_context(viewport=VIEWPORTS["large"]).new_page()
    open_page(page, server.page("attention", "swimlane"))
    expect(page.locator(".panel-answer h2")).to_have_text("Overview")
    page.keyboard.press("t")
    expect(page.locator("#panel")).to_have_attribute("data-state", "closed")
    assert Panel(page).url()["tab"] == "none"
    page.reload()
    expect(page.locator("#panel")).to_have_attribute("data-state", "closed")


def test_a_link_comes_back_to_the_panel_as_it_was_left(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "cores")
    page.click(".tabs a[href*='/graph']")
    page.wait_for_selector(".page-graph")
    page.click(".tabs a[href*='/swimlane']")
    page.wait_for_selector(".page-swimlane")
    panel.settle()
    assert panel.url()["tab"] == "cores"
    open_page(page, server.page("attention", "swimlane"))
    assert "tab" not in panel.url(), "a link from elsewhere shows what it says"


@pytest.mark.parametrize("tab", TABLES)
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
    page.wait_for_selector(f'[data-grid="{grid}"] .ag-row')
    assert page.url.split("?")[0].endswith(f"/{tab}")
    assert page.evaluate(read, grid) == mine
    page.go_back()
    page.wait_for_selector("#panel-body .panel-answer")
    assert panel.url()["tab"] == tab


@pytest.mark.parametrize(
    ("tab", "words", "query"),
    [
        ("functions", ["functions"], "sort=func_id:asc"),
        ("gaps", ["gaps"], ""),
        ("gaps", ["gaps", "--kind", "static"], "kind=static"),
        ("critical-path", ["critical-path", "--kind", "static"], "kind=static&q=nothing-of-this-name"),
        ("chains", ["chains"], ""),
        ("cores", ["cores"], ""),
        ("overhead", ["overhead"], ""),
        ("early-dispatch", ["early-dispatch"], ""),
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
    box = page.locator("input#panel-threshold")
    box.fill("2")
    box.press("Enter")
    page.wait_for_function("() => new URLSearchParams(location.search).get('thr') === '2'")
    expect(page.locator("#panel .over-threshold").first).to_be_visible()
    panel.settle()
    for cell in page.locator("#panel .ag-cell[col-id=gap_us]").all():
        red = "over-threshold" in (cell.get_attribute("class") or "")
        assert red == (float(cell.inner_text().replace(",", "")) > 2)
    assert "are longer than 2 µs" in panel.text()


def test_range_follows_the_window_and_the_measure(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "range")
    assert "the whole run" in panel.text()
    whole = panel.csv()
    low, high = panel.window()
    middle = round((low + high) / 2)
    panel.js("T.show(a[0], a[1], 'step')", [middle, middle + round((high - low) / 8)])
    page.wait_for_function("() => document.querySelector('#panel-body').innerText.includes('the visible window')")
    panel.settle()
    part = panel.csv()
    assert part != whole
    panel.js("T.setRange(a)", [middle, middle + 200])
    page.wait_for_function("() => document.querySelector('#panel-body').innerText.includes('the measured range')")
    panel.settle()
    assert panel.csv() not in (whole, part)


def test_utilisation_curve_spans_the_visible_window(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "utilisation")
    low, high = panel.window()
    panel.js("T.show(a[0], a[1], 'step')", [low, round((low + high) / 2)])
    page.wait_for_function("() => document.querySelector('#panel-body').innerText.includes('the visible window')")
    panel.settle()
    first, last = page.evaluate(
        "() => { const d = document.querySelector('#panel-plot .js-plotly-plot').calcdata[0];"
        "return [d[0].x, d[d.length - 1].x]; }"
    )
    ticks = panel.js("T.s.info.ticks_per_us")
    assert first * ticks == pytest.approx(low, abs=2)
    assert low < last * ticks <= (low + high) / 2


def test_gap_is_drawn_as_two_named_markers(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "gaps")
    number = next(n for n in range(1, 20) if panel.data(n)["blocker_task_id"] and panel.data(n)["gap_us"] > 0)
    row = panel.data(number)
    panel.act(number, "Draw the preceding gap")
    marks = panel.url()["mk"].split(",")
    assert len(marks) == 2
    (start, _, why), (end, _, what) = (mark.split(":", 2) for mark in marks)
    per_us = panel.js("T.s.info.ticks_per_us")
    assert int(end) == round(row["start_us"] * per_us)
    assert int(end) - int(start) == round(row["gap_us"] * per_us)
    assert row["blocker_name"] in why
    assert ("core busy" if row["cause"] == "core busy" else "waiting for") in why
    assert row["name"] in what
    low, high = panel.window()
    assert low < int(start) <= int(end) < high
    assert page.locator(".swim-flag").count() == 2
    page.go_back()
    expect(page.locator(".swim-flag")).to_have_count(0)


def test_a_rows_menu_by_keyboard(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "gaps")
    panel.choose(2)
    page.keyboard.press("ContextMenu")
    menu = page.locator(".menu-context")
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    page.keyboard.press("ContextMenu")
    expect(menu).to_be_visible()
    assert "Draw the preceding gap as two markers" in menu.inner_text()


def test_maximum_lead_is_drawn_in_the_scheduler_view(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "early-dispatch")
    number = next(n for n in range(40) if panel.data(n)["lead_us"] is not None)
    row = panel.data(number)
    panel.act(number, "Draw maximum lead")
    page.wait_for_function("() => window.swimscope.timeline.s.ready && new URLSearchParams(location.search).has('mk')")
    state = panel.url()
    assert state["view"] == "scheduler"
    ticks = sorted(int(mark.split(":")[0]) for mark in state["mk"].split(","))
    assert ticks == sorted([row["dispatch_ticks"], row["last_fin_ticks"]])


def test_path_and_function_are_highlighted_from_their_rows(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "critical-path", "kind=static")
    panel.act(2, "Highlight the whole path")
    assert (panel.url()["sel"], panel.url()["hl"]) == ("path:static", "path:static")
    page.wait_for_function("() => (window.swimscope.timeline.s.highlight || {}).hl === 'path:static'")
    panel.tab("functions")
    name = panel.data(0)["func_id"]
    panel.act(0, "Highlight the function")
    assert panel.url()["hl"] == f"func:{name}"


def test_path_says_which_it_is_and_where_it_differs(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "critical-path")
    assert "Computed here: observed path" in panel.text()
    assert "no imported path to compare" in panel.text()
    page.click("#panel .segments button:has-text('Imported observed')")
    page.wait_for_function("() => document.querySelector('#panel-body').innerText.includes('is not available')")
    assert "CPM_observed" in panel.text()


@needs_shared
def test_imported_and_computed_path_are_compared(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, DEVICE, "critical-path")
    assert "name the same 23 tasks" in panel.text()
    page.click("#panel .segments button:has-text('Imported observed')")
    page.wait_for_function(
        "() => document.querySelector('#panel-body').innerText.includes('Imported from CPM_observed')"
    )
    panel.settle()
    assert panel.csv() == command_line(capture_dir(DEVICE), "critical-path", "--kind", "imported-observed")


@pytest.mark.parametrize(
    ("run", "tab", "words"),
    [
        ("level_1", "early-dispatch", "level 2"),
        ("level_1", "overhead", "level 2"),
        ("no_deps", "critical-path", "deps.json"),
        ("no_deps", "gaps", "deps.json"),
        ("no_deps", "chains", "deps.json"),
    ],
)
def test_a_tab_without_an_answer_says_why(page: Page, server: Server, run: str, tab: str, words: str) -> None:
    panel = Panel.at(page, server, run, tab)
    assert "is not available" in panel.text()
    assert words in panel.text()


@needs_shared
@pytest.mark.parametrize("tab", ["functions", "cores", "critical-path", "gaps", "utilisation", "range"])
def test_only_dummies_have_no_table(page: Page, server: Server, tab: str) -> None:
    page.goto(server.page("dummy_only_l4", "swimlane", f"tab={tab}"))
    page.wait_for_selector(".panel-answer")
    assert "is not available" in page.inner_text("#panel-body")


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
    panel.settle()
    after = box(page, "#panel")[2]
    assert after == pytest.approx(before + 100, abs=3)
    page.reload()
    panel.settle()
    assert box(page, "#panel")[2] == pytest.approx(after, abs=1)


def test_tabs_by_keyboard(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "functions")
    page.focus("#panel-tab-functions")
    page.keyboard.press("ArrowRight")
    panel.settle()
    assert panel.url()["tab"] == "setup"
    assert page.locator("#panel-tab-setup").get_attribute("aria-selected") == "true"
    page.keyboard.press("Home")
    panel.settle()
    assert panel.url()["tab"] == "overview"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", sorted(VIEWPORTS))
def test_nothing_is_clipped_or_overlaps(
    new_context: Callable[..., BrowserContext], server: Server, size: str, theme: str
) -> None:
    page = new_context(viewport=VIEWPORTS[size]).new_page()
    panel = Panel.at(page, server, "attention", "gaps", "thr=2")
    set_theme(page, theme)
    width, height = VIEWPORTS[size]["width"], VIEWPORTS[size]["height"]
    for control in page.locator("#panel button:visible, #panel input:visible").all():
        place = control.bounding_box()
        assert place is not None
        assert 0 <= place["x"] <= place["x"] + place["width"] <= width + 1, control.evaluate("e => e.outerHTML")
    x, _y, wide, _high = box(page, "#swim-plot")
    assert wide > 400
    assert x + wide <= box(page, "#panel")[0] + 1
    _x, y, _wide, high = box(page, "#panel .panel-grid")
    assert high >= 190
    assert y + 100 < height
    assert panel.row(0).is_visible()


@pytest.mark.parametrize("theme", THEMES)
def test_no_serious_accessibility_violation(page: Page, server: Server, theme: str) -> None:
    panel = Panel.at(page, server, "attention", "gaps", "thr=2")
    set_theme(page, theme)
    for tab in ("gaps", "overview", "overhead", "critical-path"):
        panel.tab(tab)
        assert severe_violations(page) == [], tab
