"""The trace page in a real browser: a made serving trace and host log by mouse and by keyboard alone, and the real traces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from analysis.synth.capture import write_capture
from analysis.synth.serving import serving_trace, strace_log
from tests.e2e import harness
from tests.e2e.harness import THEMES, VIEWPORTS, Server, open_page, wait_idle
from tests.e2e.test_pages import check_accessible, check_fits, draw_in
from tests.shared_data import SHARED, needs_shared


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over a run with a serving trace, counters, a flow and a host log, and the real traces where present."""
    root = tmp_path_factory.mktemp("traced")
    run = root / "serving"
    write_capture(run, 60, 1)
    trace, _ = serving_trace(6, 1)
    pid = trace["traceEvents"][-1]["pid"]
    trace["traceEvents"] += [
        {"ph": "C", "pid": pid, "name": "KV cache", "ts": at * 2_000, "args": {"used": at % 7, "free": 7 - at % 7}}
        for at in range(40)
    ]
    trace["traceEvents"] += [
        {
            "ph": "X",
            "pid": 99,
            "tid": 1,
            "name": "<i>send</i>",
            "ts": 1_000,
            "dur": 900,
            "args": {"deep": {"a": [1, 2]}},
        },
        {"ph": "X", "pid": 99, "tid": 2, "name": "receive", "ts": 3_000, "dur": 900},
        {"ph": "s", "pid": 99, "tid": 1, "name": "to", "id": 1, "ts": 1_100},
        {"ph": "f", "bp": "e", "pid": 99, "tid": 2, "name": "to", "id": 1, "ts": 3_100},
        {"ph": "X", "pid": 99, "tid": 1, "name": "bad", "ts": 5, "dur": -1},
    ]
    (run / "serving_trace.json").write_text(json.dumps(trace))
    (run / "host.41.log").write_bytes(strace_log(8, 1, torn=1)[0])
    roots = {"traced": root} | ({"traces": SHARED / "traces"} if (SHARED / "traces").is_dir() else {})
    with harness.serve(roots, tmp_path_factory.mktemp("server")) as running:
        yield running


def drawn(page: Page) -> Page:
    """The page once its lanes are drawn."""
    expect(page.locator("#trace-root[data-drawn]")).to_be_attached()
    wait_idle(page)
    return page


def roles(page: Page) -> list[str]:
    """What the figure of the lanes holds."""
    found: list[str] = page.evaluate(
        "document.querySelector('#trace-graph .js-plotly-plot').data.map((each) => each.meta.role)"
    )
    return found


def test_lanes_counters_flows_and_tables(page: Page, server: Server) -> None:
    drawn(open_page(page, server.page("serving", "trace", "trace=serving_trace.json&xtab=spans")))
    assert "moments" in roles(page)
    expect(page.locator("#trace-counters[data-drawn]")).to_be_attached()
    box = page.locator("#trace-search")
    box.fill("<i>send")
    expect(page.locator("#trace-search-count")).to_have_text("1")
    box.press("Enter")
    expect(page).to_have_url(re.compile(r"xsel=item:s\d+"))
    expect(page.locator("#trace-lines")).to_contain_text("0 flows in, 1 flows out · 1 line")
    page.wait_for_function(
        "document.querySelector('#trace-graph .js-plotly-plot').data.some((each) => each.meta.role === 'successors')"
    )
    details = page.locator("#trace-details")
    expect(details).to_contain_text("<i>send</i>")
    expect(details.locator("details")).to_have_count(2)
    details.get_by_role("button", name="receive").click()
    expect(details.locator("strong")).to_have_text("receive")
    page.go_back()
    expect(details.locator("strong")).to_have_text("<i>send</i>")
    row = page.locator("#trace-grid .ag-center-cols-container .ag-row", has_text="http.completions")
    row.click()
    expect(page).to_have_url(re.compile(r"xsel=span:"))
    expect(row).to_have_class(re.compile("row-selected"))
    row.dblclick()
    expect(page).to_have_url(re.compile(r"xitem=s\d+"))
    page.get_by_role("button", name="Thread", exact=True).click()
    expect(page.locator("#trace-grid .ag-center-cols-container")).to_contain_text("thread 1")
    page.get_by_role("tab", name="Requests").click()
    expect(page.locator("#trace-panel-body")).to_contain_text("left out of the distributions")
    expect(page.locator("#trace-grid .ag-center-cols-container .ag-row")).to_have_count(6)
    page.get_by_role("tab", name="Steps").click()
    expect(page.locator("#trace-step-plot .main-svg").first).to_be_visible()
    page.get_by_role("tab", name="Data quality").click()
    expect(page.locator(".trace-equation")).to_have_text(re.compile(r"events in = .* shown \+ 1 left out"))
    page.locator("#trace-choice").select_option("host-logs")
    drawn(page)
    page.get_by_role("tab", name="Rounds").click()
    expect(page.locator("#trace-grid .ag-center-cols-container .ag-row")).to_have_count(8)
    page.get_by_role("link", name="Swimlane").click()
    expect(page.locator("#swim-root[data-drawn]")).to_be_attached()
    wait_idle(page)


def test_keyboard_alone(page: Page, server: Server) -> None:
    open_page(page, server.page("serving", "swimlane"))
    page.keyboard.press("g")
    page.keyboard.press("t")
    drawn(page)
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        wait_idle(page)
    expect(page).to_have_url(re.compile(r"xitem=[si]\d+"))
    expect(page.locator("#trace-details strong")).to_be_visible()
    page.keyboard.press("w")
    expect(page).to_have_url(re.compile(r"xt0="))
    page.keyboard.press("m")
    expect(page.locator("#trace-markers .swim-flag")).to_have_count(1)
    page.keyboard.press("r")
    expect(page.locator("#trace-measure-body")).to_contain_text("spans")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.locator("#trace-panel")).to_have_attribute("data-state", "open")
    page.locator("#trace-tab-spans").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#trace-panel-body h2")).to_have_text("Requests")
    page.locator("#trace-plot").focus()
    page.keyboard.press("t")
    expect(page.locator("#trace-panel")).to_have_attribute("data-state", "closed")
    link = page.url
    fresh = page.context.new_page()
    drawn(open_page(fresh, link))
    expect(fresh.locator("#trace-markers .swim-flag")).to_have_count(1)


def test_themes_sizes_and_axe(page: Page, server: Server) -> None:
    drawn(open_page(page, server.page("serving", "trace", "trace=serving_trace.json&xtab=requests")))
    for size in VIEWPORTS.values():
        page.set_viewport_size(size)
        wait_idle(page)
        check_fits(page)
        for theme in THEMES:
            draw_in(page, theme)
            check_accessible(page)


@needs_shared
@pytest.mark.parametrize("name", ["serving-strace-swimlane.json", "merged_swimlane_feb2026.json"])
def test_real_traces(page: Page, server: Server, name: str) -> None:
    drawn(open_page(page, f"{server.url}/r/{server.keys['traces:.']}/trace?trace={name}&xtab=quality"))
    expect(page.locator(".trace-equation")).to_contain_text("+ 0 left out")
