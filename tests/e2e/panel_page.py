"""The performance panel as a person uses it: its tabs, its rows, what the swimlane then shows."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Download, Locator, Page

from tests.e2e.harness import Server, wait_idle
from tests.e2e.swimlane_page import Swimlane

CELLS = ".panel-grid .ag-center-cols-container .ag-row"


class Panel(Swimlane):
    """A swimlane with its panel."""

    @classmethod
    def at(cls, page: Page, server: Server, run: str, tab: str, query: str = "") -> Panel:
        """Open the swimlane of ``run`` with ``tab`` open."""
        page.goto(server.page(run, "swimlane", f"tab={tab}" + (f"&{query}" if query else "")))
        panel = cls(page)
        panel.settle()
        return panel

    def settle(self) -> None:
        """Wait until swimlane and panel are done."""
        self.rest()
        wait_idle(self.page)
        if self.page.locator("#panel[data-state=open]").count():
            self.page.wait_for_selector("#panel-body:not([aria-busy]) .panel-answer")

    def tab(self, name: str) -> None:
        self.page.click(f"#panel-tab-{name}")
        self.settle()

    def row(self, number: int) -> Locator:
        """The row at a position of the shown order."""
        return self.page.locator(f'{CELLS}[row-index="{number}"]')

    def choose(self, number: int) -> None:
        """Click on a row."""
        self.row(number).locator(".ag-cell").first.click()
        self.settle()

    def act(self, number: int, text: str) -> None:
        """Right-click a row and choose from its menu."""
        self.row(number).locator(".ag-cell").first.click(button="right")
        self.page.locator(".menu-context .menu-item", has_text=text).click()
        self.settle()

    def data(self, number: int) -> dict[str, Any]:
        """What the grid holds for a row."""
        found: dict[str, Any] = self.page.evaluate(
            "n => window.dash_ag_grid.getApi('panel-grid').getDisplayedRowAtIndex(n).data", number
        )
        return found

    def marked(self) -> list[str]:
        """``sel`` of the rows that the panel shows as selected."""
        found: list[str] = self.page.evaluate(
            "() => [...document.querySelectorAll('.panel-grid .ag-center-cols-container .row-selected')]"
            ".map(r => window.dash_ag_grid.getApi('panel-grid')"
            ".getDisplayedRowAtIndex(Number(r.getAttribute('row-index'))).data.sel)"
        )
        return found

    def text(self) -> str:
        return self.page.inner_text("#panel-body")

    def csv(self) -> bytes:
        """The bytes that the CSV button brings."""
        with self.page.expect_download() as waiting:
            self.page.click("#panel .grid-csv")
        download: Download = waiting.value
        with open(download.path(), "rb") as stream:
            return stream.read()


def box(page: Page, selector: str) -> tuple[float, float, float, float]:
    """x, y, width and height of a visible element."""
    found = page.locator(selector).bounding_box()
    assert found is not None, f"{selector} is not shown"
    return found["x"], found["y"], found["width"], found["height"]
