"""Is the exported Chrome trace complete, exact, and drawable (slices of a thread never overlap)?"""

from __future__ import annotations

import io
import itertools
import json
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from analysis.capture import Capture
from analysis.errors import NotAvailable
from analysis.export import trace as export_trace
from analysis.export.trace import iter_trace, write_trace
from tests.analysis.dag_builder import UNTIMED, Row, capture_of, runs


def events_of(capture: Capture, arrows: bool = False) -> list[dict[str, Any]]:
    out = io.BytesIO()
    write_trace(capture, out, arrows)
    loaded: list[dict[str, Any]] = json.loads(out.getvalue())["traceEvents"]
    return loaded


def leveled(rows: list[Row], edges: list[tuple[int, int]]) -> Capture:
    """The run at level 3, its stamps around the records and one marker phase."""
    phase = {"kind": "dummy_task", "start_cycles": 2, "end_cycles": 3, "task_id": rows[0][3]}
    phase |= {"loop_iter": 4, "tasks_processed": 1}
    stamps = {i: (row[1], row[2] + 1) for i, row in enumerate(rows)}
    return capture_of(rows, edges, stamps=stamps, phases=[[phase]])


@UNTIMED
@given(runs())
def test_every_item_once_and_no_overlap_in_a_thread(run: tuple[list[Row], list[tuple[int, int]]]) -> None:
    rows, edges = run
    slices = [event for event in events_of(leveled(rows, edges)) if event["ph"] == "X"]
    worker = [event for event in slices if event["pid"] == 4 and event["cat"] == "record"]
    assert sorted((e["args"]["core"], e["args"]["taskId"], e["args"]["end_ticks"]) for e in worker) == sorted(
        (core, str(task), end - min(2, *(r[1] for r in rows))) for core, _, end, task in rows
    )
    assert len([event for event in slices if event["pid"] == 3]) == len(rows)
    assert [e["name"] for e in slices if e["cat"] == "phase"] == ["dummy_task"]
    threads = defaultdict(list)
    for event in slices:
        threads[event["pid"], event["tid"]].append((event["ts"], event["dur"]))
    for spans in threads.values():
        spans.sort()
        for (ts, dur), (next_ts, _) in itertools.pairwise(spans):
            assert ts + dur <= next_ts + 1e-9


def test_ids_and_stamps_are_exact() -> None:
    big = 2**64 - 1
    start = 4_409_875_907_971
    capture = capture_of([(0, start, start + 1, big), (1, start + 123_456_789, start + 123_456_790, 1)], [])
    first, second = (event for event in events_of(capture) if event["ph"] == "X")
    assert first["args"]["taskId"] == str(big)
    assert second["args"]["start_ticks"] == 123_456_789
    assert second["ts"] == float(Fraction(123_456_789, 50))
    assert "dispatch_ticks" not in second["args"]
    out = io.BytesIO()
    write_trace(capture, out)
    assert json.loads(out.getvalue())["otherData"]["zero_ticks"] == str(start)


def test_lanes_are_named_and_sub_rows_are_threads_of_their_own() -> None:
    events = events_of(capture_of([(1, 1, 10, 1), (1, 5, 20, 2)], []))
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert [names[e["tid"]] for e in events if e["ph"] == "X"] == ["AIV 1", "AIV 1 (row 2)"]
    assert [e["args"]["name"] for e in events if e["name"] == "process_name"] == ["Worker View"]


def test_arrows_join_the_earliest_block_of_each_function() -> None:
    capture = capture_of([(0, 1, 5, 1), (1, 2, 9, 1), (0, 20, 30, 2), (2, 15, 18, 2)], [(1, 2), (2, 3)])
    events = events_of(capture, arrows=True)
    core = {e["tid"]: e["args"]["core"] for e in events if e["ph"] == "X"}
    starts, finishes = ([e for e in events if e["ph"] == ph] for ph in "sf")
    assert [e["id"] for e in starts] == [e["id"] for e in finishes]
    ends = {(core[a["tid"]], a["ts"], core[b["tid"]], b["ts"]) for a, b in zip(starts, finishes, strict=True)}
    assert ends == {(0, 0.0, 0, 0.38), (0, 0.0, 2, 0.28), (1, 0.02, 0, 0.38), (1, 0.02, 2, 0.28)}
    assert not [e for e in events_of(capture) if e["ph"] in "sf"]


def test_chunks_join_to_the_same_file(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = leveled([(core, 1 + 10 * i, 9 + 10 * i, i + 1) for i in range(9) for core in (0, 1)], [(1, 2), (2, 3)])
    whole = json.loads(b"".join(iter_trace(capture, arrows=True)))
    monkeypatch.setattr(export_trace, "CHUNK_EVENTS", 4)
    assert json.loads(b"".join(iter_trace(capture, arrows=True))) == whole
    out = io.BytesIO()
    counts = write_trace(capture, out, arrows=True)
    assert counts.arrows == len([e for e in whole["traceEvents"] if e["ph"] == "s"]) == 10
    assert counts.total_slices == len([e for e in whole["traceEvents"] if e["ph"] == "X"]) == 37


def test_nothing_to_draw_is_said_before_the_first_byte() -> None:
    with pytest.raises(NotAvailable, match="nothing to draw"):
        iter_trace(capture_of([], [(1, 2)]))
