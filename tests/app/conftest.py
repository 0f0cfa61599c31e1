"""A small tree of runs, and the application over it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dash import Dash

from analysis.synth.capture import write_capture
from app.server.factory import create_app
from app.server.services import Services
from app.server.settings import Root, Settings


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of every sort: full, each level, no deps, no names, names only, ranks, host graph, dummies, broken."""
    root = tmp_path_factory.mktemp("tree")
    write_capture(root / "attention" / "dfx_outputs", 240, 1)
    for level in (1, 2, 3):
        write_capture(root / f"level_{level}" / "dfx_outputs", 60, 2, level=level)
    write_capture(root / "no_deps" / "dfx_outputs", 60, 3, deps=False)
    write_capture(root / "no_names" / "dfx_outputs", 60, 3, name_map=False)
    write_capture(root / "host" / "dfx_outputs", 60, 4, host=True)
    write_capture(root / "ranks" / "rank0" / "dfx_outputs", 40, 5)
    write_capture(root / "ranks" / "rank1" / "dfx_outputs", 40, 6)
    names = root / "names_only" / "dfx_outputs"
    names.mkdir(parents=True)
    mapping = {"level": 2, "callable_id_to_name": {"0": "QK", "1": "<b>PV</b>"}}
    (names / "name_map_case.json").write_text(json.dumps(mapping))
    deps = root / "deps_only" / "dfx_outputs"
    write_capture(deps, 40, 7)
    (deps / "chip_swimlane_records.json").unlink()
    broken = write_capture(root / "broken" / "dfx_outputs", 40, 8).files[0]
    broken.write_bytes(broken.read_bytes()[:900])
    return root


@pytest.fixture(scope="session")
def settings(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings over the tree."""
    return Settings(roots=(Root("runs", tree),), data_dir=tmp_path_factory.mktemp("data"), scan_interval_s=0.2)


@pytest.fixture(scope="session")
def app(settings: Settings) -> Dash:
    """The application over the tree, its scan done."""
    made = create_app(settings)
    services_of(made).library.scan_once()
    return made


@pytest.fixture(scope="session")
def services(app: Dash) -> Services:
    """What pages get."""
    return services_of(app)


@pytest.fixture
def client(app: Dash) -> Any:
    """Flask's test client."""
    return app.server.test_client()


def services_of(app: Dash) -> Services:
    """The bundle inside an application."""
    found: Services = app.server.extensions["swimscope"]
    return found


def key_of(services: Services, name: str) -> str:
    """Key of the run whose path contains ``name``."""
    keys = [row.key for row in services.library.runs() if name in row.path.split("/")]
    assert len(keys) == 1, f"{name}: {keys}"
    return keys[0]
