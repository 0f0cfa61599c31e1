"""The task graph page in a real browser: each control changes the picture, the URL and the panel."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.graph_page import (
    choose,
    click,
    double_click,
    drawn,
    follows,
    id_of,
    lines,
    nodes,
    open_graph,
    place_of,
    settled,
    url_keys,
    with_class,
)
from tests.e2e.harness import THEMES, Server, open_page, set_theme
from tests.shared_data import needs_shared, oracle
from tests.waiting import until

pytestmark = needs_shared

SMALL, DEVICE, CHAIN, HUGE = "pa_small_l4", "qwen3_14b_decode_device", "dep_chain_391_l4", "pa_huge_l4"
MODES = ("full", "reduced", "omitted", "reduced-df", "omitted-df")


def counts_of(name: str) -> dict[str, int]:
    """Edges of every mode in the oracle."""
    found = oracle(name)
    total, omitted, omitted_df = found["edges"], len(found["omitted"]), len(found["omitted_df"])
    return dict(zip(MODES, (total, total - omitted, omitted, total - omitted_df, omitted_df), strict=True))


def of_length(wanted: int) -> Callable[[Collection[str]], bool]:
    """Whether what is seen has as many parts as wanted."""
    return lambda seen: len(seen) == wanted


def test_a_small_graph_is_drawn_whole_and_says_so(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    assert len(nodes(page)) == 13
    assert len(lines(page)) == 17
    expect(page.locator("#graph-hud")).to_contain_text("13 of 13 tasks")
    expect(page.locator("#graph-hud")).to_contain_text("17 of 17 edges")
    shapes = page.evaluate(
        "() => Object.fromEntries(swimscope.graph.cy().nodes().map(n => [n.data('kind'), n.style('shape')]))"
    )
    assert shapes == {"aic": "rectangle", "aiv": "ellipse", "alloc": "barrel"}


@pytest.mark.parametrize("name", [SMALL, CHAIN])
def test_keys_1_to_5_show_the_modes_with_the_counts_of_the_oracle(page: Page, server: Server, name: str) -> None:
    open_graph(page, server, name)
    expected = counts_of(name)
    places = page.evaluate("() => swimscope.graph.cy().nodes().map(n => n.position())")
    for at, mode in reversed(list(enumerate(MODES, 1))):
        page.keyboard.press(str(at))
        follows(page, mode=None if mode == "full" else mode)
        until(lambda: lines(page), of_length(expected[mode]))
        button = page.locator(f'#graph-modes [data-set="mode={mode}"]')
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(button).to_contain_text(f"{expected[mode]:,}")
    assert page.evaluate("() => swimscope.graph.cy().nodes().map(n => n.position())") == places


def test_the_omitted_list_is_a_table_whose_rows_open_the_edge(page: Page, server: Server) -> None:
    open_graph(page, server, CHAIN, "tab=omitted")
    rows = page.locator("#graph-omitted .ag-center-cols-container .ag-row")
    expect(rows.first).to_be_visible()
    expect(page.locator("#graph-side")).to_contain_text("391 edges")
    rows.first.click()
    node = until(lambda: url_keys(page).get("node", ""), bool)
    pred, succ = node.removeprefix("edge:").split("-")
    assert [pred, succ] in oracle(CHAIN)["omitted"]
    expect(page.locator("#graph-side h2")).to_contain_text("Edge")


def test_a_click_selects_highlights_and_fills_the_panel_and_back_undoes_it(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    task = id_of(page, "r2t3")
    choose(page, task)
    panel = page.locator("#graph-side")
    expect(panel).to_contain_text("UP r2t3")
    expect(panel).to_contain_text("Fed by 3 tasks")
    expect(panel).to_contain_text("Used by 1 task")
    expect(panel.locator("table[aria-label=Arguments]")).to_contain_text("INOUT")
    page.mouse.move(5, 400)
    fed = {id_of(page, label) for label in ("r1t0", "r2t1", "r2t2")}
    until(lambda: with_class(page, "before"), lambda seen: fed <= seen)
    until(lambda: with_class(page, "after"), lambda seen: id_of(page, "r2t7") in seen)
    until(lambda: with_class(page, "dim"), lambda seen: id_of(page, "r2t0") in seen)
    page.go_back()
    follows(page, sel=None)
    until(lambda: with_class(page, "dim"), lambda seen: not seen)


def test_depth_0_n_and_all(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL, f"sel=task:{(2 << 32) + 11}")
    page.mouse.move(5, 400)
    for depth, reached in (("0", 0), ("1", 4), ("2", 8), ("-1", 12)):
        page.locator(f'#graph-depths [data-set="depth={depth}"]').click()
        follows(page, depth=None if depth == "1" else depth)
        seen = until(lambda: [one for one in with_class(page, "before") if ">" not in one], of_length(reached))
        assert len(seen) == reached


def test_hover_highlights_and_leaving_takes_it_back(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    page.mouse.move(*place_of(page, id_of(page, "r2t1")))
    until(lambda: with_class(page, "dim"), bool)
    expect(page.locator("#graph-tip")).to_contain_text("SF r2t1")
    page.mouse.move(5, 400)
    until(lambda: with_class(page, "dim"), lambda seen: not seen)
    expect(page.locator("#graph-tip")).to_be_hidden()


@pytest.mark.parametrize("text", ["r2t7", str((2 << 32) + 7)])
def test_search_by_id(page: Page, server: Server, text: str) -> None:
    open_graph(page, server, SMALL)
    page.keyboard.press("/")
    expect(page.locator("#graph-search")).to_be_focused()
    page.keyboard.type(text)
    expect(page.locator("#graph-found")).to_contain_text("1 found")
    page.keyboard.press("Enter")
    follows(page, sel=f"task:{(2 << 32) + 7}")


def test_enter_before_the_search_has_answered_is_not_lost(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    page.locator("#graph-search").fill("r2t7")
    page.locator("#graph-search").press("Enter")
    follows(page, sel=f"task:{(2 << 32) + 7}")
    expect(page.locator("#graph-found")).to_contain_text("1 of 1")


def test_search_by_name_counts_marks_and_steps(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    page.locator("#graph-search").fill("sf")
    expect(page.locator("#graph-found")).to_contain_text("3 found")
    until(lambda: with_class(page, "hit"), of_length(3))
    page.reload()
    drawn(page)
    expect(page.locator("#graph-found")).to_contain_text("3 found")
    page.locator("#graph-search").focus()
    chosen = [""]
    for at in (1, 2, 3):
        page.keyboard.press("Enter")
        expect(page.locator("#graph-found")).to_have_text(f"{at} of 3")
        chosen.append(until(lambda: url_keys(page).get("sel", ""), lambda seen: seen not in chosen))
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#graph-found")).to_have_text("2 of 3")
    follows(page, sel=chosen[2])


@pytest.mark.parametrize("word", ["chains", "early", "path:static"])
def test_a_highlight_dims_the_rest(page: Page, server: Server, word: str) -> None:
    open_graph(page, server, SMALL, f"hl={word}&show=all")
    kept = set(nodes(page)) - with_class(page, "dim")
    assert 0 < len(kept) < 13


def test_a_found_task_that_is_not_drawn_is_taken_out_of_its_group(page: Page, server: Server) -> None:
    open_graph(page, server, HUGE)
    assert all(one.startswith("grp:") for one in nodes(page))
    page.locator("#graph-search").fill("r2t407")
    expect(page.locator("#graph-found")).to_contain_text("1 found")
    page.keyboard.press("Enter")
    follows(page, sel=f"task:{(2 << 32) + 407}")
    until(lambda: nodes(page), lambda seen: f"task:{(2 << 32) + 407}" in seen)
    expect(page.locator("#graph-hud")).to_contain_text("49,248 of 49,248 tasks")
    expect(page.locator("#graph-side")).to_contain_text("Fed by 4 tasks")


def test_both_directions(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    forward = "axis => swimscope.graph.cy().edges().every(e => e.target().position(axis) > e.source().position(axis))"
    assert page.evaluate(forward, "x")
    page.keyboard.press("t")
    follows(page, dir="tb")
    until(lambda: page.evaluate(forward, "y"), bool)
    assert not page.evaluate(forward, "x")


def test_zoom_pan_and_fit(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    zoom = page.evaluate("() => swimscope.graph.cy().zoom()")
    page.locator('[data-graph="zoom-in"]').click()
    closer = until(lambda: page.evaluate("() => swimscope.graph.cy().zoom()"), lambda seen: seen > zoom)
    pan = page.evaluate("() => swimscope.graph.cy().pan().x")
    page.keyboard.press("Shift+ArrowRight")
    until(lambda: page.evaluate("() => swimscope.graph.cy().pan().x"), lambda seen: seen != pan)
    page.mouse.move(*place_of(page, id_of(page, "r2t1")))
    page.mouse.wheel(0, -240)
    until(lambda: page.evaluate("() => swimscope.graph.cy().zoom()"), lambda seen: seen > closer)
    margins = """() => {
      const cy = swimscope.graph.cy(), box = cy.elements().renderedBoundingBox();
      return [box.x1, box.y1, cy.width() - box.x2, cy.height() - box.y2];
    }"""
    assert min(page.evaluate(margins)) < 0
    page.keyboard.press("f")
    until(lambda: page.evaluate(margins), lambda seen: min(seen) >= 0)


def test_an_edge_opens_its_annotations(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    before, after = id_of(page, "r2t0"), id_of(page, "r2t1")
    click(page, f"{before}>{after}")
    follows(page, node=f"edge:{before}-{after}".replace("task:", ""))
    table = page.locator("table[aria-label=Annotations]")
    expect(table).to_contain_text("creator")
    expect(table).to_contain_text("wait")
    page.keyboard.press("Escape")
    follows(page, node=None)


def test_the_menu_offers_what_the_keys_do(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    task = id_of(page, "r2t7")
    click(page, task, button="right")
    menu = page.locator("#graph-menu")
    expect(menu).to_be_visible()
    menu.get_by_text("Who feeds it, who uses it").click()
    until(lambda: url_keys(page), lambda seen: seen == {"sel": task, "tab": "text"})
    expect(menu).to_be_hidden()


def test_a_menu_that_opens_while_the_picture_moves_stays_open(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    for _ in range(5):
        page.keyboard.press("+")
    moved = page.evaluate("""() => {
      const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      ["ArrowRight", "ArrowRight", "ArrowRight"].forEach(press);
      const moved = swimscope.graph.cy().animated();
      press("m");
      return moved;
    }""")
    assert moved, "the next task lies outside the picture, which follows it"
    settled(page)
    expect(page.locator("#graph-menu")).to_be_visible()


def test_who_feeds_and_who_uses_as_tables(page: Page, server: Server) -> None:
    open_graph(page, server, HUGE, f"tab=text&sel=task:{(2 << 32) + 407}&gdepth=1")
    expect(page.locator("#graph-side")).to_contain_text("Who feeds UP r2t407?")
    expect(page.locator("#graph-feeds .ag-center-cols-container .ag-row")).to_have_count(4)
    expect(page.locator("#graph-uses .ag-center-cols-container .ag-row")).to_have_count(1)
    page.locator("#graph-feeds .ag-row", has_text="alloc").first.click()
    follows(page, sel=f"task:{1 << 32}")


def test_a_group_opens_by_double_click_and_closes_again(page: Page, server: Server) -> None:
    open_graph(page, server, HUGE)
    before = set(nodes(page))
    group = next(one for one in before if one.startswith("grp:alloc"))
    double_click(page, group)
    follows(page, exp=group.removeprefix("grp:"))
    until(lambda: [one for one in nodes(page) if one.startswith("task:")], of_length(96))
    expect(page.locator("#graph-hud")).to_contain_text("96 one by one")
    page.locator('[data-set="tab=groups"]').click()
    page.locator("[data-graph^='close:']").click()
    follows(page, exp=None)
    until(lambda: set(nodes(page)), lambda seen: seen == before)


@pytest.mark.parametrize(
    ("show", "text"),
    [("summary", "49,248 of"), ("path", "critical path"), ("around", "outside the picture"), ("all", "1,500 of")],
)
def test_every_scope_and_never_more_than_3000_elements(page: Page, server: Server, show: str, text: str) -> None:
    open_graph(page, server, HUGE, f"show={show}&sel=task:{(2 << 32) + 407}")
    assert 0 < len(nodes(page)) + len(lines(page)) <= 3_000
    expect(page.locator(".graph-page")).to_contain_text(text)


def test_keyboard_only(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    page.locator("#graph-keys").focus()
    live, heard = page.locator("#graph-live"), [""]
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        heard.append(until(lambda: live.inner_text(), lambda seen: seen != heard[-1]))
    assert all(re.search(r"r\dt\d+ · AI[CV]|r1t0 · ALLOC", text) for text in heard[1:])
    assert len(set(heard[1:])) >= 3
    page.keyboard.press("Enter")
    chosen = until(lambda: url_keys(page).get("sel", ""), bool)
    settled(page)
    page.keyboard.press("m")
    expect(page.locator("#graph-menu .menu-item").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#graph-menu .menu-item").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    until(lambda: url_keys(page), lambda seen: seen == {"sel": chosen, "depth": "-1"})
    page.keyboard.press("c")
    follows(page, show="around")
    page.keyboard.press("<")
    follows(page, depth="5")


def test_both_themes(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    colours = """() => {
      const cy = swimscope.graph.cy();
      return [cy.nodes('.aic')[0].style('background-color'), cy.nodes()[0].style('color')];
    }"""
    wanted = {
        "light": ["rgb(223,234,251)", "rgb(28,36,48)"],
        "dark": ["rgb(29,47,74)", "rgb(228,233,240)"],
    }
    for theme in THEMES:
        set_theme(page, theme)
        until(lambda: page.evaluate(colours), lambda seen, theme=theme: seen == wanted[theme])


def test_exports(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL, "mode=reduced")
    found = {}
    for kind in ("png", "svg", "csv", "dot"):
        page.locator(".graph-export summary").click()
        with page.expect_download() as download:
            page.locator(f'[data-graph="export:{kind}"]').click()
        with open(download.value.path(), "rb") as stream:
            found[kind] = stream.read()
        expect(page.locator(".graph-export")).not_to_have_attribute("open", "")
    assert found["png"].startswith(b"\x89PNG")
    assert found["svg"].count(b"<title>") == 13
    assert found["svg"].count(b"<polyline") == counts_of(SMALL)["reduced"]
    assert len(list(csv.DictReader(found["csv"].decode().splitlines()))) == counts_of(SMALL)["reduced"]
    assert found["dot"].count(b" -> ") == counts_of(SMALL)["reduced"]


def test_to_the_swimlane_and_back_with_the_selection(page: Page, server: Server) -> None:
    open_graph(page, server, SMALL)
    task = id_of(page, "r2t3")
    choose(page, task)
    page.get_by_text("Show in swimlane").click()
    page.wait_for_url(re.compile("/swimlane"))
    expect(page.locator("#graph-cy")).to_have_count(0)
    assert url_keys(page)["sel"] == task
    page.go_back()
    drawn(page)
    assert url_keys(page)["sel"] == task
    until(lambda: with_class(page, "here"), lambda seen: task in seen)


def test_a_selection_reaches_a_swimlane_tab(context: BrowserContext, server: Server) -> None:
    other = context.new_page()
    open_page(other, server.page(SMALL, "swimlane"))
    page = context.new_page()
    open_graph(page, server, SMALL)
    task = id_of(page, "r2t7")
    click(page, task)
    until(lambda: url_keys(other).get("sel"), lambda seen: seen == task)
    assert other.evaluate("() => swimscope.url.get().sel") == task


def test_a_selection_made_elsewhere_is_shown_here(context: BrowserContext, server: Server) -> None:
    page, other = context.new_page(), context.new_page()
    open_graph(page, server, SMALL)
    open_graph(other, server, SMALL)
    task = id_of(page, "r2t7")
    other.evaluate("sel => swimscope.url.set({ sel }, { push: true })", task)
    until(lambda: with_class(page, "here"), lambda seen: task in seen)
    expect(page.locator("#graph-side")).to_contain_text("r2t7")


def test_reload_and_a_second_person_see_the_same_picture(
    page: Page, server: Server, new_context: Callable[..., BrowserContext]
) -> None:
    open_graph(page, server, DEVICE, "mode=reduced-df&dir=tb&show=summary&sel=func:3")
    mine = (nodes(page), lines(page), with_class(page, "dim"))
    page.reload()
    drawn(page)
    assert (nodes(page), lines(page), with_class(page, "dim")) == mine
    theirs = new_context().new_page()
    theirs.goto(page.url)
    drawn(theirs)
    assert (nodes(theirs), lines(theirs), with_class(theirs, "dim")) == mine


def test_the_export_menu_closes_on_escape_and_elsewhere(page: Page, server: Server) -> None:
    """Escape closes the menu only: the selection stays until the next one."""
    open_graph(page, server, SMALL)
    chosen = nodes(page)[0]
    choose(page, chosen)
    menu = page.locator(".graph-export")
    menu.locator("summary").click()
    expect(menu).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()
    assert url_keys(page)["sel"] == chosen
    menu.locator("summary").click()
    expect(menu).to_have_attribute("open", "")
    page.locator("#graph-side").click()
    expect(menu).not_to_have_attribute("open", "")
