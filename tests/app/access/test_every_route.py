"""Who is let in? Every route and callback there is, in both controlled modes, found by walking the application."""

from __future__ import annotations

import base64
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import bcrypt
import pytest
from dash import Dash

from analysis.synth.capture import write_capture
from app.server.access import guard
from app.server.access.tokens import Tokens
from app.server.factory import create_app
from app.server.settings import Settings

PASSWORD = "right horse"
PROXY = "10.9.0.7"
USERS = {"vera": "view", "ursel": "upload", "ada": "admin"}


def basic(user: str, password: str = PASSWORD) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def lines(settings: Settings) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (settings.data_dir / "audit.log").read_text().splitlines()]


@pytest.fixture
def controlled(settings: Settings, tmp_path: Path) -> Settings:
    """Settings with an htpasswd file of three users, whose roles are in a file."""
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode().replace("$2b$", "$2y$", 1)
    (tmp_path / "htpasswd").write_text("# team\n" + "".join(f"{user}:{hashed}\n" for user in USERS))
    (tmp_path / "roles").write_text("".join(f"{user}={role}\n" for user, role in USERS.items()))
    return replace(
        settings,
        access="htpasswd",
        htpasswd_file=str(tmp_path / "htpasswd"),
        roles_file=str(tmp_path / "roles"),
        data_dir=tmp_path / "data",
    )


def behind_proxy(settings: Settings) -> Settings:
    return replace(settings, access="proxy", htpasswd_file="", proxy_addresses="10.9.0.0/24, ::1")


def requests_of(app: Dash) -> list[tuple[str, str, Any]]:
    """(method, path, body) of every rule of the URL map with every method, and of every callback."""
    found: list[tuple[str, str, Any]] = []
    for rule in app.server.url_map.iter_rules():
        values = dict.fromkeys(rule.arguments, "1")
        path = app.server.url_map.bind("localhost").build(rule.endpoint, values, method=None) if values else rule.rule
        found += [(method, path, None) for method in sorted(rule.methods or ())]
    for output, declared in app.callback_map.items():
        body = {"output": output, "inputs": declared["inputs"], "state": declared["state"], "changedPropIds": []}
        found.append(("POST", "/_dash-update-component", body))
    return [*found, ("GET", "/no/such/page", None), ("POST", "/api/no-such", None), ("TRACE", "/", None)]


@pytest.mark.parametrize("mode", ["htpasswd", "proxy from elsewhere", "proxy without a user"])
def test_nobody_gets_any_route_or_callback_without_signing_in(controlled: Settings, mode: str) -> None:
    app = create_app(controlled if mode == "htpasswd" else behind_proxy(controlled))
    client = app.server.test_client()
    peer = {"REMOTE_ADDR": "10.9.0.7" if mode.endswith("user") else "10.8.0.1"}
    headers = {} if mode.endswith("user") else {"X-Forwarded-User": "ada"}
    asked = requests_of(app)
    assert len(asked) > 50
    assert len(app.callback_map) > 5
    let_in = []
    for method, path, body in asked:
        answer = client.open(path, method=method, json=body, headers=headers, environ_overrides=peer)
        if answer.status_code not in (401, 403):
            let_in.append((method, path, answer.status_code))
    assert let_in == []


@pytest.mark.parametrize(("user", "refused"), [("vera", True), ("ursel", False), ("ada", False)])
def test_a_viewer_cannot_upload(controlled: Settings, user: str, refused: bool) -> None:
    app = create_app(controlled)
    client = app.server.test_client()
    for path in (
        "api/uploads",
        "api/uploads/1",
        "api/batches",
        "api/batches/1/finish",
        "api/push/x.zip",
        "api/uploaded/1",
    ):
        for method in ("POST", "PATCH", "PUT", "DELETE", "OPTIONS"):
            status = client.open(f"/{path}", method=method, headers=basic(user)).status_code
            assert (status == 403) == refused, (method, path, status)
        assert client.get(f"/{path}", headers=basic(user)).status_code != 403
    assert client.post("/api/links", json={"query": {}}, headers=basic(user)).status_code == 200
    if refused:
        assert any(line["event"] == "refused" and line["user"] == user for line in lines(controlled))


def test_what_a_feature_for_administrators_brings_is_refused_to_uploaders(controlled: Settings) -> None:
    app = create_app(controlled)
    access = app.server.extensions[guard.EXTENSION]
    needed = [name for name, role in access.needed.items() if role == "admin"]
    assert any(name.startswith("callback ") for name in needed)
    client = app.server.test_client()
    for name in needed:
        kind, _, rest = name.partition(" ")
        if kind == "callback":
            body = {"output": rest, "inputs": app.callback_map[rest]["inputs"], "changedPropIds": []}
            answers = [client.post("/_dash-update-component", json=body, headers=basic(u)) for u in ("ursel", "vera")]
        else:
            rule = next(rule for rule in app.server.url_map.iter_rules() if rule.endpoint == rest)
            answers = [client.open(rule.rule, method="GET", headers=basic(u)) for u in ("ursel", "vera")]
        assert [answer.status_code for answer in answers] == [403, 403], name


def test_passwords_change_with_the_file(controlled: Settings) -> None:
    client = create_app(controlled).server.test_client()
    assert client.get("/health", headers=basic("ada")).status_code == 200
    assert client.get("/health", headers=basic("ada", "wrong")).status_code == 401
    assert client.get("/health", headers=basic("nobody")).status_code == 401
    file = Path(controlled.htpasswd_file)
    kept = [line for line in file.read_text().splitlines() if not line.startswith("ada:")]
    file.write_text("\n".join(kept) + "\n")
    assert client.get("/health", headers=basic("ada")).status_code == 401  # also where it was accepted before
    assert client.get("/health", headers=basic("vera")).status_code == 200
    file.write_text("vera:plain text\n")
    assert client.get("/health", headers=basic("vera")).status_code == 401  # a broken file lets nobody in


