"""Real captures equal the oracle and the reference loader; every other container of the device run says the same."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from analysis import formats
from analysis.capture import MISSING, Capture
from analysis.errors import AmbiguousError, NotFoundError, UnknownFormatError
from analysis.formats.report import INFORMATION
from tests import reference_loader
from tests.shared_data import SHARED, capture_dir, capture_names, needs_shared, oracle, shared_params, variant_names

SLOW_FOR_THE_REFERENCE = {"pa_huge_l4", "pa_big_l4"}
HOST_SIDE = {"orch", "uploads"}
META_OF_ITS_OWN = {
    "capture_id",
    "label",
    "sources",
    "notices",
    "host_clock",
    "phase_kinds",
    "dtypes",
    "extra",
    "stream_rows",
}


def functions(capture: Capture) -> list[tuple[int, int, int, int, int]]:
    """(func_id, count, total, min, max ticks) per function."""
    length = capture.records.end_ticks - capture.records.start_ticks
    rows = []
    for func in np.unique(capture.records.func_id).tolist():
        mine = length[capture.records.func_id == func]
        rows.append((func, len(mine), int(mine.sum()), int(mine.min()), int(mine.max())))
    return rows


@pytest.mark.parametrize("name", shared_params(capture_names()))
def test_counts_and_functions_equal_the_oracle(name: str) -> None:
    capture, want = formats.load(capture_dir(name)), oracle(name)
    got: dict[str, Any] = {
        "level": capture.meta.level,
        "clock_freq_hz": capture.meta.clock_freq_hz,
        "aicore_rows": capture.meta.aicore_rows,
        "aicpu_rows": capture.meta.aicpu_rows,
        "records": len(capture.records),
        "tasks": int((capture.tasks.n_records > 0).sum()),
        "span_ticks": capture.makespan_ticks or 0,
        "nodes": int(capture.tasks.in_graph.sum()),
        "edges": len(capture.edges),
        "annotations": len(capture.annotations),
    }
    compared = {key: value for key, value in got.items() if key in want}
    assert compared == {key: want[key] for key in compared}
    if "functions" in want:
        keys = ("func_id", "count", "total_ticks", "min_ticks", "max_ticks")
        assert functions(capture) == sorted(tuple(row[key] for key in keys) for row in want["functions"])
        names = {row["func_id"]: row["name"] for row in want["functions"]}
        assert {f: capture.meta.func_names.get(f) for f in names} == names


@pytest.mark.parametrize("name", shared_params(capture_names()))
def test_real_captures_are_healthy(name: str) -> None:
    capture = formats.load(capture_dir(name))
    assert [notice for notice in capture.meta.notices if notice.code not in INFORMATION] == []


@pytest.mark.parametrize("name", shared_params([n for n in capture_names() if n not in SLOW_FOR_THE_REFERENCE]))
def test_every_column_equals_the_reference_loader(name: str) -> None:
    got, want = formats.load(capture_dir(name)), reference_loader.load(capture_dir(name))
    host = got.meta.host_clock is not None
    for table in fields(got):
        if table.name in ("meta", "views") or (host and table.name in HOST_SIDE):
            continue
        for column in fields(getattr(got, table.name)):
            where = f"{table.name}.{column.name}"
            mine, yours = _comparable(got, where), _comparable(want, where)
            assert mine == yours if isinstance(mine, list) else np.array_equal(mine, yours), where
    for item in fields(got.meta):
        if item.name not in META_OF_ITS_OWN and not (host and item.name == "orchestrator_streams"):
            assert getattr(got.meta, item.name) == getattr(want.meta, item.name), item.name


def _comparable(capture: Capture, where: str) -> Any:
    """A column with indexes into pools of the capture's own replaced by what they stand for."""
    table, column = where.split(".")
    values = getattr(getattr(capture, table), column)
    if where in ("phases.kind", "orch.kind"):
        return [capture.meta.phase_kinds[k] for k in values]
    if where == "tensors.dtype":
        return [capture.meta.dtypes[k] for k in values]
    if column in ("view", "consumer_view", "producer_view"):
        return [_view(capture, at) for at in values.tolist()]
    return values


def _view(capture: Capture, at: int) -> tuple[Any, ...] | None:
    if at < 0:
        return None
    v = capture.views
    dtype = capture.meta.dtypes[v.dtype[at]] if v.dtype[at] >= 0 else None
    shape = v.shape[v.dim_offsets[at] : v.dim_offsets[at + 1]].tolist()
    return dtype, int(v.start_offset[at]), shape, v.stride[v.stride_offsets[at] : v.stride_offsets[at + 1]].tolist()


