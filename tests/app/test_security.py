from __future__ import annotations

import base64
import socket
from dataclasses import replace
from typing import Any

import pytest
from werkzeug.security import generate_password_hash

from app.server.factory import create_app
from app.server.settings import Settings

ROUTES = (
    "/",
    "/r/abc/swimlane",
    "/health",
    "/_dash-layout",
    "/_dash-dependencies",
    "/assets/10-shell.css",
    "/api/links/x",
)


@pytest.mark.parametrize("route", ROUTES)
def test_every_answer_has_the_security_headers(client: Any, route: str) -> None:
    headers = client.get(route).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "object-src 'none'" in policy
    script = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "unsafe-inline" not in script
    assert "unsafe-eval" not in script
    assert "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_names_no_other_host(client: Any) -> None:
    text = client.get("/").get_data(as_text=True)
    assert "swimscope-config" in text
    assert "https://" not in text
    assert "http://" not in text


def test_assets_named_by_their_time_are_kept_by_the_browser(client: Any) -> None:
    assert "immutable" in client.get("/assets/10-shell.css?m=1").headers["Cache-Control"]
    assert "immutable" not in client.get("/assets/10-shell.css").headers.get("Cache-Control", "")
    assert "immutable" not in client.get("/_dash-layout").headers.get("Cache-Control", "")


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture(scope="module")
def guarded(settings: Settings) -> Any:
    hashed = generate_password_hash("right", method="pbkdf2:sha256:1000")
    return create_app(
        replace(settings, auth_user="me", auth_password_hash=hashed, sign_in_attempts=1_000)
    ).server.test_client()


@pytest.mark.parametrize("route", ROUTES)
def test_sign_in_covers_every_route(guarded: Any, route: str) -> None:
    assert guarded.get(route).status_code == 401
    assert guarded.get(route, headers=basic("me", "wrong")).status_code == 401
    assert guarded.get(route, headers=basic("you", "right")).status_code == 401
    assert guarded.get(route, headers=basic("me", "right")).status_code in (200, 404)


def test_sign_in_covers_callbacks_and_writes(guarded: Any) -> None:
    assert guarded.post("/_dash-update-component", json={}).status_code == 401
    assert guarded.post("/api/links", json={"query": {}}).status_code == 401
    assert guarded.post("/api/links", json={"query": {}}, headers=basic("me", "right")).status_code == 200


def test_writes_from_another_site_are_refused(client: Any) -> None:
    body = {"query": {"sel": "task:1"}}
    assert client.post("/api/links", json=body, headers={"Origin": "https://evil.example"}).status_code == 403
    assert client.post("/api/links", json=body, headers={"Origin": "http://localhost"}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://[", "http://]", "null", "//", "http://[::1", "x" * 5000, "http://localhost@evil"]
)
def test_an_origin_that_is_no_address_is_refused(client: Any, origin: str) -> None:
    answer = client.post("/api/links", json={"query": {}}, headers={"Origin": origin})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("settings_of", "host", "status"),
    [
        ({}, "localhost:8050", 200), ({}, "127.0.0.1", 200), ({}, "[::1]:8050", 200), ({}, "10.1.2.3:80", 200),
        ({}, "evil.example", 400), ({}, "localhost.evil.example", 400), ({}, "", 400), ({}, "[", 400),
        ({"host": "npu-server"}, "npu-server:8050", 200), ({"host": "npu-server"}, "other", 400),
        ({"allowed_hosts": "team.example, .npu.example"}, "team.example", 200),
        ({"allowed_hosts": "team.example, .npu.example"}, "a.npu.example:1", 200),
        ({"allowed_hosts": "team.example"}, "localhost", 400), ({"allowed_hosts": "*"}, "evil.example", 200),
        ({"host": "0.0.0.0"}, socket.gethostname(), 200), ({"host": "0.0.0.0"}, "evil.example", 400),
    ],
)  # fmt: skip
def test_only_known_names_are_served(settings: Settings, settings_of: dict[str, str], host: str, status: int) -> None:
    made = create_app(replace(settings, **settings_of)).server.test_client()
    assert made.get("/_dash-layout", headers={"Host": host}).status_code == status


def test_bodies_have_a_limit_under_any_server(settings: Settings) -> None:
    made = create_app(replace(settings, request_max_bytes=10_000, link_max_bytes=1_000)).server.test_client()
    for path in ("/_dash-update-component", "/api/links"):
        answer = made.post(path, data=b"x" * 20_000, content_type="application/json")
        assert answer.status_code == 413
        assert answer.get_json()["error"]
