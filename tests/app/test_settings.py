from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from app.server.settings import Root, Settings, SettingsError, current, load_settings, parse_root, table


def test_the_command_line_beats_the_environment_beats_the_file(tmp_path: Path) -> None:
    config = tmp_path / "swimscope.toml"
    config.write_text('port = 1\nworkers = 2\ntitle = "File"\n[roots]\nnpu = "/data/npu"\n')
    environ = {"SWIMSCOPE_PORT": "2", "SWIMSCOPE_WORKERS": "3"}
    settings = load_settings({"port": "3", "host": None}, environ, config)
    assert (settings.port, settings.workers, settings.title) == (3, 3, "File")
    assert settings.roots == (Root("npu", Path("/data/npu")),)
    assert settings.host == "127.0.0.1"


def test_roots_come_from_the_environment_too() -> None:
    settings = load_settings({}, {"SWIMSCOPE_ROOTS": "a=/x:b=/y"})
    assert [root.name for root in settings.roots] == ["a", "b"]


def test_a_root_without_a_name_is_called_after_its_folder() -> None:
    assert parse_root("/data/captures") == Root("captures", Path("/data/captures"))


@pytest.mark.parametrize(
    ("overrides", "environ", "message"),
    [
        ({"port": "many"}, {}, "--port"),
        ({"nonsense": "1"}, {}, "unknown setting"),
        ({"roots": ["a=/x", "a=/y"]}, {}, "share a name"),
        ({"roots": ["=/x"]}, {}, "NAME=PATH"),
        ({"workers": "0"}, {}, "workers"),
        ({"auth_user": "me"}, {}, "sign-in needs both"),
        ({"url_prefix": "x"}, {}, "url_prefix"),
        ({"log_level": "LOUD"}, {}, "log_level"),
        ({}, {"SWIMSCOPE_SCAN_INTERVAL_S": "soon"}, "SWIMSCOPE_SCAN_INTERVAL_S"),
    ],
)
def test_an_unusable_value_names_its_place(overrides: dict[str, object], environ: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load_settings(overrides, environ)


@pytest.mark.parametrize("content", ["port = ", "unknown_name = 1", 'port = "x"'])
def test_a_bad_config_file_is_named(tmp_path: Path, content: str) -> None:
    config = tmp_path / "bad.toml"
    config.write_text(content)
    with pytest.raises(SettingsError, match=r"bad\.toml"):
        load_settings({}, {}, config)


def test_a_missing_config_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        load_settings({}, {}, tmp_path / "nowhere.toml")


def test_the_table_holds_every_setting_with_help() -> None:
    rows = table()
    assert [row[0] for row in rows] == [item.name for item in fields(Settings)]
    assert all(row[3] for row in rows)


def test_secrets_are_never_shown() -> None:
    shown = current(Settings(auth_user="a", auth_password_hash="hash", secret_key="key"))
    assert shown["auth_password_hash"] == "(set)"
    assert "hash" not in "".join(v for k, v in shown.items())
    assert shown["secret_key"] == "(set)"
