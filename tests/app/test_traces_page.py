"""The trace page: what it offers, what its routes answer against a slow count of the file, its panel, its URL keys."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.errors import NotFoundError
from analysis.synth.capture import write_capture
from analysis.synth.serving import as_bytes, serving_trace, strace_log
from analysis.traces.build import open_trace
from analysis.traces.kept import load, ready
from analysis.traces.sources import HOST, TraceSource, host_files, named
from analysis.traces.timeline import build_trace_index, moments, with_moments
from app.server.factory import create_app
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState, decode
from app.traces import page, panel
from app.traces.callbacks import details_of
from app.traces.opened import chosen, opened
from tests.app.conftest import key_of, services_of
from tests.shared_data import SHARED

EVENTS: list[dict[str, Any]] = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "<b>server</b>"}},
    {
        "ph": "X",
        "name": "outer",
        "cat": "c",
        "pid": 1,
        "tid": 1,
        "ts": 10,
        "dur": 100,
        "args": {"n": {"deep": [1, {"x": 2}]}},
    },
    {"ph": "X", "name": "inner", "pid": 1, "tid": 1, "ts": 20, "dur": 30, "args": {"text": '{"a": 1}'}},
    {"ph": "i", "name": "tick", "pid": 1, "tid": 1, "ts": 45, "s": "t"},
    {"ph": "X", "name": "inner", "pid": 2, "tid": 7, "ts": 200, "dur": 5},
    {"ph": "s", "name": "f", "id": 1, "pid": 1, "tid": 1, "ts": 25},
    {"ph": "f", "bp": "e", "name": "f", "id": 1, "pid": 2, "tid": 7, "ts": 201},
    {"ph": "C", "name": "load", "pid": 1, "ts": 10, "args": {"a": 1, "b": 2}},
    {"ph": "C", "name": "load", "pid": 1, "ts": 90, "args": {"a": 3, "b": 0}},
    {"ph": "X", "name": "bad", "pid": 1, "tid": 1, "ts": 5, "dur": -3},
]


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An application over runs with traces, host logs, both, and neither."""
    root = tmp_path_factory.mktemp("traced")
    small = root / "small"
    write_capture(small, 40, 1)
    (small / "a_trace.json").write_text(json.dumps(EVENTS))
    (small / "b_trace.json.gz").write_bytes(gzip.compress(as_bytes(serving_trace(5, 1)[0])))
    (small / "host.41.log").write_bytes(strace_log(6, 2, torn=1, dropped=2)[0])
    alone = root / "host_alone"
    alone.mkdir()
    (alone / "host.42.log").write_bytes(strace_log(4, 3)[0])
    write_capture(root / "plain", 40, 2)
    settings = Settings(roots=(Root("runs", root),), data_dir=tmp_path_factory.mktemp("data"), scan_interval_s=0.2)
    made = create_app(settings)
    services_of(made).library.scan_once()
    return made


@pytest.fixture
def ask(traced: Any) -> Any:
    """Ask a route of the small run's small trace."""
    services = services_of(traced)

    def get(path: str, **query: Any) -> Any:
        given = {"trace": "a_trace.json"} | {key: str(value) for key, value in query.items()}
        return traced.server.test_client().get(f"/api/trace/{key_of(services, 'small')}/{path}", query_string=given)

    return get


def test_offers_traces_and_host_logs(traced: Any) -> None:
    services = services_of(traced)
    run = services.library.run(key_of(services, "small"))
    names = {chosen(run, name).name for name in ("a_trace.json", "b_trace.json.gz", HOST)}
    assert names == {"a_trace.json", "b_trace.json.gz", HOST}
    assert page.offered(services, key_of(services, "host_alone"))
    assert not page.offered(services, key_of(services, "plain"))
    with pytest.raises(NotFoundError, match="no trace 'x'"):
        chosen(run, "x")
    with pytest.raises(NotFoundError, match="no trace"):
        named(run.source, "../../etc/passwd")
    text = str(page.layout(services, ViewState(), key_of(services, "plain")))
    assert "holds no Chrome trace" in text


