"""A swimlane page as a person uses it: where lanes and records are on screen, and what the picture holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qs

from playwright.sync_api import Locator, Page, expect

from tests.e2e.harness import Server, wait_idle
from tests.waiting import until

DEVICE = "qwen3_14b_decode_device"
REST_S = 120
"""How long a swimlane may take to come to rest: a large run is imported first."""


_LOOKS = {
    "lane_keys": "T.s.rows.map(r => r.lane.key)",
    "ticks_per_us": "T.s.info.ticks_per_us",
    "drawn_bars": "T.stats.bars",
    "scrolled_px": "T.s.y",
    "px_between": "T.xAt(a[1]) - T.xAt(a[0])",
    "show": "T.show(a[0], a[1], 'step')",
    "measure": "T.setRange(a)",
    "select_task": "T.set({ sel: 'task:' + a, item: null }, true)",
    "selection_bounds": "T.s.selection.bounds",
    "selection": "T.s.selection",
    "highlight": "T.s.highlight.hl",
    "highlight_count": "T.s.highlight.count",
    "has_answers": "Boolean(T.s.highlight && T.s.selection)",
    "search_next_thrice": "[1, 2, 3].forEach(() => T.el('search-next').click())",
    "us_of": "T.us(a)",
    "on_screen": "T.trackBox(a) !== null",
    "first_lane_box": "T.trackBox(T.s.rows[0].lane.track)",
    "top_row": "T.topRow()",
    "time_at_px": "T.timeAt(a)",
    "is_exact": "T.stats.exact",
    "window": "T.s.win",
    "width_px": "T.s.width",
    "height_px": "T.s.height",
    "lines": "T.s.selection.n_lines",
    "drawn_lines": "T.s.selection.n_lines - T.s.selection.n_hidden",
    "selected_items": "T.s.selection.items.length",
    "fourth_lane": "T.s.scrollRows[T.topRow() + 3].lane.key",
    "first_lane": "T.s.rows[0].lane.key",
    "only_aiv": "T.s.rows.every(row => row.lane.group === 'AIV')",
    "span": "T.s.info.span",
    "items_of_lanes": "T.s.info.lanes.reduce((n, l) => n + l.items, 0)",
    "rows_of_lanes": "T.s.info.lanes.map(l => l.rows)",
    "groups": "T.s.info.lanes.map(l => l.group)",
    "last_lane": "T.s.info.lanes.at(-1).label",
    "items": "T.s.info.items",
    "found_marks": "T.s.found.marks.length",
    "n_lanes": "T.s.info.lanes.length",
    "found_count": "T.s.found.count",
    "found_count_if_any": "T.s.found && T.s.found.count",
    "most_questions": "T.requests.maxInFlight",
    "open_questions": "T.requests.inFlight",
    "measured": "T.range()",
    "first_marker_tick": "T.markers()[0].tick",
    "first_marker_label": "T.markers()[0].label",
    "first_marker": "T.markers()[0]",
    "marker_ticks": "T.markers().map(m => m.tick)",
    "markers": "T.markers()",
    "axis_ticks": "T.graph().layout.xaxis.range.map(us => Math.round(T.ticks(us)))",
    "whole": "T.full()",
    "time_text": "T.format(T.us(a))",
    "zoom_and_switch_view": "(T.zoom(0.5), document.querySelector('.swim-tab[data-view=scheduler]').click(), [25000, 35000])",
    "half_width_px": "(T.xAt(a.end) - T.xAt(a.start)) / 2",
    "clipboard": "navigator.clipboard.readText()",
    "stored_keys": "localStorage.getItem('swimscope.swimlane.keys')",
    "selection_label": "T.s.selection.label",
    "axis_color": "T.graph().layout.xaxis.tickfont.color",
    "drawn_view": "T.graph().layout.meta.view",
    "address": "location.href",
    "muted_color": "swimscope.theme.css('--muted')",
    "add_late_marker": "window.swimscope.url.set({ mk: '45000:blue:late' }, { push: true })",
    "share_of_45000": "((45000 - T.full()[0]) / (T.full()[1] - T.full()[0]))",
    "picture": "[T.s.win, T.s.y, T.s.selection.label, T.stats.bars, T.graph().data.length]",
    "everything": "[T.s.win, T.markers(), T.list('pin'), T.range(), T.s.highlight.hl, T.s.highlight.count, T.s.selection.label, T.s.url.item, T.graph().layout.shapes.length]",
    "range_answer": "T.json('range', { t0: a.start, t1: a.end })",
    "next_item": "T.json('item', { item: a, step: 'next' })",
    "third_node": "T.json('search', { q: 't1 node 3', from: 0 })",
    "select_answer": "T.json('select', { sel: 'task:' + a, depth: '0' })",
    "aiv_lanes": "T.s.info.lanes.filter(l => l.group === 'AIV').map(l => l.key)",
    "lanes_3_to_5": "T.s.info.lanes.filter(l => l.number >= 3 && l.number <= 5).map(l => l.key)",
    "lanes_of_fa_fused_aiv": "T.s.info.lanes.filter(l => l.classes.some(c => T.s.info.classes[c].name.includes('fa_fused_aiv'))).map(l => l.key)",
    "cores_on_screen": "T.s.rows.filter(r => T.trackBox(r.lane.track)).map(r => r.lane.key).filter(k => k.startsWith('core:'))",
    "open_menu": "T.openMenu({ left: 300, top: 300, tick: a.middle, track: a.track }, a)",
    "dense_place": """(() => {
          const data = T.current().base.data;
          for (let x = 50; x < T.s.width; x++) for (let y = 6; y < 200; y += 14) if ((T.hit(x, y) || {}).kind === "density") return [x, y];
        })()""",
    "overview_ink": """(() => { const c = T.el("overview-canvas"); const x = Math.round(c.width * a);
      const d = c.getContext("2d").getImageData(x - 3, 1, 7, 1).data; return [...d].some(v => v); })()""",
    "item_with_lead": """(async () => {
          for (let n = 0; n < 100; n++) {
            const item = await T.json("item", { item: "r" + n });
            if (!item.found) return null;
            const lead = await T.json("lead", { task: item.task_id });
            if (lead.available) return { ...item, lead };
          }
        })()""",
}
"""What tests look at or do by script, by name: the only expressions over the page's own state (``T`` and an argument ``a``)."""


