"""The swimlane on real captures: select, details, dependency lines, search, Back, reload, a second person."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.swimlane_page import DEVICE, Swimlane, ask
from tests.shared_data import needs_shared

pytestmark = needs_shared


@pytest.fixture
def lane(page, server) -> Swimlane:
    return Swimlane.open(page, server, DEVICE)


def test_click_selects_task_and_item_and_shows_its_details(lane: Swimlane) -> None:
    item = lane.visible_item(30)
    lane.click(item)
    facts = lane.facts(item)
    lane.check_url(sel=f"task:{facts['task_id']}", item=item)
    lane.check_details(facts["name"], facts["task_id"])
    lane.check_details("Dispatch", "Receive", "FIN", "Latency", "Fan-in", "Arguments")
    assert lane.traces("focus")
    expect(lane.spoken).to_contain_text(facts["name"])


def test_neighbours_in_the_details_are_links_and_back_undoes(lane: Swimlane) -> None:
    item = lane.visible_item(30)
    facts = lane.facts(item)
    first = f"task:{facts['task_id']}"
    lane.click(item)
    lane.check_url(sel=first)
    lane.check_details(facts["task_id"])
    link = lane.page.locator("#swim-details .swim-link").first
    second = link.get_attribute("data-sel")
    assert second != first
    link.click()
    lane.check_url(sel=second)
    lane.rest()
    lane.page.go_back()
    lane.check_url(sel=first)
    lane.rest()
    lane.expect("selection_label", facts["label"])
    lane.check_details(facts["task_id"], facts["label"])


def test_dependency_lines_follow_depth_and_sides(page, server) -> None:
    task = lane_task(server, page)
    lane = Swimlane.open(page, server, DEVICE, f"sel=task:{task}")
    one = sum(t["meta"]["n"] for role in ("predecessors", "successors", "violations") for t in lane.traces(role))
    assert one == lane.look("drawn_lines")
    lane.select("#swim-depth", "2")
    assert lane.look("lines") > one
    assert lane.url()["depth"] == "2"
    lane.select("#swim-deps", "pred")
    assert lane.traces("predecessors")
    assert not lane.traces("successors")
    lane.select("#swim-depth", "0")
    assert lane.look("lines") == 0
    page.go_back()
    lane.rest()
    expect(page.locator("#swim-depth")).to_have_value("2")


def lane_task(server, page) -> str:
    """Some task with predecessors and successors of the device run."""
    for n in range(100, 200):
        task: str = ask(page, server, DEVICE, "item", item=f"r{n}")["task_id"]
        found = ask(page, server, DEVICE, "select", sel=f"task:{task}", depth="1")
        if found["n_predecessors"] and found["n_successors"] > 1:
            return task
    raise LookupError("no such task among the records r100 to r199")


def test_search_counts_steps_and_marks_the_overview(lane: Swimlane) -> None:
    page = lane.page
    page.fill("#swim-search", "fa_fused")
    count = page.locator("#swim-search-count")
    expect(count).to_have_text(re.compile(r"^[\d,]+$"))
    lane.rest()
    total = lane.look("found_count")
    assert total > 10
    assert lane.look("found_marks") > 0
    page.press("#swim-search", "Enter")
    lane.rest()
    expect(count).to_have_text(f"1 / {total:,}")
    first = lane.url()["item"]
    page.press("#swim-search", "Enter")
    expect(count).to_have_text(f"2 / {total:,}")
    lane.rest()
    assert lane.url()["item"] != first
    page.press("#swim-search", "Shift+Enter")
    expect(count).to_have_text(f"1 / {total:,}")
    lane.rest()
    assert lane.url()["item"] == first
    assert lane.url()["q"] == "fa_fused"
    assert lane.look("on_screen", lane.facts(first)["track"])


def test_search_by_ring_and_task_id(lane: Swimlane) -> None:
    lane.page.fill("#swim-search", "r1t2")
    lane.page.press("#swim-search", "Enter")
    lane.check_url(sel=f"task:{(1 << 32) + 2}")


STATE = "picture"


def chosen(lane: Swimlane) -> Any:
    """Zoom, select and go deeper; what is then seen."""
    lane.key("w")
    lane.click(lane.visible_item(14))
    lane.select("#swim-depth", "2")
    return lane.look(STATE)


def test_reload_shows_the_same(lane: Swimlane) -> None:
    seen = chosen(lane)
    lane.reload()
    assert lane.look(STATE) == seen


def test_a_second_person_sees_the_same_and_changes_nothing_here(lane: Swimlane, new_context) -> None:
    seen = chosen(lane)
    other = Swimlane.follow(new_context().new_page(), lane.look("address"))
    assert other.look(STATE) == seen
    other.key("0")
    other.check_url(t0=None)
    lane.reload()
    assert lane.look(STATE) == seen
