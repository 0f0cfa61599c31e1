"""A large graph is prepared by a child process; the page waits with progress, per edge mode, and never for a small one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.graph import prepared, reduction
from analysis.synth.capture import write_capture
from app.graph import page
from app.runs.library import run_key
from app.server.factory import create_app
from app.server.services import Services
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState
from app.work.jobs import Job

KEY = run_key("r", "c/dfx_outputs")


def services_over(root: Path, data: Path, inline: int) -> Services:
    """The application, for which a capture of more than ``inline`` records is large."""
    settings = Settings(roots=(Root("r", root),), data_dir=data, inline_analysis_records=inline)
    services: Services = create_app(settings).server.extensions["swimscope"]
    services.library.scan_once()
    return services


@pytest.fixture
def large(tmp_path: Path) -> Services:
    write_capture(tmp_path / "root" / "c" / "dfx_outputs", 300, 1)
    return services_over(tmp_path / "root", tmp_path / "data", 10)


def text_of(component: Any) -> str:
    return json.dumps(component.to_plotly_json(), default=lambda part: part.to_plotly_json())


def job(services: Services, mode: str) -> Job:
    run = services.library.run(KEY)
    return Job(run.source, 0, run.signature, prepared.JOB, {"mode": mode})


@pytest.mark.parametrize("mode", ["full", "reduced", "omitted-df"])
def test_the_page_waits_for_the_child_and_then_shows_the_picture(large: Services, mode: str) -> None:
    shown = text_of(page.layout(large, ViewState(mode=mode), KEY))
    assert "Preparing the task graph" in shown
    assert "launch,mode" in shown
    assert large.jobs.wait(job(large, mode)).state == "done"
    assert page.is_prepared(large, ViewState(mode=mode), KEY)
    assert page.CY in text_of(page.layout(large, ViewState(mode=mode), KEY))


@pytest.mark.parametrize("many", [True, False])
def test_each_mode_is_prepared_when_it_is_asked_for(
    large: Services, monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    """Of a graph with few edges all modes at once, since every mode shows its count."""
    if many:
        monkeypatch.setattr(prepared, "LARGE_EDGES", 10)
    capture = large.library.capture(KEY)
    said: list[float] = []

    def ready_after(mode: str) -> list[str]:
        prepared.prepare(large.store, capture, mode, lambda share, _step: said.append(share))
        return [name for name in reduction.MODES if prepared.ready(large.store, capture, name)]

    assert ready_after("full") == (["full"] if many else list(reduction.MODES))
    assert ready_after("reduced") == (["full", "reduced", "omitted"] if many else list(reduction.MODES))
    assert ready_after("omitted-df") == list(reduction.MODES)
    assert said[:4] == sorted(said[:4])


def test_a_small_graph_and_a_missing_one_wait_for_nothing(tmp_path: Path) -> None:
    write_capture(tmp_path / "small" / "c" / "dfx_outputs", 300, 1)
    small = services_over(tmp_path / "small", tmp_path / "a", 1_000)
    assert page.preparing(small, ViewState(mode="reduced-df"), KEY) is None
    write_capture(tmp_path / "none" / "c" / "dfx_outputs", 300, 1, deps=False)
    none = services_over(tmp_path / "none", tmp_path / "b", 10)
    assert page.preparing(none, ViewState(), KEY) is None
    assert "deps.json is missing" in text_of(page.layout(none, ViewState(), KEY))
