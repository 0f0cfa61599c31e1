"""The store: same capture back, safe among processes, after a crash, after damage, and bounded in size."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from analysis import formats
from analysis.capture import Capture, colfile
from analysis.capture.store import LEFTOVER_SECONDS, TABLES, Store
from analysis.errors import InputError, NotFoundError

DATA = pathlib.Path(__file__).parents[1] / "data"


@pytest.fixture
def run(tmp_path: pathlib.Path) -> pathlib.Path:
    """A dfx_outputs directory with swimlane, graph and names."""
    folder = tmp_path / "case" / "dfx_outputs"
    folder.mkdir(parents=True)
    shutil.copy(DATA / "chip" / "healthy.json", folder / "chip_swimlane_records.json")
    shutil.copy(DATA / "deps" / "healthy.json", folder / "deps.json")
    shutil.copy(DATA / "name_map" / "healthy.json", folder / "name_map_Case.json")
    return folder


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Store:
    return Store(tmp_path / "store")


def same(left: Capture, right: Capture) -> bool:
    """Whether two captures hold the same metadata and columns."""
    return left.meta == right.meta and all(
        np.array_equal(getattr(getattr(left, name), f.name), getattr(getattr(right, name), f.name))
        and getattr(getattr(left, name), f.name).dtype == getattr(getattr(right, name), f.name).dtype
        for name, kind in TABLES.items()
        for f in dataclasses.fields(kind)
    )


def captures(store: Store) -> list[pathlib.Path]:
    return list((store.root / "captures").glob("*/*"))


def leftovers(store: Store) -> list[pathlib.Path]:
    return list((store.root / "tmp").iterdir())


def test_stored_and_loaded_captures_are_the_same(store: Store, run: pathlib.Path) -> None:
    loaded = formats.load(run)
    cold, warm = store.open(run), store.open(run)
    assert same(cold, loaded)
    assert same(warm, loaded)
    assert len(captures(store)) == 1
    assert leftovers(store) == []


@pytest.mark.parametrize("kind", ["host", "launches", "unified", "us", "chip"])
def test_every_kind_of_metadata_survives(kind: str, store: Store, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "chip_swimlane_records.json"
    shutil.copy(DATA / kind / "healthy.json", path)
    assert same(store.open(path), formats.load(path))
    assert same(store.open(path), formats.load(path))


def test_mapped_arrays_are_read_only(store: Store, run: pathlib.Path) -> None:
    capture = store.open(run)
    with pytest.raises(ValueError, match="read-only"):
        capture.records.start_ticks[0] = 5


def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("the files were read again")


def test_a_known_run_is_neither_read_nor_hashed(
    store: Store, run: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.open(run)
    monkeypatch.setattr("analysis.capture.store.load_inputs", never)
    monkeypatch.setattr("analysis.capture.store._sha256", never)
    assert len(store.open(run).records) == 5


def test_a_copy_or_a_touch_is_found_by_content(
    store: Store, run: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = store.open(run)
    shutil.copytree(run, tmp_path / "copy")
    monkeypatch.setattr("analysis.capture.store.load_inputs", never)
    copied = store.open(tmp_path / "copy")
    assert copied.meta.capture_id == first.meta.capture_id
    assert (first.meta.label, copied.meta.label) == ("case", "copy")
    os.utime(run / "deps.json", ns=(1, 1))
    assert store.open(run).meta.capture_id == first.meta.capture_id
    assert len(captures(store)) == 1


def test_a_changed_file_is_another_capture(store: Store, run: pathlib.Path) -> None:
    first = store.open(run)
    raw = json.loads((run / "chip_swimlane_records.json").read_text())
    raw["aicore_tasks"][0][4] += 1
    (run / "chip_swimlane_records.json").write_text(json.dumps(raw))
    second = store.open(run)
    assert second.meta.capture_id != first.meta.capture_id
    assert second.records.end_ticks[0] == first.records.end_ticks[0] + 1
    (run / "deps.json").unlink()
    assert not store.open(run).meta.has_deps


def test_launches_are_stored_apart(store: Store, tmp_path: pathlib.Path) -> None:
    shutil.copy(DATA / "launches" / "healthy.json", tmp_path / "chip_swimlane_records.json")
    path = tmp_path / "chip_swimlane_records.json"
    assert [store.open(path, launch).meta.launch for launch in (0, 1, 0)] == [0, 1, 0]
    assert len(captures(store)) == 2
    with pytest.raises(NotFoundError, match="launches 0 to 1"):
        store.open(path, 2)


def test_an_unreadable_file_leaves_nothing_behind(store: Store, run: pathlib.Path) -> None:
    (run / "chip_swimlane_records.json").write_text('{"chip_swimlane_level": 4, "aicore_tasks": [[')
    with pytest.raises(InputError, match="cut off"):
        store.open(run)
    assert captures(store) == leftovers(store) == []


def damage_truncate(entry: pathlib.Path) -> None:
    with (entry / "columns.bin").open("r+b") as file:
        file.truncate(os.path.getsize(entry / "columns.bin") // 2)


def damage_header(entry: pathlib.Path) -> None:
    with (entry / "columns.bin").open("r+b") as file:
        file.seek(24)
        file.write(b"\0" * 32)


def damage_meta(entry: pathlib.Path) -> None:
    (entry / "meta.json").write_text('{"level": "four"}')


def damage_missing(entry: pathlib.Path) -> None:
    (entry / "columns.bin").unlink()


def damage_columns(entry: pathlib.Path) -> None:
    (entry / "columns.bin").unlink()
    colfile.write(entry / "columns.bin", {"records.start_ticks": np.zeros(3, np.int64)})


@pytest.mark.parametrize("damage", [damage_truncate, damage_header, damage_meta, damage_missing, damage_columns])
def test_a_damaged_entry_is_built_again(
    damage: Callable[[pathlib.Path], None], store: Store, run: pathlib.Path
) -> None:
    loaded = formats.load(run)
    store.open(run)
    damage(captures(store)[0])
    assert same(store.open(run), loaded)
    assert same(Store(store.root).open(run), loaded)
    assert leftovers(store) == []


def test_derived_arrays_are_built_once(store: Store, run: pathlib.Path) -> None:
    capture = store.open(run)
    calls: list[int] = []

    def build() -> dict[str, np.ndarray]:
        calls.append(1)
        return {"a": np.arange(4, dtype=np.int32), "none": np.zeros((0, 3)), "grid": np.eye(2)}

    for _ in range(3):
        found = store.derived(capture, "thing-1 depth=2", build)
        assert found["a"].tolist() == [0, 1, 2, 3]
        assert found["none"].shape == (0, 3)
        assert found["grid"].tolist() == [[1, 0], [0, 1]]
        assert not found["a"].flags.writeable
    assert len(calls) == 1
    store.derived(capture, "thing-1 depth=3", build)
    assert len(calls) == 2
    for path in (store.root / "derived").glob("*/*/*.bin"):
        path.write_bytes(b"rubbish")
    assert store.derived(capture, "thing-1 depth=2", build)["a"].tolist() == [0, 1, 2, 3]
    assert len(calls) == 3


def test_a_failing_build_leaves_nothing(store: Store, run: pathlib.Path) -> None:
    capture = store.open(run)
    with pytest.raises(ZeroDivisionError):
        store.derived(capture, "bad", lambda: {"a": np.array([1 // 0])})
    assert leftovers(store) == []
    assert list((store.root / "derived").glob("*/*/*.bin")) == []


class Stop(Exception):
    """Raised by a progress callback to cancel."""


def test_progress_rises_and_can_cancel(store: Store, run: pathlib.Path) -> None:
    shares: list[float] = []
    store.open(run, progress=lambda share, what: shares.append(share))
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    os.utime(run / "deps.json", ns=(1, 1))
    shutil.rmtree(store.root)
    fresh = Store(store.root)

    def cancel(share: float, what: str) -> None:
        if share >= 0.9:
            raise Stop

    with pytest.raises(Stop):
        fresh.open(run, progress=cancel)
    assert captures(fresh) == leftovers(fresh) == []
    assert len(fresh.open(run).records) == 5


def test_least_recently_used_entries_go_first(store: Store, tmp_path: pathlib.Path) -> None:
    paths = []
    for at in range(3):
        raw = json.loads((DATA / "chip" / "healthy.json").read_text())
        raw["aicore_tasks"][0][4] += at
        paths.append(tmp_path / f"run{at}" / "chip_swimlane_records.json")
        paths[-1].parent.mkdir()
        paths[-1].write_text(json.dumps(raw))
    opened = [store.open(path) for path in paths]
    for at, entry in enumerate(store.entries()):
        os.utime(entry.path / "meta.json", (1000 + at, 1000 + at))
    oldest = store.entries()[0]
    oldest_id = oldest.path.name.split("-")[0]
    store.open(next(p for p, c in zip(paths, opened, strict=True) if c.meta.capture_id == oldest_id))
    total, victim = store.size_bytes(), store.entries()[0]
    removed = store.evict(total - 1)
    assert removed == victim.size_bytes
    assert not victim.path.exists()
    assert store.size_bytes() == total - removed
    # an evicted capture that is still mapped keeps working, and opens again
    assert all(len(capture.records) == 5 and int(capture.records.end_ticks.max()) > 0 for capture in opened)
    assert all(len(store.open(path).records) == 5 for path in paths)
    assert store.evict(0) == total
    assert store.entries() == []


def _open_in_process(root: str, path: str, barrier: Any, results: Any) -> None:
    barrier.wait()
    capture = Store(root).open(path)
    results.put((capture.meta.capture_id, int(capture.records.end_ticks.sum())))


def test_several_processes_open_the_same_capture_at_once(store: Store, run: pathlib.Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(4), context.Queue()
    workers = [
        context.Process(target=_open_in_process, args=(str(store.root), str(run), barrier, results)) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    found = {results.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    want = formats.load(run)
    assert found == {(want.meta.capture_id, int(want.records.end_ticks.sum()))}
    assert len(captures(store)) == 1
    assert leftovers(store) == []


def test_a_process_killed_while_it_writes_harms_nobody(store: Store, run: pathlib.Path) -> None:
    script = (
        "import sys, time\n"
        "from analysis.capture import colfile, store\n"
        "real = colfile.write\n"
        "def slow(path, columns):\n"
        "    real(path, columns)\n"
        "    print('written', flush=True)\n"
        "    time.sleep(60)\n"
        "colfile.write = slow\n"
        "store.Store(sys.argv[1]).open(sys.argv[2])\n"
    )
    victim = subprocess.Popen(
        [sys.executable, "-c", script, str(store.root), str(run)], stdout=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    assert victim.stdout.readline().strip() == "written"
    assert captures(store) == []
    victim.send_signal(signal.SIGKILL)
    victim.wait(30)
    begun = time.monotonic()
    assert same(store.open(run), formats.load(run))
    assert time.monotonic() - begun < 30  # the lock of a dead process is free
    (left,) = leftovers(store)
    old = time.time() - LEFTOVER_SECONDS - 5
    os.utime(left, (old, old))
    assert leftovers(Store(store.root)) == []


def test_a_crash_between_data_and_index_is_repaired(store: Store, run: pathlib.Path) -> None:
    store.open(run)
    shutil.rmtree(store.root / "index")
    fresh = Store(store.root)
    assert same(fresh.open(run), formats.load(run))
    assert len(captures(fresh)) == 1


def test_column_files_hold_any_dtype(tmp_path: pathlib.Path) -> None:
    columns = {
        "u8": np.array([2**64 - 1], np.uint64),
        "bool": np.array([True, False]),
        "wide": np.arange(6, dtype=np.int16).reshape(2, 3)[:, ::2],
        "empty": np.zeros(0, np.int8),
        "ünïcode name": np.array([1.5]),
    }
    colfile.write(tmp_path / "x.bin", columns)
    found = colfile.read(tmp_path / "x.bin")
    assert list(found) == list(columns)
    for name, column in columns.items():
        assert found[name].dtype == column.dtype
        assert found[name].tolist() == column.tolist()
    (tmp_path / "empty.bin").write_bytes(b"")
    for bad in ("empty.bin", "absent.bin"):
        with pytest.raises(colfile.DamagedError):
            colfile.read(tmp_path / bad)
