from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from werkzeug.security import check_password_hash

from analysis.synth.capture import write_capture
from analysis.version import version
from app.server import cli
from app.server.serving import gunicorn_arguments
from app.server.settings import Root, Settings, load_settings, table

REPO = Path(__file__).resolve().parents[2]


def test_settings_lists_every_setting_with_its_value(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["settings", "--port", "9999", "--root", f"npu={tmp_path}"]) == 0
    out = capsys.readouterr().out
    assert "port = 9999" in out
    assert f"npu={tmp_path}" in out
    assert all(f"{name} =" in out for name, *_ in table())


def test_a_bad_setting_exits_2_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["settings", "--port", "many"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "--port" in err


def test_hash_password_prints_a_hash_that_fits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse\n"))
    assert cli.main(["hash-password"]) == 0
    hashed = capsys.readouterr().out.strip()
    assert check_password_hash(hashed, "correct horse")
    assert not check_password_hash(hashed, "wrong")


def test_workers_get_the_same_settings_through_the_environment(tmp_path: Path) -> None:
    settings = Settings(roots=(Root("a", tmp_path), Root("b", tmp_path / "x")), workers=3, data_dir=tmp_path, port=1)
    environ = cli.environment(settings)
    again = load_settings({}, environ)
    assert again.secret_key
    assert (again.roots, again.workers, again.data_dir, again.port) == (settings.roots, 3, tmp_path, 1)


def test_several_workers_are_served_by_gunicorn() -> None:
    arguments = gunicorn_arguments(Settings(workers=3, threads=2, port=8123, data_dir=Path("/data")))
    assert "--worker-tmp-dir=/data/tmp" in arguments  # it writes in the data directory only
    assert "--no-control-socket" in arguments
    assert "--workers=3" in arguments
    assert "--threads=2" in arguments
    assert "--bind=127.0.0.1:8123" in arguments


def test_demo_serves_while_its_samples_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Settings] = []
    made: list[list[str]] = []

    class Maker:
        def __init__(self, command: list[str], **_options: object) -> None:
            made.append(command[1:])

        def wait(self) -> int:
            return 0

    monkeypatch.setattr(cli, "serve", lambda settings, _origins: served.append(settings) or 0)
    monkeypatch.setattr(cli.subprocess, "Popen", Maker)
    assert cli.main(["demo", "--data-dir", str(tmp_path)]) == 0
    assert served[0].roots == (Root("samples", tmp_path / "demo"),)
    assert made == [["-m", "analysis.synth.demo", str(tmp_path / "demo")]]
    assert (tmp_path / "demo").is_dir(), "a root must be there when the server first looks"


@pytest.mark.parametrize("module", [["app", "settings"], ["analysis", "--help"]])
def test_a_reader_that_has_seen_enough_ends_a_command_quietly(module: list[str]) -> None:
    text = f"{sys.executable} -m {' '.join(module)} | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", text], capture_output=True, text=True, cwd=REPO)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("module", [["app", "settings"], ["analysis", "cores", "CAPTURE"]])
def test_a_full_device_is_one_line_and_exit_2(module: list[str], tmp_path: Path) -> None:
    write_capture(tmp_path, 30, 1)
    words = [str(tmp_path) if word == "CAPTURE" else word for word in module]
    with open("/dev/full", "w") as device:
        done = subprocess.run(
            [sys.executable, "-m", *words], stdout=device, stderr=subprocess.PIPE, text=True, cwd=REPO
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cannot write the output: No space left on device" in done.stderr


@pytest.mark.parametrize("module", ["app", "analysis"])
def test_the_version_is_shown(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, cwd=REPO)
    assert done.stdout == f"swimscope {version()}\n"


@pytest.mark.parametrize("options", [["--data-dir", "/proc/nowhere"], ["--root", "r=/nowhere"]])
def test_places_that_cannot_be_used_are_one_line_at_start(options: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app", "serve", "--data-dir", str(tmp_path), *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPO)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
