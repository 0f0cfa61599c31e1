"""Do two timelines work on one page, each with its own state, and may their windows be kept in step?"""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.harness import Server
from tests.e2e.swimlane_page import Swimlane
from tests.waiting import until

# A second skeleton with ids of its own, and a timeline whose view is kept in an object instead of the URL.
_MOUNT = """() => {
  const first = document.getElementById('swim-root');
  const root = first.cloneNode(true);
  for (const node of [root, ...root.querySelectorAll('[id^="swim-"]')]) node.id = node.id.replace('swim-', 'other-');
  delete root.dataset.drawn;
  root.querySelector('#other-graph').replaceChildren(document.createElement('div'));
  root.querySelector('#other-labels').replaceChildren();
  root.style.height = '500px';
  first.after(root);
  let state = {};
  const listeners = new Set();
  const view = {
    get: () => ({ ...state }),
    set(patch) {
      const before = state;
      state = Object.fromEntries(Object.entries({ ...state, ...patch }).filter(([, value]) => value !== null && value !== ''));
      const changed = Object.keys(patch).filter((key) => before[key] !== state[key]);
      for (const listener of listeners) listener({ ...state }, changed, 'local');
    },
    on: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
  };
  const source = window.swimscope.captureSource(window.swimscope.url.place().run, view);
  source.focus = () => null;
  window.other = new window.swimscope.Timeline(root, source);
}"""


def test_two_timelines_on_one_page(page: Page, server: Server) -> None:
    lane = Swimlane.open(page, server, "attention")
    first = lane.window()
    page.evaluate(_MOUNT)
    expect(page.locator("#other-root")).to_have_attribute("data-drawn", "1")
    until(lambda: page.evaluate("() => window.other.stats.bars"), lambda bars: bars > 0)
    assert page.evaluate("() => window.other.s.info.lanes.length") == lane.look("n_lanes")

    page.locator("#other-zoom-in").click()
    until(lambda: page.evaluate("() => window.other.s.win"), lambda win: tuple(win) != first)
    assert lane.window() == first
    assert "t0" not in lane.url()

    page.evaluate("() => window.other.onWindow((t0, t1) => window.swimscope.timeline.show(t0, t1, 'quiet'))")
    page.locator("#other-zoom-in").click()
    until(lane.window, lambda now: now == tuple(page.evaluate("() => window.other.s.win")))

    page.evaluate("() => { window.other.destroy(); document.getElementById('other-root').remove(); }")
    lane.page.locator("#swim-fit").click()
    lane.rest()
    assert lane.window() == first
