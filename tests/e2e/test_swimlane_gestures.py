"""Markers, measuring, pins, hidden lanes, filters, menus, keys and long links on a real capture."""

from __future__ import annotations

import pytest

from tests.e2e.swimlane_page import DEVICE, Swimlane
from tests.shared_data import needs_shared

pytestmark = needs_shared


@pytest.fixture
def lane(page, server) -> Swimlane:
    return Swimlane.open(page, server, DEVICE, "t0=20000&t1=40000")


def strip(lane: Swimlane) -> dict[str, float]:
    box = lane.page.locator("#swim-markers").bounding_box()
    assert box
    return dict(box)


def test_markers_are_added_labelled_coloured_dragged_and_deleted(lane: Swimlane) -> None:
    page, box = lane.page, strip(lane)
    for share in (0.25, 0.75):
        page.mouse.click(box["x"] + box["width"] * share, box["y"] + 10)
    lane.rest()
    ticks = lane.js("T.markers().map(m => m.tick)")
    assert ticks == pytest.approx([25_000, 35_000], abs=40)
    assert len(lane.shapes("marker")) == 2
    assert lane.shapes("marker")[0]["x0"] == pytest.approx(lane.js("T.us(a)", ticks[0]))
    difference = page.locator(".swim-diff").inner_text()
    assert lane.js("T.format(T.us(a))", ticks[1] - ticks[0]) in difference

    page.locator(".swim-flag").first.click()
    page.fill("#swim-marker-label", "wave, 100 %")
    page.press("#swim-marker-label", "Enter")
    page.locator(".swim-flag").first.click()
    assert f"{ticks[0]:,}" in page.locator("#swim-marker-time").inner_text()
    page.select_option("#swim-marker-color", "red")
    page.click("#swim-marker-close")
    lane.rest()
    assert lane.js("T.markers()[0]") == {"tick": ticks[0], "color": "red", "label": "wave, 100 %"}
    assert page.locator(".swim-flag").first.inner_text() == "wave, 100 %"
    page.reload()
    lane.rest()
    assert lane.js("T.markers()[0].label") == "wave, 100 %"

    flag = page.locator(".swim-flag").first.bounding_box()
    assert flag
    page.mouse.move(flag["x"] + 5, flag["y"] + 8)
    page.mouse.down()
    page.mouse.move(flag["x"] + 105, flag["y"] + 8, steps=5)
    page.mouse.up()
    lane.rest()
    assert lane.js("T.markers()[0].tick") > ticks[0] + 1_000

    page.locator(".swim-flag").first.click()
    page.click("#swim-marker-delete")
    lane.rest()
    assert lane.js("T.markers().map(m => m.tick)") == [ticks[1]]
    assert len(lane.shapes("marker")) == 1


def test_alt_drag_measures_and_snaps_to_record_edges(lane: Swimlane) -> None:
    page = lane.page
    item = lane.visible_item(40)
    facts = page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    x, y = lane.place(item)
    half = lane.js("(T.xAt(a.end) - T.xAt(a.start)) / 2", facts)
    page.keyboard.down("Alt")
    page.mouse.move(x - half + 3, y)
    page.mouse.down()
    page.mouse.move(x, y, steps=3)
    page.mouse.move(x + half - 3, y, steps=3)
    assert page.locator("#swim-measuring").is_visible()
    page.mouse.up()
    page.keyboard.up("Alt")
    lane.rest()
    assert lane.url()["mz"] == f"{facts['start']}:{facts['end']}"
    length = lane.js("T.format(T.us(a))", facts["end"] - facts["start"])
    assert page.locator("#swim-measure-length").inner_text() == length
    page.wait_for_function("() => /records/.test(document.getElementById('swim-measure-body').textContent)")
    card = page.locator("#swim-measure").inner_text()
    for word in ("AIC", "AIV", "Busy", facts["name"][:8]):
        assert word in card
    expected = page.evaluate("a => window.swimscope.timeline.json('range', { t0: a.start, t1: a.end })", facts)
    assert f"{expected['records']:,} records" in card
    assert len(lane.shapes("measure")) == 1
    page.click("#swim-measure-close")
    lane.rest()
    assert "mz" not in lane.url()
    assert not lane.shapes("measure")


