"""The swimlane on real captures: what the picture holds, in every view, mode, theme and size."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.e2e.harness import set_theme
from tests.e2e.swimlane_page import DEVICE, REST_S, Swimlane, ask
from tests.shared_data import needs_shared, oracle

pytestmark = needs_shared


@pytest.fixture
def lane(page, server) -> Swimlane:
    return Swimlane.open(page, server, DEVICE)


def test_opens_fitted_with_every_record_as_a_bar(lane: Swimlane) -> None:
    span = lane.look("span")
    low, high = lane.window()
    assert low < span[0] < span[1] < high
    assert lane.look("items") >= oracle(DEVICE)["records"]
    assert lane.bars() > 300
    expect(lane.page.locator("#swim-shown")).to_contain_text("drawn exactly")
    assert lane.traces("labels")[0]["text"]
    assert lane.url() == {}


def test_views_show_their_lanes(lane: Swimlane) -> None:
    page = lane.page
    groups = {}
    for view in ("scheduler", "phases", "orch", "worker"):
        page.click(f".swim-tab[data-view={view}]")
        lane.rest()
        lane.expect("drawn_view", view)
        groups[view] = set(lane.look("groups"))
        assert lane.url().get("view", "worker") == view
        assert lane.look("drawn_bars") > 0
    assert groups["worker"] >= {"AIC", "AIV"}
    assert groups["scheduler"] == {"AIC", "AIV"}
    assert groups["phases"] == {"SCHEDULER", "RESOLVE"}
    assert groups["orch"] == {"ORCH"}


def test_a_view_without_data_says_why(page, server) -> None:
    lane = Swimlane.open(page, server, "manual_scope_mid_l1")
    tab = page.locator(".swim-tab[data-view=scheduler]")
    expect(tab).to_have_attribute("aria-disabled", "true")
    expect(tab).to_have_attribute("title", re.compile("level 2"))
    tab.click(force=True)
    expect(lane.spoken).to_contain_text("level 2")
    lane.rest()
    assert "view" not in lane.url()


def test_overlapping_items_get_rows_of_their_own(page, server) -> None:
    lane = Swimlane.open(page, server, DEVICE, "view=scheduler")
    assert max(lane.look("rows_of_lanes")) == 2
    assert lane.look("items_of_lanes") == oracle(DEVICE)["records"]


def spmd_task(server, page) -> str:
    """The first task of several blocks."""
    for n in range(200):
        task: str = ask(page, server, "spmd_multiblock_mix_l4", "item", item=f"r{n}")["task_id"]
        if ask(page, server, "spmd_multiblock_mix_l4", "select", sel=f"task:{task}", depth="0")["n_total"] > 4:
            return task
    raise LookupError("no task of more than 4 blocks among the records r0 to r199")


def test_spmd_blocks_are_outlined_together(page, server) -> None:
    task = spmd_task(server, page)
    lane = Swimlane.open(page, server, "spmd_multiblock_mix_l4", f"sel=task:{task}&t0=9000&t1=53000")
    total = lane.look("selected_items")
    assert total > 4
    outlined = sum(trace["points"] // 6 for role in ("selection", "focus") for trace in lane.traces(role))
    assert outlined > 1
    lane.check_details(f"{total} blocks")


def test_label_modes(lane: Swimlane) -> None:
    item = lane.visible_item(60)
    facts = lane.facts(item)
    lane.select("#swim-labels-mode", "id")
    assert any(facts["label"] in text for trace in lane.traces("labels") for text in trace["text"])
    lane.select("#swim-labels-mode", "none")
    assert not lane.traces("labels")
    assert lane.url()["labels"] == "none"


def test_graph_tasks_have_an_envelope_and_name_their_nodes(page, server) -> None:
    lane = Swimlane.open(page, server, "graph_replay_2d_l4", "lanes=graph")
    assert lane.look("last_lane") == "Graph tasks"
    [drawn] = lane.traces("graph")
    assert drawn["meta"]["n"] == 3
    texts = {text for trace in lane.traces("labels") for text in trace["text"]}
    assert {"graph t1", "graph t2", "graph t3"} <= texts
    x, y = lane.place("g1")
    page.mouse.move(x, y)
    page.wait_for_selector("#swim-tip:visible strong:text-is('graph t1')")
    page.mouse.click(x, y)
    page.wait_for_selector("#swim-details strong:text-is('graph t1')")
    lane.rest()
    assert lane.url() == {"lanes": "graph", "sel": "task:1", "item": "g1"}
    expect(lane.spoken).to_contain_text("graph t1")
    found = lane.look("third_node")
    assert (found["count"], found["item"]["name"]) == (1, "t1 node 3")
    number = found["item"]["lane"].split()[-1]
    lane = Swimlane.open(page, server, "graph_replay_2d_l4", f"lanes={number}&sel=task:{found['item']['task_id']}")
    lane.check_details("t1 node 3")
    page.mouse.move(*lane.place(found["item"]["item"]))
    page.wait_for_selector("#swim-tip:visible strong:text-is('t1 node 3')")


def test_setup_apart_in_and_hidden(page, server) -> None:
    lane = Swimlane.open(page, server, "qwen3_40_layers_l4", "t0=1000000&t1=2000000")
    assert lane.traces("setup")
    lane.select("#swim-setup", "in")
    assert not lane.traces("setup")
    item = lane.visible_item(8)
    with_setup = lane.facts(item)
    lane.select("#swim-setup", "hidden")
    without = lane.facts(item)
    assert without["start"] == with_setup["middle"] >= with_setup["start"]
    assert without["end"] == with_setup["end"]


def test_highlight_dims_the_rest_and_removes_nothing(lane: Swimlane) -> None:
    before = lane.bars()
    lane.select("#swim-hl", "path:observed")
    traces = lane.traces("bars")
    dim = sum(t["meta"]["n"] for t in traces if t["meta"]["dim"])
    bright = sum(t["meta"]["n"] for t in traces if not t["meta"]["dim"])
    assert dim == before
    assert 0 < bright < before
    assert lane.look("highlight_count") >= len(oracle(DEVICE)["observed"]["tasks"])
    assert lane.url()["hl"] == "path:observed"


def test_a_highlight_without_an_answer_says_why(page, server) -> None:
    lane = Swimlane(page)
    page.goto(
        server.page("pa_hostgraph_a5_mid_nodeps_l4", "swimlane", "hl=chains"),
        wait_until="commit",
        timeout=REST_S * 1000,
    )
    page.wait_for_selector(".notice:has-text('This cannot be highlighted')", timeout=REST_S * 1000)  # it passes
    lane.rest()
    assert not any(t["meta"]["dim"] for t in lane.traces("bars"))


def test_both_themes_draw_in_their_colours(lane: Swimlane) -> None:
    colors = {}
    for theme in ("light", "dark"):
        set_theme(lane.page, theme)
        colors[theme] = lane.look("muted_color")
        lane.expect("axis_color", colors[theme])
    assert colors["light"] != colors["dark"]


def test_nothing_overlaps_at_either_size(server, new_context) -> None:
    for width, height in ((1366, 768), (2560, 1440)):
        page = new_context(viewport={"width": width, "height": height}).new_page()
        lane = Swimlane.open(page, server, DEVICE)
        boxes = page.evaluate(
            """() => ['.topbar', '.swim-toolbar', '.swim-head', '.swim-lanes', '#swim-details-box'].map(s => {
              const b = document.querySelector(s).getBoundingClientRect(); return [b.top, b.bottom, b.left, b.right]; })"""
        )
        for above, below in pairwise(boxes):
            assert above[1] <= below[0] + 1
        assert boxes[-1][1] <= height + 1
        assert all(box[3] <= width + 1 for box in boxes)
        clipped = page.evaluate(
            """() => [...document.querySelectorAll('.swim-toolbar button, .swim-toolbar select, .swim-toolbar input')]
              .filter(e => { const b = e.getBoundingClientRect(); return b.width && (b.right > innerWidth || b.left < 0); })
              .map(e => e.id || e.textContent)"""
        )
        assert clipped == []
        assert lane.look("height_px") > 200


def test_a_dense_place_says_what_it_stands_for(page, server) -> None:
    lane = Swimlane.open(page, server, "pa_huge_l4")
    assert not lane.look("is_exact")
    expect(page.locator("#swim-shown")).to_contain_text(" of ")
    box = lane.overlay()
    x, y = lane.look("dense_place")
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.wait_for_selector("#swim-tip:visible:has-text('items in'):has-text('busy')")
