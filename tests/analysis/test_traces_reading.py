"""Is every event of a trace shown or counted, and do counts, lengths, self times and nesting equal a slow computation?"""

from __future__ import annotations

import gzip
import io
import itertools
import json
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.traces import build as building
from analysis.traces.build import open_trace
from analysis.traces.model import Trace, from_arrays
from analysis.traces.scan import scan_file
from analysis.traces.statistics import span_statistics
from analysis.traces.timeline import build_trace_index, counter_steps, trace_view_info
from tests.shared_data import SHARED, needs_shared

RELAXED = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
TEXTS = st.sampled_from(["a", "b", "λ", 'q"\\', "x" * 40])
TIMES = st.one_of(
    st.integers(0, 30),
    st.decimals(0, 30, places=3, allow_nan=False).map(float),
    st.just(1e-7),
    st.sampled_from(["7.5", "x", None]),
)
EVENTS = st.fixed_dictionaries(
    {"ph": st.sampled_from(list("XXXXBEBEbeisftCMN?")), "name": TEXTS, "pid": st.integers(0, 1), "tid": st.integers(0, 1), "ts": TIMES},
    optional={
        "dur": st.one_of(TIMES, st.integers(-2, -1)), "args": st.dictionaries(TEXTS, st.one_of(st.integers(), st.none())),
        "id": st.integers(0, 1), "cat": TEXTS,
    },
)  # fmt: skip


def opened(text: bytes, label: str = "trace.json") -> Trace:
    return building.build(scan_file(Path(label), text=text), label)


def of(*events: Any) -> Trace:
    return opened(json.dumps(list(events)).encode())


