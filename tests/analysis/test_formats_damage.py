"""Whatever a file holds: it opens with a report, or there is one clear error. Never anything else."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis import formats
from analysis.capture import Capture
from analysis.capture.store import Store
from analysis.errors import AmbiguousError, InputError, LimitError, SwimscopeError
from analysis.formats.text import reading

DATA = pathlib.Path(__file__).parents[1] / "data"
FORMATS = ("chip", "unified", "us", "host", "launches")
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, 1, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.integers(0, 2**64 - 1).map(str),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def healthy(kind: str) -> Any:
    return json.loads((DATA / kind / "healthy.json").read_text())


def open_bytes(data: bytes, deps: bytes | None = None, include_flagged: bool = False) -> Capture | SwimscopeError:
    """Open ``data`` as a swimlane; the capture or the one error."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chip_swimlane_records.json"
        path.write_bytes(data)
        if deps is not None:
            (path.parent / "deps.json").write_bytes(deps)
        try:
            return formats.load(path, include_flagged=include_flagged)
        except SwimscopeError as error:
            return error


def check_opens(result: Capture | SwimscopeError) -> None:
    """A capture is consistent; an error says something."""
    if isinstance(result, SwimscopeError):
        assert str(result).strip()
        return
    n = len(result.tasks)
    for table in fields(result):
        if table.name == "meta":
            continue
        columns = getattr(result, table.name)
        for column in fields(columns):
            values = getattr(columns, column.name)
            assert not values.flags.writeable
            if column.name in ("task", "pred", "succ") and len(values):
                assert -1 <= int(values.min()) <= int(values.max()) < n
    assert bool((np.diff(result.tasks.task_id.astype(object)) > 0).all())
    assert int(result.tasks.n_records.sum()) == len(result.records)
    assert sorted(result.tasks.record_order.tolist()) == list(range(len(result.records)))
    assert all(notice.count > 0 and notice.message for notice in result.meta.notices)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    found = [path]
    if isinstance(node, dict):
        for key, value in node.items():
            found += places(value, (*path, key))
    elif isinstance(node, list):
        for at, value in enumerate(node):
            found += places(value, (*path, at))
    return found


def change(root: Any, path: tuple[Any, ...], edit: Callable[[Any, Any], None]) -> None:
    for step in path[:-1]:
        root = root[step]
    edit(root, path[-1])


def mutate(data: st.DataObject, value: Any) -> Any:
    """One to four changes: replace, delete or duplicate something."""
    for _ in range(data.draw(st.integers(1, 4))):
        candidates = [path for path in places(value) if path]
        if not candidates:
            return value
        path = data.draw(st.sampled_from(candidates))
        action = data.draw(st.sampled_from(["replace", "delete", "duplicate"]))
        if action == "replace":
            new = data.draw(odd)
            change(value, path, lambda parent, key, new=new: parent.__setitem__(key, new))
        elif action == "delete":
            change(value, path, lambda parent, key: parent.__delitem__(key))
        elif isinstance(path[-1], int):
            change(value, path, lambda parent, key: parent.insert(key, parent[key]))
    return value


@QUICK
@given(st.data())
def test_any_mutation_opens_or_is_one_error(data: st.DataObject) -> None:
    value = mutate(data, healthy(data.draw(st.sampled_from(FORMATS))))
    check_opens(open_bytes(json.dumps(value).encode()))


@QUICK
@given(st.data())
def test_any_mutation_of_deps_leaves_the_swimlane_open(data: st.DataObject) -> None:
    deps = mutate(data, healthy("deps"))
    result = open_bytes(json.dumps(healthy("chip")).encode(), json.dumps(deps).encode())
    check_opens(result)
    assert isinstance(result, Capture)
    assert len(result.records) == 5


@QUICK
@given(kind=st.sampled_from(FORMATS), cut=st.floats(0, 1, exclude_max=True), packed=st.booleans())
def test_a_truncated_file_is_one_error_that_names_it(kind: str, cut: float, packed: bool) -> None:
    whole = (DATA / kind / "healthy.json").read_bytes().rstrip()
    whole = gzip.compress(whole) if packed else whole
    result = open_bytes(whole[: int(len(whole) * cut)])
    assert isinstance(result, InputError)
    assert "chip_swimlane_records.json" in str(result)


