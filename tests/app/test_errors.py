from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from analysis.errors import InputError
from app.server.errors import describe
from app.server.factory import create_app
from app.server.settings import Settings


def text(error: Exception) -> str:
    return str(describe(error))


def test_an_expected_error_is_told_in_its_own_words(caplog: pytest.LogCaptureFixture) -> None:
    shown = text(InputError("deps.json", "edges[3]", "no pred", "Capture again."))
    assert "deps.json (edges[3]): no pred. Capture again." in shown
    assert caplog.records == []


def test_a_bug_is_logged_under_an_id_and_its_text_is_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "swimscope"):
        shown = text(RuntimeError("secret path /root/x"))
    assert "secret" not in shown
    found = re.search(r"under ([0-9a-f]{8})", shown)
    assert found is not None
    assert found.group(1) in caplog.text
    assert "secret path" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/", 404),
        ("GET", "/api/nope", 404),
        ("GET", "/api/timeline/x/nope", 404),
        ("PUT", "/api/timeline/x/info", 405),
        ("GET", "/api/r/x/draw/gap?task=" + "9" * 5000, 404),
    ],
)
def test_every_error_under_api_is_json(client: Any, method: str, path: str, status: int) -> None:
    answer = client.open(path, method=method)
    assert answer.status_code == status
    assert answer.get_json()["error"]


@pytest.mark.parametrize("body", ["", "{", "null", "[]", "{}", '{"output": "nope", "inputs": []}', '{"output": []}'])
def test_garbage_for_callbacks_is_refused(client: Any, body: str) -> None:
    answer = client.post("/_dash-update-component", data=body, content_type="application/json")
    assert answer.status_code == 400
    assert "not a callback" in answer.get_json()["error"]


@pytest.mark.parametrize("path", ["/api/links", "/_dash-update-component"])
def test_a_request_nested_too_deep_is_refused(client: Any, path: str) -> None:
    answer = client.post(path, data="[" * 100_000, content_type="application/json")
    assert (answer.status_code, answer.get_json()) == (400, {"error": "the request is nested too deep"})


def test_a_bug_in_a_route_is_logged_under_an_id(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    server = create_app(settings).server

    @server.get("/api/bug")
    def bug() -> None:
        raise RuntimeError("secret path /root/x")

    with caplog.at_level(logging.ERROR, "swimscope"):
        answer = server.test_client().get("/api/bug")
    assert answer.status_code == 500
    found = re.search(r"under ([0-9a-f]{8})$", answer.get_json()["error"])
    assert found is not None
    assert found.group(1) in caplog.text
    assert "secret path" in caplog.text


def test_a_script_that_does_not_exist_is_404(client: Any) -> None:
    assert client.get("/_dash-component-suites/nope/x.js").status_code == 404
