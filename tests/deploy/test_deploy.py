"""Do the files under docs/deploy work, as far as this machine allows? A check that cannot be done is skipped and says why."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from analysis.synth.capture import write_capture
from app.server.settings import ENV_PREFIX, Settings, load_settings
from tests.app.test_serving import free_port
from tests.waiting import until

REPO = Path(__file__).resolve().parents[2]
DEPLOY = REPO / "docs" / "deploy"


def test_every_setting_that_the_files_name_exists() -> None:
    known = {f"{ENV_PREFIX}{item.name.upper()}" for item in fields(Settings)} | {"SWIMSCOPE_CONFIG"}
    known |= {f"{ENV_PREFIX}{item.name.upper()}_FILE" for item in fields(Settings) if item.metadata["secret"]}
    named = {word for file in DEPLOY.iterdir() for word in re.findall(r"SWIMSCOPE_[A-Z_]+", file.read_text())}
    assert len(named) > 8
    assert named <= known


def test_the_settings_of_the_compose_file_fit_together(tmp_path: Path) -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    given = dict(re.findall(r'^\s+(SWIMSCOPE_[A-Z_]+): "?([^"#\n]*[^"#\s])"?', text, re.M))
    (tmp_path / "key").write_text("secret")
    settings = load_settings({}, given | {"SWIMSCOPE_SECRET_KEY_FILE": str(tmp_path / "key")})
    assert (settings.workers, settings.access, settings.url_prefix) == (2, "htpasswd", "/swimscope/")
    assert "proxy_set_header X-Forwarded-User" in (DEPLOY / "nginx.conf").read_text()


def test_the_compose_file_is_one() -> None:
    done = _run("docker", "compose", "-f", str(DEPLOY / "compose.yaml"), "config", "--quiet")
    assert done.returncode == 0, done.stderr


def test_the_container_is_built_and_answers(tmp_path: Path) -> None:
    if _run("docker", "info").returncode:
        pytest.skip("no container engine answers on this machine")
    build = ["docker", "build", "-q", "-f", str(DEPLOY / "Containerfile"), "-t", "swimscope-test", str(REPO)]
    assert subprocess.run(build, timeout=1_200).returncode == 0
    words = ["docker", "run", "--rm", "swimscope-test", "swimscope", "settings"]
    assert "data_dir = /var/lib/swimscope" in subprocess.run(words, capture_output=True, text=True, timeout=120).stdout


def test_what_the_container_file_copies_exists_and_its_commands_are_ours() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M) for word in line.split()]
    assert {"app", "assets", "requirements.lock"} <= set(copied)
    assert [word for word in copied if not (REPO / word).exists()] == []
    for command in re.findall(r"CMD (\[.*\])", text):
        words = json.loads(command)
        done = subprocess.run([sys.executable, "-m", "app", *words[1:], "--help"], cwd=REPO, capture_output=True)
        assert done.returncode == 0, words


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "swimscope.service"
    # Only the program is another one: /opt/swimscope is where the guide installs it.
    unit.write_text((DEPLOY / "swimscope.service").read_text().replace("/opt/swimscope/bin/swimscope", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=60
    )
    wrong = [line for line in done.stderr.splitlines() if "swimscope" in line]
    assert wrong == []


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    found = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if "is not a docker command" in found.stderr or "unknown shorthand flag" in found.stderr:
        pytest.skip(f"{words[0]} has no {words[1]}: {found.stderr.splitlines()[0]}")
    return found


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The nginx of this machine, or Debian's, unpacked beside it without installing a service."""
    found = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if found:
        return found
    if shutil.which("apt-get") is None or os.getuid() != 0:
        pytest.skip("nginx is not installed, and only root may fetch its Debian package")
    folder = tmp_path_factory.mktemp("nginx")
    got = subprocess.run(["apt-get", "download", "nginx"], cwd=folder, capture_output=True, text=True, timeout=90)
    packages = list(folder.glob("nginx_*.deb"))
    if not packages:
        pytest.skip(f"nginx is not installed, and its Debian package could not be fetched: {got.stderr.strip()[-200:]}")
    subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(folder / "tree")], check=True)
    return str(folder / "tree" / "usr" / "sbin" / "nginx")


