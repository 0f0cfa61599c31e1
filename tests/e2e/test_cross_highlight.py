"""Is one selection seen everywhere? Row → swimlane → graph → Back for every kind, and live in another tab."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.harness import Server, open_page, wait_idle
from tests.e2e.panel_page import Panel
from tests.shared_data import needs_shared

QUIET_S = 1.0
"""Long enough for a message between tabs (they take some milliseconds) to have arrived if one had been sent."""
KINDS = [
    ("setup", "task:"),
    ("functions", "func:"),
    ("chains", "chain:"),
    ("critical-path", "task:"),
    ("gaps", "gap:"),
    ("early-dispatch", "task:"),
]


def selection(panel: Panel) -> dict[str, Any]:
    """What the swimlane has selected: number of items, bounds, reason for nothing."""
    panel.page.wait_for_function("() => Boolean(window.swimscope.timeline.s.selection)")
    found: dict[str, Any] = panel.js("T.s.selection")
    return found


def row_graph_back(panel: Panel, number: int, kind: str) -> None:
    """Choose a row; see it in the swimlane and the graph; Back twice undoes it."""
    page = panel.page
    before = page.url
    row = panel.data(number)
    panel.choose(number)
    assert row["sel"].startswith(kind)
    assert panel.url()["sel"] == row["sel"]
    found = selection(panel)
    assert found["n_total"], found
    low, high = panel.window()
    assert found["bounds"][0] < high
    assert found["bounds"][1] > low
    page.wait_for_function("() => Boolean(window.swimscope.timeline.s.highlight)")
    assert panel.js("T.s.highlight.count") > 0
    assert row["sel"] in panel.marked()
    chosen = page.url

    page.click("#selection-chip a:has-text('Graph')")
    page.wait_for_selector(".page-graph")
    wait_idle(page)
    assert f"sel={row['sel']}" in page.url
    expect(page.locator("#selection-chip")).to_be_visible()
    page.wait_for_function("() => (window.swimscope.graph.cy ? window.swimscope.graph.cy() : null) !== null")

    page.go_back()
    panel.settle()
    assert page.url == chosen
    assert row["sel"] in panel.marked()
    page.go_back()
    panel.settle()
    assert page.url == before
    page.wait_for_function("() => window.swimscope.timeline.s.selection === null")
    assert panel.marked() == []


@pytest.mark.parametrize(("tab", "kind"), KINDS)
def test_row_to_swimlane_to_graph_and_back(page: Page, server: Server, tab: str, kind: str) -> None:
    panel = Panel.at(page, server, "attention", tab)
    row_graph_back(panel, 1, kind)


@needs_shared
@pytest.mark.parametrize(("tab", "kind"), [one for one in KINDS if one[0] != "early-dispatch"])
def test_the_same_on_a_device_capture(page: Page, server: Server, tab: str, kind: str) -> None:
    panel = Panel.at(page, server, "qwen3_14b_decode_device", tab)
    row_graph_back(panel, 0, kind)


def test_a_path_as_a_whole(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "critical-path")
    panel.act(1, "Highlight the whole path")
    assert selection(panel)["n_total"] == panel.js("T.s.highlight.count")
    page.click("#selection-chip a:has-text('Graph')")
    page.wait_for_selector(".page-graph")
    assert "sel=path:observed" in page.url


def test_a_chosen_task_becomes_large_enough_to_see(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "large", "critical-path")
    low, high = panel.window()
    panel.choose(3)
    start, end = panel.js("T.s.selection.bounds")
    now = panel.window()
    assert now[1] - now[0] < (high - low) / 2, "the swimlane moved there"
    assert panel.js("(T.xAt(a[1]) - T.xAt(a[0]))", [start, end]) >= 19
    page.go_back()
    panel.settle()
    assert panel.window() == (low, high), "one step back undoes selection and window"


def test_selecting_in_the_swimlane_marks_and_shows_the_row(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "critical-path")
    last = page.evaluate("() => window.dash_ag_grid.getApi('panel-grid').getDisplayedRowCount() - 1")
    task = panel.data(last)["task_id"]
    assert panel.row(last).count() == 0, "the last row is out of view at first"
    panel.js("T.set({ sel: 'task:' + a, item: null }, true)", task)
    expect(panel.row(last)).to_be_visible()
    expect(panel.row(last)).to_have_class(re.compile("row-selected"))


def test_a_gap_is_the_same_task_in_every_table(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "gaps")
    panel.choose(2)
    chosen = panel.url()["sel"]
    panel.tab("critical-path")
    expect(panel.row(2)).to_be_visible()
    assert panel.marked() == [chosen.replace("gap:", "task:")]


def test_selection_follows_every_link(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "gaps")
    panel.choose(2)
    sel = panel.url()["sel"]
    for target in ("functions", "graph", "critical-path", "swimlane"):
        page.click(f".tabs a[href*='/{target}']")
        page.wait_for_selector(f".page-{target}")
        wait_idle(page)
        assert f"sel={sel}" in page.url, target


def test_arriving_from_a_page_brings_the_selection_into_view(page: Page, server: Server) -> None:
    open_page(page, server.page("large", "gaps"))
    page.locator("#table-grid .ag-row[row-index='4'] .ag-cell").first.dblclick()
    page.wait_for_selector(".page-swimlane")
    panel = Panel(page)
    panel.settle()
    bounds = selection(panel)["bounds"]
    low, high = panel.window()
    assert low < bounds[0] < bounds[1] < high
    assert panel.js("T.xAt(a[1]) - T.xAt(a[0])", bounds) >= 19


def two_tabs(context: BrowserContext, server: Server, run: str) -> tuple[Panel, Page]:
    """A swimlane with gaps open, and the graph of the same run, in one browser."""
    first, second = context.new_page(), context.new_page()
    panel = Panel.at(first, server, run, "gaps")
    open_page(second, server.page(run, "graph"))
    return panel, second


def test_two_tabs_follow_each_other(context: BrowserContext, server: Server) -> None:
    panel, graph = two_tabs(context, server, "attention")
    panel.row(1).locator(".ag-cell").first.click()
    sel = panel.data(1)["sel"]
    graph.wait_for_function("s => window.swimscope.url.get().sel === s", arg=sel)
    assert f"sel={sel}" in graph.url
    graph.evaluate("s => window.swimscope.url.set({ sel: s, hl: null }, { push: true })", panel.data(3)["sel"])
    other = panel.data(3)["sel"]
    panel.page.wait_for_function("s => window.swimscope.url.get().sel === s", arg=other)
    panel.settle()
    assert panel.marked() == [other]
    assert selection(panel)["n_total"]


def test_following_can_be_switched_off(context: BrowserContext, server: Server) -> None:
    panel, graph = two_tabs(context, server, "attention")
    graph.click("#sync-switch")
    assert graph.get_attribute("#sync-switch", "aria-pressed") == "false"
    panel.choose(1)
    time.sleep(QUIET_S)
    assert "sel=" not in graph.url
    graph.click("#sync-switch")
    panel.choose(2)
    graph.wait_for_function("s => window.swimscope.url.get().sel === s", arg=panel.data(2)["sel"])


def test_another_run_does_not_follow(context: BrowserContext, server: Server) -> None:
    panel = Panel.at(context.new_page(), server, "attention", "gaps")
    other = open_page(context.new_page(), server.page("layers", "graph"))
    panel.choose(1)
    time.sleep(QUIET_S)
    assert "sel=" not in other.url
