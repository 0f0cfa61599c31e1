"""The swimlane's routes: answers, errors that name the key, files, and what the details callback shows."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from dash import Dash

from analysis.synth.capture import write_capture
from app.runs.library import run_key
from app.server.factory import create_app
from app.server.services import Services
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState
from app.swimlane import page
from app.swimlane.callbacks import details_of


@pytest.fixture(scope="module")
def client(app: Dash):
    return app.server.test_client()


@pytest.fixture(scope="module")
def key(services: Services) -> str:
    return next(row.key for row in services.library.runs() if row.path.startswith("attention"))


def ask(client, key: str, path: str, **query: object):
    return client.get(f"/api/timeline/{key}/{path}", query_string={name: str(value) for name, value in query.items()})


def test_asking_early_never_opens_what_takes_long(tmp_path: Path) -> None:
    write_capture(tmp_path / "root" / "c" / "dfx_outputs", 200, 1)
    settings = Settings(
        roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data", inline_open_max_bytes=10, facts_max_bytes=0
    )
    client = create_app(settings).server.test_client()
    address = f"/api/timeline/{run_key('r', 'c/dfx_outputs')}/info"
    assert client.get(f"{address}?early=1").status_code == 202
    assert client.get("/api/timeline/unknown/info?early=1").status_code == 202
    assert client.get(address).status_code == 200  # asked for by the page: opened here
    assert client.get(f"{address}?early=1").json["items"] >= 200


def test_info_then_window_agree(client, key: str, services: Services) -> None:
    info = ask(client, key, "info").get_json()
    assert info["items"] >= 240
    assert set(info["views"]) == {"worker", "scheduler", "phases", "orch"}
    low, high = info["span"]
    answer = ask(client, key, "window", t0=low, t1=high + 1, px=1200)
    assert answer.status_code == 200
    size = struct.unpack("<I", answer.data[:4])[0]
    header = json.loads(answer.data[4 : 4 + size])
    assert header["n_total"] == info["items"]
    assert header["tracks"] == list(range(sum(lane["rows"] for lane in info["lanes"])))
    part = ask(client, key, "window", t0=low, t1=high + 1, px=1200, tracks="0-1,3")
    size = struct.unpack("<I", part.data[:4])[0]
    assert json.loads(part.data[4 : 4 + size])["tracks"] == [0, 1, 3]


@pytest.mark.parametrize(
    ("path", "query", "word"),
    [
        ("window", {"t0": 5, "t1": 5, "px": 10}, "t1"), ("window", {"t0": "x", "t1": 5, "px": 10}, "t0"),
        ("window", {"t0": 0, "t1": 5, "px": 0}, "px"), ("window", {"t0": 0, "t1": 5, "px": "inf"}, "px"),
        ("window", {"t0": 0, "t1": 10**9, "px": 9_000_000}, "screen"),
        ("window", {"t0": 0, "t1": 10**30, "px": 5}, "t1"),
        ("window", {"t0": 0, "t1": 5, "px": 5, "tracks": "a-b"}, "tracks"), ("item", {"item": "zz"}, "item"),
        ("info", {"launch": "-1"}, "launch"),
        ("window", {"t0": 0, "t1": 5, "px": "1e-320"}, "px"), ("info", {"launch": "9" * 5000}, "launch"),
        ("near", {"t": 0, "tracks": "9" * 5000}, "tracks"), ("item", {"item": "r" + "9" * 5000}, "item"),
        ("cell", {"track": 10**6, "t0": 0, "t1": 5}, "track"),
    ],
)  # fmt: skip
def test_a_bad_key_is_named(client, key: str, path: str, query: dict[str, object], word: str) -> None:
    answer = ask(client, key, path, **query)
    assert answer.status_code == 422
    assert word in answer.get_json()["error"]


def test_the_widest_window_is_answered(client, key: str) -> None:
    answer = ask(client, key, "window", t0=-(2**62), t1=2**62, px=1)
    size = struct.unpack("<I", answer.data[:4])[0]
    assert json.loads(answer.data[4 : 4 + size])["n_total"] == ask(client, key, "info").get_json()["items"]


def test_unknown_runs_and_tasks_are_404(client, key: str) -> None:
    assert ask(client, "0000000000000000", "info").status_code == 404
    assert ask(client, key, "lead", task="12345678901").status_code == 404
    assert ask(client, key, "lead", task="9" * 5000).status_code == 404


def test_item_search_select_and_steps(client, key: str) -> None:
    item = ask(client, key, "item", item="r3").get_json()
    assert item["found"]
    found = ask(client, key, "search", q=item["label"], at=0).get_json()
    assert found["count"] >= 1
    selected = ask(client, key, "select", sel=f"task:{item['task_id']}", depth=1).get_json()
    assert selected["bounds"][0] <= item["start"] <= item["end"] <= selected["bounds"][1]
    assert any(row[4] == "r3" for row in selected["items"])
    following = ask(client, key, "item", item="r3", step="next").get_json()
    back = ask(client, key, "item", item=following["item"], step="prev").get_json()
    assert back["item"] == "r3"
    assert ask(client, key, "item", item="r999999").get_json() == {"found": False}
    assert "no task" in ask(client, key, "select", sel="task:999999999").get_json()["reason"]


def test_highlight_window_holds_only_its_items(client, key: str) -> None:
    item = ask(client, key, "item", item="r3").get_json()
    info = ask(client, key, "info").get_json()
    query = {"t0": info["span"][0], "t1": info["span"][1] + 1, "px": 1200, "hl": f"task:{item['task_id']}"}
    answer = ask(client, key, "window", **query)
    size = struct.unpack("<I", answer.data[:4])[0]
    selected = ask(client, key, "select", sel=f"task:{item['task_id']}").get_json()
    assert json.loads(answer.data[4 : 4 + size])["n_total"] == selected["n_total"]
    marks = ask(client, key, "marks", hl=f"task:{item['task_id']}").get_json()
    assert marks["count"] == selected["n_total"]


def test_range_and_files(client, key: str) -> None:
    info = ask(client, key, "info").get_json()
    low, high = info["span"]
    found = ask(client, key, "range", t0=low, t1=high).get_json()
    assert found["records"] == 240
    table = ask(client, key, "visible.csv", t0=low, t1=high + 1)
    assert table.data.decode().count("\n") == info["items"] + 1
    assert "attachment" in table.headers["Content-Disposition"]
    trace = json.loads(ask(client, key, "trace.json").data)
    assert len(trace["traceEvents"]) > 240


def test_views_without_data_have_no_items_and_a_reason(client, services: Services) -> None:
    key = next(row.key for row in services.library.runs() if row.path.startswith("level_1"))
    info = ask(client, key, "info", view="scheduler").get_json()
    assert info["items"] == 0
    assert "level 2" in info["views"]["scheduler"]
    assert ask(client, key, "search", q="x", view="scheduler").get_json()["count"] == 0


def texts(component: object) -> str:
    return json.dumps(component, default=lambda value: value.to_plotly_json())


def test_details_show_record_task_and_links(client, key: str, services: Services) -> None:
    capture = services.library.capture(key)
    item = ask(client, key, "item", item="r3").get_json()
    focus = {"run": key, "sel": f"task:{item['task_id']}", "item": "r3", "view": "worker", "launch": 0}
    shown = texts(details_of(services, capture, focus))
    for word in (item["name"], item["task_id"], "Latency", "Fan-in", f"/r/{key}/graph"):
        assert word in shown
    other = ask(client, key, "item", item="r200").get_json()
    assert other["task_id"] != item["task_id"]
    moved = texts(details_of(services, capture, focus | {"sel": f"task:{other['task_id']}"}))
    assert other["task_id"] in moved
    assert f'"{item["task_id"]}"' not in moved
    without = texts(details_of(services, capture, focus | {"item": ""}))
    assert "Fan-out" in without
    nothing = texts(details_of(services, capture, focus | {"item": "", "sel": ""}))
    assert "Select a record" in nothing


def test_the_page_builds_and_its_ids_are_unique(services: Services, key: str) -> None:
    made = texts(page.layout(services, ViewState(), key))
    ids = [part.split('"')[1] for part in made.split('"id": ')[1:]]
    assert len(ids) == len(set(ids))
    assert "swimlane-side" in ids