def test_pin_stays_on_top_while_scrolling_and_hide_removes(lane: Swimlane) -> None:
    page, box = lane.page, lane.overlay()
    label = page.locator(".swim-label", has_text="AIC 5").first
    label.hover()
    label.locator("button[data-action=pin]").click()
    lane.rest()
    assert lane.url()["pin"] == "core:5"
    assert lane.js("T.s.rows[0].lane.key") == "core:5"
    page.mouse.move(box["x"] + 300, box["y"] + 100)
    page.mouse.wheel(0, 600)
    lane.rest()
    assert lane.js("T.s.y") > 0
    top = lane.js("T.trackBox(T.s.rows[0].lane.track)")
    assert top["top"] < 5
    hidden = lane.js("T.s.scrollRows[T.topRow() + 3].lane.key")
    row = page.locator(f".swim-label[data-lane='{hidden}']")
    row.hover()
    row.locator("button[data-action=hide]").click()
    lane.rest()
    assert lane.url()["hide"] == hidden
    assert hidden not in lane.js("T.s.rows.map(r => r.lane.key)")
    assert "of 73 lanes" in page.locator("#swim-lane-count").inner_text()
    page.click("#swim-unhide")
    lane.rest()
    assert hidden in lane.js("T.s.rows.map(r => r.lane.key)")
    page.locator(".swim-label.pinned").locator("button[data-action=pin]").click()
    lane.rest()
    assert "pin" not in lane.url()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("aiv", "l => l.group === 'AIV'"), ("3-5", "l => l.number >= 3 && l.number <= 5"),
     ("fa_fused_aiv", "l => l.classes.some(c => T.s.info.classes[c].name.includes('fa_fused_aiv'))")],
)  # fmt: skip
def test_lane_filter_by_type_number_and_function(lane: Swimlane, text: str, expected: str) -> None:
    lane.page.fill("#swim-filter", text)
    lane.page.wait_for_function("() => location.search.includes('lanes=')")
    lane.rest()
    shown = lane.js("T.s.rows.map(r => r.lane.key)")
    assert shown == lane.js(f"T.s.info.lanes.filter({expected}).map(l => l.key)")
    assert 0 < len(shown) < 73
    assert lane.url()["lanes"] == text


def menu(lane: Swimlane, item: str, text: str) -> None:
    lane.page.mouse.click(*lane.place(item), button="right")
    lane.page.wait_for_selector("#swim-menu:not([hidden])")
    lane.page.locator("#swim-menu button", has_text=text).click()
    lane.rest()


def test_menu_marks_start_end_and_outer_bounds(lane: Swimlane) -> None:
    item = lane.visible_item(30)
    facts = lane.page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    menu(lane, item, "Mark start and end")
    assert lane.js("T.markers().map(m => m.tick)") == [facts["middle"], facts["end"]]
    assert facts["label"] in lane.js("T.markers()[0].label")
    bounds = lane.page.evaluate(
        "id => window.swimscope.timeline.json('select', { sel: 'task:' + id, depth: '0' }).then(f => f.bounds)",
        facts["task_id"],
    )
    menu(lane, item, "Mark the outer bounds")
    assert {*bounds} <= {*lane.js("T.markers().map(m => m.tick)")}
    assert len(lane.js("T.markers()")) == 4


def test_menu_selects_sides_function_and_copies_the_id(lane: Swimlane) -> None:
    lane.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    item = lane.visible_item(30)
    facts = lane.page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    menu(lane, item, "Select predecessors")
    assert (lane.url()["sel"], lane.url()["deps"]) == (f"task:{facts['task_id']}", "pred")
    menu(lane, item, "Select successors")
    assert lane.url()["deps"] == "succ"
    menu(lane, item, "Highlight function")
    assert lane.url()["hl"].startswith("func:")
    assert lane.js("T.s.highlight.count") > 0
    menu(lane, item, "Copy task id")
    assert lane.page.evaluate("() => navigator.clipboard.readText()") == facts["task_id"]


def test_menu_leads_to_the_graph_and_the_function(lane: Swimlane) -> None:
    item = lane.visible_item(30)
    facts = lane.page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    lane.page.mouse.click(*lane.place(item), button="right")
    lane.page.locator("#swim-menu button", has_text="Show in graph").click()
    lane.page.wait_for_url("**/graph?**")
    assert lane.url()["sel"] == f"task:{facts['task_id']}"
    lane.page.go_back()
    lane.page.wait_for_url("**/swimlane?**")
    lane.rest()
    assert lane.js("T.stats.bars") > 0


def test_menu_draws_the_maximum_lead_in_the_scheduler_view(page, server) -> None:
    lane = Swimlane.open(page, server, "early_dispatch_on_a5_l4")
    item = page.evaluate(
        """async () => {
          const T = window.swimscope.timeline;
          for (let n = 0; n < 100; n++) {
            const item = await T.json("item", { item: "r" + n });
            if (!item.found) return null;
            const lead = await T.json("lead", { task: item.task_id });
            if (lead.available) return { ...item, lead };
          }
        }"""
    )
    assert item
    page.evaluate(
        "item => window.swimscope.timeline.openMenu({ left: 300, top: 300, tick: item.middle, track: item.track }, item)",
        item,
    )
    page.locator("#swim-menu button", has_text="Draw maximum lead").click()
    lane.rest()
    assert lane.url()["view"] == "scheduler"
    lead = item["lead"]
    assert lane.js("T.markers().map(m => m.tick)") == sorted([lead["dispatch"], lead["last_fin"]])


