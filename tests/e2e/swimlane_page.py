"""A swimlane page as a person uses it: where lanes and records are on screen, and what the picture holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page

from tests.e2e.harness import Server, wait_idle

DEVICE = "qwen3_14b_decode_device"


@dataclass
class Swimlane:
    """One open swimlane."""

    page: Page

    @classmethod
    def open(cls, page: Page, server: Server, run: str, query: str = "") -> Swimlane:
        page.goto(server.page(run, "swimlane", query))
        lane = cls(page)
        page.wait_for_selector("#swim-root[data-drawn]", timeout=60_000)  # a large run is imported first
        lane.rest()
        return lane

    def rest(self) -> None:
        """Wait until nothing is asked for and the picture shows the present window."""
        self.page.wait_for_selector("#swim-root[data-drawn]:not([data-busy])")
        wait_idle(self.page)
        self.page.wait_for_timeout(230)  # the URL follows a gesture after 180 ms
        self.page.wait_for_selector("#swim-root[data-drawn]:not([data-busy])")

    def js(self, expression: str, argument: Any = None) -> Any:
        """Value of an expression over ``T`` (window.swimscope.timeline) and ``a``."""
        return self.page.evaluate(f"a => {{ const T = window.swimscope.timeline; return ({expression}); }}", argument)

    def url(self) -> dict[str, str]:
        """The query of the address bar."""
        return {key: values[0] for key, values in parse_qs(urlsplit(self.page.url).query).items()}

    def window(self) -> tuple[float, float]:
        low, high = self.js("T.s.win")
        return low, high

    def traces(self, role: str) -> list[dict[str, Any]]:
        """Traces of the figure with this role: meta, number of points, name."""
        found: list[dict[str, Any]] = self.js(
            "T.graph().data.filter(t => t.meta && t.meta.role === a)"
            ".map(t => ({meta: t.meta, points: t.x.length, text: t.text ? [...t.text] : null}))",
            role,
        )
        return found

    def bars(self) -> int:
        """Bars drawn as paths."""
        return sum(trace["meta"]["n"] for trace in self.traces("bars"))

    def shapes(self, name: str) -> list[dict[str, Any]]:
        """Shapes of the figure with this name."""
        found: list[dict[str, Any]] = self.js("T.graph().layout.shapes.filter(s => s.name === a)", name)
        return found

    def place(self, item: str) -> tuple[float, float]:
        """Page coordinates of the middle of an item that is on screen."""
        x, y = self.page.evaluate(
            """async item => {
              const T = window.swimscope.timeline;
              const found = await T.json("item", { item });
              const box = T.trackBox(found.track);
              const bounds = document.getElementById("swim-overlay").getBoundingClientRect();
              const x = (T.xAt(found.start) + T.xAt(found.end)) / 2;
              return [bounds.left + x, bounds.top + (box.top + box.bottom) / 2];
            }""",
            item,
        )
        return x, y

    def visible_item(self, least_px: float = 12) -> str:
        """Name of some record on screen at least this wide."""
        name: str = self.page.evaluate(
            """least => {
              const T = window.swimscope.timeline;
              const data = T.current().base.data;
              for (let k = 0; k < data.tracks.length; k++) {
                const box = T.trackBox(data.tracks[k]);
                if (!box || !box.whole) continue;
                for (let i = data.bar_offsets[2 * k]; i < data.bar_offsets[2 * k + 1]; i++) {
                  const [x0, x1] = [T.xAt(T.barStart(data, i)), T.xAt(T.barEnd(data, i))];
                  if (x1 - x0 >= least && x0 > 20 && x1 < T.s.width - 20) return T.itemName(data, i);
                }
              }
              return "";
            }""",
            least_px,
        )
        assert name, "no record on screen is wide enough"
        return name

    def click(self, item: str, **options: Any) -> None:
        self.page.mouse.click(*self.place(item), **options)
        self.rest()

    def overlay(self) -> dict[str, float]:
        box = self.page.locator("#swim-overlay").bounding_box()
        assert box
        return dict(box)

    def key(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.rest()

    def details(self) -> str:
        return self.page.locator("#swim-details").inner_text()
