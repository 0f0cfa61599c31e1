"""Does axe-core find a serious or critical problem on any page, in either theme?"""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.e2e.harness import THEMES, Server, open_page, page_paths, set_theme
from tests.waiting import until

_SEVERE = {"serious", "critical"}


_SETTLED = """() => {
  const text = swimscope.theme.css('--text');
  const plots = [...document.querySelectorAll('.plot-themed .js-plotly-plot')];
  const moving = document.getAnimations().some((each) => each.playState === 'running' && each.effect.getTiming().iterations === 1);
  return !moving && figures.every((plot) => plot.layout.font.color === text);
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


@pytest.mark.parametrize("name", sorted(page_paths()))
def test_no_serious_violation_on_any_page(page: Page, server: Server, name: str) -> None:
    open_page(page, server.url + page_paths()[name].replace("<run>", server.run_key("attention")))
    for theme in THEMES:
        draw_in(page, theme)
        check_accessible(page)


@pytest.mark.parametrize("run", ["broken", "no_deps", "level_1"])
def test_no_serious_violation_where_something_is_missing(page: Page, server: Server, run: str) -> None:
    open_page(page, server.page(run))
    for theme in THEMES:
        draw_in(page, theme)
        check_accessible(page)


def test_axe_sees_a_violation_when_there_is_one(page: Page, server: Server) -> None:
    """The check itself can fail: a button without a name is critical."""
    open_page(page, server.url)
    page.evaluate("() => document.body.append(document.createElement('button'))")
    assert any("button-name" in line for line in severe_violations(page))