def records_from_first_start(capture: Capture, ns_per_tick: int) -> list[tuple[int, ...]]:
    """(core, task, start, end, function) of every record in ns after the first start."""
    records = capture.records
    first = int(records.start_ticks.min())
    columns = (
        records.core_id,
        capture.tasks.task_id[records.task],
        (records.start_ticks - first) * ns_per_tick,
        (records.end_ticks - first) * ns_per_tick,
        records.func_id,
    )
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def stamps_from_first_start(capture: Capture, ns_per_tick: int) -> list[tuple[int, int, int]]:
    """(start, dispatch, finish) per record in ns after the first start, without records that lack them."""
    records = capture.records
    first = int(records.start_ticks.min())
    rows = zip(
        records.start_ticks.tolist(), records.dispatch_ticks.tolist(), records.finish_ticks.tolist(), strict=True
    )
    return sorted(tuple((t - first) * ns_per_tick for t in row) for row in rows if MISSING not in row)


@pytest.mark.parametrize("name", shared_params(variant_names()))
def test_every_container_gives_the_same_records(name: str) -> None:
    want = formats.load(capture_dir("qwen3_14b_decode_device"))
    got = formats.load(SHARED / "variants" / name)
    ns = 20 if got.meta.clock_freq_hz else 1
    assert records_from_first_start(got, ns) == records_from_first_start(want, 20)
    assert got.makespan_ticks is not None
    assert got.makespan_ticks * ns == 47849 * 20
    assert (len(got.edges), int(got.tasks.in_graph.sum())) == (1369, 428)
    assert got.meta.func_names == want.meta.func_names
    assert [notice for notice in got.meta.notices if notice.code not in INFORMATION] == []
    if got.meta.level >= 2:
        assert stamps_from_first_start(got, ns) == stamps_from_first_start(want, 20)
    if got.meta.level >= 3:
        assert len(got.phases) == len(want.phases)
        spans = zip(want.phases.stream, want.phases.start_ticks, want.phases.end_ticks, strict=True)
        shift = int(want.records.start_ticks.min()) * 20 - int(got.records.start_ticks.min()) * ns
        mine = zip(got.phases.stream, got.phases.start_ticks, got.phases.end_ticks, strict=True)
        assert [(s, a * ns + shift, b * ns + shift) for s, a, b in mine] == [(s, a * 20, b * 20) for s, a, b in spans]
    if got.meta.level == 4:
        assert len(got.orch) == 428


@needs_shared
def test_queue_depths_survive_the_unified_container() -> None:
    want = formats.load(SHARED / "variants" / "chip_swimlane_records_level4.json").phases
    got = formats.load(SHARED / "variants" / "chip_swimlane_records_level4_unified.json").phases
    for name in ("pop_hit", "pop_miss", "shared_start", "shared_end", "loop_iter", "tasks_processed"):
        assert np.array_equal(getattr(got, name), getattr(want, name)), name


@needs_shared
def test_imported_paths_are_read() -> None:
    capture = formats.load(capture_dir("qwen3_14b_decode_device"))
    want = oracle("qwen3_14b_decode_device")
    path = [str(t) for t in capture.tasks.task_id[capture.paths.static].tolist()]
    assert path == want["static"]["tasks"]
    assert len(capture.paths.observed) == len(want["observed"]["tasks"])


@needs_shared
def test_a_directory_with_several_swimlanes_lists_them() -> None:
    with pytest.raises(AmbiguousError) as error:
        formats.load(SHARED / "variants")
    assert len(error.value.choices) == len(variant_names())


def test_nothing_there_and_not_a_swimlane(tmp_path: Any) -> None:
    with pytest.raises(NotFoundError, match="no swimlane"):
        formats.load(tmp_path)
    with pytest.raises(NotFoundError, match="no such file"):
        formats.load(tmp_path / "absent")
    other = tmp_path / "settings.json"
    other.write_text('{"colour": "green"}')
    with pytest.raises(UnknownFormatError, match="colour"):
        formats.load(other)


def test_arrays_are_read_only(tmp_path: Any) -> None:
    (tmp_path / "a.json").write_text(
        '{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic"]},'
        '"aicore_tasks":[[0,1,1,5,6,0]]}'
    )
    capture = formats.load(tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        capture.records.start_ticks[0] = 1