def test_routes_say_what_the_file_says(ask: Any) -> None:
    info = ask("info").get_json()
    assert info["events_in"] == len(EVENTS) == sum(info["shown"].values()) + sum(info["left_out"].values())
    assert info["left_out"] == {"negative_length": 1}
    assert next(lane["label"] for lane in info["lanes"]).endswith("<b>server</b>")
    found = ask("search", q="inner", at=0).get_json()
    assert found["count"] == 2
    assert found["item"]["name"] == "inner"
    item = found["item"]
    assert (item["end"] - item["start"], item["sel"]) == (30_000, f"item:{item['item']}")
    chosen_one = ask("select", sel=item["sel"]).get_json()
    assert chosen_one["n_lines"] == chosen_one["n_successors"] == 1
    assert len(chosen_one["items"]) == 1
    hidden = ask("select", sel=item["sel"], hidden=chosen_one["lines"][0][2]).get_json()
    assert (hidden["n_lines"], hidden["n_hidden"]) == (0, 1)
    several = ask("select", sel="span:-1.-1.-1").get_json()
    assert several["n_total"] == 3
    assert several["bounds"] == [0, 195_000]
    assert ask("marks", hl="search", q="outer").get_json()["count"] == 1
    assert "reason" in ask("select", sel="item:s999").get_json()
    assert "reason" in ask("marks", hl="nothing").get_json()


def test_range_counters_and_csv(ask: Any) -> None:
    found = ask("range", t0=0, t1=50_000).get_json()
    assert found["table"]["rows"] == [["outer", 1, 50.0], ["inner", 1, 30.0]]
    assert found["facts"] == "2 spans (1 whole), 1 instants"
    series = ask("counters", t0=0, t1=200_000, px=500, series="0,1").get_json()["series"]
    assert {tuple(steps["value"]) for steps in series} == {(1.0, 3.0), (2.0, 0.0)}
    assert all(steps["time"] == [0, 80_000] and steps["exact"] for steps in series)
    assert ask("counters", t0=0, t1=9, px=500, series="7").status_code == 422
    rows = ask("visible.csv", t0=0, t1=1_000_000).get_data(as_text=True).splitlines()
    assert len(rows) == 1 + 4
    assert rows[0].startswith("item,process,lane,name")


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("window", {"t0": 5, "t1": 5, "px": 100}, 422),
        ("window", {"t0": 0, "t1": 9, "px": "wide"}, 422),
        ("item", {"item": "r1"}, 422),
        ("cell", {"track": 99, "t0": 0, "t1": 9}, 422),
        ("info", {"trace": "gone.json"}, 404),
    ],
)
def test_bad_requests_are_told(ask: Any, path: str, query: dict[str, Any], status: int) -> None:
    answer = ask(path, **query)
    assert answer.status_code == status
    assert answer.get_json()["error"]


def test_instants_are_bars_of_their_own_row(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps(EVENTS))
    index = build_trace_index(open_trace(file))
    at = moments(index)
    tracks = np.arange(index.n_tracks)
    plain = index.query(0, 300_000, 100, tracks, 100)
    got = with_moments(index, at, plain, 0, 300_000, 10)
    assert set(at.tolist()) <= set(got.bars.tolist())
    assert not set(at.tolist()) & set(plain.bars.tolist())
    assert with_moments(index, at, plain, 0, 300_000, 0) is plain
    own = {int(track) for track in index.track_of(at)}
    slices = {int(track) for track in index.track_of(np.flatnonzero(index.kind == 0))}
    assert own
    assert not own & slices


def test_details_hold_every_argument_and_fold_json(traced: Any) -> None:
    services = services_of(traced)
    found = opened(services, services.library.run(key_of(services, "small")), "a_trace.json")
    by_name = {found.trace.names[int(name)]: at for at, name in enumerate(found.trace.slices.name)}
    text = json.dumps(details_of(found, f"s{by_name['outer']}").to_plotly_json(), default=lambda x: x.to_plotly_json())
    assert text.count('"Details"') == 3
    assert "deep" in text
    text = json.dumps(details_of(found, "i0").to_plotly_json(), default=lambda x: x.to_plotly_json())
    assert "tick" in text
    assert "no arguments" in text
    with pytest.raises(NotFoundError):
        details_of(found, "s77")


