"""Does every page open on every kind of run, fit the window, keep to one language of colours, and pass axe-core?"""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.harness import THEMES, VIEWPORTS, Guard, Server, open_page, page_paths, set_theme, wait_idle
from tests.shared_data import needs_shared
from tests.waiting import until

_SEVERE = {"serious", "critical"}
_SETTLED = """() => {
  const text = getComputedStyle(document.documentElement).getPropertyValue('--text').trim();
  const plots = [...document.querySelectorAll('.plot-themed .js-plotly-plot')];
  const moving = document.getAnimations().some((each) => each.playState === 'running' && each.effect.getTiming().iterations === 1);
  return !moving && plots.every((plot) => plot.layout.font.color === text);
}"""
"""Plots follow the theme a frame later, and colours may fade: what axe would see in between is nobody's page."""


def draw_in(page: Page, theme: str) -> None:
    """Have ``page`` drawn in ``theme`` to the last plot."""
    set_theme(page, theme)
    page.wait_for_function(_SETTLED)


def severe_violations(page: Page) -> list[str]:
    """Run axe-core on ``page``: one line per element with a serious or critical violation."""
    found = Axe().run(page).response["violations"]
    return [
        f"{rule['impact']} {rule['id']}: {node['target']} {node['html'][:160]} {node['failureSummary']}"
        for rule in found
        if rule["impact"] in _SEVERE
        for node in rule["nodes"]
    ]


def check_accessible(page: Page) -> None:
    """Nothing severe is on ``page``; a table that is still putting itself together may take its time."""
    assert until(lambda: severe_violations(page), lambda seen: not seen) == []


def check_fits(page: Page) -> None:
    """The page is not wider than the window."""
    width = "() => { const all = document.documentElement; return [all.scrollWidth, all.clientWidth]; }"
    until(lambda: page.evaluate(width), lambda seen: seen[0] <= seen[1])


def check_content(page: Page) -> None:
    """The page shows something or says what is missing, and did not fail on the server."""
    expect(page.locator("main > .page-body")).not_to_be_empty()
    expect(page.get_by_text("Something went wrong")).to_have_count(0)


@pytest.mark.parametrize("name", sorted(page_paths()))
def test_every_page_in_both_themes_and_sizes(page: Page, server: Server, name: str) -> None:
    open_page(page, server.url + page_paths()[name].replace("<run>", server.run_key("attention")))
    check_content(page)
    for theme in THEMES:
        draw_in(page, theme)
        check_accessible(page)
    check_fits(page)
    page.set_viewport_size(VIEWPORTS["large"])
    wait_idle(page)
    check_fits(page)


def visit_every_page(page: Page, server: Server, run: str) -> None:
    """Go through the pages of ``run`` without loading the document again, as its own links do; the overview last."""
    open_page(page, server.page(run, "edges"))
    check_content(page)
    for path in reversed([path for path in page_paths().values() if "<run>" in path and not path.endswith("/edges")]):
        follow(page, path.replace("<run>", server.run_key(run)))
        check_content(page)


def follow(page: Page, href: str) -> None:
    """Click a link of the page to ``href``; the link is any of the page's, led elsewhere."""
    page.locator(".tabs a").first.evaluate("(link, href) => { link.setAttribute('href', href); link.click(); }", href)
    until(lambda: page.evaluate("() => location.pathname"), lambda now: now == href)
    wait_idle(page)


@pytest.mark.parametrize("run", ["layers", "level_1", "no_deps", "no_names", "broken"])
def test_every_page_opens_on_every_kind_of_sample(page: Page, server: Server, guard: Guard, run: str) -> None:
    if run == "broken":
        guard.allow(r"status of 4\d\d")
    visit_every_page(page, server, run)
    for theme in THEMES:
        draw_in(page, theme)
        check_accessible(page)
    if run == "broken":
        expect(page.locator("body")).to_contain_text("chip_swimlane_records.json")
        open_page(page, server.page("attention"))
        expect(page.locator("body")).to_contain_text("attention")


@needs_shared
@pytest.mark.parametrize("run", ["dummy_only_l4", "graph_replay_2d_l4", "pa_hostgraph_a5_mid_nodeps_l4"])
def test_every_page_opens_on_unusual_real_captures(page: Page, server: Server, run: str) -> None:
    visit_every_page(page, server, run)


def test_unknown_run_says_so(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/r/0123456789abcdef")
    expect(page.locator("body")).to_contain_text("no run")


def test_axe_sees_a_violation_when_there_is_one(page: Page, server: Server) -> None:
    """The check itself can fail: a button without a name is critical."""
    open_page(page, server.page("attention"))
    page.evaluate("() => document.body.append(document.createElement('button'))")
    assert any("button-name" in line for line in severe_violations(page))