def x(name: str, ts: Any, dur: Any, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": ts, "dur": dur, **more}


def balanced(trace: Trace) -> None:
    assert trace.events_in == sum(trace.shown.values()) + sum(trace.left_out.values())
    for rule, count in trace.left_out.items():
        finding = next(f for f in trace.findings if f.rule == rule)
        assert finding.count == count
        assert finding.example


def ns(value: Any) -> int:
    return int((Decimal(str(value)) * 1000).quantize(Decimal(1), ROUND_HALF_UP))


def slow_nesting(spans: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Parent and self time of spans already in (start, -end, order), by trying every pair and every ns."""
    parents, own = [], []
    for i, (start, end) in enumerate(spans):
        above = [j for j in range(i) if spans[j][0] <= start < spans[j][1] and end <= spans[j][1]]
        parents.append(max(above, default=-1))
    for i, (start, end) in enumerate(spans):
        inside = sorted(s for s, p in zip(spans, parents, strict=True) if p == i)
        covered, until = 0, start
        for low, high in inside:
            covered += max(high - max(low, until), 0)
            until = max(until, high)
        own.append(end - start - covered)
    return parents, own


def check_nesting(trace: Trace) -> None:
    s = trace.slices
    for lane in trace.lanes:
        part = slice(lane.first, lane.first + lane.slices)
        spans = list(zip(s.start_ns[part].tolist(), s.end_ns[part].tolist(), strict=True))
        assert spans == sorted(spans, key=lambda span: (span[0], -span[1]))
        parents, own = slow_nesting(spans)
        assert [p - lane.first if p >= 0 else -1 for p in s.parent[part].tolist()] == parents
        assert s.self_ns[part].tolist() == own
        depths: list[int] = []
        for p in parents:
            depths.append(depths[p] + 1 if p >= 0 else 0)
        assert s.depth[part].tolist() == depths
        for row in range(lane.rows):
            mine = [span for span, r in zip(spans, s.row[part].tolist(), strict=True) if r == row]
            assert all(a[1] <= b[0] for a, b in itertools.pairwise(mine))


def check_statistics(trace: Trace) -> None:
    s = trace.slices
    slow: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for i in range(len(s)):
        if not s.marks[i]:
            key = (trace.lanes[s.lane[i]].process, int(s.name[i]))
            slow.setdefault(key, []).append((int(s.end_ns[i] - s.start_ns[i]), int(s.self_ns[i])))
    rows = [row for row in span_statistics(trace).to_json() if row["count"]]
    assert len(rows) == len(slow)
    found = Counter((r["process"], r["name"], r["count"], round(r["total_us"] * 1000), round(r["self_us"] * 1000), round(r["p95_us"] * 1000), round(r["p50_us"] * 1000), round(r["min_us"] * 1000), round(r["max_us"] * 1000)) for r in rows)  # fmt: skip
    wanted = Counter()
    for (process, name), values in slow.items():
        lengths = sorted(length for length, _ in values)
        n = len(lengths)
        wanted[trace.processes[process].name, trace.names[name], n, sum(lengths), sum(own for _, own in values), lengths[-(-n * 95 // 100) - 1], lengths[-(-n // 2) - 1], lengths[0], lengths[-1]] += 1  # fmt: skip
    assert found == wanted


@RELAXED
@given(st.lists(EVENTS, max_size=25))
def test_made_traces(events: list[dict[str, Any]]) -> None:
    trace = of(*events)
    assert trace.events_in == len(events)
    balanced(trace)
    check_nesting(trace)
    check_statistics(trace)
    wanted = Counter()
    for event in events:
        ts, dur = event["ts"], event.get("dur")
        if (
            event["ph"] == "X"
            and ts not in ("x", None)
            and dur != "x"
            and not (isinstance(dur, int | float) and dur < 0)
        ):
            length = ns(Decimal(str(ts)) + Decimal(str(dur or 0))) - ns(ts)
            wanted[event["pid"], event["tid"], event["name"], length] += 1
    s, found = trace.slices, Counter()
    for i in range(len(s)):
        if trace.event("s", i)["ph"] == "X":
            lane = trace.lanes[s.lane[i]]
            key = (
                int(trace.processes[lane.process].pid),
                int(lane.thread),
                trace.names[s.name[i]],
                int(s.end_ns[i] - s.start_ns[i]),
            )
            found[key] += 1
    assert found == wanted
    again = from_arrays(trace.to_arrays())
    assert again.shown == trace.shown
    assert again.lanes == trace.lanes


@RELAXED
@given(st.lists(EVENTS, min_size=2, max_size=8), st.data())
def test_a_broken_event_harms_no_neighbour(events: list[dict[str, Any]], data: st.DataObject) -> None:
    texts = [json.dumps(event) for event in events]
    at = data.draw(st.integers(0, len(texts) - 1))
    texts[at] = data.draw(st.sampled_from(['{"ph": "X", "ts": , "name": "w"}', '{"ph" "X"}', '{"ph": "X", "name": "no end}', "17", "null", '{"ph": "X", "args": {"a": 1}', "{]}"]))  # fmt: skip
    broken = opened(f"[{', '.join(texts)}]".encode())
    balanced(broken)
    assert broken.events_in == len(events)
    assert broken.left_out.get("broken", 0) + broken.left_out.get("no_object", 0) + broken.left_out.get("cut", 0) == 1
    alone = of(*(event for i, event in enumerate(events) if i != at))
    assert broken.shown == alone.shown


@RELAXED
@given(st.lists(EVENTS, max_size=6), st.integers(0, 400))
def test_a_cut_file_opens(events: list[dict[str, Any]], cut: int) -> None:
    text = json.dumps({"traceEvents": events}).encode()
    head = text[: max(len(text) - cut, 18)]
    trace = opened(head)
    balanced(trace)


def test_every_container(tmp_path: Path) -> None:
    events = [x("a", 5, 3), x("b", 6, 1, args={"k": [1, {"z": None}]})]
    plain = json.dumps(events).encode()
    forms = {
        "list.json": plain, "object.json": json.dumps({"other": [1, {"traceEvents": 2}], "traceEvents": events, "metadata": {"v": 1.5}}).encode(),
        "bom.json": b"\xef\xbb\xbf" + plain, "list.json.gz": gzip.compress(plain), "two.json.gz": gzip.compress(plain[:20]) + gzip.compress(plain[20:]),
        "cut.json.gz": gzip.compress(plain + b" " * 5000)[:-9], "open.json": plain[:-1],
    }  # fmt: skip
    for name, text in forms.items():
        path = tmp_path / name
        path.write_bytes(text)
        seen: list[tuple[int, int]] = []
        trace = open_trace(path, lambda done, of: seen.append((done, of)))  # noqa: B023
        assert trace.shown == {"slice": 2}, name
        assert trace.event("s", 1)["args"] == {"k": [1, {"z": None}]}
        assert seen[-1][0] == seen[-1][1]
    path.write_bytes(plain)
    with pytest.raises(InputError, match="changed"):
        trace.event("s", 0)
    for text, words in ((b"", "empty"), (b'{"a": 1}', "no Chrome trace"), (b"PK\x03\x04", "no Chrome trace")):
        path.write_bytes(text)
        with pytest.raises(InputError, match=words):
            open_trace(path)


def test_small_chunks_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [x(f"n{i % 7}", i * 1.25, 3, args={"t": "}]," * (i % 90)}) for i in range(300)]
    events += [{"ph": "C", "pid": 1, "name": "c", "ts": i, "args": {"u": i, "v": -i / 4}} for i in range(50)]
    text = json.dumps({"traceEvents": events, "metadata": {"k": "v" * 900}}).encode()
    whole = opened(text)
    monkeypatch.setattr("analysis.traces.scan.CHUNK_BYTES", 256)
    parts = opened(text)
    assert parts.slices.start_ns.tolist() == whole.slices.start_ns.tolist()
    assert parts.names == whole.names
    assert parts.metadata == whole.metadata
    assert [c.samples for c in parts.counters] == [50, 50]


def test_times_are_rebased_as_decimals() -> None:
    big = 9_007_199_254_740_993
    trace = of(x("a", big, 1), x("b", big + 1, 0), x("c", f"{big + 2}.125", 0.002))
    assert trace.zero_us == str(big)
    assert trace.slices.start_ns.tolist() == [0, 1000, 2125]
    assert trace.slices.end_ns.tolist() == [1000, 1000, 2127]
    epoch = opened(
        b'[{"ph":"X","name":"a","ts":1778000000000000.125,"dur":0.5},{"ph":"X","name":"b","ts":1.778e15,"dur":1}]'
    )
    assert epoch.slices.start_ns.tolist() == [0, 125]
    assert epoch.zero_us == "1778000000000000"


def test_damage_is_counted_by_rule() -> None:
    trace = opened(
        b'[{"ph":"X","name":"n","ts":1,"dur":-1},{"ph":"X","name":"n","ts":1,"dur":1e999},{"ph":"X","name":"n","ts":NaN,"dur":1},'
        b'{"ph":"X","name":"n","dur":1},{"ph":"E","ts":1},{"ph":"X","name":null,"ts":1,"dur":2},{"ph":"X","name":"\xff","ts":1,"dur":2},'
        b'{"ph":"X","name":"\\x","ts":1,"dur":2},{"ph":"s","id":1,"name":"f","ts":1},{"ph":"B","name":"o","ts":1},'
        b'{"ph":"C","name":"c","ts":1,"args":{"a":"x"}},{"ph":"?"},{"ph":"N","ts":1,"name":"o"}]'
    )
    balanced(trace)
    assert trace.left_out == {
        "negative_length": 1, "bad_length": 1, "bad_time": 1, "no_time": 1, "end_without_begin": 1,
        "flow_without_partner": 1, "counter_without_number": 1, "unknown_phase": 1, "not_drawn": 1,
    }  # fmt: skip
    repaired = {f.rule: f.count for f in trace.findings if f.kind == "repaired"}
    assert repaired == {"no_name": 1, "bad_utf8": 1, "bad_escape": 1, "unclosed_begin": 1}


def test_begins_ends_and_asynchronous_spans() -> None:
    shared = {"pid": 1, "tid": 1}
    trace = of(
        {"ph": "B", "name": "out", "ts": 0, **shared}, {"ph": "B", "name": "in", "ts": 1, **shared},
        {"ph": "E", "ts": 2, "args": {"got": 1}, **shared}, {"ph": "E", "name": "out", "ts": 5, **shared},
        {"ph": "b", "cat": "io", "id": "0x1", "name": "r", "ts": 0, **shared}, {"ph": "b", "cat": "io", "id": "0x2", "name": "r", "ts": 1, **shared},
        {"ph": "e", "cat": "io", "id": "0x1", "name": "r", "ts": 3, **shared}, {"ph": "e", "cat": "io", "id": "0x2", "name": "r", "ts": 4, **shared},
    )  # fmt: skip
    assert trace.shown == {"pair": 8}
    assert [(lane.label, lane.rows, lane.slices) for lane in trace.lanes] == [("thread 1", 2, 2), ("async io", 2, 2)]
    assert (trace.slices.end_ns - trace.slices.start_ns).tolist() == [5000, 1000, 3000, 3000]
    assert trace.event("s", 1)["args"] == {"got": 1}
    check_nesting(trace)


def test_flows_bind_to_spans() -> None:
    flow = {"pid": 1, "cat": "c", "name": "f", "id": 4}
    trace = of(x("a", 0, 10), x("b", 2, 2), x("c", 20, 5) | {"tid": 2}, {"ph": "s", "tid": 1, "ts": 3, **flow}, {"ph": "f", "tid": 2, "ts": 18, **flow}, {"ph": "f", "bp": "e", "tid": 2, "ts": 21, **flow})  # fmt: skip
    names = [trace.names[i] for i in trace.slices.name.tolist()]
    assert [(names[a], names[b]) for a, b in zip(trace.flows.source, trace.flows.target, strict=True)] == [
        ("b", "c"),
        ("b", "c"),
    ]
    assert trace.flows.of(names.index("c")).tolist() == [0, 1]


def test_timeline_and_counters() -> None:
    trace = of(x("a", 0, 10), x("b", 2, 2), {"ph": "i", "pid": 1, "tid": 1, "name": "m", "ts": 4}, *({"ph": "C", "pid": 1, "name": "q", "ts": i, "args": {"u": i % 5}} for i in range(40)))  # fmt: skip
    index = build_trace_index(trace)
    got = index.query(*index.span_ticks, 1000, np.arange(index.n_tracks), 100)
    assert (got.n_shown, got.n_total) == (2, 3)
    assert [row["name"] for row in trace_view_info(trace, index)["classes"]] == ["a", "b", "m"]
    exact = counter_steps(trace, 0, 10_000, 20_000)
    assert exact["time_ns"].tolist() == [i * 1000 for i in range(9, 20)]
    coarse = counter_steps(trace, 0, 0, 40_000, max_points=4)
    assert (coarse["low"].tolist(), coarse["high"].tolist(), coarse["exact"].tolist()) == ([0] * 4, [4] * 4, [False])


def test_pytorch_profiler_form() -> None:
    events = [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 1778000000000100.5, "dur": 20.25, "args": {"External id": 1}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": "stream 7", "ts": 1778000000000130.0, "dur": 9, "args": {"device": 0}},
        {"ph": "s", "id": 1, "pid": 7, "tid": 7, "ts": 1778000000000101, "cat": "ac2g", "name": "ac2g"},
        {"ph": "f", "id": 1, "pid": 0, "tid": "stream 7", "ts": 1778000000000130.0, "cat": "ac2g", "name": "ac2g", "bp": "e"},
        {"name": "process_name", "ph": "M", "ts": 0, "pid": 0, "tid": 0, "args": {"name": "NPU 0"}},
        {"name": "thread_name", "ph": "M", "ts": 0, "pid": 0, "tid": "stream 7", "args": {"name": "stream 7"}},
    ]  # fmt: skip
    trace = opened(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": events}).encode())
    assert [(trace.processes[lane.process].name, lane.label) for lane in trace.lanes] == [
        ("NPU 0", "stream 7"),
        ("process 7", "thread 7"),
    ]
    assert (len(trace.flows), trace.left_out) == (1, {})


def test_viztracer_opens(tmp_path: Path) -> None:
    from viztracer import VizTracer

    out = tmp_path / "viz.json"
    tracer = VizTracer(output_file=str(out), verbose=0)
    tracer.start()
    sum(sorted(range(9)))
    json.dumps({"a": [1]})
    tracer.stop()
    tracer.save()
    events = json.loads(out.read_text())["traceEvents"]
    trace = open_trace(out)
    balanced(trace)
    assert len(trace.slices) == sum(event["ph"] == "X" for event in events) > 0
    check_nesting(trace)


def test_our_own_export_comes_back() -> None:
    from analysis.export.trace import PROCESSES, write_trace
    from tests.analysis.dag_builder import capture_of

    rows = [(i % 3, 10 + 7 * i, 30 + 7 * i, i) for i in range(20)]
    capture = capture_of(rows, [(0, 5), (1, 9)], stamps={i: (row[1], row[2] + 1) for i, row in enumerate(rows)})
    out = io.BytesIO()
    counts = write_trace(capture, out, arrows=True)
    trace = opened(out.getvalue())
    assert trace.shown["slice"] == counts.total_slices
    assert trace.left_out == {}
    assert len(trace.flows) == counts.arrows
    from analysis.timeline.items import View, view_items

    for view in counts.slices:
        items = view_items(capture, View(view), with_setup=False)
        process = next(i for i, p in enumerate(trace.processes) if p.name == PROCESSES[view][1])
        lanes = [lane for lane in trace.lanes if lane.process == process]
        for track, lane in enumerate(sorted(lanes, key=lambda lane: int(lane.thread))):
            part = slice(lane.first, lane.first + lane.slices)
            lengths = (items.end_ticks - items.start_ticks)[items.track == track] * 1000 / capture.meta.ticks_per_us
            assert (trace.slices.end_ns - trace.slices.start_ns)[part].tolist() == lengths.tolist()


@needs_shared
@pytest.mark.parametrize("name", ["traces/serving-strace-swimlane.json", "traces/merged_swimlane_feb2026.json"])
def test_real_traces_equal_a_slow_reading(name: str) -> None:
    path = SHARED / name
    events = json.loads(path.read_text(), parse_float=Decimal)["traceEvents"]
    trace = open_trace(path)
    assert (trace.events_in, trace.left_out) == (len(events), {})
    wanted = Counter((str(e["pid"]), str(e["tid"]), e["name"], ns(Decimal(e["ts"]) + Decimal(e["dur"])) - ns(e["ts"])) for e in events if e["ph"] == "X")  # fmt: skip
    lanes, s = trace.lanes, trace.slices
    found = Counter((trace.processes[lanes[s.lane[i]].process].pid, lanes[s.lane[i]].thread, trace.names[s.name[i]], int(s.end_ns[i] - s.start_ns[i])) for i in range(len(s)))  # fmt: skip
    assert found == wanted
    check_nesting(trace)
    check_statistics(trace)
    assert sum(c.samples for c in trace.counters) == sum(len(e["args"]) for e in events if e["ph"] == "C")
    assert len(trace.flows) == sum(e["ph"] == "f" for e in events)


@needs_shared
@pytest.mark.parametrize("path", sorted((SHARED / "cases" / "chrome").glob("*.json")), ids=lambda p: p.stem)
def test_odd_cases(path: Path) -> None:
    trace = open_trace(path)
    balanced(trace)
    assert trace.events_in == 15
    assert trace.left_out == {"far_time": 1, "negative_length": 1} | ({"cut": 1} if "trunc" in path.stem else {})
    check_nesting(trace)


def test_a_length_that_is_no_number_counts_whatever_the_order_of_the_keys(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    for keys in (("ts", "dur"), ("dur", "ts")):
        values: dict[str, object] = {"ts": 5, "dur": "x"}
        event = {"ph": "X", "name": "b", "pid": 0, "tid": 0} | {key: values[key] for key in keys}
        file.write_text(json.dumps([event]))
        trace = open_trace(file)
        assert (len(trace.slices), dict(trace.left_out)) == (0, {"bad_length": 1}), keys
