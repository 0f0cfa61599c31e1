"""The pass page in a real browser: a generated dump by mouse and keyboard, hostile text, real dumps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from analysis.synth.capture import write_capture
from analysis.synth.passes import write_passes
from tests.e2e import harness
from tests.e2e.harness import THEMES, VIEWPORTS, Guard, Server, open_page, set_theme, wait_idle
from tests.e2e.test_pages import check_accessible, draw_in
from tests.shared_data import SHARED, needs_shared
from tests.waiting import until

MOST_ROWS = 400
HOSTILE = '<img src=x onerror="window.hacked = 1">'
OPEN = "#ir-list [aria-selected=true]"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over a run with a dump, another dump, a hostile one, and the real dumps where they are present."""
    root = tmp_path_factory.mktemp("dumps")
    write_capture(root / "attention" / "dfx_outputs", 300, 1)
    write_passes(root / "attention", 20_000)
    report = root / "attention" / "report"
    report.mkdir()
    (report / "perf_hints.log").write_text("[perf_hint PH-MR-001] MemoryReuse: depth 2 did not fit at model.py:4:5\n")
    write_passes(root / "yesterday", 5_000, 3)
    hostile = root / "hostile" / "passes_dump"
    hostile.mkdir(parents=True)
    text = f"class P:\n    def {'n' * 1_000_000}(a):\n        return '{HOSTILE}\u202eabc'\n"
    (hostile / "00_frontend.py").write_text(text)
    (hostile / f"01_after_{HOSTILE.replace('/', '')}.py").write_text(text.replace("return", "b = 1; return"))
    roots = {"dumps": root} | ({"passes": SHARED / "passes"} if (SHARED / "passes").is_dir() else {})
    with harness.serve(roots, tmp_path_factory.mktemp("server")) as running:
        yield running


def shown(page: Page) -> Page:
    """The page once its first rows are drawn."""
    expect(page.locator(OPEN)).to_be_visible()
    expect(page.locator(".ir-line").first).to_be_visible()
    wait_idle(page)
    return page


def title(page: Page, text: str) -> None:
    expect(page.locator("#ir-title")).to_have_text(text)
    wait_idle(page)


def test_list_filters_search_history_and_back(page: Page, server: Server, guard: Guard) -> None:
    guard.allow("422")  # a search text that is no regular expression
    shown(open_page(page, server.page("attention", "passes")))
    title(page, "02 ConvertToSSA")
    expect(page.locator("#ir-filters")).to_contain_text("Changed (9)")
    page.get_by_role("button", name="No-op (3)").click()
    expect(page.locator("#ir-list .ir-pass")).to_have_count(3)
    page.go_back()
    expect(page.locator("#ir-list .ir-pass")).to_have_count(13)
    page.locator("#ir-find").fill("reuse")
    expect(page.locator("#ir-list .ir-pass")).to_have_count(1)
    expect(page).to_have_url(re.compile("find=reuse"))
    page.locator("#ir-find").fill("")
    page.locator("#ir-q").fill(r"MemRef\(mem")
    page.locator("#ir-found button", has_text="08 InitMemRef").click()
    title(page, "08 InitMemRef")
    expect(page.locator(".ir-here-line").first).to_contain_text("MemRef(mem")
    page.locator("#ir-q").fill("(")
    expect(page.locator("#ir-found")).to_contain_text("no regular expression")
    page.locator("#ir-name").fill("stage_1_incore_0")
    expect(page.locator('#ir-list [data-event="created"]')).to_have_count(1)
    page.locator('#ir-list .ir-pass:has([data-event="created"])').click()
    title(page, "04 OutlineIncoreScopes")
    expect(page.locator("#ir-counts")).to_contain_text("moved")
    page.reload()
    shown(page)
    title(page, "04 OutlineIncoreScopes")
    expect(page.locator('#ir-list [data-event="created"]')).to_have_count(1)


@pytest.mark.parametrize("size", sorted(VIEWPORTS))
def test_scrolling_keeps_few_rows_and_never_a_blank_screen(page: Page, server: Server, size: str) -> None:
    page.set_viewport_size(VIEWPORTS[size])  # type: ignore[arg-type]
    shown(open_page(page, server.page("attention", "passes", "ctx=-1&pass=10_after_AllocateMemoryAddr")))
    watched = page.evaluate(
        """async () => {
          const box = document.querySelector('.ir-scroll'), seen = {most: 0, blank: 0, wide: 0};
          const bottom = box.scrollHeight;
          for (let at = 0; at <= 30; at++) {
            box.scrollTop = bottom * at / 30;
            box.scrollLeft = at * 20;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            const rows = [...document.querySelectorAll('.ir-line')];
            seen.most = Math.max(seen.most, rows.length);
            if (!rows.some((row) => row.getBoundingClientRect().bottom > box.getBoundingClientRect().top)) seen.blank++;
          }
          return seen;
        }"""
    )
    assert watched["most"] <= MOST_ROWS
    assert watched["blank"] == 0
    wait_idle(page)
    last = page.locator(".ir-half:last-child .ir-no[data-line]").last
    until(lambda: last.inner_text(), lambda text: int(text) > 1_000)
    shifts = page.locator(".ir-shift").evaluate_all("all => [...new Set(all.map(e => getComputedStyle(e).transform))]")
    assert len(shifts) == 1, "both sides scroll together"


def test_hostile_text_is_text(page: Page, server: Server) -> None:
    shown(open_page(page, server.page("hostile", "passes", "tab=functions&ctx=-1")))
    expect(page.locator(".ir-stage").first).to_contain_text(HOSTILE)
    expect(page.locator(".ir-stage").first).to_contain_text("\\u202eabc")
    expect(page.locator("#ir-title")).to_contain_text("<img")
    expect(page.locator("#ir-drawer")).to_contain_text("1,000,002 characters")
    assert page.evaluate("() => window.hacked === undefined && !document.querySelector('#ir img')")
    assert page.evaluate("() => document.body.innerHTML.length") < 300_000


@pytest.mark.parametrize("theme", THEMES)
def test_no_serious_violation(page: Page, server: Server, theme: str) -> None:
    shown(
        open_page(page, server.page("attention", "passes", "pass=04_after_OutlineIncoreScopes&tab=warnings&q=stage_1"))
    )
    set_theme(page, theme)
    draw_in(page, theme)
    check_accessible(page)
    page.keyboard.press("l")
    wait_idle(page)
    check_accessible(page)


@needs_shared
def test_a_real_dump_of_477_thousand_lines(page: Page, server: Server) -> None:
    shown(open_page(page, server.page("ds4_decode_layer", "passes")))
    page.locator(".ir-tab[data-tab=reports]").click()
    expect(page.locator("#ir-reports .cell-link").first).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator(".ir-current")).to_have_count(1)
    for _ in range(4):
        before = page.locator("#ir-title").inner_text()
        page.keyboard.press("]")
        expect(page.locator("#ir-title")).not_to_have_text(before)
        wait_idle(page)
    assert page.locator(".ir-line").count() <= MOST_ROWS
