"""The performance panel as a person uses it: its tabs, its rows, what the swimlane then shows."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Download, Locator, Page, expect

from tests.e2e.harness import Server, wait_idle
from tests.e2e.swimlane_page import Swimlane
from tests.waiting import until

CELLS = ".panel-grid .ag-center-cols-container .ag-row"
TIMEOUT_MS = 60_000
"""A large run is imported first."""
_API = """
  const api = (() => {
    try {
      const found = window.dash_ag_grid.getApi('panel-grid');
      return found.isDestroyed() ? null : found;
    } catch (error) {
      return null;
    }
  })();
"""
_READY = """() => {
  const [swim, panel] = ['swim-root', 'panel'].map((id) => document.getElementById(id));
  if (!swim || !panel) return false;
  if (!swim.dataset.drawn || swim.dataset.busy) return false;
  const state = panel.dataset.state;
  if (state !== 'open') return state === 'closed';
  const body = document.querySelector('#panel-body:not([aria-busy])');
  if (!body || !body.querySelector('.panel-answer')) return false;
  return [...body.querySelectorAll('.grid-box')].every((box) => box.dataset.bound);
}"""


class Panel(Swimlane):
    """A swimlane with its panel."""

    @classmethod
    def at(cls, page: Page, server: Server, run: str, tab: str, query: str = "") -> Panel:
        """Open the swimlane of ``run`` with ``tab`` open."""
        page.goto(server.page(run, "swimlane", f"tab={tab}" + (f"&{query}" if query else "")), timeout=TIMEOUT_MS)
        panel = cls(page)
        panel.settle()
        return panel

    def settle(self) -> None:
        """Wait until swimlane, address bar and panel are done with what the URL says now.

        An action's own effect on the URL has to be waited for before: see ``check_url``.
        """
        self.page.wait_for_function(_READY, timeout=TIMEOUT_MS)
        wait_idle(self.page)
        self.page.wait_for_function(_READY, timeout=TIMEOUT_MS)

    def check_text(self, text: str) -> None:
        """Wait until the open tab says ``text``."""
        expect(self.page.locator("#panel-body")).to_contain_text(text, use_inner_text=True, timeout=TIMEOUT_MS)

    def tab(self, name: str) -> None:
        self.page.click(f"#panel-tab-{name}")
        self.check_url(tab=name)
        self.settle()

    def row(self, number: int) -> Locator:
        """The row at a position of the shown order."""
        return self.page.locator(f'{CELLS}[row-index="{number}"]')

    def choose(self, number: int) -> None:
        """Click on a row."""
        sel = self.data(number)["sel"]
        self.row(number).locator(".ag-cell").first.click()
        self.check_url(sel=sel)
        self.settle()

    def act(self, number: int, text: str, changes: str) -> None:
        """Right-click a row and choose from its menu what ``changes`` this key of the URL."""
        before = self.url().get(changes)
        self.row(number).locator(".ag-cell").first.click(button="right")
        self.page.locator(".menu-context .menu-item", has_text=text).click()
        until(lambda: self.url().get(changes), lambda now: now != before)
        self.settle()

    def data(self, number: int) -> dict[str, Any]:
        """What the grid holds for a row, once it holds it."""
        script = (
            f"n => {{ {_API} const node = api && api.getDisplayedRowAtIndex(n); return (node && node.data) || null; }}"
        )
        found: dict[str, Any] = until(lambda: self.page.evaluate(script, number), lambda data: data is not None)
        return found

    def last(self) -> int:
        """Position of the last row, once there are rows."""
        script = f"() => {{ {_API} return api ? api.getDisplayedRowCount() - 1 : -1; }}"
        found: int = until(lambda: self.page.evaluate(script), lambda number: number >= 0)
        return found

    def marked(self) -> list[str] | None:
        """``sel`` of the rows that the panel shows as selected; None while there is no grid."""
        found: list[str] | None = self.page.evaluate(
            f"() => {{ {_API} return api && [...document.querySelectorAll('{CELLS}.row-selected')]"
            ".map(r => api.getDisplayedRowAtIndex(Number(r.getAttribute('row-index')))?.data?.sel); }"
        )
        return found

    def expect_marked(self, *wanted: str) -> None:
        """Wait until these rows, and no others, are shown as selected."""
        until(self.marked, lambda now: now == list(wanted))

    def csv(self) -> bytes:
        """The bytes that the CSV button brings."""
        with self.page.expect_download() as waiting:
            self.page.click("#panel .grid-csv")
        download: Download = waiting.value
        with open(download.path(), "rb") as stream:
            return stream.read()


def arrive(page: Page, name: str) -> None:
    """Wait until the page called ``name`` is in the address bar and on screen."""
    until(lambda: page.evaluate("() => location.pathname.split('/').pop()"), lambda last: last == name)
    wait_idle(page, TIMEOUT_MS)


def box(page: Page, selector: str) -> tuple[float, float, float, float]:
    """x, y, width and height of a visible element."""
    found = page.locator(selector).bounding_box()
    assert found is not None, f"{selector} is not shown"
    return found["x"], found["y"], found["width"], found["height"]
