"""What leaves the swimlane: pictures that hold what is seen, CSV equal to the visible records, the Perfetto file."""

from __future__ import annotations

import csv
import io
import itertools
import json
import pathlib
import re

import pytest
from playwright.sync_api import expect

from analysis.formats import load
from tests.e2e.swimlane_page import DEVICE, Swimlane
from tests.shared_data import capture_dir, needs_shared

pytestmark = needs_shared


@pytest.fixture
def lane(page, server) -> Swimlane:
    return Swimlane.open(page, server, DEVICE, "t0=20000&t1=40000&mk=25000:red:first")


def open_menu(lane: Swimlane) -> None:
    lane.page.locator("#swim-export summary").click()
    expect(lane.page.locator("#swim-export")).to_have_attribute("open", "")


def expect_menu_closed(lane: Swimlane) -> None:
    expect(lane.page.locator("#swim-export")).not_to_have_attribute("open", "")


def saved(lane: Swimlane, kind: str) -> tuple[str, bytes]:
    open_menu(lane)
    with lane.page.expect_download() as waiting:
        lane.page.locator(f"#swim-export [data-export={kind}]").click()
    download = waiting.value
    return download.suggested_filename, pathlib.Path(download.path()).read_bytes()


def test_png_holds_the_picture(lane: Swimlane) -> None:
    name, data = saved(lane, "png")
    assert name.endswith(".png")
    assert data.startswith(b"\x89PNG")
    colors, width, height = lane.page.evaluate(
        """async bytes => {
          const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.width, image.height];
          const c = canvas.getContext("2d");
          c.drawImage(image, 0, 0);
          const pixels = new Uint32Array(c.getImageData(0, 0, image.width, image.height).data.buffer);
          const count = new Map();
          for (const p of pixels) count.set(p, (count.get(p) || 0) + 1);
          return [[...count.values()].filter(n => n > 500).length, image.width, image.height];
        }""",
        list(data),
    )
    assert colors > 8, "a picture of many functions has many colours"
    assert width > lane.look("width_px") * 2
    assert height > lane.look("height_px") * 2


def test_svg_has_title_axis_lanes_and_legend(lane: Swimlane) -> None:
    name, data = saved(lane, "svg")
    text = data.decode()
    assert name.endswith(".svg")
    words = set(re.findall(r">([^<>]+)<", text))
    assert any(DEVICE in word and "Worker view" in word for word in words)
    assert "time after capture zero" in words
    assert "AIC 0" in words
    assert "gate_proj" in words
    assert "first" in words
    assert "µs" in text


def test_csv_equals_the_visible_records(lane: Swimlane) -> None:
    _, data = saved(lane, "csv")
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    capture = load(capture_dir(DEVICE))
    low, high = lane.window()
    cores = {int(key.split(":")[1]) for key in lane.look("cores_on_screen")}
    records = capture.records
    expected = {
        f"r{i}"
        for i in range(len(records))
        if records.core_id[i] in cores and records.receive_ticks[i] < high and records.end_ticks[i] > low
    }
    assert {row["item"] for row in rows} == expected
    for row in rows[:50]:
        i = int(row["item"][1:])
        assert int(row["start_ticks"]) == records.start_ticks[i]
        assert int(row["end_ticks"]) == records.end_ticks[i]
        assert row["task_id"] == str(capture.tasks.task_id[records.task[i]])
        assert float(row["dispatch_us"]) == pytest.approx(
            records.dispatch_ticks[i] / capture.meta.ticks_per_us, abs=1e-3
        )


def test_perfetto_file_counts_every_record(lane: Swimlane) -> None:
    _, data = saved(lane, "trace")
    events = json.loads(data)["traceEvents"]
    capture = load(capture_dir(DEVICE))
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) >= 2 * len(capture.records) + len(capture.phases) + len(capture.orch)


def test_pass_dumps_of_the_run_open_their_page(lane: Swimlane) -> None:
    open_menu(lane)
    link = lane.page.locator("#swim-export .swim-path").first
    expect(link).to_contain_text("passes_dump")
    link.click()
    expect(lane.page).to_have_url(re.compile(r"/passes\?.*dump=passes_dump"))
    expect(lane.page.locator("#ir-list [aria-selected=true]")).to_be_visible()


def test_picture_has_room_for_title_axis_and_markers(lane: Swimlane) -> None:
    """No two of title, axis title, lanes, marker labels and legend cover each other, and none is cut off."""
    _, data = saved(lane, "svg")
    boxes = lane.page.evaluate(
        """text => {
          const holder = document.createElement("div");
          holder.style.cssText = "position:absolute;left:0;top:0";
          holder.innerHTML = text;
          document.body.append(holder);
          const box = name => { const b = holder.querySelector(name).getBoundingClientRect(); return [b.top, b.bottom]; };
          const found = { whole: box("svg"), title: box(".gtitle"), axis: box(".xtitle"), marker: box(".annotation-text"),
            legend: box(".legend .legendtext"), lanes: box(".ytick text") };
          holder.remove();
          return found;
        }""",
        data.decode(),
    )
    order = ["title", "axis", "lanes", "marker", "legend"]
    assert boxes["title"][0] >= boxes["whole"][0]
    assert boxes["legend"][1] <= boxes["whole"][1]
    for above, below in itertools.pairwise(order):
        assert boxes[above][1] <= boxes[below][0] + 1, (above, below, boxes)


def test_export_menu_closes_on_escape_and_elsewhere(lane: Swimlane) -> None:
    lane.page.locator("#swim-labels").click(position={"x": 4, "y": 4})
    open_menu(lane)
    lane.page.keyboard.press("Escape")
    expect_menu_closed(lane)
    expect(lane.page.locator("#swim-export summary")).to_be_focused()
    open_menu(lane)
    lane.page.locator("#swim-lane-count").click()
    expect_menu_closed(lane)


def test_markers_drawn_elsewhere_reach_the_overview(lane: Swimlane) -> None:
    """The strip above follows the URL's markers, whoever wrote them, and Back takes them out again."""
    ink = "overview_ink"
    share = "share_of_45000"
    at = lane.look(share)
    assert lane.look(ink, at) is False
    lane.look("add_late_marker")
    lane.expect(ink, True, at)
    lane.page.go_back()
    lane.check_url(mk="25000:red:first")
    lane.expect(ink, False, at)
