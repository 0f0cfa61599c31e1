from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from analysis.capture.store import Store
from analysis.synth.capture import write_capture
from app.analyses import views
from app.runs.library import run_key
from app.server.factory import make_services
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState
from app.work import waiting
from app.work.jobs import STALE_S, Job, Jobs, Progress, cancel_file, read_status, write_status
from app.work.reporting import Cancelled, Reporter
from tests.waiting import until


def wait(jobs: Jobs, job: Job) -> Progress:
    return until(lambda: jobs.status(job), lambda seen: seen.state not in ("running", "idle"), 150.0)


def test_a_child_fills_the_store(tmp_path: Path) -> None:
    source = tmp_path / "c" / "dfx_outputs"
    write_capture(source, 200, 1)
    jobs = Jobs(tmp_path / "jobs", tmp_path / "store", tmp_path / "outcomes")
    job = Job(source, 0, "sig")
    assert jobs.status(job).state == "idle"
    assert jobs.start(job).state == "running"
    assert wait(jobs, job).state == "done"
    known = Store(tmp_path / "store").known(source)
    assert known is not None
    assert len(known.records) == 200


def test_a_child_that_cannot_read_says_why(tmp_path: Path) -> None:
    source = tmp_path / "c" / "dfx_outputs"
    file = write_capture(source, 50, 1).files[0]
    file.write_bytes(file.read_bytes()[:600])
    jobs = Jobs(tmp_path / "jobs", tmp_path / "store", tmp_path / "outcomes")
    progress = jobs.wait(Job(source, 0, "sig"))
    assert progress.state == "failed"
    assert "chip_swimlane_records.json" in progress.message


def test_cancel_stops_at_the_next_step_and_leaves_no_trace(tmp_path: Path) -> None:
    source = tmp_path / "c" / "dfx_outputs"
    write_capture(source, 50, 1)
    status = tmp_path / "status.json"
    cancel_file(status).touch()
    with pytest.raises(Cancelled):
        Store(tmp_path / "store").open(source, 0, Reporter(status))
    assert Store(tmp_path / "store").known(source) is None


def test_a_running_status_without_heartbeat_is_a_failure(tmp_path: Path) -> None:
    status = tmp_path / "s.json"
    write_status(status, Progress("running", 0.5, "reading"))
    assert read_status(status).state == "running"
    old = time.time() - STALE_S - 5
    os.utime(status, (old, old))
    assert read_status(status).state == "failed"


def test_a_child_that_says_nothing_for_long_runs_as_long_as_it_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = Jobs(tmp_path / "jobs", tmp_path / "store", tmp_path / "outcomes")
    job = Job(tmp_path, 0, "sig")
    monkeypatch.setattr(jobs, "_command", lambda *_: [sys.executable, "-c", "import time; time.sleep(600)"])
    jobs.start(job)
    status = tmp_path / "jobs" / f"{job.name}.json"
    old = time.time() - STALE_S - 5
    os.utime(status, (old, old))
    child = jobs._children[status.name]
    assert jobs.status(job).state == "running"
    assert Jobs(tmp_path / "jobs", tmp_path / "store", tmp_path / "outcomes").status(job).state == "failed"
    child.kill()
    child.wait()
    assert jobs.status(job).state == "failed"


def test_a_large_capture_waits_on_a_panel_and_then_opens(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_capture(root / "c" / "dfx_outputs", 300, 1)
    settings = Settings(
        roots=(Root("r", root),), data_dir=tmp_path / "data", inline_open_max_bytes=1_000, facts_max_bytes=0
    )
    services = make_services(settings)
    services.library.scan_once()
    key = run_key("r", "c/dfx_outputs")
    panel = waiting.waiting(services, key, 0)
    assert panel is not None
    assert "Opening c" in str(panel)
    run = services.library.run(key)
    assert wait(services.jobs, Job(run.source, 0, run.signature)).state == "done"
    assert waiting.waiting(services, key, 0) is None
    assert len(services.library.capture(key).records) == 300


@pytest.mark.parametrize(("ended_s_ago", "starts_again"), [(0.0, False), (3_600.0, True)])
def test_a_job_whose_result_is_nowhere_does_not_start_for_ever(
    tmp_path: Path, ended_s_ago: float, starts_again: bool
) -> None:
    root = tmp_path / "root"
    write_capture(root / "c" / "dfx_outputs", 300, 1)
    settings = Settings(
        roots=(Root("r", root),), data_dir=tmp_path / "data", inline_open_max_bytes=1_000, facts_max_bytes=0
    )
    services = make_services(settings)
    services.library.scan_once()
    key = run_key("r", "c/dfx_outputs")
    run = services.library.run(key)
    job = Job(run.source, 0, run.signature)
    status = tmp_path / "data" / "jobs" / f"{job.name}.json"
    status.parent.mkdir(parents=True)
    write_status(status, Progress("done", 1.0, ended_s=time.time() - ended_s_ago))
    assert (waiting.waiting(services, key, 0) is not None) == starts_again
    if not starts_again:
        assert len(services.library.capture(key).records) == 300
    wait(services.jobs, job)


def test_an_analysis_of_a_large_capture_is_computed_by_a_child(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_capture(root / "c" / "dfx_outputs", 300, 1)
    settings = Settings(roots=(Root("r", root),), data_dir=tmp_path / "data", inline_analysis_records=10)
    services = make_services(settings)
    services.library.scan_once()
    key = run_key("r", "c/dfx_outputs")
    view = ViewState(kind="static")
    panel = views.waiting(services, key, "critical-path", view)
    assert panel is not None
    assert "Computing critical path" in str(panel)
    run = services.library.run(key)
    job = Job(run.source, 0, run.signature, "critical-path", {"kind": "static"})
    assert wait(services.jobs, job).state == "done"
    assert views.waiting(services, key, "critical-path", view) is None
    assert services.analyses.kept(services.library.capture(key).meta.capture_id, "critical-path", {"kind": "static"})


def test_equal_jobs_have_equal_names_and_others_do_not(tmp_path: Path) -> None:
    one = Job(tmp_path, 0, "s", "gaps", {"a": 1, "b": 2})
    assert one.name == Job(tmp_path, 0, "s", "gaps", {"b": 2, "a": 1}).name
    others = [Job(tmp_path, 1, "s"), Job(tmp_path, 0, "t"), Job(tmp_path, 0, "s"), Job(tmp_path, 0, "s", "gaps")]
    assert len({job.name for job in [one, *others]}) == 5
