"""The swimlane and a hasty person: the next action comes before the answer to the last one."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.swimlane_page import DEVICE, REST_S, Swimlane
from tests.shared_data import needs_shared
from tests.waiting import until

pytestmark = needs_shared


@pytest.fixture
def lane(page, server) -> Swimlane:
    return Swimlane.open(page, server, DEVICE, "t0=20000&t1=40000")


class Held:
    """Questions to the server that match a pattern; none is answered before :meth:`release`."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.page = page
        self.routes: list[Route] = []
        self.released = False
        page.route(re.compile(pattern), self._asked)

    def _asked(self, route: Route) -> None:
        if self.released:
            route.continue_()
        else:
            self.routes.append(route)

    def wait(self) -> None:
        """Wait until something has been asked."""
        until(lambda: (self.page.evaluate("1"), len(self.routes))[1], lambda number: number > 0)

    def release(self) -> None:
        self.released = True
        for route in self.routes:
            route.continue_()


def test_two_quick_steps_move_by_two_records(lane: Swimlane) -> None:
    lane.page.locator("#swim-plot").focus()
    lane.key("ArrowRight")
    item = lane.url()["item"]
    for _ in range(3):
        item = lane.look("next_item", item)["item"]
    for _ in range(3):
        lane.page.keyboard.press("ArrowRight")
    lane.check_url(item=item)


def test_two_quick_clicks_on_next_move_by_two_matches(lane: Swimlane) -> None:
    lane.page.fill("#swim-search", "fa_fused")
    total = until(lambda: lane.look("found_count_if_any"), bool)
    lane.look("search_next_thrice")
    expect(lane.page.locator("#swim-search-count")).to_have_text(f"3 / {total:,}")


def test_a_late_answer_to_an_older_click_selects_nothing(lane: Swimlane) -> None:
    first = lane.visible_item(40)
    lane.page.locator("#swim-plot").focus()
    lane.click(first)
    lane.key("ArrowDown")
    second = lane.url()["item"]
    assert second != first
    (x0, y0), (x1, y1) = lane.place(first), lane.place(second)
    held = Held(lane.page, rf"/item\?.*item={first}(&|$)")
    lane.page.mouse.click(x0, y0)
    held.wait()
    lane.page.mouse.click(x1, y1 + 1)
    held.release()
    lane.rest()
    assert lane.url()["item"] == second


def test_a_zoom_right_before_another_view_is_kept(lane: Swimlane) -> None:
    window = lane.look("zoom_and_switch_view")
    lane.check_url(view="scheduler", t0=str(window[0]), t1=str(window[1]))
    lane.rest()
    assert lane.look("window") == window
    lane.page.go_back()
    lane.check_url(view=None, t0=str(window[0]), t1=str(window[1]))


def test_what_is_chosen_while_the_swimlane_loads_is_there_when_it_comes(page, server) -> None:
    lane = Swimlane(page)
    held = Held(page, r"/api/timeline/[^/]+/info\?")
    page.goto(server.page(DEVICE, "swimlane", "t0=20000&t1=40000"), wait_until="commit", timeout=REST_S * 1000)
    held.wait()
    expect(page.locator("#swim-filter")).to_be_visible(timeout=REST_S * 1000)
    page.fill("#swim-filter", "aiv")
    page.click("#swim-zoom-in")
    lane.check_url(lanes="aiv")
    page.select_option("#swim-depth", "2")
    held.release()
    lane.rest()
    assert lane.look("only_aiv")
    assert lane.url() == {"t0": "20000", "t1": "40000", "lanes": "aiv", "depth": "2"}
