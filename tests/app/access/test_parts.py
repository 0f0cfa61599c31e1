"""The parts of access, each alone: files, roles, tokens, the audit log, the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import bcrypt
import pytest

from app.server import cli
from app.server.access.attempts import Attempts
from app.server.access.audit import KEPT, Audit
from app.server.access.passwords import Passwords, parse_htpasswd
from app.server.access.proxies import Proxies, neighbourhood
from app.server.access.roles import Roles, parse
from app.server.access.tokens import Tokens
from app.server.settings import Settings, SettingsError, load, load_settings

GOOD = bcrypt.hashpw(b"x", bcrypt.gensalt(4)).decode()


@pytest.mark.parametrize(
    "line",
    ["ada", "ada:secret", "ada:{SHA}abc=", "ada:$apr1$x$y", f":{GOOD}", GOOD.replace("$04", "$31")],
    ids=["no-hash", "plain", "sha", "apr1", "no-name", "too-costly"],
)
def test_only_bcrypt_is_accepted_and_the_line_is_named(line: str) -> None:
    with pytest.raises(SettingsError, match=r"htpasswd, line 2.*bcrypt"):
        parse_htpasswd(f"bo:{GOOD}\n{line}\n", "htpasswd")


@pytest.mark.parametrize("password", ["", "\0", "x\0", "ä" * 100, "x" * 73, "\udc80"])
def test_odd_passwords_are_wrong_and_nothing_worse(tmp_path: Path, password: str) -> None:
    (tmp_path / "f").write_text(f"ada:{GOOD}\n")
    found = Passwords(Settings(access="htpasswd", htpasswd_file=str(tmp_path / "f")))
    assert not found.is_right("ada", password)
    assert found.is_right("ada", "x")


def test_a_long_password_is_cut_as_htpasswd_cuts_it(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(f"ada:{bcrypt.hashpw(b'x' * 72, bcrypt.gensalt(4)).decode()}\n")
    assert Passwords(Settings(access="htpasswd", htpasswd_file=str(tmp_path / "f"))).is_right("ada", "x" * 90)


def test_the_role_of_a_name_counts_before_groups_before_everybody() -> None:
    roles = Roles(Settings(roles="ada=view,@a=admin,@b=upload,bo=none"))
    assert roles.of("ada", ["a"]) == "view"
    assert roles.of("cy", ["b", "a", "z"]) == "admin"
    assert roles.of("bo", ["a"]) == ""
    assert roles.of("cy") == "view"
    assert Roles(Settings(roles="*=none")).of("cy") == ""


@pytest.mark.parametrize("text", ["ada", "ada=boss", "=admin", "ada:admin"])
def test_a_bad_role_is_named(text: str) -> None:
    with pytest.raises(SettingsError, match="NAME=ROLE"):
        parse(text, "roles")


def test_the_client_behind_a_proxy_is_the_last_address_that_is_no_proxy() -> None:
    proxies = Proxies(Settings(proxy_addresses="127.0.0.1,10.0.0.0/8"))

    def address(peer: str, forwarded: str) -> str:
        import flask

        with flask.Flask("x").test_request_context(
            headers={"X-Forwarded-For": forwarded}, environ_base={"REMOTE_ADDR": peer}
        ):
            return proxies.client_address(flask.request)

    assert address("127.0.0.1", "1.1.1.1, 192.0.2.5, 10.0.0.3") == "192.0.2.5"
    assert address("127.0.0.1", "nonsense") == "127.0.0.1"
    assert address("192.0.2.9", "1.1.1.1") == "192.0.2.9"
    assert neighbourhood("2001:db8::1") == neighbourhood("2001:db8::2") != neighbourhood("2001:db8:0:1::1")
    with pytest.raises(SettingsError, match="proxy_addresses"):
        Proxies(Settings(proxy_addresses="everywhere"))


def test_attempts_are_counted_without_a_disk_too(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    attempts = Attempts(tmp_path / "file", 60)  # no directory can be made there
    assert [attempts.begin([("a", 2)]) > 0 for _ in range(3)] == [False, False, True]
    attempts.take_back([("a", 2)])
    assert attempts.begin([("a", 2)]) == 0


def test_an_attempt_that_was_cut_by_a_crash_is_forgotten(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, 60)
    attempts.begin([("a", 1)])
    next(tmp_path.glob("*.json")).write_text('[1.0, "')
    assert attempts.begin([("a", 1)]) == 0


def test_the_audit_log_is_rotated_and_every_line_is_whole(tmp_path: Path) -> None:
    audit = Audit(tmp_path, 1_000)
    for n in range(200):
        audit.write("upload", user="<b>", n=n)
    files = [tmp_path / "audit.log", *(tmp_path / f"audit.log.{n}" for n in range(1, KEPT + 1))]
    assert sorted(tmp_path.glob("audit.log*")) == sorted(files)
    found = [json.loads(line)["n"] for file in reversed(files) for line in file.read_text().splitlines()]
    assert found == list(range(found[0], 200))
    assert all(file.stat().st_size <= 1_000 for file in files)


def test_a_damaged_token_file_lets_nobody_in(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    text, token = tokens.create("ci", "view", 0)
    assert tokens.find(text) == token
    for content in ("", "[]", "{}", '{"schema": 1, "id": 3}'):
        (tmp_path / f"{token.id}.json").write_text(content)
        assert tokens.find(text) is None
        assert tokens.all() == []


def test_tokens_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--data-dir", str(tmp_path)]
    assert cli.main(["token", "create", "ci", "--role", "view", "--note", "nightly", *place]) == 0
    text = capsys.readouterr().out.strip()
    found = Tokens(tmp_path / "tokens").find(text)
    assert found
    assert (found.user, found.role) == ("ci", "view")
    assert cli.main(["token", "list", *place]) == 0
    shown = capsys.readouterr().out
    assert found.id in shown
    assert text.rpartition("_")[2] not in shown
    assert cli.main(["token", "revoke", found.id, *place]) == 0
    assert cli.main(["token", "list", *place]) == 0
    assert "revoked" in capsys.readouterr().out
    for words in (["revoke", "../x"], ["revoke", "0" * 12], ["create", "a,b"], ["create", "ci", "--days", "nan"]):
        assert cli.main(["token", *words, *place]) == 2
    assert text not in (tmp_path / "audit.log").read_text()


def test_secrets_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("abc\n")
    assert load_settings({}, {"SWIMSCOPE_SECRET_KEY_FILE": str(tmp_path / "key")}).secret_key == "abc"
    (tmp_path / "c.toml").write_text(f'secret_key_file = "{tmp_path / "key"}"\nport = 1\n')
    loaded = load({"threads": "2"}, {"SWIMSCOPE_WORKERS": "2"}, tmp_path / "c.toml")
    assert loaded.settings.secret_key == "abc"
    found = [loaded.origins[name] for name in ("secret_key", "port", "threads", "workers", "host")]
    assert found == ["file", "file", "flag", "environment", "default"]
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings({}, {"SWIMSCOPE_SECRET_KEY_FILE": str(tmp_path / "none")})


@pytest.mark.parametrize(
    "wrong",
    [
        {"access": "open"}, {"access": "htpasswd"}, {"access": "proxy"}, {"htpasswd_file": "x"},
        {"access": "proxy", "proxy_addresses": "::1", "auth_user": "a", "auth_password_hash": "b"},
    ],
)  # fmt: skip
def test_settings_of_access_that_do_not_fit_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsError):
        load_settings({}, {f"SWIMSCOPE_{name.upper()}": value for name, value in wrong.items()})


def test_one_user_of_the_settings_is_administrator() -> None:
    settings = replace(Settings(), auth_user="me", auth_password_hash="x")
    assert settings.access_mode == "htpasswd"
    assert Roles(settings).of("me") == "admin"
