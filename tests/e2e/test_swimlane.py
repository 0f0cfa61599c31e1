"""The swimlane on real captures: open, move, select, search, depth, views, Back, reload, a second person."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.e2e.harness import set_theme
from tests.e2e.swimlane_page import DEVICE, Swimlane
from tests.shared_data import needs_shared, oracle

pytestmark = needs_shared


@pytest.fixture
def lane(page, server) -> Swimlane:
    return Swimlane.open(page, server, DEVICE)


def test_opens_fitted_with_every_record_as_a_bar(lane: Swimlane) -> None:
    span = lane.js("T.s.info.span")
    low, high = lane.window()
    assert low < span[0] < span[1] < high
    assert lane.js("T.s.info.items") >= oracle(DEVICE)["records"]
    assert lane.bars() > 300
    assert "drawn exactly" in lane.page.locator("#swim-shown").inner_text()
    assert lane.traces("labels")[0]["text"]
    assert lane.url() == {}


def test_ctrl_wheel_zooms_at_the_pointer_and_the_url_follows(lane: Swimlane) -> None:
    box = lane.overlay()
    x = box["x"] + box["width"] * 0.25
    before = lane.js("T.timeAt(a)", box["width"] * 0.25)
    lane.page.mouse.move(x, box["y"] + 60)
    lane.page.keyboard.down("Control")
    for _ in range(4):
        lane.page.mouse.wheel(0, -100)
    lane.page.keyboard.up("Control")
    lane.rest()
    low, high = lane.window()
    whole = lane.js("T.full()")
    assert high - low < 0.55 * (whole[1] - whole[0])
    assert lane.js("T.timeAt(a)", box["width"] * 0.25) == pytest.approx(before, abs=(high - low) * 0.02)
    assert (int(lane.url()["t0"]), int(lane.url()["t1"])) == (low, high)
    drawn = lane.js("T.graph().layout.xaxis.range.map(us => Math.round(T.ticks(us)))")
    assert drawn == [low, high]


def test_wheel_scrolls_lanes_and_nothing_else(lane: Swimlane) -> None:
    box = lane.overlay()
    window = lane.window()
    first = lane.page.locator(".swim-label span").first.inner_text()
    lane.page.mouse.move(box["x"] + 200, box["y"] + 60)
    lane.page.mouse.wheel(0, 400)
    lane.rest()
    assert lane.window() == window
    assert lane.js("T.s.y") > 0
    assert int(lane.url()["y"]) == lane.js("T.topRow()") > 0
    assert lane.page.locator(".swim-label span").first.inner_text() != first or lane.js("T.s.rows[0].y") == 0


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
    bounds = lane.js("T.s.selection.bounds")
    low, high = lane.window()
    assert low <= bounds[0] < bounds[1] <= high
    assert bounds[1] - bounds[0] > (high - low) / 2
    lane.key("0")
    assert lane.window() == whole
    assert "t0" not in lane.url()


def test_drag_pans_and_ctrl_drag_keeps_the_lanes(lane: Swimlane) -> None:
    page, box = lane.page, lane.overlay()
    for _ in range(3):
        lane.page.keyboard.press("w")
    lane.rest()
    before, y = lane.window(), lane.js("T.s.y")
    page.keyboard.down("Control")
    page.mouse.move(box["x"] + 600, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 60, steps=5)
    page.mouse.up()
    page.keyboard.up("Control")
    lane.rest()
    after = lane.window()
    by = (before[1] - before[0]) * 200 / box["width"]
    assert after[0] - before[0] == pytest.approx(by, rel=0.05)
    assert lane.js("T.s.y") == y
    assert "sel" not in lane.url()


def test_click_selects_task_and_item_and_shows_its_details(lane: Swimlane) -> None:
    item = lane.visible_item(30)
    lane.click(item)
    facts = lane.page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    assert lane.url()["sel"] == f"task:{facts['task_id']}"
    assert lane.url()["item"] == item
    text = lane.details()
    assert facts["name"] in text
    assert facts["task_id"] in text
    for word in ("Dispatch", "Receive", "FIN", "Latency", "Fan-in", "Arguments"):
        assert word in text
    assert lane.traces("focus")
    assert facts["name"] in lane.page.locator("#swim-live").inner_text()


def test_neighbours_in_the_details_are_links_and_back_undoes(lane: Swimlane) -> None:
    lane.click(lane.visible_item(30))
    first = lane.url()["sel"]
    lane.page.locator("#swim-details .swim-link").first.click()
    lane.rest()
    second = lane.url()["sel"]
    assert second != first
    lane.page.go_back()
    lane.rest()
    assert lane.url()["sel"] == first
    assert lane.js("T.s.selection.label") in lane.details()


def test_dependency_lines_follow_depth_and_sides(page, server) -> None:
    task = lane_task(server, page)
    lane = Swimlane.open(page, server, DEVICE, f"sel=task:{task}")
    one = sum(t["meta"]["n"] for role in ("predecessors", "successors", "violations") for t in lane.traces(role))
    assert one == lane.js("T.s.selection.n_lines - T.s.selection.n_hidden")
    page.select_option("#swim-depth", "2")
    lane.rest()
    assert lane.js("T.s.selection.n_lines") > one
    assert lane.url()["depth"] == "2"
    page.select_option("#swim-deps", "pred")
    lane.rest()
    assert lane.traces("predecessors")
    assert not lane.traces("successors")
    page.select_option("#swim-depth", "0")
    lane.rest()
    assert lane.js("T.s.selection.n_lines") == 0
    page.go_back()
    lane.rest()
    assert page.locator("#swim-depth").input_value() == "2"


def lane_task(server, page) -> str:
    """Some task with predecessors and successors of the device run."""
    lane = Swimlane.open(page, server, DEVICE)
    found: str = page.evaluate(
        """async () => {
          const T = window.swimscope.timeline;
          for (let n = 100; n < 200; n++) {
            const item = await T.json("item", { item: "r" + n });
            const found = await T.json("select", { sel: "task:" + item.task_id, depth: "1" });
            if (found.n_predecessors && found.n_successors > 1) return item.task_id;
          }
          return "";
        }"""
    )
    assert found
    assert lane.url() == {}
    return found


def test_search_counts_steps_and_marks_the_overview(lane: Swimlane) -> None:
    page = lane.page
    page.fill("#swim-search", "fa_fused")
    page.wait_for_function("() => /\\d/.test(document.getElementById('swim-search-count').textContent)")
    total = lane.js("T.s.found.count")
    assert total > 10
    assert lane.js("T.s.found.marks.length") > 0
    page.press("#swim-search", "Enter")
    lane.rest()
    assert page.locator("#swim-search-count").inner_text() == f"1 / {total}"
    first = lane.url()["item"]
    page.press("#swim-search", "Enter")
    lane.rest()
    assert lane.url()["item"] != first
    page.press("#swim-search", "Shift+Enter")
    lane.rest()
    assert lane.url()["item"] == first
    assert lane.url()["q"] == "fa_fused"
    track = page.evaluate("item => window.swimscope.timeline.json('item', { item }).then(f => f.track)", first)
    assert lane.js("T.trackBox(a) !== null", track)


def test_search_by_ring_and_task_id(lane: Swimlane) -> None:
    lane.page.fill("#swim-search", "r1t2")
    lane.page.press("#swim-search", "Enter")
    lane.rest()
    assert lane.url()["sel"] == f"task:{(1 << 32) + 2}"


def test_views_show_their_lanes(lane: Swimlane) -> None:
    page = lane.page
    groups = {}
    for view in ("scheduler", "phases", "orch", "worker"):
        page.click(f".swim-tab[data-view={view}]")
        lane.rest()
        groups[view] = set(lane.js("T.s.info.lanes.map(l => l.group)"))
        assert lane.url().get("view", "worker") == view
        assert lane.js("T.stats.bars") > 0
    assert groups["worker"] >= {"AIC", "AIV"}
    assert groups["scheduler"] == {"AIC", "AIV"}
    assert groups["phases"] == {"SCHEDULER", "RESOLVE"}
    assert groups["orch"] == {"ORCH"}


def test_a_view_without_data_says_why(page, server) -> None:
    lane = Swimlane.open(page, server, "manual_scope_mid_l1")
    tab = page.locator(".swim-tab[data-view=scheduler]")
    assert tab.get_attribute("aria-disabled") == "true"
    assert "level 2" in (tab.get_attribute("title") or "")
    tab.click(force=True)
    assert "view" not in lane.url()


def test_overlapping_items_get_rows_of_their_own(page, server) -> None:
    lane = Swimlane.open(page, server, DEVICE, "view=scheduler")
    assert max(lane.js("T.s.info.lanes.map(l => l.rows)")) == 2
    assert lane.js("T.s.info.lanes.reduce((n, l) => n + l.items, 0)") == oracle(DEVICE)["records"]


def test_spmd_blocks_are_outlined_together(page, server) -> None:
    lane = Swimlane.open(page, server, "spmd_multiblock_mix_l4")
    task = page.evaluate(
        """async () => {
          const T = window.swimscope.timeline;
          for (let n = 0; n < 200; n++) {
            const item = await T.json("item", { item: "r" + n });
            if (!item.found) return "";
            const found = await T.json("select", { sel: "task:" + item.task_id, depth: "0" });
            if (found.n_total > 4) return item.task_id;
          }
        }"""
    )
    assert task
    lane = Swimlane.open(page, server, "spmd_multiblock_mix_l4", f"sel=task:{task}&t0=9000&t1=53000")
    total = lane.js("T.s.selection.items.length")
    assert total > 4
    outlined = sum(trace["points"] // 6 for role in ("selection", "focus") for trace in lane.traces(role))
    assert outlined > 1
    assert f"{total} blocks" in lane.details()


def test_label_modes(lane: Swimlane) -> None:
    page = lane.page
    item = lane.visible_item(60)
    facts = page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    page.select_option("#swim-labels-mode", "id")
    lane.rest()
    assert any(facts["label"] in text for trace in lane.traces("labels") for text in trace["text"])
    page.select_option("#swim-labels-mode", "none")
    lane.rest()
    assert not lane.traces("labels")
    assert lane.url()["labels"] == "none"


def test_graph_tasks_have_an_envelope_and_name_their_nodes(page, server) -> None:
    lane = Swimlane.open(page, server, "graph_replay_2d_l4", "lanes=graph")
    assert lane.js("T.s.info.lanes.at(-1).label") == "Graph tasks"
    [drawn] = lane.traces("graph")
    assert drawn["meta"]["n"] == 3
    texts = {text for trace in lane.traces("labels") for text in trace["text"]}
    assert {"graph t1", "graph t2", "graph t3"} <= texts
    x, y = lane.place("g1")
    page.mouse.move(x, y)
    page.wait_for_selector("#swim-tip strong:text-is('graph t1')")
    page.mouse.click(x, y)
    page.wait_for_selector("#swim-details strong:text-is('graph t1')")
    lane.rest()
    assert lane.url() == {"lanes": "graph", "sel": "task:1", "item": "g1"}
    assert "graph t1" in page.locator("#swim-live").inner_text()
    found = page.evaluate("() => window.swimscope.timeline.json('search', { q: 't1 node 3', from: 0 })")
    assert (found["count"], found["item"]["name"]) == (1, "t1 node 3")
    number = found["item"]["lane"].split()[-1]
    lane = Swimlane.open(page, server, "graph_replay_2d_l4", f"lanes={number}&sel=task:{found['item']['task_id']}")
    assert "t1 node 3" in lane.details()
    page.mouse.move(*lane.place(found["item"]["item"]))
    page.wait_for_selector("#swim-tip strong:text-is('t1 node 3')")


def test_setup_apart_in_and_hidden(page, server) -> None:
    lane = Swimlane.open(page, server, "qwen3_40_layers_l4", "t0=1000000&t1=2000000")
    assert lane.traces("setup")
    page.select_option("#swim-setup", "in")
    lane.rest()
    assert not lane.traces("setup")
    item = lane.visible_item(8)
    with_setup = page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    page.select_option("#swim-setup", "hidden")
    lane.rest()
    without = page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    assert without["start"] == with_setup["middle"] >= with_setup["start"]
    assert without["end"] == with_setup["end"]


def test_overview_drag_moves_and_resizes_the_window(page, server) -> None:
    lane = Swimlane.open(page, server, DEVICE, "t0=10000&t1=20000")
    box = page.locator("#swim-overview-window").bounding_box()
    assert box
    y = box["y"] + 20
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 100, y, steps=4)
    page.mouse.up()
    lane.rest()
    low, high = lane.window()
    assert high - low == pytest.approx(10_000, abs=4)
    assert low > 11_000
    box = page.locator("#swim-overview-window").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 1, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 80, y, steps=4)
    page.mouse.up()
    lane.rest()
    assert lane.window()[0] == pytest.approx(low, abs=2)
    assert lane.window()[1] > high + 1_000
    assert int(lane.url()["t1"]) == lane.window()[1]


def test_double_click_zooms_to_the_record(lane: Swimlane) -> None:
    item = lane.visible_item(20)
    facts = lane.page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    lane.page.mouse.dblclick(*lane.place(item))
    lane.page.wait_for_function("() => location.search.includes('t0=')")
    lane.rest()
    low, high = lane.window()
    assert low < facts["start"] < facts["end"] < high
    assert facts["end"] - facts["start"] > (high - low) / 4


def test_reload_and_a_second_person_see_the_same(lane: Swimlane, server, new_context) -> None:
    lane.page.keyboard.press("w")
    lane.rest()
    lane.click(lane.visible_item(14))
    lane.page.select_option("#swim-depth", "2")
    lane.rest()
    state = "[T.s.win, T.s.y, T.s.selection.label, T.stats.bars, T.graph().data.length]"
    seen, address = lane.js(state), lane.page.url
    lane.page.reload()
    lane.rest()
    assert lane.js(state) == seen
    other = Swimlane(new_context().new_page())
    other.page.goto(address)
    other.rest()
    assert other.js(state) == seen
    other.key("0")
    lane.page.reload()
    lane.rest()
    assert lane.js(state) == seen


def test_highlight_dims_the_rest_and_removes_nothing(lane: Swimlane) -> None:
    before = lane.bars()
    lane.page.select_option("#swim-hl", "path:observed")
    lane.page.wait_for_function("() => window.swimscope.timeline.s.highlight")
    lane.rest()
    traces = lane.traces("bars")
    dim = sum(t["meta"]["n"] for t in traces if t["meta"]["dim"])
    bright = sum(t["meta"]["n"] for t in traces if not t["meta"]["dim"])
    assert dim == before
    assert 0 < bright < before
    assert lane.js("T.s.highlight.count") >= len(oracle(DEVICE)["observed"]["tasks"])
    assert lane.url()["hl"] == "path:observed"


def test_a_highlight_without_an_answer_says_why(page, server) -> None:
    page.goto(server.page("pa_hostgraph_a5_mid_nodeps_l4", "swimlane", "hl=chains"))
    page.wait_for_selector(":text('This cannot be highlighted')")
    lane = Swimlane(page)
    lane.rest()
    assert not any(t["meta"]["dim"] for t in lane.traces("bars"))


def test_both_themes_draw_in_their_colours(lane: Swimlane) -> None:
    colors = {}
    for theme in ("light", "dark"):
        set_theme(lane.page, theme)
        lane.rest()
        lane.page.wait_for_timeout(200)
        colors[theme] = lane.js("T.graph().layout.xaxis.tickfont.color")
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
        assert lane.js("T.s.height") > 200


def test_a_dense_place_says_what_it_stands_for(page, server) -> None:
    lane = Swimlane.open(page, server, "pa_huge_l4")
    assert not lane.js("T.stats.exact")
    assert " of " in page.locator("#swim-shown").inner_text()
    box = lane.overlay()
    x, y = lane.js(
        """(() => {
          const data = T.current().base.data;
          for (let x = 50; x < T.s.width; x++) for (let y = 6; y < 200; y += 14) if ((T.hit(x, y) || {}).kind === "density") return [x, y];
        })()"""
    )
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.wait_for_selector("#swim-tip:has-text('items in')")
    assert "busy" in page.locator("#swim-tip").inner_text()


def test_fast_zooming_never_queues_requests(page, server, guard) -> None:
    lane = Swimlane.open(page, server, "large")
    box = lane.overlay()
    before = len([url for url in guard.requests if "/window?" in url])
    page.mouse.move(box["x"] + 500, box["y"] + 60)
    page.keyboard.down("Control")
    for _ in range(25):
        page.mouse.wheel(0, -60)
    page.keyboard.up("Control")
    lane.rest()
    sent = len([url for url in guard.requests if "/window?" in url]) - before
    assert sent < 15
    assert lane.js("T.requests.maxInFlight") <= 2
    assert lane.js("T.requests.inFlight") == 0
