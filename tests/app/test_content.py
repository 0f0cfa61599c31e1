"""Answers say which content they are from; a page keeps its own when the run is written again or goes away."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from analysis.synth.capture import write_capture
from app.runs.content import HEADER, STATE_HEADER
from app.runs.library import run_key
from app.server.factory import create_app
from app.server.settings import Root, Settings
from tests.app.conftest import services_of

KEY = run_key("r", "c")


@pytest.fixture
def site(tmp_path: Path) -> tuple[Any, Any, Path]:
    """(client, services, directory of the one run)."""
    run = tmp_path / "root" / "c"
    write_capture(run, 60, 1)
    settings = Settings(roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data", facts_max_bytes=0)
    made = create_app(settings)
    services_of(made).library.scan_once()
    return made.server.test_client(), services_of(made), run


def info(client: Any, **headers: str) -> Any:
    return client.get(f"/api/timeline/{KEY}/info", headers=headers)


def rewrite(services: Any, run: Path) -> None:
    shutil.rmtree(run)
    write_capture(run, 90, 2)
    services.library.scan_once()


@pytest.mark.parametrize(
    "path", [f"/api/timeline/{KEY}/info", f"/api/r/{KEY}/table/cores.csv", f"/api/graph/{KEY}/search?q=t1"]
)
def test_every_answer_names_its_content(site: tuple[Any, Any, Path], path: str) -> None:
    client, services, _run = site
    answer = client.get(path)
    assert answer.headers[HEADER] == f"{KEY}.0.{services.library.capture(KEY).meta.capture_id}"
    assert answer.headers[STATE_HEADER] == "current"
    assert HEADER not in client.get("/health").headers


def test_a_rewritten_run_goes_on_as_the_page_knows_it(site: tuple[Any, Any, Path]) -> None:
    client, services, run = site
    first = info(client)
    name = first.headers[HEADER]
    rewrite(services, run)
    old = info(client, **{HEADER: name})
    assert old.data == first.data
    assert (old.headers[HEADER], old.headers[STATE_HEADER]) == (name, "changed")
    by_query = client.get(f"/api/timeline/{KEY}/info?content={name}")
    assert by_query.data == first.data
    new = info(client)
    assert new.headers[STATE_HEADER] == "current"
    assert new.headers[HEADER] != name
    assert new.data != first.data


def test_a_callback_keeps_the_content_too(site: tuple[Any, Any, Path]) -> None:
    client, services, run = site
    name = info(client).headers[HEADER]
    rewrite(services, run)
    output = "overview-card-gaps"
    body = {
        "output": f"..{output}.children...overview-card-gaps-tick.disabled..",
        "outputs": [{"id": output, "property": "children"}, {"id": "overview-card-gaps-tick", "property": "disabled"}],
        "inputs": [
            {"id": "run", "property": "data", "value": {"key": KEY, "page": "", "launch": 0}},
            {"id": "overview-card-gaps-tick", "property": "n_intervals", "value": 0},
        ],
        "changedPropIds": [],
        "state": [],
    }
    answer = client.post("/_dash-update-component", json=body, headers={HEADER: name})
    assert answer.status_code == 200
    assert (answer.headers[HEADER], answer.headers[STATE_HEADER]) == (name, "changed")


def test_stored_content_outlives_its_files(site: tuple[Any, Any, Path]) -> None:
    client, services, run = site
    first = info(client)
    shutil.rmtree(run)
    services.library.scan_once()
    assert services.library.runs() == []
    for headers in ({HEADER: first.headers[HEADER]}, {}):
        answer = info(client, **headers)
        assert answer.data == first.data
        assert answer.headers[STATE_HEADER] == "gone"


def test_another_runs_content_is_not_given(site: tuple[Any, Any, Path]) -> None:
    client, services, run = site
    first = info(client)
    other = first.headers[HEADER].replace(KEY, "0" * 16)
    rewrite(services, run)
    answer = info(client, **{HEADER: f"{other} junk . a.b.c"})
    assert answer.headers[STATE_HEADER] == "current"
    assert answer.data != first.data


def test_a_job_computes_over_the_content_of_the_page(site: tuple[Any, Any, Path]) -> None:
    client, services, run = site
    name = info(client).headers[HEADER]
    rewrite(services, run)
    capture_id = name.rpartition(".")[2]
    server = client.application
    with server.test_request_context(headers={HEADER: name}):
        server.preprocess_request()
        job = services.library.job(KEY, 0, "gaps", {})
    assert job.content == capture_id
    assert services.jobs.wait(job).state == "done"
    assert services.analyses.kept(capture_id, "gaps", {}) is not None
