"""The data directory stays within its limits, and what was removed comes back when it is asked for."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import NotFoundError
from analysis.synth.capture import write_capture
from app.runs.library import run_key
from app.server.factory import make_services
from app.server.settings import Root, Settings
from app.work import housekeeping
from app.work.jobs import Job, Progress, write_status


def test_captures_used_longest_ago_go_first_and_open_again(tmp_path: Path) -> None:
    for name, seed in (("old", 1), ("new", 2)):
        write_capture(tmp_path / "root" / name, 200, seed)
    settings = Settings(roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data")
    services = make_services(settings)
    services.library.scan_once()
    old, _new = (services.library.capture(run_key("r", name)) for name in ("old", "new"))
    starts = old.records.start_ticks.tolist()
    small = replace(services, settings=replace(settings, store_max_bytes=services.store.size_bytes() - 1))
    removed = housekeeping.tidy(small)
    assert removed > 0
    stored = {name: services.store.known(tmp_path / "root" / name) is not None for name in ("old", "new")}
    assert stored == {"old": False, "new": True}
    assert old.records.start_ticks.tolist() == starts  # whoever has it open keeps it
    fresh = make_services(settings)
    fresh.library.scan_once()
    assert fresh.library.capture(run_key("r", "old")).records.start_ticks.tolist() == starts


def test_within_the_limits_nothing_goes(tmp_path: Path) -> None:
    write_capture(tmp_path / "root" / "c", 200, 1)
    services = make_services(Settings(roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data"))
    services.library.scan_once()
    services.library.capture(run_key("r", "c"))
    name = services.links.put({"q": "x"})
    assert housekeeping.tidy(services) == 0
    assert services.links.get(name) == {"q": "x"}
    assert services.store.size_bytes() > 0


def test_the_link_that_was_opened_last_stays(tmp_path: Path) -> None:
    services = make_services(Settings(data_dir=tmp_path, stored_links_max_bytes=60))
    first, second = services.links.put({"q": "first"}), services.links.put({"q": "second"})
    for at, name in enumerate((first, second)):
        os.utime(tmp_path / "links" / f"{name}.json", (1_000 + at,) * 2)
    services.links.get(first)
    assert housekeeping.tidy(services) > 0
    assert services.links.get(first) == {"q": "first"}
    with pytest.raises(NotFoundError, match="not been opened for very long"):
        services.links.get(second)


def test_old_jobs_are_forgotten_and_recent_ones_are_not(tmp_path: Path) -> None:
    services = make_services(Settings(data_dir=tmp_path))
    folder = tmp_path / "jobs"
    folder.mkdir()
    old, recent = Job(tmp_path, 0, "old"), Job(tmp_path, 0, "recent")
    for job in (old, recent):
        write_status(folder / f"{job.name}.json", Progress("failed", message="no"))
    long_ago = time.time() - housekeeping.JOBS_KEPT_S - 60
    os.utime(folder / f"{old.name}.json", (long_ago,) * 2)
    housekeeping.tidy(services)
    assert (services.jobs.status(old).state, services.jobs.status(recent).state) == ("idle", "failed")


def test_it_runs_by_itself_and_goes_on_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    services = make_services(Settings(data_dir=tmp_path))
    again = threading.Event()
    calls: list[int] = []

    def tidy(_services: object) -> int:
        calls.append(1)
        if len(calls) == 1:
            raise OSError("disk is gone")
        again.set()
        threading.Event().wait()  # a daemon thread: it stays here until the tests end
        return 0

    monkeypatch.setattr(housekeeping, "tidy", tidy)
    monkeypatch.setattr(housekeeping, "EVERY_S", 0.01)
    housekeeping.start(services)
    assert again.wait(60)
    assert "disk is gone" in caplog.text
