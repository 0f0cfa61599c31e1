"""The memory page in a real browser: a hand-made dump by mouse and keyboard, hostile text, thousands of boxes, real dumps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import harness
from tests.e2e.harness import THEMES, VIEWPORTS, Server, open_page, set_theme, wait_idle
from tests.e2e.test_pages import check_accessible, draw_in
from tests.memory_dump import HOSTILE, tile, write_dump
from tests.shared_data import SHARED, needs_shared
from tests.waiting import until

MANY = 5_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over a dump with every look, one with thousands of boxes, and the real dumps where they are present."""
    root = tmp_path_factory.mktemp("maps")
    write_dump(root / "looks")
    many = root / "many" / "passes_dump"
    many.mkdir(parents=True)
    body = [tile(f"t{at}", f"mem_{at}", at % 40 * 4096, 4096) for at in range(MANY)]
    head = "@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.AIV)\n    def many(self, a):\n"
    (many / "01_after_AllocateMemoryAddr.py").write_text(head + "\n".join(body) + "\n")
    roots = {"maps": root} | ({"passes": SHARED / "passes"} if (SHARED / "passes").is_dir() else {})
    with harness.serve(roots, tmp_path_factory.mktemp("server")) as running:
        yield running


def drawn(page: Page) -> Page:
    """The page once its map is drawn and the browser has taken it up."""
    expect(page.locator("#mem-over[data-drawn]")).to_be_attached()
    expect(page.locator(".mem-row").first).to_be_visible()
    wait_idle(page)
    return page


def centre(page: Page, name: str) -> tuple[float, float]:
    """A place in the right part of a box on the screen, from the plot's own axes."""
    return tuple(
        page.evaluate(
            """name => {
              const plot = document.querySelector('#memory-plot .js-plotly-plot');
              const model = dash_component_api.getLayout('memory-model').props.data;
              const box = model.boxes.find(each => each[5] === name);
              const x = swimscope.libraries.plotAxis(plot, model.panels[box[0]].axis);
              const y = swimscope.libraries.plotAxis(plot, 'y');
              const frame = plot.getBoundingClientRect();
              return [frame.left + x.start + x.pixel((box[1] + 3 * box[2]) / 4096), frame.top + y.start + y.pixel((box[3] + box[4]) / 2)];
            }""",
            name,
        )
    )


def test_overview_leads_to_a_map_and_back(page: Page, server: Server) -> None:
    open_page(page, server.page("looks", "memory"))
    rows = page.locator("#memory-grid .ag-center-cols-container .ag-row")
    expect(rows).to_have_count(3)
    expect(rows.first.locator(".mem-share.mem-full")).to_have_text("100.0 %")
    expect(rows.first).to_contain_text("full")
    page.get_by_role("link", name="looks").first.click()
    drawn(page)
    expect(page.locator(".mem-legend li")).to_have_text(
        ["view", "touches in one line", "conflict", "high-water mark", "capacity"]
    )
    page.get_by_role("link", name="950", exact=True).click()
    expect(page.locator(".mem-space-figures").first).to_contain_text("of 245,760 B")
    expect(page.locator(".mem-origin")).to_have_text("chosen")
    page.go_back()
    expect(page.locator(".mem-origin")).to_have_text("assumed")
    page.get_by_role("link", name="All functions").click()
    expect(rows).to_have_count(3)
    page.go_back()
    drawn(page)
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile(r"/passes"))
    expect(page.locator("#ir-memory")).to_be_visible()
    page.locator("#ir-memory").click()
    expect(page).to_have_url(re.compile(r"/memory"))


def test_tiles_and_lines_mark_each_other(page: Page, server: Server) -> None:
    drawn(open_page(page, server.page("looks", "memory", "mf=looks")))
    page.mouse.move(*centre(page, "second"))
    tip = page.locator("#mem-tip")
    expect(tip).to_contain_text("conflict")
    expect(tip).to_contain_text("below: third (lines 12 to 14)")
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"mtile=second"))
    expect(page.locator(".mem-facts")).to_contain_text("10,240 to 14,336")
    expect(page.locator(".mem-over .mem-chosen")).to_have_count(1)
    marked = page.locator(".mem-row-tile .mem-number")
    expect(marked).to_have_text(["10", "11"])
    page.locator(".mem-row[data-line='7']").click()
    expect(page).to_have_url(re.compile(r"mline=7"))
    expect(page.locator(".mem-over .mem-alive")).to_have_count(2)
    expect(page.locator("#memory-side")).to_contain_text("Alive at line 7")
    page.locator("#mem-source").press("ArrowDown")
    expect(page).to_have_url(re.compile(r"mline=8"))
    page.go_back()
    page.go_back()
    expect(page.locator(".mem-facts")).to_contain_text("10,240 to 14,336")
    page.locator("#mem-picture").press("ArrowDown")
    expect(page).to_have_url(re.compile(r"mtile=third"))
    page.locator("#mem-picture").press("ArrowUp")
    expect(page).to_have_url(re.compile(r"mtile=first"))
    page.locator("#mem-picture").press("+")
    expect(page).to_have_url(re.compile(r"mzoom=y"))
    page.reload()
    drawn(page)
    until(lambda: y_range(page), lambda found: found[0] - found[1] < 10)
    page.locator("#mem-picture").press("0")
    until(lambda: y_range(page), lambda found: found[0] - found[1] > 15)
    page.locator("#mem-picture").press("Escape")
    expect(page).not_to_have_url(re.compile(r"mtile"))


