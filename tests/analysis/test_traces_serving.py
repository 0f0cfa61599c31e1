"""Do requests, steps, logs and rounds give the figures that were put in, and do the facts of STRACE logs hold?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cli import main
from analysis.errors import NotAvailable
from analysis.synth.serving import as_bytes, serving_trace, strace_log
from analysis.traces import build
from analysis.traces.host import HostPhases, _add_pass, host_timeline
from analysis.traces.scan import scan_file
from analysis.traces.serving import requests, steps
from analysis.traces.strace import parents, parse_text, rounds

HEAD = b"[mono_ns=1][T0x7f][TIMING] emit: "


def span(
    name: str, ts: int, dur: int, depth: int = 0, pid: int = 42, tid: int = 42, inv: int = 3, more: str = ""
) -> bytes:
    return (
        HEAD
        + f"[STRACE] v=1 pid={pid} tid={tid} inv={inv} hid=ab depth={depth} name={name} ts={ts} dur={dur} {more}".rstrip().encode()
    )


@pytest.mark.parametrize("count", [1, 5])
def test_requests_and_steps_equal_what_was_put_in(count: int) -> None:
    made, truth = serving_trace(count, seed=count)
    trace = build.build(scan_file(Path("made"), text=as_bytes(made)), "made")
    found = requests(trace)
    rows = {row["request_id"]: row for row in found.table.to_records()}
    assert set(rows) == set(truth.requests)
    for rid, true in truth.requests.items():
        row = rows[rid]
        assert row["tokens"] == true["tokens"]
        for key in ("queue", "ttft", "e2e"):
            assert round(row[f"{key}_us"] * 1000) == true[f"{key}_ns"]
        assert row["tpot_us"] == pytest.approx(true["decode_ns"] / 1000 / (true["tokens"] - 1))
    assert sum(row["warm_up"] for row in rows.values()) == (1 if count >= 3 else 0)
    assert found.distributions()["e2e_us"]["count"] == (count - 1 if count >= 3 else count)
    ordered = sorted(truth.steps)
    for row in steps(trace).table.to_records():
        true = truth.steps[row["step_id"]]
        for key in ("prepare", "dispatch", "reclaim"):
            assert round(row[f"{key}_us"] * 1000) == true[f"{key}_ns"]
        assert round(row["device_us"] * 1000) == true["device_end_ns"] - true["device_start_ns"]
        later = ordered[ordered.index(row["step_id"]) + 1 :]
        bubble = truth.steps[later[0]]["device_start_ns"] - true["device_end_ns"] if later else None
        assert (None if row["bubble_us"] is None else round(row["bubble_us"] * 1000)) == bubble


def test_a_trace_without_requests_says_so() -> None:
    trace = build.build(scan_file(Path("made"), text=b'[{"ph":"X","name":"a","ts":1,"dur":1}]'), "made")
    for question in (requests, steps):
        with pytest.raises(NotAvailable, match="this trace holds no"):
            question(trace)


def test_rounds_equal_what_was_put_in() -> None:
    text, truth = strace_log(9, seed=4, torn=2, dropped=5)
    log = parse_text(text)
    assert (log.torn, log.provisional, log.drops[41]["total"]) == (2, True, 5)
    rows = rounds(log).table.to_records()
    assert {(row["pid"], int(row["inv"])) for row in rows} == set(truth)
    for row in rows:
        true = truth[row["pid"], int(row["inv"])]
        for column, key in (
            ("host_us", "host"),
            ("device_us", "device"),
            ("orchestrator_us", "orch"),
            ("scheduler_us", "sched"),
            ("effective_us", "effective"),
        ):
            assert round(row[column] * 1000) == true[key]
    assert rounds(log).averages()["host_us"][1:] == (9, 9)
    timeline = host_timeline(log)
    assert len(timeline.trace.slices) == 18
    assert len(timeline.trace.metadata["unalignedDeviceSpans"]) == 27
    assert len(timeline.notes) == 2


def test_records_share_a_line_and_decode() -> None:
    log = parse_text(
        span("chip.run%2Ex", 1, 2, inv=2**40, more="note=a%20b%5B cut=x~")
        + HEAD
        + span("ext.torch.step", 5, 1)
        + b" [STRACE] v=1 pid=4 ti\n"
    )
    first, second = log.spans
    assert (first.inv, first.name, first.attributes, first.truncated) == (
        2**40,
        "chip.run.x",
        {"note": "a b[", "cut": "x~"},
        True,
    )
    assert "%20" in first.raw
    assert (second.family, second.producer, log.heads, log.torn) == ("external", "torch", 3, 1)


@pytest.mark.parametrize(
    "name, family, producer, leaf",
    [("chip.run", "chip", None, None), ("core.x", "core", None, None), ("network2.dispatch", "node", None, "dispatch"), ("ext.node.s", "external", "node", None), ("ext..s", "external", None, None), ("ext.s", "external", None, None), ("odd", "unknown", None, None)],
)  # fmt: skip
def test_families(name: str, family: str, producer: str | None, leaf: str | None) -> None:
    found = parse_text(span(name, 1, 1)).spans[0]
    assert (found.family, found.producer, found.leaf) == (family, producer, leaf)


def test_clock_anchors() -> None:
    anchor = (
        b"x [mono_ns=1][T0x7f][TIMING] clock_anchor: [CLOCK_ANCHOR] v=1 pid=42 mono_ns=100 wall_ns=1700000000000000007"
    )
    log = parse_text(
        b"\n".join(
            [
                anchor,
                anchor + b" more",
                b"[CLOCK_ANCHOR] v=1 pid=43 mono_ns=1 wall_ns=2",
                span("chip.run", 102, 1),
                span("chip.run", 99, 1),
                span("chip.run.d", 200, 1, more="clk=dev"),
                span("chip.run", 102, 1, pid=43),
            ]
        )
    )
    assert [log.wall_time(s) for s in log.spans] == ["2023-11-14T22:13:20.000000009Z", None, None, None]
    assert log.warnings == []
    assert len(parse_text(anchor + b"\n" + anchor).warnings) == 1


def test_invocations_and_trees() -> None:
    log = parse_text(
        b"\n".join(
            [
                span("chip.run.bind", 20, 5, 1),
                span("chip.run.bind", 10, 5, 1),
                span("chip.run.claim_release", 60, 5, 1),
                span("chip.run", 5, 95),
                span("node.submit", 1, 1),
                span("ext.a.b", 1, 1),
                span("odd", 11, 1, 2),
            ]
        )
    )
    names = log.invocations()[42, 3]
    assert set(names) == {"chip.run", "chip.run.bind", "chip.run.claim_release", "odd"}
    assert names["chip.run.bind"].ts_ns == 10
    assert parents(list(names.values())) == [2, 2, -1, 0]


def test_lanes_split_only_where_runs_overlap() -> None:
    def run(inv: int, ts: int, slot: int, tid: int) -> bytes:
        return span("chip.run", ts, 100, inv=inv, tid=tid, more=f"slot_id={slot}")

    trace = host_timeline(
        parse_text(b"\n".join([run(1, 0, 0, 7), run(2, 50, 1, 7), run(3, 0, 0, 8), run(4, 100, 1, 8)]))
    ).trace
    assert [lane.thread for lane in trace.lanes] == ["8", "7 slot 0", "7 slot 1"]
    assert trace.event("s", trace.lanes[1].first)["args"]["os_tid"] == 7


def test_a_dispatch_follows_the_latest_earlier_submit() -> None:
    keys = "run_id=1 task_slot=2 group_index=0 worker_id=0"
    log = parse_text(
        b"\n".join(
            [
                span("node.submit", 0, 5, inv=0, more=keys),
                span("node.submit", 10, 5, inv=0, more=keys),
                span("node.dispatch", 20, 5, inv=0, tid=9, more=keys + " role=scheduler"),
            ]
        )
    )
    trace = host_timeline(log).trace
    assert (len(trace.flows), int(trace.flows.from_ns[0]), int(trace.flows.to_ns[0])) == (1, 15, 20)
    assert trace.processes[0].name == "simpler node 42"
    assert {lane.label for lane in trace.lanes} == {"thread 42", "scheduler 9"}


def test_phase_records() -> None:
    phases = HostPhases()
    rows = [{"pid": 42, "inv": 3, "records": [{"phase": "host_orch", "start_ns": 12, "end_ns": 18, "detail": 4}, {"phase": "submit_task", "start_ns": 13, "end_ns": 14, "tid": 42}, {"phase": "build_definition", "start_ns": 13, "end_ns": 14, "tid": 77}, {"phase": "args", "start_ns": 10, "end_ns": 11}, {"phase": 3}]}, {"pid": 1, "inv": 1, "records": []}]  # fmt: skip
    for line in [*map(json.dumps, rows), "null", "[]", "3", '{"pid": 42, "inv"', '{"pid": 1, "inv": 1, "records": 3}']:
        _add_pass(phases, line.encode())
    assert (len(phases.passes), phases.bad_lines, phases.bad_records) == (2, 5, 1)
    log = parse_text(
        b"\n".join([span("chip.run.bind.args", 10, 1, 2), span("chip.run.bind", 10, 10, 1), span("chip.run", 5, 95)])
    )
    timeline = host_timeline(log, phases)
    assert timeline.orphaned == 1
    trace = timeline.trace
    depth = {trace.names[trace.slices.name[i]]: int(trace.slices.depth[i]) for i in range(len(trace.slices))}
    assert depth == {
        "chip.run": 0,
        "chip.run.bind": 1,
        "chip.run.bind.args": 2,
        "host_orch": 2,
        "submit_task": 3,
        "build_definition": 0,
    }
    assert "77 graph record worker" in {lane.thread for lane in trace.lanes}


def test_uptime_of_months_stays_exact() -> None:
    base = 9_876_543_210_987_654
    trace = host_timeline(parse_text(span("chip.run", base, 3) + b"\n" + span("core.x", base + 1, 1))).trace
    assert (trace.slices.start_ns.tolist(), trace.slices.end_ns.tolist(), trace.findings) == ([0, 1], [3, 2], ())


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, _ = serving_trace(3, seed=1)
    path, log = tmp_path / "t.json", tmp_path / "host.42.log"
    path.write_bytes(as_bytes(made))
    log.write_bytes(strace_log(3, seed=1)[0])
    answers = {}
    for command, file in (("serving", path), ("requests", path), ("trace-info", path), ("trace-info", log)):
        for form in ("json", "csv", "table"):
            assert main([command, str(file), "--format", form]) == 0
            answers[command, file.name, form] = capsys.readouterr().out
    rows = json.loads(answers["serving", "t.json", "json"])
    assert {
        "process",
        "worker",
        "name",
        "count",
        "mean_us",
        "min_us",
        "max_us",
        "p95_us",
        "total_us",
        "self_us",
    } <= set(rows[0])
    info = json.loads(answers["trace-info", "t.json", "json"])
    assert info["events_in"] == info["events_shown"] == len(made["traceEvents"])
    assert len(json.loads(answers["trace-info", "host.42.log", "json"])["rounds"]) == 3
    path.write_text("nothing")
    assert main(["serving", str(path)]) == 3
    assert "no Chrome trace" in capsys.readouterr().err
