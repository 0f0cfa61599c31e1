"""The swimlane on real captures: zoom, pan, scroll, by wheel, pointer, keys and overview."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from tests.e2e.swimlane_page import DEVICE, Swimlane
from tests.shared_data import needs_shared
from tests.waiting import until

pytestmark = needs_shared


@pytest.fixture
def lane(page, server) -> Swimlane:
    return Swimlane.open(page, server, DEVICE)


def test_ctrl_wheel_zooms_at_the_pointer_and_the_url_follows(lane: Swimlane) -> None:
    box = lane.overlay()
    x = box["x"] + box["width"] * 0.25
    before = lane.look("time_at_px", box["width"] * 0.25)
    lane.ctrl_wheel(x, box["y"] + 60, notches=4)
    low, high = lane.window()
    whole = lane.look("whole")
    assert high - low < 0.55 * (whole[1] - whole[0])
    assert lane.look("time_at_px", box["width"] * 0.25) == pytest.approx(before, abs=(high - low) * 0.02)
    assert (int(lane.url()["t0"]), int(lane.url()["t1"])) == (low, high)
    drawn = lane.look("axis_ticks")
    assert drawn == [low, high]


def test_wheel_scrolls_lanes_and_nothing_else(lane: Swimlane) -> None:
    box = lane.overlay()
    window = lane.window()
    label = lane.page.locator(".swim-label span").first
    expect(label).to_have_text("AIC 0")
    lane.page.mouse.move(box["x"] + 200, box["y"] + 60)
    lane.page.mouse.wheel(0, 400)
    lane.rest()
    assert lane.window() == window
    assert lane.look("scrolled_px") > 0
    assert int(lane.url()["y"]) == lane.look("top_row") > 0
    expect(label).not_to_have_text("AIC 0")


def test_keys_w_s_a_d_f_0(lane: Swimlane) -> None:
    page = lane.page
    page.locator("#swim-plot").focus()
    whole = lane.window()
    for _ in range(4):
        page.keyboard.press("w")
    lane.rest()
    zoomed = lane.window()
    assert zoomed[1] - zoomed[0] < (whole[1] - whole[0]) / 3
    lane.key("d")
    moved = lane.window()
    assert moved[0] > zoomed[0]
    assert moved[1] - moved[0] == pytest.approx(zoomed[1] - zoomed[0], abs=2)
    lane.key("a")
    assert lane.window()[0] == pytest.approx(zoomed[0], abs=2)
    lane.key("s")
    assert lane.window()[1] - lane.window()[0] > zoomed[1] - zoomed[0]
    item = lane.visible_item()
    lane.click(item)
    lane.key("f")
    bounds = lane.look("selection_bounds")
    low, high = lane.window()
    assert low <= bounds[0] < bounds[1] <= high
    assert bounds[1] - bounds[0] > (high - low) / 2
    lane.key("0")
    assert lane.window() == whole
    assert "t0" not in lane.url()


def test_drag_pans_and_ctrl_drag_keeps_the_lanes(lane: Swimlane) -> None:
    box = lane.overlay()
    for _ in range(3):
        lane.page.keyboard.press("w")
    lane.rest()
    before, y = lane.window(), lane.look("scrolled_px")
    lane.drag((box["x"] + 600, box["y"] + 150), (-200, -90), key="Control")
    after = lane.window()
    by = (before[1] - before[0]) * 200 / box["width"]
    assert after[0] - before[0] == pytest.approx(by, rel=0.05)
    assert lane.look("scrolled_px") == y
    assert "sel" not in lane.url()


def test_overview_drag_moves_and_resizes_the_window(page, server) -> None:
    lane = Swimlane.open(page, server, DEVICE, "t0=10000&t1=20000")
    box = page.locator("#swim-overview-window").bounding_box()
    assert box
    y = box["y"] + 20
    lane.drag((box["x"] + box["width"] / 2, y), (100, 0))
    low, high = lane.window()
    assert high - low == pytest.approx(10_000, abs=4)
    assert low > 11_000
    box = page.locator("#swim-overview-window").bounding_box()
    assert box
    lane.drag((box["x"] + box["width"] - 1, y), (81, 0))
    assert lane.window()[0] == pytest.approx(low, abs=2)
    assert lane.window()[1] > high + 1_000
    assert int(lane.url()["t1"]) == lane.window()[1]


def test_double_click_zooms_to_the_record(lane: Swimlane) -> None:
    item = lane.visible_item(20)
    facts = lane.facts(item)
    lane.page.mouse.dblclick(*lane.place(item))
    until(lane.url, lambda now: "t0" in now)
    lane.rest()
    low, high = lane.window()
    assert low < facts["start"] < facts["end"] < high
    assert facts["end"] - facts["start"] > (high - low) / 4


def test_fast_zooming_never_queues_requests(new_context, server) -> None:
    """One notch of the wheel per frame of a 60 Hz screen, by a clock that the machine's speed does not touch."""
    page = new_context().new_page()
    guard = page.context.guard
    lane = Swimlane.open(page, server, "large")
    box = lane.overlay()
    windows = lambda: len([url for url in guard.requests if "/window?" in url])  # noqa: E731
    before = windows()
    page.mouse.move(box["x"] + 500, box["y"] + 60)
    page.clock.install()
    page.clock.pause_at(time.time() + 1)
    page.keyboard.down("Control")
    for _ in range(25):
        page.mouse.wheel(0, -60)
        page.clock.run_for(16)
    page.keyboard.up("Control")
    page.clock.resume()
    lane.rest()
    sent = windows() - before
    assert 0 < sent < 15
    assert lane.look("most_questions") <= 2
    assert lane.look("open_questions") == 0