def y_range(page: Page) -> Any:
    return page.evaluate(
        "() => swimscope.libraries.plotAxis(document.querySelector('#memory-plot .js-plotly-plot'), 'y').range"
    )


def test_spaces_scale_why_and_compare(page: Page, server: Server) -> None:
    drawn(open_page(page, server.page("looks", "memory", "mf=looks")))
    page.get_by_role("button", name="Strange").first.click()
    expect(page).to_have_url(re.compile(r"mhide=Strange"))
    expect(page.locator(".mem-space-name[aria-pressed=false]")).to_have_text("Strange")
    page.get_by_role("button", name="To capacity").click()
    drawn(page)
    until(
        lambda: page.evaluate("() => document.querySelector('#memory-plot .js-plotly-plot').layout.xaxis.range[1]"),
        lambda top: top == 184,
    )
    page.get_by_role("button", name=re.compile("Beyond the reference")).click()
    expect(page).to_have_url(re.compile(r"mbeyond=0"))
    drawn(page)
    page.get_by_role("button", name="Why?").first.click()
    expect(page.locator("#memory-side h3")).to_have_text("Why is Vec this full?")
    page.locator("#mem-goal").fill("9000")
    page.locator("#mem-goal").press("Enter")
    expect(page.locator("#memory-side [role=status]")).to_contain_text("would have to end earlier")
    expect(page.locator("#memory-side .mem-ends").first).to_be_visible()
    page.get_by_role("button", name="All boxes").click()
    expect(page.locator("#memory-boxes .ag-row").first).to_be_visible()
    page.get_by_role("link", name="Compare").click()
    expect(page.locator(".mem-compares .empty").first).to_contain_text("same snapshot")
    page.locator(".toolbar .mem-details summary").click()
    page.get_by_role("link", name="03_after_Simplify").click()
    expect(page.locator("#memory-compare .cell-bad")).to_have_text("1,024")


def test_text_of_the_snapshot_is_never_markup(page: Page, server: Server) -> None:
    drawn(open_page(page, server.page("looks", "memory", "mf=looks&mtile=odd")))
    expect(page.locator(".mem-facts")).to_contain_text(HOSTILE)
    expect(page.locator(".mem-code", has_text=HOSTILE).first).to_be_visible()
    page.mouse.move(*centre(page, "odd"))
    expect(page.locator("#mem-tip")).to_contain_text(HOSTILE)
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate("() => window.hacked") is None


def test_thousands_of_boxes_are_a_few_paths(page: Page, server: Server) -> None:
    drawn(open_page(page, server.page("many", "memory", "mf=many")))
    assert page.locator("#memory-plot .scatterlayer path").count() < 40
    each_ms = page.evaluate(
        """async () => { const plot = document.querySelector('#memory-plot .js-plotly-plot'); const began = performance.now();
          for (let i = 1; i < 6; i++) await Plotly.relayout(plot, {'yaxis.range': [4000 - i, 10 + i]});
          return (performance.now() - began) / 5; }"""
    )
    print(f"zoom of {MANY:,} boxes: {each_ms:.0f} ms")
    assert page.locator(".mem-over > div").count() < 500
    assert page.locator(".mem-row").count() < 200
    open_page(page, server.page("many", "memory", "mf=many&mzoom=y:3016.5:2996.5"))
    drawn(page)
    until(lambda: y_range(page), lambda found: found[0] == 3016.5)
    page.mouse.move(*centre(page, "t3000"))
    expect(page.locator("#mem-tip")).to_contain_text("t3000")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", VIEWPORTS)
def test_it_is_accessible(page: Page, server: Server, theme: str, size: str) -> None:
    page.set_viewport_size(VIEWPORTS[size])  # type: ignore[arg-type]
    drawn(open_page(page, server.page("looks", "memory", "mf=looks&mside=why&mspace=Vec&mgoal=9000")))
    draw_in(page, theme)
    check_accessible(page)


@needs_shared
def test_real_dumps(page: Page, server: Server) -> None:
    drawn(open_page(page, server.page("ds4_decode_layer", "memory", "mf=comb_sinkhorn")))
    expect(page.locator(".mem-space-figures")).to_contain_text("4,608 of 188,416 B")
    open_page(page, server.page("v_ptoas_mixed", "memory"))
    expect(page.locator(".notice-warn")).to_contain_text("PTOAS planner")
    set_theme(page, "dark")
