from __future__ import annotations

from pathlib import Path

import pytest

from analysis.synth.capture import write_capture
from app.functions import page as functions
from app.runs.library import run_key
from app.server.factory import make_services
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ({}, ""),
        ({"deps": False}, "deps.json is missing"),
        ({"name_map": False}, "functions are shown as func_"),
    ],
)
def test_the_page_says_why_functions_have_no_name(tmp_path: Path, missing: dict[str, bool], said: str) -> None:
    write_capture(tmp_path / "root" / "c" / "dfx_outputs", 200, 1, **missing)
    services = make_services(Settings(roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data"))
    services.library.scan_once()
    page = str(functions.layout(services, ViewState(), run_key("r", "c/dfx_outputs")))
    assert ("have no name" in page) == bool(said)
    assert said in page
