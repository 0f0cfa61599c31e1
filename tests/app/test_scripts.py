"""Do scripts come in one piece and in order, and is plotly named early, served whole, and compiled in one go?"""

from __future__ import annotations

import pathlib
import re
from importlib import resources

import flask
import pytest

from app.server.factory import assets_folder, create_app
from app.server.scripts import PLOTLY, eager, joined
from app.server.settings import load_settings

ORIGINAL = resources.files("plotly").joinpath("package_data/plotly.min.js").read_bytes()


@pytest.fixture
def client(tmp_path: pathlib.Path) -> flask.testing.FlaskClient:
    return create_app(load_settings({"data_dir": str(tmp_path), "url_prefix": "/scope/"})).server.test_client()


def test_the_script_of_the_installed_plotly_gets_its_parentheses() -> None:
    assert eager(ORIGINAL) == ORIGINAL.replace(b"this, () => {", b"this, (() => {").rstrip()[:-4] + b"})));"


@pytest.mark.parametrize(
    "other", [b"", b"var Plotly = {};", b"f(this, () => {}, this, () => {}));", b"f(this, () => {});x"]
)
def test_a_script_of_another_form_stays_as_it_is(other: bytes) -> None:
    assert eager(other) == other


def test_the_page_names_the_script_that_is_served(client: flask.testing.FlaskClient) -> None:
    link = client.get("/scope/r/0123456789abcdef/swimlane").headers["Link"]
    assert link == f"</scope/{PLOTLY}>; rel=preload; as=script"
    answer = client.get(f"/scope/{PLOTLY}")
    assert answer.mimetype == "text/javascript"
    assert answer.data == eager(ORIGINAL)


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
    assert answer.data == joined(assets_folder())
    assert "immutable" in answer.headers["Cache-Control"]
    assert ".js?m=" not in page.replace(address, "")


def test_scripts_are_joined_in_the_order_of_their_paths(tmp_path: pathlib.Path) -> None:
    (tmp_path / "js" / "b").mkdir(parents=True)
    (tmp_path / "js" / "10.js").write_text("two()")
    (tmp_path / "js" / "00.js").write_text("one()")
    (tmp_path / "js" / "b" / "c.js").write_text("three()")
    (tmp_path / "a.css").write_text("a {}")
    assert joined(tmp_path) == b"/* js/00.js */\none()\n/* js/10.js */\ntwo()\n/* js/b/c.js */\nthree()\n"