@QUICK
@given(kind=st.sampled_from(FORMATS), at=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_any_byte_may_be_wrong(kind: str, at: float, byte: int) -> None:
    data = bytearray((DATA / kind / "healthy.json").read_bytes())
    data[int(len(data) * at)] = byte
    check_opens(open_bytes(bytes(data)))


@QUICK
@given(st.binary(max_size=200))
def test_bytes_that_are_nothing(data: bytes) -> None:
    result = open_bytes(data)
    assert isinstance(result, SwimscopeError)


@pytest.mark.parametrize("data", [b"", b"   \n", b"null", b"[]", b"[1, 2]", b'"text"', b"5", b"{}", b'{"a": NaN}'])
def test_json_that_is_no_capture(data: bytes) -> None:
    result = open_bytes(data)
    assert isinstance(result, InputError)
    assert result.source.endswith("chip_swimlane_records.json")


def test_a_nul_byte_is_named_by_its_place() -> None:
    data = (DATA / "chip" / "healthy.json").read_bytes().replace(b'"metadata":', b'"metadata":\0', 1)
    result = open_bytes(data)
    assert isinstance(result, InputError)
    assert result.place == f"byte {data.index(0)}"
    assert result.remedy


def test_utf16_and_a_byte_order_mark() -> None:
    text = (DATA / "chip" / "healthy.json").read_text()
    assert isinstance(open_bytes(text.encode("utf-8-sig")), Capture)
    error = open_bytes(text.encode("utf-16"))
    assert isinstance(error, InputError)
    assert "UTF-16" in error.reason


def test_a_wrong_type_at_any_depth_of_a_stream_is_counted() -> None:
    value = healthy("chip")
    value["aicpu_scheduler_phases"][0][0]["shared_at_start"] = [1, "x", 2]
    result = open_bytes(json.dumps(value).encode())
    assert isinstance(result, Capture)
    assert [(n.code, n.detail) for n in result.meta.notices if n.code == "wrong_type"] == [
        ("wrong_type", {"aicpu_scheduler_phases[0][0]": 1})
    ]


@pytest.mark.parametrize("where", ["top", "metadata", "row", "phase", "extra"])
def test_deep_nesting_is_one_error_in_bounded_memory(where: str, tmp_path: pathlib.Path) -> None:
    deep = b"[" * 3_000_000 + b"]" * 3_000_000
    base = (DATA / "chip" / "healthy.json").read_bytes()
    data = {
        "top": deep,
        "metadata": base.replace(b'"num_cores": 4', b'"num_cores": ' + deep),
        "row": base.replace(b'"aicore_tasks": [', b'"aicore_tasks": [' + deep + b","),
        "phase": base.replace(b'"loop_iter": 1', b'"loop_iter": ' + deep, 1),
        "extra": base.rstrip()[:-1] + b', "extra": ' + deep + b"}",
    }[where]
    path = tmp_path / "chip_swimlane_records.json"
    path.write_bytes(data)
    script = (
        "import re, sys\n"
        "from analysis import formats\n"
        "from analysis.errors import AmbiguousError, InputError\n"
        "try:\n    formats.load(sys.argv[1])\nexcept InputError as error:\n    print(error.reason)\n"
        # not ru_maxrss: that of a child begins with its parent's
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read()).group(1))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True, env=os.environ
    )
    reason, peak_kib = done.stdout.splitlines()
    assert "nested too deep" in reason
    assert int(peak_kib) < 200 * 1024