def test_a_proxy_is_believed_from_its_addresses_only(controlled: Settings) -> None:
    settings = replace(behind_proxy(controlled), roles="@npu=upload, *=none, ada=admin", roles_file="")
    server = create_app(settings).server

    def ask(peer: str, user: str, groups: str = "") -> int:
        headers = {"X-Forwarded-User": user, "X-Forwarded-Groups": groups}
        answer = server.test_client().post("/api/uploads", headers=headers, environ_overrides={"REMOTE_ADDR": peer})
        return answer.status_code

    assert ask(PROXY, "ada") not in (401, 403)
    assert ask("::1", "bo", "x, npu") not in (401, 403)
    assert ask(PROXY, "bo", "x") == 403  # no role
    assert ask("10.9.1.7", "ada") == 403
    for name in ("", "ada,bo", "a" * 200):
        assert ask(PROXY, name) == 401


def test_a_token_has_a_role_an_end_and_is_refused_at_once_when_revoked(controlled: Settings) -> None:
    workers = [create_app(controlled).server.test_client(), create_app(behind_proxy(controlled)).server.test_client()]
    tokens = Tokens(controlled.data_dir / "tokens")
    text, token = tokens.create("ci", "upload", 1)
    viewer, _ = tokens.create("ci", "view", 0)
    expired, _ = tokens.create("ci", "admin", 1e-9)
    assert text not in "".join(file.read_text() for file in (controlled.data_dir / "tokens").glob("*.json"))
    for client in workers:
        assert client.get("/health", headers=bearer(text)).status_code == 200
        assert client.post("/api/uploads", headers=bearer(text)).status_code not in (401, 403)
        assert client.post("/api/uploads", headers=bearer(viewer)).status_code == 403
        assert client.get("/health", headers=bearer(expired)).status_code == 401
        assert client.get("/health", headers=bearer(text[:-1] + "!")).status_code == 401
    tokens.revoke(token.id)
    for client in workers:
        assert client.get("/health", headers=bearer(text)).status_code == 401
    events = {line["event"] for line in lines(controlled)}
    assert {"token used", "token refused"} <= events


def test_guessing_is_limited_for_all_workers_together(controlled: Settings) -> None:
    settings = replace(controlled, sign_in_attempts=4)
    workers = [create_app(settings).server.test_client() for _ in range(2)]
    peer = {"REMOTE_ADDR": "192.0.2.1"}
    assert workers[0].get("/health", headers=basic("vera"), environ_overrides=peer).status_code == 200
    asked = [workers[n % 2].get("/health", headers=basic("ada", f"{n}"), environ_overrides=peer) for n in range(6)]
    assert [answer.status_code for answer in asked] == [401] * 4 + [429] * 2
    assert int(asked[-1].headers["Retry-After"]) > 200
    right = [worker.get("/health", headers=basic("ada"), environ_overrides=peer).status_code for worker in workers]
    assert right == [429, 429]  # a guess that is right gains nothing
    assert (
        workers[0].get("/health", headers=basic("vera"), environ_overrides=peer).status_code == 200
    )  # signed in before
    for n in range(3 * 4 + 4):  # from everywhere: the name has its limit too
        other = {"REMOTE_ADDR": f"198.51.100.{n}"}
        assert workers[0].get("/health", headers=basic("ada", "x"), environ_overrides=other).status_code == 401
    other = {"REMOTE_ADDR": "203.0.113.9"}
    assert workers[1].get("/health", headers=basic("ada", "x"), environ_overrides=other).status_code == 429
    assert {"sign-in", "sign-in refused", "sign-in blocked"} <= {line["event"] for line in lines(settings)}


def test_uploads_and_deletions_are_in_the_audit_log(controlled: Settings, tmp_path: Path) -> None:
    client = create_app(controlled).server.test_client()
    write_capture(tmp_path / "run", 30, 1)
    packed = Path(shutil.make_archive(str(tmp_path / "run"), "zip", tmp_path / "run")).read_bytes()
    text, token = Tokens(controlled.data_dir / "tokens").create("ci", "upload", 1)
    sent = client.put("/api/push/run.zip", data=packed, headers=bearer(text))
    assert sent.status_code == 201, sent.get_data(as_text=True)
    address = f"/api/uploaded/{sent.get_json()['id']}"
    assert client.delete(address, headers=basic("ursel")).status_code == 403  # the run of somebody else
    assert client.delete(address, headers=basic("ada")).status_code == 200
    found = [(line["event"], line["user"], line.get("status")) for line in lines(controlled)]
    assert ("upload", "ci", 201) in found
    assert ("upload deleted", "ursel", 403) in found
    assert ("upload deleted", "ada", 200) in found
    assert any(line["event"] == "token used" and line["token"] == token.id for line in lines(controlled))


def test_writes_of_other_sites_are_refused_although_the_browser_signs_in(controlled: Settings) -> None:
    client = create_app(controlled).server.test_client()
    for evil in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert client.post("/api/links", json={"query": {}}, headers=basic("ada") | evil).status_code == 403


def test_cookies_are_flagged(controlled: Settings) -> None:
    app = create_app(controlled)

    def cookie() -> Any:
        answer = app.server.make_response("x")
        answer.set_cookie("a", "b", samesite="Strict")
        return answer

    app.server.view_functions["health"] = cookie
    headers = basic("ada") | {"X-Forwarded-Proto": "https"}
    given = app.server.test_client().get("/health", headers=headers).headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Secure"} <= set(given.split("; "))
    assert "Set-Cookie" not in app.server.test_client().get("/", headers=basic("ada")).headers