def test_keyboard_alone_steps_records_lanes_menu_and_marker(lane: Swimlane) -> None:
    page = lane.page
    page.locator("#swim-plot").focus()
    lane.key("ArrowRight")
    first = lane.url()["item"]
    spoken = page.locator("#swim-live").inner_text()
    assert "AIC 0" in spoken
    lane.key("ArrowRight")
    second = lane.url()["item"]
    assert second != first
    lane.key("ArrowLeft")
    assert lane.url()["item"] == first
    lane.key("ArrowDown")
    assert "AIC 1" in page.locator("#swim-live").inner_text()
    lane.key("m")
    assert len(lane.js("T.markers()")) == 1
    lane.key("p")
    assert lane.url()["pin"] == "core:1"
    page.keyboard.press("Shift+F10")
    page.wait_for_selector("#swim-menu:not([hidden])")
    assert page.evaluate("() => document.activeElement.textContent") == "Details"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("() => document.activeElement.textContent") == "Zoom to it"
    page.keyboard.press("Escape")
    assert page.locator("#swim-menu").is_hidden()
    assert page.evaluate("() => document.activeElement.id") == "swim-plot"
    lane.key("Escape")
    assert "sel" not in lane.url()


def test_keys_can_be_rebound_switched_off_and_restored(lane: Swimlane) -> None:
    page = lane.page
    page.click("#swim-keys-open")
    row = page.locator(".swim-key-row", has_text="Zoom in at the pointer").locator("button")
    row.click()
    page.keyboard.press("i")
    page.locator(".swim-key-row", has_text="Zoom out at the pointer").locator("button").click()
    page.keyboard.press("Delete")
    page.click("#swim-keys-close")
    page.locator("#swim-plot").focus()
    before = lane.window()
    lane.key("w")
    lane.key("s")
    assert lane.window() == before
    lane.key("i")
    assert lane.window()[1] - lane.window()[0] < before[1] - before[0]
    page.reload()
    lane.rest()
    page.keyboard.press("?")
    sheet = page.locator("#keys-page").inner_text()
    assert "Zoom in at the pointer" in sheet
    assert "Zoom out at the pointer" not in sheet
    page.keyboard.press("Escape")
    page.click("#swim-keys-open")
    page.click("#swim-keys-reset")
    page.click("#swim-keys-close")
    assert page.evaluate("() => localStorage.getItem('swimscope.swimlane.keys')") is None


def test_a_link_with_everything_restores_exactly_even_when_it_is_stored(page, server, new_context) -> None:
    markers = ",".join(
        f"{20_000 + 900 * n}:{('blue', 'red', 'green', 'amber')[n % 4]}:{'label ' * 14}{n}" for n in range(20)
    )
    pins = ",".join(f"core:{n}" for n in range(8))
    lane = Swimlane.open(page, server, DEVICE, "t0=20000&t1=40000")
    item = lane.visible_item(20)
    facts = page.evaluate("item => window.swimscope.timeline.json('item', { item })", item)
    page.evaluate(
        "patch => window.swimscope.url.set(patch, { push: true })",
        {
            "mk": markers,
            "pin": pins,
            "mz": "21000:23000",
            "hl": "path:observed",
            "sel": f"task:{facts['task_id']}",
            "item": item,
        },
    )
    page.wait_for_function("() => location.search.includes('s=')")
    lane.rest()
    assert len(page.url) < 2_000
    state = "[T.s.win, T.markers(), T.list('pin'), T.range(), T.s.highlight.hl, T.s.highlight.count, T.s.selection.label, T.s.url.item, T.graph().layout.shapes.length]"
    seen = lane.js(state)
    assert len(seen[1]) == 20
    assert len(seen[2]) == 8
    other = Swimlane(new_context().new_page())
    other.page.goto(page.url)
    other.page.wait_for_function(
        "() => { const T = window.swimscope.timeline; return T.s && T.s.highlight && T.s.selection; }"
    )
    other.rest()
    assert other.js(state) == seen


@pytest.mark.parametrize("measured", ["-9223372036854775807:9223372036854775807", "900:100", "7:7"])
def test_a_measured_range_that_cannot_be_is_said_and_not_asked_for(page, server, measured: str) -> None:
    lane = Swimlane.open(page, server, DEVICE, f"mz={measured}")
    assert lane.js("T.range()") is None
    assert "START before END" in page.locator(".notice").inner_text()