@pytest.fixture(scope="module")
def site(nginx: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """Ports of nginx in front of one server: ``kept`` passes /swimscope/ on, ``stripped`` does not."""
    folder = tmp_path_factory.mktemp("site")
    ports = {"server": free_port(), "kept": free_port(), "stripped": free_port()}
    write_capture(folder / "root" / "c", 60, 1)
    with contextlib.ExitStack() as stack:
        command = [
            sys.executable,
            "-m",
            "app",
            "serve",
            "--root",
            f"r={folder / 'root'}",
            "--data-dir",
            str(folder / "data"),
        ]
        command += ["--port", str(ports["server"]), "--url-prefix", "/swimscope/", "--allowed-hosts", "team.example"]
        command += ["--proxy-addresses", "127.0.0.1"]
        _started(stack, command)
        (folder / "nginx.conf").write_text(_configuration(folder, ports))
        _started(stack, [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors")])
        for name in ("kept", "stripped"):
            until(lambda name=name: _ask(ports[name], "/swimscope/health")[0], lambda status: status == 200, 90)
        yield ports


def _started(stack: contextlib.ExitStack, command: list[str]) -> None:
    process = subprocess.Popen(command, cwd=REPO, start_new_session=True)

    def end() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)

    stack.callback(end)


def _configuration(folder: Path, ports: dict[str, int]) -> str:
    """docs/deploy/nginx.conf on ports of this machine, and the same with the prefix stripped."""
    text = (DEPLOY / "nginx.conf").read_text().replace("swimscope:8050;", f"127.0.0.1:{ports['server']};")
    at = text.index("    server {\n        listen 8080;")
    server = text[at : text.rindex("}")]
    stripped = server.replace("proxy_pass http://swimscope;", "proxy_pass http://swimscope/;")
    assert stripped != server
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    head = text[:at].replace(
        "worker_processes auto;", f"worker_processes 1;\ndaemon off;\nuser root;\npid {folder}/pid;"
    )
    head = head.replace("http {", f"http {{\naccess_log off;\n{temporary}")
    kept = server.replace("listen 8080;", f"listen 127.0.0.1:{ports['kept']};")
    return head + kept + stripped.replace("listen 8080;", f"listen 127.0.0.1:{ports['stripped']};") + "}\n"


def _ask(port: int, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
    data = None if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()} | {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Host": "team.example", **named})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


@pytest.mark.parametrize("how", ["kept", "stripped"])
def test_nginx_serves_pages_scripts_and_callbacks_under_a_prefix(site: dict[str, int], how: str) -> None:
    port = site[how]
    status, page = _ask(port, "/swimscope/")
    assert status == 200
    linked = [link for link in re.findall(r'(?:src|href)="([^"]+)"', page) if link.startswith("/")]
    assert len(linked) > 5
    assert [link for link in linked if not link.startswith("/swimscope/")] == []
    for link in linked:
        assert _ask(port, link)[0] == 200, link
    for path in ("_dash-layout", "_dash-dependencies", "r/x/swimlane", "admin", "health/ready", "metrics"):
        assert _ask(port, f"/swimscope/{path}")[0] == 200, path
    assert _ask(port, "/swimscope/api/nothing")[0] == 404
    assert _ask(port, "/elsewhere")[0] == 404


@pytest.mark.parametrize("how", ["kept", "stripped"])
def test_nginx_passes_on_who_asks_and_for_which_host(site: dict[str, int], how: str) -> None:
    port, body = site[how], {"query": {"sel": "task:1"}}
    link = "/swimscope/api/links"
    assert _ask(port, link, body, Origin="http://team.example:99", Host="team.example:99")[0] == 200
    assert _ask(port, link, body, Origin="http://evil.example")[0] == 403
    assert _ask(port, "/swimscope/", Host="evil.example")[0] == 400
