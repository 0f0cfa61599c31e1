"""Is one selection seen everywhere? Row → swimlane → graph → Back for every kind, and live in another tab."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.harness import Server, open_page, wait_idle
from tests.e2e.panel_page import Panel, arrive
from tests.shared_data import needs_shared
from tests.waiting import until

KINDS = [
    ("setup", "task:"),
    ("functions", "func:"),
    ("chains", "chain:"),
    ("critical-path", "task:"),
    ("gaps", "gap:"),
    ("early-dispatch", "task:"),
]


def selection(panel: Panel) -> dict[str, Any]:
    """What the swimlane, at rest, has selected: number of items, bounds, reason for nothing."""
    panel.settle()
    found: dict[str, Any] = panel.look("selection")
    return found


def to_graph(page: Page, sel: str) -> None:
    """Follow the chip's link to the graph; the selection comes along and the graph is drawn."""
    page.click("#selection-chip a:has-text('Graph')")
    arrive(page, "graph")
    expect(page).to_have_url(re.compile(rf"/graph\?(.*&)?sel={re.escape(sel)}(&|$)"))
    page.wait_for_function("() => (window.swimscope.graph.cy ? window.swimscope.graph.cy() : null) !== null")
    wait_idle(page)
    expect(page.locator("#selection-chip")).to_be_visible()


def back_to(panel: Panel, url: str) -> None:
    """Go one step back, to the swimlane with this address."""
    panel.page.go_back()
    until(lambda: panel.page.evaluate("() => location.href"), lambda now: now == url)
    panel.settle()
    assert panel.page.evaluate("() => location.href") == url, "and it stays"


def check_row_graph_back(panel: Panel, number: int, kind: str) -> None:
    """Choose a row; see it in the swimlane and the graph; Back twice undoes it."""
    page = panel.page
    before = page.evaluate("() => location.href")
    row = panel.data(number)
    panel.choose(number)
    assert row["sel"].startswith(kind)
    found = selection(panel)
    assert found["n_total"], found
    low, high = panel.window()
    assert found["bounds"][0] < high
    assert found["bounds"][1] > low
    assert panel.look("highlight_count") > 0
    until(panel.marked, lambda now: row["sel"] in (now or []))
    chosen = page.evaluate("() => location.href")

    to_graph(page, row["sel"])

    back_to(panel, chosen)
    until(panel.marked, lambda now: row["sel"] in (now or []))
    back_to(panel, before)
    assert panel.look("selection") is None
    panel.expect_marked()


@pytest.mark.parametrize(("tab", "kind"), KINDS)
def test_row_to_swimlane_to_graph_and_back(page: Page, server: Server, tab: str, kind: str) -> None:
    panel = Panel.at(page, server, "attention", tab)
    check_row_graph_back(panel, 1, kind)


@needs_shared
@pytest.mark.parametrize(("tab", "kind"), [one for one in KINDS if one[0] != "early-dispatch"])
def test_the_same_on_a_device_capture(page: Page, server: Server, tab: str, kind: str) -> None:
    panel = Panel.at(page, server, "qwen3_14b_decode_device", tab)
    check_row_graph_back(panel, 0, kind)


def test_a_path_as_a_whole(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "critical-path")
    panel.act(1, "Highlight the whole path", changes="sel")
    assert selection(panel)["n_total"] == panel.look("highlight_count")
    to_graph(page, "path:observed")


def test_a_chosen_task_becomes_large_enough_to_see(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "large", "critical-path")
    low, high = panel.window()
    panel.choose(3)
    start, end = panel.look("selection_bounds")
    now = panel.window()
    assert now[1] - now[0] < (high - low) / 2, "the swimlane moved there"
    assert panel.look("px_between", [start, end]) >= 19
    page.go_back()
    panel.check_url(sel=None)
    panel.settle()
    assert panel.window() == (low, high), "one step back undoes selection and window"


def test_selecting_in_the_swimlane_marks_and_shows_the_row(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "critical-path")
    last = panel.last()
    task = panel.data(last)["task_id"]
    assert panel.row(last).count() == 0, "the last row is out of view at first"
    panel.look("select_task", task)
    expect(panel.row(last)).to_be_visible()
    expect(panel.row(last)).to_have_class(re.compile("row-selected"))