def ask(page: Page, server: Server, run: str, path: str, **query: str) -> dict[str, Any]:
    """What the server answers about a run's worker view, without opening the page."""
    address = f"{server.url}/api/timeline/{server.run_key(run)}/{path}"
    answer = page.request.get(address, params={"launch": "0", "view": "worker", "setup": "apart", **query})
    found: dict[str, Any] = answer.json()
    return found


@dataclass
class Swimlane:
    """One open swimlane."""

    page: Page

    @classmethod
    def open(cls, page: Page, server: Server, run: str, query: str = "") -> Self:
        return cls.follow(page, server.page(run, "swimlane", query))

    @classmethod
    def follow(cls, page: Page, address: str) -> Self:
        """Follow a link to a swimlane, and wait until it rests."""
        lane = cls(page)
        page.goto(address, wait_until="commit", timeout=REST_S * 1000)
        lane.rest()
        return lane

    def reload(self) -> None:
        self.page.reload(wait_until="commit", timeout=REST_S * 1000)
        self.rest()

    def rest(self) -> None:
        """Wait until the lanes are drawn and all that was set off so far has ended."""
        self.page.wait_for_selector("#swim-root[data-drawn]", timeout=REST_S * 1000)
        wait_idle(self.page, REST_S * 1000)

    def look(self, name: str, argument: Any = None) -> Any:
        """Value of the named look at the page, see :data:`_LOOKS`."""
        return self._js(_LOOKS[name], argument)

    def _js(self, expression: str, argument: Any = None) -> Any:
        """Value of an expression over ``T`` (window.swimscope.timeline) and ``a``."""
        return self.page.evaluate(f"a => {{ const T = window.swimscope.timeline; return ({expression}); }}", argument)

    def url(self) -> dict[str, str]:
        """The query of the address bar, as the browser has it now."""
        search: str = self.page.evaluate("() => location.search")
        return {key: values[0] for key, values in parse_qs(search.removeprefix("?")).items()}

    def check_url(self, **wanted: str | None) -> dict[str, str]:
        """Wait until these keys of the URL have these values (None: the key is not there); the whole query."""
        return until(self.url, lambda now: all(now.get(key) == value for key, value in wanted.items()))

    def expect(self, name: str, value: Any, argument: Any = None) -> None:
        """Wait until the named look at the page has this value."""
        until(lambda: self.look(name, argument), lambda now: bool(now == value))

    def facts(self, item: str) -> dict[str, Any]:
        """What the server says of an item."""
        found: dict[str, Any] = self._js("T.json('item', { item: a })", item)
        return found

    def window(self) -> tuple[float, float]:
        low, high = self._js("T.s.win")
        return low, high

    def traces(self, role: str) -> list[dict[str, Any]]:
        """Traces of the figure with this role: meta, number of points, name."""
        found: list[dict[str, Any]] = self._js(
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
        found: list[dict[str, Any]] = self._js("T.graph().layout.shapes.filter(s => s.name === a)", name)
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
                  const start = data.base + data.bar_start[i] * 2 ** data.shift;
                  const [x0, x1] = [T.xAt(start), T.xAt(start + data.bar_length[i] * 2 ** data.shift)];
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

    def select(self, control: str, value: str) -> None:
        """Choose ``value`` in a select of the toolbar."""
        self.page.select_option(control, value)
        self.rest()

    def ctrl_wheel(self, x: float, y: float, notches: int) -> None:
        """Zoom in at a place of the page."""
        self.page.mouse.move(x, y)
        self.page.keyboard.down("Control")
        for _ in range(notches):
            self.page.mouse.wheel(0, -100)
        self.page.keyboard.up("Control")
        self.rest()

    def drag(self, start: tuple[float, float], by: tuple[float, float], key: str = "") -> None:
        """Drag from a place of the page, with ``key`` held."""
        if key:
            self.page.keyboard.down(key)
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(start[0] + by[0], start[1] + by[1], steps=5)
        self.page.mouse.up()
        if key:
            self.page.keyboard.up(key)
        self.rest()

    def check_details(self, *texts: str) -> None:
        """Wait until the panel below the lanes says all of ``texts``."""
        for text in texts:
            expect(self.details).to_contain_text(text, use_inner_text=True)

    @property
    def details(self) -> Locator:
        return self.page.locator("#swim-details")

    @property
    def spoken(self) -> Locator:
        """What a screen reader was told last."""
        return self.page.locator("#swim-live")
