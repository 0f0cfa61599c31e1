"""Do paths, gaps, edge modes and the exported trace of every real capture equal its oracle?"""

from __future__ import annotations

import functools
import io
import json
from typing import Any

import numpy as np
import pytest

from analysis.capture import Capture
from analysis.errors import NotAvailable
from analysis.export.trace import write_trace
from analysis.formats import load
from analysis.graph.reduction import MODES, edge_masks, edges
from analysis.paths.critical_path import critical_path, path_difference
from analysis.paths.gaps import gaps
from analysis.timeline.items import ItemKind, View
from tests.shared_data import capture_dir, capture_names, oracle, shared_params

every_capture = pytest.mark.parametrize("name", shared_params(capture_names()))


@functools.cache
def capture_at(name: str) -> Capture:
    return load(capture_dir(name))


def path_or_reason(capture: Capture, kind: str) -> Any:
    try:
        return critical_path(capture, kind).to_json()
    except NotAvailable as error:
        return error.reason


@every_capture
def test_critical_paths(name: str) -> None:
    capture, expected = capture_at(name), oracle(name)
    static, observed = path_or_reason(capture, "static"), path_or_reason(capture, "observed")
    if not expected["records"]:
        assert "no task of this capture has an AICore record" in static
        assert static == observed
        return
    if "nodes" not in expected:
        assert "deps.json is missing" in static
        assert static == observed
        return
    makespan = observed["makespan_ticks"]
    assert observed["compute_ticks"] + observed["stall_ticks"] == observed["length_ticks"] == makespan
    assert makespan == expected["span_ticks"]
    assert static["length_ticks"] <= makespan
    if "static" not in expected:  # the reference tool needed a name map
        return
    assert static["hb_edges"] == observed["hb_edges"] == expected["hb_edges"]
    assert makespan == expected["makespan_ticks"]
    assert static["length_ticks"] == expected["static"]["length_ticks"]
    assert [t["task_id"] for t in static["tasks"]] == expected["static"]["tasks"]
    assert observed["compute_ticks"] == expected["observed"]["compute_ticks"]
    assert observed["stall_ticks"] == expected["observed"]["stall_ticks"]
    keys = ("task_id", "compute_ticks", "stall_ticks", "stall_kind")
    assert [[t[key] for key in keys] for t in observed["tasks"]] == expected["observed"]["tasks"]


@every_capture
def test_imported_paths_equal_the_computed_ones(name: str) -> None:
    capture = capture_at(name)
    for kind, path in (("static", capture.paths.static), ("observed", capture.paths.observed)):
        if len(path):
            assert path_difference(capture, kind).same
        else:
            with pytest.raises(NotAvailable, match=f"no CPM_{kind}"):
                critical_path(capture, f"imported-{kind}")


@every_capture
def test_gaps_of_the_observed_path(name: str) -> None:
    capture, expected = capture_at(name), oracle(name)
    if "observed" not in expected:
        return
    rows = gaps(capture).to_json()
    path = expected["observed"]["tasks"]
    assert [row["task_id"] for row in rows] == [task[0] for task in path]
    assert [row["blocker_task_id"] for row in rows[1:]] == [task[0] for task in path[:-1]]
    parts = [[row[f"{part}_us"] for part in ("detection", "scheduling", "propagation", "setup")] for row in rows[1:]]
    if expected["level"] == 1:
        assert all(part is None for row in parts for part in row)
    else:
        assert np.allclose([sum(row) for row in parts], [row["gap_us"] for row in rows[1:]], rtol=0, atol=1e-6)


@every_capture
def test_edge_modes(name: str) -> None:
    capture, expected = capture_at(name), oracle(name)
    if "omitted" not in expected:
        with pytest.raises(NotAvailable, match=r"deps\.json is missing"):
            edges(capture)
        return
    masks = edge_masks(capture)
    found = {mode: edges(capture, mode, masks).to_json() for mode in MODES}
    for key in ("nodes", "edges", "is_dag"):
        assert {result[key] for result in found.values()} == {expected[key]}
    for mode, key in (("omitted", "omitted"), ("omitted-df", "omitted_df")):
        omitted = {tuple(pair) for pair in expected[key]}
        reduced = found[mode.replace("omitted", "reduced")]
        assert {tuple(pair) for pair in found[mode]["pairs"]} == omitted
        assert reduced["shown"] == len(reduced["pairs"]) == expected["edges"] - len(omitted)
        assert not omitted & {tuple(pair) for pair in reduced["pairs"]}
    numbers = [(int(p), int(s)) for p, s in found["full"]["pairs"]]
    assert numbers == sorted(numbers)


@every_capture
def test_exported_trace_holds_the_whole_capture(name: str) -> None:
    capture, out = capture_at(name), io.BytesIO()
    counts = write_trace(capture, out)
    slices = [event for event in json.loads(out.getvalue())["traceEvents"] if event["ph"] == "X"]
    assert len(slices) == counts.total_slices
    worker = [event for event in slices if event["pid"] == 4 and event["cat"] == "record"]
    assert len(worker) == len(capture.records)
    assert counts.slices.get(View.SCHEDULER, {}).get(ItemKind.RECORD, 0) == oracle(name)["aicpu_rows"]
    phases = sum(counts.slices.get(view, {}).get(ItemKind.PHASE, 0) for view in (View.WORKER, View.PHASES))
    assert phases == len(capture.phases)
    assert counts.slices.get(View.ORCH, {}).get(ItemKind.ORCH, 0) == len(capture.orch)
