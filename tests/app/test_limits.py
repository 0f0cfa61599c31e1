"""Full disks, remembered misses, jobs at once, memory and time of background processes, paths in messages."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis.capture import colfile
from analysis.capture import store as store_module
from analysis.capture.store import Store
from analysis.errors import InputError, NotFoundError
from analysis.files import NoRoomError, room_for, write_atomically
from analysis.synth.capture import write_capture
from app.runs.library import run_key
from app.server.factory import create_app
from app.server.places import Places, check_places
from app.server.settings import Root, Settings, SettingsError
from app.work.jobs import Job, Jobs, Limits, read_status
from app.work.outcomes import Analyses
from app.work.reader import Reader, ReadingError
from tests.app.conftest import services_of
from tests.waiting import until


def full(*_arguments: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_says_what_is_full_and_the_view_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "c"
    write_capture(source, 60, 1)
    store = Store(tmp_path / "store")
    monkeypatch.setattr(colfile, "write", full)
    with pytest.raises(NoRoomError, match=r"has no room for the capture .* needed, .* free.*store_max_bytes"):
        store.open(source, needs_room=True)
    capture = store.open(source)
    assert len(capture.records) == 60
    assert list(store.derived(capture, "x", lambda: {"a": capture.records.start_ticks})) == ["a"]
    assert [path for path in (tmp_path / "store" / "tmp").iterdir() if path.is_file()] == []
    monkeypatch.undo()
    assert len(store.open(source, needs_room=True).records) == 60


def test_pages_answer_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_capture(tmp_path / "root" / "c", 60, 1)
    settings = Settings(roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data", facts_max_bytes=0)
    app = create_app(settings)
    services_of(app).library.scan_once()
    monkeypatch.setattr(colfile, "write", full)
    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(Analyses, "_disk_cache", full)
    client, key = app.server.test_client(), run_key("r", "c")
    for path in (f"timeline/{key}/info", f"r/{key}/table/gaps.csv", f"graph/{key}/search?q=t1"):
        assert client.get(f"/api/{path}").status_code == 200, path
    answer = client.post("/api/links", json={"query": {"q": "x"}})
    assert answer.status_code == 507
    assert answer.get_json()["error"].startswith("data_dir/links has no room")
    with pytest.raises(NoRoomError):
        services_of(app).jobs.start(Job(tmp_path / "root" / "c", 0, "s"))


def test_other_errors_of_a_disk_are_not_called_full(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), room_for(tmp_path, 1, "x"):
        raise PermissionError(errno.EACCES, "no")
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path, b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_launch_that_does_not_exist_costs_one_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "c"
    write_capture(source, 60, 1)
    store, read = Store(tmp_path / "store"), []
    load = store_module.load_inputs
    monkeypatch.setattr(store_module, "load_inputs", lambda *args: read.append(args[1]) or load(*args))
    for launch in (7, 7, 6, 900, 7):
        with pytest.raises(NotFoundError, match=f"launch {launch} does not exist"):
            store.open(source, launch)
    assert read == [0]


def test_a_file_that_cannot_be_read_is_remembered_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "c"
    file = write_capture(source, 60, 1).files[0]
    whole = file.read_bytes()
    file.write_bytes(whole[:900])
    store, read = Store(tmp_path / "store"), []
    load = store_module.load_inputs
    monkeypatch.setattr(store_module, "load_inputs", lambda *args: read.append(1) or load(*args))
    texts = set()
    for _ in range(3):
        with pytest.raises(InputError) as caught:
            store.open(source)
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert read == [1]
    file.write_bytes(whole)
    assert len(store.open(source).records) == 60


def test_at_most_n_jobs_run_and_the_others_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = tmp_path / "jobs", tmp_path / "store", tmp_path / "outcomes"
    both = [Jobs(*folders, Limits(at_once=2)) for _ in range(2)]  # two workers
    command = ["/bin/sleep", "600"]
    for jobs in both:
        monkeypatch.setattr(jobs, "_command", lambda *_: command)
    wanted = [Job(tmp_path, at, "s") for at in range(6)]
    for at, job in enumerate(wanted):
        assert both[at % 2].start(job).state == "running"
    running = [child for jobs in both for child in jobs._children.values()]
    assert len(running) == 2
    assert both[0].status(wanted[5]).stage == "waiting for other background jobs to end"
    both[1].cancel(wanted[5])
    assert both[0].status(wanted[5]).state == "cancelled"
    running[0].kill()
    until(lambda: sum(len(jobs._queue) for jobs in both), lambda waiting: waiting == 2, 20.0)
    for jobs in both:
        monkeypatch.setattr(jobs, "_command", lambda *_: ["/bin/true"])
    for child in running:
        child.kill()
    for jobs in both:
        for child in list(jobs._children.values()):
            child.kill()
    until(lambda: sum(len(jobs._queue) for jobs in both), lambda waiting: waiting == 0, 20.0)


def test_a_child_that_needs_too_much_memory_or_time_says_so(tmp_path: Path) -> None:
    source = tmp_path / "c"
    write_capture(source, 60, 1)
    beat = "import pathlib, sys, threading; from app.work.reporting import Reporter; "
    beat += "Reporter(pathlib.Path(sys.argv[1]), 0.0).beat(threading.Event())"
    status = tmp_path / "status.json"
    assert subprocess.run([sys.executable, "-c", beat, str(status)], timeout=60).returncode == 1
    assert "job_time_max_s" in read_status(status).message
    small = Reader(tmp_path / "store2", Limits(memory_bytes=120_000_000))
    with pytest.raises(ReadingError, match=r"job_memory_max_bytes|want of memory"):
        small.facts(source, 1_000)
    small.close()


def test_the_reader_answers_and_goes_on_after_a_bad_file(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    write_capture(good, 60, 1)
    file = write_capture(bad, 60, 1).files[0]
    file.write_bytes(file.read_bytes()[:900])
    reader = Reader(tmp_path / "store", Limits())
    with pytest.raises(ReadingError, match="chip_swimlane_records"):
        reader.facts(bad, 900)
    assert reader.facts(good, 900).records == 60
    assert Store(tmp_path / "store").known(good) is not None
    reader.close()


def test_memory_is_linear_in_the_size_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"x" * 1_000_000)
    small = Limits().memory_for(tmp_path)
    (tmp_path / "a.json").write_bytes(b"x" * 2_000_000)
    assert Limits().memory_for(tmp_path) - small == 40_000_000
    assert Limits(memory_bytes=10).memory_for(tmp_path) == 10


def test_places_are_checked_at_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SettingsError, match=r"data_dir: .*file/data cannot be made"):
        check_places(Settings(data_dir=tmp_path / "file" / "data"))
    for name, words in (("nowhere", "does not exist"), ("file", "is not a directory")):
        with pytest.raises(SettingsError, match=f"root r: .*{name} {words}"):
            check_places(Settings(data_dir=tmp_path / "d", roots=(Root("r", tmp_path / name),)))
    check_places(Settings(data_dir=tmp_path / "d", roots=(Root("r", tmp_path),)))


def test_paths_are_shown_from_the_roots_name_on() -> None:
    places = Places.of(
        Settings(roots=(Root("a", Path("/mnt/npu")), Root("b", Path("/mnt/npu/deep"))), data_dir=Path("/d"))
    )
    assert places.shown("/mnt/npu/deep/x.json: cut") == "b/x.json: cut"
    assert places.shown("see /mnt/npu/x, /mnt/npu: y") == "see a/x, a: y"
    assert places.shown("/mnt/npu2/x /d/links") == "/mnt/npu2/x data_dir/links"


def test_no_message_of_a_broken_run_names_a_server_path(client: Any, services: Any, tree: Path) -> None:
    key = run_key("runs", "broken/dfx_outputs")
    error = client.get(f"/api/timeline/{key}/info").get_json()["error"]
    assert error.startswith("runs/broken/dfx_outputs/")
    assert str(tree) not in error
    rows = until(services.library.runs, lambda rows: any(row.error for row in rows), 60.0)
    assert str(tree) not in json.dumps([row.error for row in rows])


def test_once_opened_a_run_shows_its_figures_whatever_its_size(tmp_path: Path) -> None:
    write_capture(tmp_path / "root" / "c", 60, 1)
    settings = Settings(roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data", facts_max_bytes=0)
    services = services_of(create_app(settings))
    Store(tmp_path / "data" / "store").open(tmp_path / "root" / "c")  # a child's doing
    services.library.scan_once()
    run = services.library.run(run_key("r", "c"))
    assert services.library.ready(run)
    facts = services.library.runs()[0].facts
    assert facts is not None
    assert facts.records == 60


def test_larger_captures_are_read_after_the_smaller_ones(tmp_path: Path) -> None:
    for name, records in (("a", 300), ("b", 40), ("c", 900)):
        write_capture(tmp_path / "root" / name, records, 1)
    settings = Settings(roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data", facts_max_bytes=40_000)
    services = services_of(create_app(settings))
    services.library.scan_once()
    assert [run.row.path for run in services.library._without_facts()] == ["b", "a", "c"]