def test_a_gap_is_the_same_task_in_every_table(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "gaps")
    panel.choose(2)
    chosen = panel.url()["sel"]
    panel.tab("critical-path")
    expect(panel.row(2)).to_be_visible()
    panel.expect_marked(chosen.replace("gap:", "task:"))


def test_selection_follows_every_link(page: Page, server: Server) -> None:
    panel = Panel.at(page, server, "attention", "gaps")
    panel.choose(2)
    sel = panel.url()["sel"]
    for target in ("functions", "graph", "critical-path", "swimlane"):
        page.click(f".tabs a[href*='/{target}']")
        arrive(page, target)
        assert panel.url().get("sel") == sel, target


def test_arriving_from_a_page_brings_the_selection_into_view(page: Page, server: Server) -> None:
    open_page(page, server.page("large", "gaps"))
    page.locator("#table-grid .ag-row[row-index='4'] .ag-cell").first.dblclick()
    arrive(page, "swimlane")
    panel = Panel(page)
    bounds = selection(panel)["bounds"]
    low, high = panel.window()
    assert low < bounds[0] < bounds[1] < high
    assert panel.look("px_between", bounds) >= 19


def two_tabs(context: BrowserContext, server: Server, run: str) -> tuple[Panel, Page]:
    """A swimlane with gaps open, and the graph of the same run, in one browser."""
    first, second = context.new_page(), context.new_page()
    panel = Panel.at(first, server, run, "gaps")
    open_page(second, server.page(run, "graph"))
    return panel, second


def sel_of(page: Page) -> str | None:
    """``sel`` of the page's URL."""
    found: str | None = page.evaluate("() => new URLSearchParams(location.search).get('sel')")
    return found


def collect_selections(page: Page) -> None:
    """Have the page keep every ``sel`` that its URL gets, in ``window.seen``."""
    page.evaluate(
        "() => { window.seen = [];"
        " window.swimscope.url.on((state, keys) => keys.includes('sel') && window.seen.push(state.sel)); }"
    )


def pass_message(sender: Page, receiver: Page) -> None:
    """Send a message of our own from tab to tab; what was sent before it has then arrived as well."""
    receiver.evaluate(
        "() => { window.heard = false; window.ear = new BroadcastChannel('test');"
        " window.ear.onmessage = () => (window.heard = true); }"
    )
    sender.evaluate("() => { window.mouth = new BroadcastChannel('test'); window.mouth.postMessage('sent'); }")
    receiver.wait_for_function("() => window.heard")


def test_two_tabs_follow_each_other(context: BrowserContext, server: Server) -> None:
    panel, graph = two_tabs(context, server, "attention")
    first, other = panel.data(1)["sel"], panel.data(3)["sel"]
    panel.row(1).locator(".ag-cell").first.click()
    until(lambda: sel_of(graph), lambda sel: sel == first)
    graph.evaluate("s => window.swimscope.url.set({ sel: s, hl: null }, { push: true })", other)
    panel.check_url(sel=other)
    panel.expect_marked(other)
    assert selection(panel)["n_total"]


def test_following_can_be_switched_off(context: BrowserContext, server: Server) -> None:
    panel, graph = two_tabs(context, server, "attention")
    collect_selections(graph)

    def switch(on: bool) -> None:
        graph.click("#sync-switch")
        expect(graph.locator("#sync-switch")).to_have_attribute("aria-pressed", str(on).lower())
        until(lambda: panel.page.evaluate("() => window.swimscope.url.sync.get()"), lambda now: now == on)

    switch(on=False)
    panel.choose(1)
    pass_message(panel.page, graph)
    assert sel_of(graph) is None
    switch(on=True)
    panel.choose(2)
    chosen = panel.data(2)["sel"]
    until(lambda: sel_of(graph), lambda sel: sel == chosen)
    assert graph.evaluate("() => window.seen") == [chosen], "it never had the first"


def test_another_run_does_not_follow(context: BrowserContext, server: Server) -> None:
    panel, same = two_tabs(context, server, "attention")
    other = open_page(context.new_page(), server.page("layers", "graph"))
    collect_selections(other)
    panel.choose(1)
    until(lambda: sel_of(same), lambda sel: sel == panel.data(1)["sel"])
    pass_message(panel.page, other)
    assert sel_of(other) is None
    assert other.evaluate("() => window.seen") == []
