"""Real servers on free ports: slow connections cost nothing, bodies and headers have limits, bad data directories say so."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.synth.capture import write_capture
from app.runs.library import run_key
from tests.waiting import until

SLOW = 40
REPO = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def served(folder: Path, *options: str) -> Iterator[int]:
    """The port of ``swimscope serve`` over ``folder``/root."""
    write_capture(folder / "root" / "c", 60, 1)
    port = free_port()
    command = [sys.executable, "-m", "app", "serve", "--root", f"r={folder / 'root'}", "--port", str(port)]
    command += ["--data-dir", str(folder / "data"), "--read-time-max-s", "2", *options]
    process = subprocess.Popen(command, cwd=REPO, start_new_session=True, env=os.environ | {"HOME": str(folder)})
    try:
        until(lambda: answers(port), bool, 60.0)
        yield port
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def answers(port: int, path: str = "/health", timeout_s: float = 10.0) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=timeout_s) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def status_line(port: int, sent: bytes) -> bytes:
    """First line of the answer to raw bytes, b"" when the connection is closed without one."""
    with socket.create_connection(("127.0.0.1", port), 10) as link:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            link.sendall(sent)
        with contextlib.suppress(ConnectionResetError):
            return link.recv(4096).partition(b"\r\n")[0]
    return b""


@pytest.fixture(scope="module", params=["1", "2"], ids=["one process", "gunicorn"])
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("served")
    with served(folder, "--workers", request.param, "--threads", "2") as found:
        yield found
    assert sorted(path.name for path in folder.iterdir()) == ["data", "root"]  # nothing is written elsewhere


def test_slow_connections_keep_nobody_waiting_and_are_dropped(port: int) -> None:
    links = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(SLOW)]
    for link in links:
        link.sendall(b"G")
    assert answers(port)
    for link in links:
        link.settimeout(10)
        assert link.recv(1) == b""  # closed by the server
        link.close()


def test_a_body_that_comes_drop_by_drop_is_dropped(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 10) as link:
        link.sendall(b"POST /api/links HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n{")
        ended = False
        for _ in range(40):
            time.sleep(0.2)
            try:
                link.sendall(b" ")
            except OSError as error:
                ended = error.errno in (errno.EPIPE, errno.ECONNRESET)
                break
        assert ended


def test_bodies_have_a_limit_before_they_are_read(port: int) -> None:
    head = b"POST /_dash-update-component HTTP/1.1\r\nHost: localhost\r\n"
    assert b" 413 " in status_line(port, head + b"Content-Length: 700000000\r\n\r\n")
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    assert b" 413 " in status_line(port, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 40)


def test_headers_have_a_limit(port: int) -> None:
    assert b" 431 " in status_line(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000)


def test_the_data_directory_may_go_while_it_runs(tmp_path: Path) -> None:
    key = run_key("r", "c")
    with served(tmp_path) as port:
        path = f"/api/timeline/{key}/info"
        until(lambda: answers(port, path), bool, 30.0)
        shutil.rmtree(tmp_path / "data")
        for asked in (
            path,
            f"/api/r/{key}/table/gaps.csv",
            f"/api/r/{key}/table/cores.csv",
            f"/api/graph/{key}/search?q=t",
        ):
            assert answers(port, asked), asked
        body = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/links", b'{"query": {"q": "x"}}', {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(body, timeout=10) as answer:
            assert answer.status == 200
