"""Markers, measuring, pins, hidden lanes, filters, menus, keys and long links on a real capture."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.swimlane_page import DEVICE, Swimlane
from tests.shared_data import needs_shared
from tests.waiting import until

pytestmark = needs_shared


@pytest.fixture
def lane(page, server) -> Swimlane:
    return Swimlane.open(page, server, DEVICE, "t0=20000&t1=40000")


def strip(lane: Swimlane) -> dict[str, float]:
    box = lane.page.locator("#swim-markers").bounding_box()
    assert box
    return dict(box)


def edit_first_marker(lane: Swimlane) -> None:
    lane.page.locator(".swim-flag").first.click()
    expect(lane.page.locator("#swim-marker-edit")).to_be_visible()


def test_markers_are_added_labelled_coloured_dragged_and_deleted(lane: Swimlane) -> None:
    page, box = lane.page, strip(lane)
    for number, share in enumerate((0.25, 0.75), start=1):
        page.mouse.click(box["x"] + box["width"] * share, box["y"] + 10)
        expect(page.locator(".swim-flag")).to_have_count(number)
    lane.rest()
    ticks = lane.look("marker_ticks")
    assert ticks == pytest.approx([25_000, 35_000], abs=40)
    assert len(lane.shapes("marker")) == 2
    assert lane.shapes("marker")[0]["x0"] == pytest.approx(lane.look("us_of", ticks[0]))
    expect(page.locator(".swim-diff")).to_contain_text(lane.look("time_text", ticks[1] - ticks[0]))

    edit_first_marker(lane)
    page.fill("#swim-marker-label", "wave, 100 %")
    page.press("#swim-marker-label", "Enter")
    expect(page.locator("#swim-marker-edit")).to_be_hidden()
    edit_first_marker(lane)
    expect(page.locator("#swim-marker-time")).to_contain_text(f"{ticks[0]:,}")
    page.select_option("#swim-marker-color", "red")
    page.click("#swim-marker-close")
    expect(page.locator("#swim-marker-edit")).to_be_hidden()
    lane.rest()
    assert lane.look("first_marker") == {"tick": ticks[0], "color": "red", "label": "wave, 100 %"}
    expect(page.locator(".swim-flag").first).to_have_text("wave, 100 %")
    lane.reload()
    assert lane.look("first_marker_label") == "wave, 100 %"

    flag = page.locator(".swim-flag").first.bounding_box()
    assert flag
    lane.drag((flag["x"] + 5, flag["y"] + 8), (100, 0))
    assert lane.look("first_marker_tick") > ticks[0] + 1_000

    edit_first_marker(lane)
    page.click("#swim-marker-delete")
    lane.expect("marker_ticks", [ticks[1]])
    lane.rest()
    assert len(lane.shapes("marker")) == 1


def test_alt_drag_measures_and_snaps_to_record_edges(lane: Swimlane) -> None:
    page = lane.page
    item = lane.visible_item(40)
    facts = lane.facts(item)
    x, y = lane.place(item)
    half = lane.look("half_width_px", facts)
    page.keyboard.down("Alt")
    page.mouse.move(x - half + 3, y)
    page.mouse.down()
    page.mouse.move(x, y, steps=3)
    page.mouse.move(x + half - 3, y, steps=3)
    expect(page.locator("#swim-measuring")).to_be_visible()
    page.mouse.up()
    page.keyboard.up("Alt")
    lane.rest()
    lane.check_url(mz=f"{facts['start']}:{facts['end']}")
    length = lane.look("time_text", facts["end"] - facts["start"])
    expect(page.locator("#swim-measure-length")).to_have_text(length)
    expected = lane.look("range_answer", facts)
    for text in (f"{expected['records']:,} records", "AIC", "AIV", "Busy", facts["name"][:8]):
        expect(page.locator("#swim-measure")).to_contain_text(text)
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
    assert lane.look("first_lane") == "core:5"
    page.mouse.move(box["x"] + 300, box["y"] + 100)
    page.mouse.wheel(0, 600)
    lane.rest()
    assert lane.look("scrolled_px") > 0
    top = lane.look("first_lane_box")
    assert top["top"] < 5
    hidden = lane.look("fourth_lane")
    row = page.locator(f".swim-label[data-lane='{hidden}']")
    row.hover()
    row.locator("button[data-action=hide]").click()
    lane.rest()
    assert lane.url()["hide"] == hidden
    assert hidden not in lane.look("lane_keys")
    expect(page.locator("#swim-lane-count")).to_contain_text("of 73 lanes")
    page.click("#swim-unhide")
    lane.rest()
    assert hidden in lane.look("lane_keys")
    page.locator(".swim-label.pinned").locator("button[data-action=pin]").click()
    lane.rest()
    assert "pin" not in lane.url()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("aiv", "aiv_lanes"), ("3-5", "lanes_3_to_5"),
     ("fa_fused_aiv", "lanes_of_fa_fused_aiv")],
)  # fmt: skip
def test_lane_filter_by_type_number_and_function(lane: Swimlane, text: str, expected: str) -> None:
    lane.page.fill("#swim-filter", text)
    lane.check_url(lanes=text)
    lane.rest()
    shown = lane.look("lane_keys")
    assert shown == lane.look(expected)
    assert 0 < len(shown) < 73


def entry(lane: Swimlane, item: str, text: str) -> Locator:
    """An entry of the menu that a right click on a record opens."""
    lane.page.mouse.click(*lane.place(item), button="right")
    return lane.page.locator("#swim-menu:not([hidden]) button", has_text=text)


def menu(lane: Swimlane, item: str, text: str) -> None:
    entry(lane, item, text).click()
    expect(lane.page.locator("#swim-menu")).to_be_hidden()
    lane.rest()


def test_menu_marks_start_end_and_outer_bounds(lane: Swimlane) -> None:
    item = lane.visible_item(30)
    facts = lane.facts(item)
    menu(lane, item, "Mark start and end")
    assert lane.look("marker_ticks") == [facts["middle"], facts["end"]]
    assert facts["label"] in lane.look("first_marker_label")
    bounds = lane.look("select_answer", facts["task_id"])["bounds"]
    menu(lane, item, "Mark the outer bounds")
    assert {*bounds} <= {*lane.look("marker_ticks")}
    assert len(lane.look("markers")) == 4


def test_menu_selects_sides_function_and_copies_the_id(lane: Swimlane) -> None:
    lane.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    item = lane.visible_item(30)
    facts = lane.facts(item)
    menu(lane, item, "Select predecessors")
    assert (lane.url()["sel"], lane.url()["deps"]) == (f"task:{facts['task_id']}", "pred")
    menu(lane, item, "Select successors")
    assert lane.url()["deps"] == "succ"
    menu(lane, item, "Highlight function")
    assert lane.url()["hl"].startswith("func:")
    assert lane.look("highlight_count") > 0
    menu(lane, item, "Copy task id")
    lane.expect("clipboard", facts["task_id"])


def test_menu_leads_to_the_graph_and_the_function(lane: Swimlane) -> None:
    item = lane.visible_item(30)
    facts = lane.facts(item)
    entry(lane, item, "Show in graph").click()
    lane.page.wait_for_url("**/graph?**")
    lane.check_url(sel=f"task:{facts['task_id']}")
    expect(lane.page.locator("#swim-root")).to_have_count(0)
    lane.page.go_back()
    lane.page.wait_for_url("**/swimlane?**")
    lane.rest()
    assert lane.look("drawn_bars") > 0


def test_menu_draws_the_maximum_lead_in_the_scheduler_view(page, server) -> None:
    lane = Swimlane.open(page, server, "early_dispatch_on_a5_l4")
    item = lane.look("item_with_lead")
    assert item
    lane.look("open_menu", item)
    page.locator("#swim-menu button", has_text="Draw maximum lead").click()
    lane.rest()
    assert lane.url()["view"] == "scheduler"
    lead = item["lead"]
    assert lane.look("marker_ticks") == sorted([lead["dispatch"], lead["last_fin"]])


def test_keyboard_alone_steps_records_lanes_menu_and_marker(lane: Swimlane) -> None:
    page = lane.page
    page.locator("#swim-plot").focus()
    lane.key("ArrowRight")
    first = lane.url()["item"]
    expect(lane.spoken).to_contain_text("AIC 0")
    lane.key("ArrowRight")
    second = lane.url()["item"]
    assert second != first
    lane.key("ArrowLeft")
    assert lane.url()["item"] == first
    lane.key("ArrowDown")
    expect(lane.spoken).to_contain_text("AIC 1")
    lane.key("m")
    assert len(lane.look("markers")) == 1
    lane.key("p")
    assert lane.url()["pin"] == "core:1"
    page.keyboard.press("Shift+F10")
    expect(page.locator("#swim-menu button:focus")).to_have_text("Details")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#swim-menu button:focus")).to_have_text("Zoom to it")
    page.keyboard.press("Escape")
    expect(page.locator("#swim-menu")).to_be_hidden()
    expect(page.locator("#swim-plot")).to_be_focused()
    lane.key("Escape")
    assert "sel" not in lane.url()


def rebind(lane: Swimlane, action: str, key: str, shown: str) -> None:
    """Press ``key`` as the new key of an action; its button then shows ``shown``."""
    button = lane.page.locator(".swim-key-row", has_text=action).locator("button")
    button.click()
    expect(button).to_have_text("press a key…")
    lane.page.keyboard.press(key)
    expect(button).to_have_text(shown)


def test_keys_can_be_rebound_switched_off_and_restored(lane: Swimlane) -> None:
    page = lane.page
    page.click("#swim-keys-open")
    rebind(lane, "Zoom in at the pointer", "i", "i")
    rebind(lane, "Zoom out at the pointer", "Delete", "off")
    page.click("#swim-keys-close")
    expect(page.locator("#swim-keys")).to_be_hidden()
    page.locator("#swim-plot").focus()
    before = lane.window()
    lane.key("w")
    lane.key("s")
    assert lane.window() == before
    lane.key("i")
    assert lane.window()[1] - lane.window()[0] < before[1] - before[0]
    lane.reload()
    page.keyboard.press("?")
    expect(page.locator("#keys-page")).to_contain_text("Zoom in at the pointer")
    expect(page.locator("#keys-page")).not_to_contain_text("Zoom out at the pointer")
    page.keyboard.press("Escape")
    expect(page.locator("#keys-sheet")).to_be_hidden()
    page.click("#swim-keys-open")
    page.click("#swim-keys-reset")
    page.click("#swim-keys-close")
    lane.expect("stored_keys", None)


def test_a_link_with_everything_restores_exactly_even_when_it_is_stored(page, server, new_context) -> None:
    markers = ",".join(
        f"{20_000 + 900 * n}:{('blue', 'red', 'green', 'amber')[n % 4]}:{'label ' * 14}{n}" for n in range(20)
    )
    pins = ",".join(f"core:{n}" for n in range(8))
    lane = Swimlane.open(page, server, DEVICE, "t0=20000&t1=40000")
    item = lane.visible_item(20)
    facts = lane.facts(item)
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
    until(lane.url, lambda now: "s" in now)
    lane.rest()
    address = lane.look("address")
    assert len(address) < 2_000
    state = "everything"
    seen = lane.look(state)
    assert len(seen[1]) == 20
    assert len(seen[2]) == 8
    other = Swimlane.follow(new_context().new_page(), address)
    other.expect("has_answers", True)
    assert other.look(state) == seen


@pytest.mark.parametrize("measured", ["-9223372036854775807:9223372036854775807", "900:100", "7:7"])
def test_a_measured_range_that_cannot_be_is_said_and_not_asked_for(page, server, measured: str) -> None:
    lane = Swimlane.open(page, server, DEVICE, f"mz={measured}")
    assert lane.look("measured") is None
    expect(page.locator(".notice")).to_contain_text("START before END")