def test_gzip_does_not_expand_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(LimitError, match="1,000,000"):
        reading.expand(reading.Text.of(bomb), "bomb.json.gz", limit=1_000_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_gzip_in_several_members() -> None:
    base = (DATA / "chip" / "healthy.json").read_bytes()
    half = len(base) // 2
    assert isinstance(open_bytes(gzip.compress(base[:half]) + gzip.compress(base[half:])), Capture)


ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),  # core
        st.integers(0, 2**64 - 1),  # task id
        st.integers(0, 4),  # reg
        st.integers(0, 60),  # start: 0 is reserved
        st.integers(0, 60),  # end, perhaps before the start
        st.integers(0, 5),
    ),
    max_size=25,
)
AICPU = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 60), st.integers(0, 60)), max_size=25)


@QUICK
@given(rows=ROWS, aicpu=AICPU, level=st.integers(1, 4), texts=st.booleans(), odd_row=st.booleans())
def test_joins_equal_the_obvious_loop(
    rows: list[tuple[int, ...]], aicpu: list[tuple[int, ...]], level: int, texts: bool, odd_row: bool
) -> None:
    """Strict and tolerant path alike pair rows as a loop over queues does."""
    shown: list[Any] = [[c, str(t) if texts else t, r, s, e, w] for c, t, r, s, e, w in rows]
    if odd_row:
        shown.append(["no", "row"])
    value = {
        "chip_swimlane_level": level,
        "metadata": {"clock_freq_hz": 50_000_000, "num_cores": 4, "core_types": ["aic", "aic", "aiv", "aiv"]},
        "aicore_tasks": shown,
        "aicpu_tasks": aicpu,
    }
    result = open_bytes(json.dumps(value).encode(), include_flagged=True)
    assert isinstance(result, Capture)
    check_opens(result)
    queues: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for row in aicpu:
        queues.setdefault((row[0], row[1]), []).append(row)
    joined, lost = [], 0
    for core, task, reg, start, end, _setup in rows:
        if start == 0:
            continue
        queue = queues.get((core, reg), [])
        if queue:
            _, _, dispatch, finish = queue.pop(0)
            joined.append((core, start, end, task, dispatch, finish))
        elif level == 1:
            joined.append((core, start, end, task, 0, 0))
        else:
            lost += 1
    zero = result.meta.zero_ticks
    missing = np.iinfo(np.int64).min
    got = zip(
        result.records.core_id.tolist(),
        (result.records.start_ticks + zero).tolist(),
        (result.records.end_ticks + zero).tolist(),
        result.tasks.task_id[result.records.task].tolist(),
        [0 if t == missing else t + zero for t in result.records.dispatch_ticks.tolist()],
        [0 if t == missing else t + zero for t in result.records.finish_ticks.tolist()],
        strict=True,
    )
    assert sorted(got) == sorted(joined)
    assert len(result.unmatched) == lost
    counts = {notice.code: notice.count for notice in result.meta.notices}
    assert counts.get("unmatched_aicore", 0) == lost
    assert counts.get("unmatched_aicpu", 0) == sum(map(len, queues.values()))
    assert counts.get("reserved_row", 0) == sum(row[3] == 0 for row in rows)
    assert counts.get("wrong_type", 0) == int(odd_row)


@pytest.mark.parametrize("content", [b"", b"{", b'{"chip_swimlane_level": 2, "metad', b"\0\0\0", b"{}", b"not JSON"])
@pytest.mark.parametrize("name", ["chip_swimlane_records.json", "l2_perf_records_1.json"])
def test_a_directory_with_a_damaged_swimlane_is_an_error_that_names_it(
    content: bytes, name: str, tmp_path: pathlib.Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "deps.json").write_bytes((DATA / "deps" / "healthy.json").read_bytes())
    (run / name).write_bytes(content)
    for open_it in (formats.load, Store(tmp_path / "store").open):
        with pytest.raises(InputError, match=name):
            open_it(run)
    assert Store(tmp_path / "store").known(run) is None


def test_a_damaged_swimlane_beside_a_sound_one_is_named_as_a_choice(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.json").write_bytes((DATA / "chip" / "healthy.json").read_bytes())
    (tmp_path / "chip_swimlane_records.json").write_text("{")
    with pytest.raises(AmbiguousError) as error:
        formats.load(tmp_path)
    assert len(error.value.choices) == 2
