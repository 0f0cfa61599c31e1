"""The overview and the shell in a real browser: cards, quality, links, URL, stored links, tabs that follow."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.harness import Server, open_page, wait_idle
from tests.waiting import until

ROWS = "#table-grid .ag-center-cols-container .ag-row"


def expect_card(page: Page, label: str, value: str) -> None:
    """Wait until the value of the card called ``label`` matches ``value`` as a whole."""
    found = page.locator(".card", has=page.locator(".card-label", has_text=re.compile(f"^{label}$")))
    expect(found.locator(".card-value")).to_have_text(re.compile(f"^(?:{value})$"), timeout=60_000)


def test_cards_show_the_run(page: Page, server: Server) -> None:
    open_page(page, server.page("attention"))
    expect_card(page, "Tasks / records", ".* / 1,000")
    expect_card(page, "Cores", "72")
    expect_card(page, "Utilisation", r"[\d.]+ / [\d.]+ %")
    expect_card(page, "Critical path", ".*%")
    expect_card(page, "Worst gap", ".*s")
    expect_card(page, "Scheduler overhead", ".*%")
    expect(page.locator("#overview-plot .js-plotly-plot .scatterlayer .trace")).to_have_count(2)


def test_what_is_missing_names_the_file_or_flag_that_would_bring_it(page: Page, server: Server) -> None:
    open_page(page, server.page("no_deps"))
    expect(page.locator(".view-missing", has_text="Task graph")).to_contain_text("deps.json is missing")
    open_page(page, server.page("no_names"))
    expect(page.locator(".view-missing", has_text="Function names")).to_contain_text("name_map")
    open_page(page, server.page("level_1"))
    expect(page.locator(".view-missing", has_text="Scheduler phases")).to_contain_text("level 3")
    expect_card(page, "Scheduler overhead", "–")


def test_every_link_of_the_overview_opens_its_view(page: Page, server: Server) -> None:
    open_page(page, server.page("attention"))
    links = page.locator(".view-there a")
    expect(links.nth(5)).to_be_visible()
    targets = links.evaluate_all("all => all.map(a => a.href)")
    assert len(targets) >= 6
    for target in targets:
        open_page(page, target)
        expect(page.locator(".page-body")).to_have_count(1)
        expect(page.locator(".page-body > .notice")).to_have_count(0)


def test_close_goes_home(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "gaps"))
    page.get_by_label("Close this run").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page).to_have_url(re.compile(f"^{re.escape(server.url)}/?$"))


def test_the_selection_follows_every_tab_and_back_undoes_it(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "gaps"))
    row = page.locator(ROWS).nth(1)
    row.locator("[col-id=cause]").click()
    expect(page).to_have_url(re.compile(r"sel=gap:\d+"))
    sel = re.search(r"sel=(gap:\d+)", page.url)
    assert sel is not None
    expect(page.locator("#table-grid .row-selected")).not_to_have_count(0)
    expect(page.locator("#selection-chip")).to_contain_text("gap")
    page.get_by_role("navigation", name="Views of this run").get_by_text("Functions").click()
    expect(page).to_have_url(re.compile(f"/functions.*{sel.group(1)}"))
    expect(page.locator(".page-functions")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile(f"/gaps.*{sel.group(1)}"))
    expect(page.locator(".page-gaps .row-selected")).not_to_have_count(0)
    page.go_back()
    expect(page).not_to_have_url(re.compile("sel="))
    expect(page.locator("#selection-chip")).to_be_hidden()
    expect(page.locator(ROWS).first).to_be_visible()
    expect(page.locator("#table-grid .row-selected")).to_have_count(0)


def test_a_selection_reaches_the_other_tab_of_the_run(context: BrowserContext, server: Server) -> None:
    one, two = context.new_page(), context.new_page()
    open_page(one, server.page("attention", "gaps"))
    open_page(two, server.page("attention", "gaps"))
    one.locator(ROWS).nth(2).locator("[col-id=cause]").click()
    expect(two).to_have_url(re.compile(r"sel=gap:\d+"))
    expect(two.locator("#table-grid .row-selected")).not_to_have_count(0)
    one.evaluate("() => { window.heard = []; swimscope.url.on(state => window.heard.push(state.sel)); }")
    sync = two.locator("#sync-switch")
    sync.click()
    expect(sync).to_have_attribute("aria-pressed", "false")
    two.evaluate("() => swimscope.url.set({sel: null, hl: null})")
    expect(two).not_to_have_url(re.compile("sel="))
    sync.click()
    expect(sync).to_have_attribute("aria-pressed", "true")
    two.evaluate("() => swimscope.url.set({sel: 'task:7'})")
    expect(one).to_have_url(re.compile(r"sel=task:7"))
    assert one.evaluate("() => window.heard") == ["task:7"]


def test_a_selection_made_while_the_page_loads_is_shown(page: Page, server: Server) -> None:
    """A row is clicked after the tab was: the page that comes shows what the URL says, not what it was asked for."""
    open_page(page, server.page("attention", "gaps"))
    held: list[Route] = []
    page.route(re.compile("/_dash-update-component"), lambda route: held.append(route), times=1)
    page.get_by_role("navigation", name="Views of this run").get_by_text("Functions").click()
    expect(page).to_have_url(re.compile("/functions$"))
    until(lambda: page.title() and len(held), lambda asked: asked > 0)
    page.evaluate("() => swimscope.url.set({sel: 'func:2', hl: 'func:2'}, {push: true})")
    held[0].continue_()
    expect(page).to_have_url(re.compile("/functions.*sel=func:2"))
    name = page.locator("#functions-grid .row-selected [col-id=name]")
    expect(name).to_have_text(re.compile(r"\S"))
    expect(page.locator("#functions-selected > :first-child")).to_have_text(name.inner_text())


def test_a_long_view_is_stored_and_the_short_link_restores_it(
    page: Page, context: BrowserContext, server: Server
) -> None:
    open_page(page, server.page("attention", "gaps"))
    page.evaluate(
        "() => swimscope.url.set({pin: Array.from({length: 400}, (_, i) => 'core' + i).join(','), sel: 'task:7'})"
    )
    expect(page).to_have_url(re.compile(r"\?s=[0-9a-f]{20}$"))
    other = context.new_page()
    open_page(other, page.url)
    counted = "() => { const { sel, pin } = swimscope.url.get(); return [sel, (pin || '').split(',').length]; }"
    until(lambda: other.evaluate(counted), lambda seen: seen == ["task:7", 400])
    expect(other).to_have_url(re.compile(r"\?s=[0-9a-f]{20}$"))
    page.reload()
    wait_idle(page)
    until(lambda: page.evaluate(counted), lambda seen: seen == ["task:7", 400])


def test_bad_values_in_a_link_are_said_and_the_rest_is_used(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "gaps", "sel=nonsense&kind=static"))
    expect(page.locator(".notice", has_text="Part of this link was not used")).to_contain_text("sel=nonsense")
    expect(page.locator(".segments [aria-current=true]", has_text="Static")).to_have_count(1)


def press_at_once(page: Page) -> None:
    """Have all keys pressed at the same time, however long this machine takes between them."""
    page.add_init_script("Object.defineProperty(Event.prototype, 'timeStamp', { get: () => 0 })")


def test_the_key_sheet_opens_and_closes(new_context: Callable[..., BrowserContext], server: Server) -> None:
    page = new_context().new_page()
    press_at_once(page)
    open_page(page, server.page("attention"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Everywhere")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("f")
    expect(page).to_have_url(re.compile("/functions"))


def test_the_key_after_g_changes_the_page_even_where_it_means_something(
    new_context: Callable[..., BrowserContext], server: Server
) -> None:
    """On the swimlane ``d`` moves and ``r`` measures, on the graph ``f`` fits; after ``g`` they go places."""
    page = new_context().new_page()
    press_at_once(page)
    open_page(page, server.page("attention", "swimlane"))
    page.wait_for_selector("#swim-root[data-drawn]:not([data-busy])")
    for key, place in (("d", "/graph$"), ("f", "/functions$"), ("s", "/swimlane$")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(place))
        page.wait_for_selector(f".page-{place.strip('/$')}")
    page.wait_for_selector("#swim-root[data-drawn]:not([data-busy])")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_selector(".page-runs")


@pytest.mark.parametrize("analysis", ["critical-path"])
def test_a_table_page_downloads_the_csv_of_the_command_line(page: Page, server: Server, analysis: str) -> None:
    open_page(page, server.page("attention", analysis))
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    text = download.value.path().read_text()
    assert text.count("\n") > 1
    whole = page.evaluate(
        "name => fetch(`${swimscope.config.prefix}api/r/${swimscope.url.place().run}/table/${name}.csv`)"
        ".then(answer => answer.text())",
        analysis,
    )
    assert text == whole


def test_a_parameter_changes_the_table_and_lives_in_the_url(page: Page, server: Server) -> None:
    open_page(page, server.page("attention", "critical-path"))
    expect(page.locator(".figures")).to_have_text(re.compile(r"\S"))
    before = page.locator(".figures").text_content() or ""
    page.get_by_role("link", name="Static", exact=True).click()
    expect(page).to_have_url(re.compile("kind=static"))
    expect(page.locator(".segments [aria-current=true]", has_text="Static")).to_have_count(1)
    expect(page.locator(".figures")).not_to_have_text(before)
    page.go_back()
    expect(page.locator(".figures")).to_have_text(before)


def test_a_long_table_comes_in_blocks(page: Page, server: Server) -> None:
    open_page(page, server.page("large", "edges"))
    rows = page.locator(ROWS)
    expect(rows.first.locator("[col-id=pred]")).to_have_text(re.compile(r"t\d+"))
    page.evaluate("() => dash_ag_grid.getApi('table-grid').ensureIndexVisible(5000, 'top')")
    expect(page.locator('#table-grid [row-index="5000"] [col-id=pred]').first).to_have_text(re.compile(r"t\d+"))