def test_panel_tables_equal_the_file(traced: Any) -> None:
    services = services_of(traced)
    run = services.library.run(key_of(services, "small"))
    found = opened(services, run, "a_trace.json")
    for tab in ("spans", "requests", "steps", "quality"):
        view, problems = decode({"trace": "a_trace.json", "xtab": tab, "xby": "thread_name"})
        assert not problems
        text = str(panel.content(services, found, view))
        assert ("not available" in text) == (tab in ("requests", "steps"))
    assert "10 events in = 9 shown + 1 left out" in text
    spans = panel.places(found.trace, {"name": "inner"}, 1, "thread_name", 0)
    assert spans["set"]["xsel"].startswith("span:")
    assert spans["locate"]["xsel"] == "item:s1"
    serving = opened(services, run, "b_trace.json.gz")
    for tab, word in (("requests", "Time to first token"), ("steps", "trace-step-plot")):
        assert word in str(panel.content(services, serving, decode({"xtab": tab})[0]))
    host = opened(services, run, HOST)
    assert [name for name, _, _ in panel.tabs(host)] == ["spans", "rounds", "quality"]
    assert len(host.host["rounds"]) == 6
    rounds = str(panel.content(services, host, decode({"xtab": "rounds"})[0]))
    assert "Host: mean" in rounds
    quality = str(panel.content(services, host, decode({"xtab": "quality"})[0]))
    assert "torn" in quality
    assert "dropped" in quality
    assert panel.content(services, found, decode({"xtab": "none"})[0]) is None


def test_kept_by_content(tmp_path: Path, traced: Any) -> None:
    store = services_of(traced).store
    text = json.dumps([*EVENTS, {"ph": "i", "name": "only here", "ts": 1, "pid": 1, "tid": 1}])
    first, second = tmp_path / "one.json", tmp_path / "two.json"
    first.write_text(text)
    second.write_text(text)
    a, b = TraceSource("one.json", (first,)), TraceSource("two.json", (second,))
    assert not ready(store, a)
    one = load(store, a)
    assert ready(store, a)
    two = load(store, b)
    assert ready(store, b)
    assert (one.content, two.trace.label) == (two.content, "two.json")
    assert two.trace.event("s", 0) == one.trace.event("s", 0)
    second.write_text(text + " ")
    assert not ready(store, b)


def test_large_traces_open_in_the_background(traced: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.traces import opened as module

    services = services_of(traced)
    run = services.library.run(key_of(services, "small"))
    (run.source / "a_trace.json").touch()
    monkeypatch.setattr(module, "unpacked_max_bytes", lambda source: 1 << 60)
    view = decode({"trace": "a_trace.json"})[0]
    wait = page.waiting(services, run.key, view, chosen(run, "a_trace.json"))
    assert wait is not None
    assert "Opening a_trace.json" in str(wait)
    job = services.library.job(run.key, 0, "trace", {"trace": "a_trace.json"})
    assert services.jobs.wait(job).state == "done"
    assert page.waiting(services, run.key, view, chosen(run, "a_trace.json")) is None


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared data")
@pytest.mark.parametrize("name", ["serving-strace-swimlane.json", "merged_swimlane_feb2026.json"])
def test_real_traces_show_every_event(name: str, traced: Any) -> None:
    found = load(services_of(traced).store, TraceSource(name, (SHARED / "traces" / name,)))
    events = json.loads((SHARED / "traces" / name).read_bytes())
    events = events["traceEvents"] if isinstance(events, dict) else events
    assert found.trace.events_in == len(events) == sum(found.trace.shown.values())
    assert len(found.index) == len(found.trace.slices) + len(found.trace.instants)


def test_no_logs_no_choice(tmp_path: Path) -> None:
    (tmp_path / "host_phase_records.jsonl").write_text("{}")
    (tmp_path / "other.log").write_text("nothing here")
    assert host_files(tmp_path) == () == host_files(tmp_path / "gone")
    (tmp_path / "any.log").write_bytes(strace_log(1, 1)[0])
    assert [path.name for path in host_files(tmp_path)] == ["any.log", "host_phase_records.jsonl"]
