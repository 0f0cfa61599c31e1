"""Health, figures, logs, graceful stop, memory ceiling, and the administrators' page."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dash import Dash

from analysis.synth.capture import write_capture
from app.admin import page as admin
from app.server import figures
from app.server.factory import create_app
from app.server.observing import JsonLines
from app.server.services import Services
from app.server.serving import Serving, make_server
from app.server.settings import Root, Settings
from tests.app.conftest import key_of
from tests.app.test_serving import answers, free_port
from tests.waiting import until

REPO = Path(__file__).resolve().parents[2]


def test_live_and_ready_say_what_is_wrong(tree: Path, tmp_path: Path) -> None:
    settings = Settings(roots=(Root("runs", tree), Root("gone", tmp_path / "gone")), data_dir=tmp_path / "data")
    client = create_app(settings).server.test_client()
    assert client.get("/health/live").get_json() == {"status": "ok"}
    ready = client.get("/health/ready")
    assert ready.status_code == 200
    assert ready.get_json() == {"status": "ready", "data_dir_writable": True, "roots_unreadable": ["gone"]}


def test_figures_count_requests_callbacks_caches_and_the_store(app: Dash, services: Services, client: Any) -> None:
    client.get(f"/api/timeline/{key_of(services, 'attention')}/info")
    declared = app.callback_map["..page.children...breadcrumb.children...tabs.children.."]
    values = {"url.pathname": "/", "reload.data": None, "url.search": ""}
    given = {
        kind: [item | {"value": values[f"{item['id']}.{item['property']}"]} for item in declared[kind]]
        for kind in ("inputs", "state")
    }
    outputs = [
        dict(zip(("id", "property"), name.split("."), strict=True))
        for name in ("page.children", "breadcrumb.children", "tabs.children")
    ]
    body = {
        "output": "..page.children...breadcrumb.children...tabs.children..",
        "outputs": outputs,
        "changedPropIds": ["url.pathname"],
        **given,
    }
    assert client.post("/_dash-update-component", json=body).status_code == 200
    text = client.get("/metrics").get_data(as_text=True)
    for name in (
        r'swimscope_requests_total\{method="GET",route="[^"]*info",status="200"\} [1-9]',
        r'swimscope_callback_seconds_count\{output="[^"]*page.children[^"]*"\} [1-9]',
        r'swimscope_cache_total\{cache="[^"]+",result="(hit|miss)"\} [1-9]',
        r'swimscope_jobs\{state="waiting"\} \d',
        r"swimscope_store_bytes [1-9]",
        r"swimscope_open_captures \d",
        r'swimscope_data_bytes\{part="store"\} [1-9]',
        r"swimscope_runs [1-9]",
    ):
        assert re.search(name, text), name


def test_every_answer_has_the_id_of_its_request(client: Any) -> None:
    assert client.get("/", headers={"X-Request-Id": "abc-1"}).headers["X-Request-Id"] == "abc-1"
    made = client.get("/", headers={"X-Request-Id": "<b>"}).headers["X-Request-Id"]
    assert re.fullmatch(r"[0-9a-f]{16}", made)


def test_log_lines_are_json_with_the_request(app: Dash) -> None:
    with app.server.test_request_context("/", headers={"X-Request-Id": "abc-1"}):
        app.server.preprocess_request()
        record = logging.LogRecord("swimscope", logging.ERROR, "f", 1, "a %s\n<b>", ("b",), None)
        record.facts = {"status": 3}
        line = JsonLines().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert (found["message"], found["level"], found["request_id"], found["status"]) == ("a b\n<b>", "ERROR", "abc-1", 3)


def test_the_page_of_administrators_shows_jobs_storage_and_settings(services: Services, client: Any) -> None:
    client.get(f"/api/timeline/{key_of(services, 'attention')}/info")
    stored = admin.storage_rows(services)
    assert any("attention" in row["runs"] and row["capture_bytes"] > 0 for row in stored)
    shown = {row["id"]: row for row in admin.setting_rows(services)}
    assert shown["data_dir"]["value"] == str(services.settings.data_dir)
    assert len(admin.cards_of(services)) == 8
    assert admin.job_rows(services) == [] or all(row["state"] for row in admin.job_rows(services))


@contextlib.contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], int, Path]]:
    """A server over one capture, its port, and the file of its log."""
    write_capture(folder / "root" / "c", 60, 1)
    port, file = free_port(), folder / "log"
    command = [sys.executable, "-m", "app", "serve", "--root", f"r={folder / 'root'}", "--port", str(port)]
    command += ["--data-dir", str(folder / "data"), *options]
    with file.open("wb") as log:
        process = subprocess.Popen(
            command, cwd=REPO, stderr=log, start_new_session=True, env=os.environ | {"HOME": str(folder)}
        )
    try:
        until(lambda: answers(port), bool, 90.0)
        yield process, port, file
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def fetch(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        return str(answer.read().decode())


def test_requests_under_way_are_answered_before_the_end(tmp_path: Path) -> None:
    entered, release = threading.Event(), threading.Event()

    def slow(_environ: Any, start: Any) -> list[bytes]:
        entered.set()
        release.wait(60)
        start("200 OK", [("Content-Length", "3")])
        return [b"yes"]

    port = free_port()
    serving = Serving(make_server(slow, Settings(port=port, data_dir=tmp_path)))
    got: list[Any] = []
    asking = threading.Thread(target=lambda: got.append(fetch(port, "/")))
    asking.start()
    assert entered.wait(60)
    assert not serving.stop(0.2)  # it is still being answered
    ended: list[bool] = []
    stopping = threading.Thread(target=lambda: ended.append(serving.stop(60)))
    stopping.start()
    until(lambda: not answers(port, timeout_s=1), bool)  # nobody new is let in
    release.set()
    asking.join(60)
    stopping.join(60)
    assert (got, ended) == (["yes"], [True])


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_is_stopped_by_sigterm_and_logs_json(tmp_path: Path, workers: str) -> None:
    with served(tmp_path, "--workers", workers, "--log-format", "json") as (process, _port, file):
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    entries = [json.loads(line) for line in file.read_text().splitlines() if line.startswith("{")]
    assert any(entry.get("path") == "/health" and entry["request_id"] and entry["status"] == 200 for entry in entries)


def test_several_workers_count_together_and_a_large_one_is_replaced(tmp_path: Path) -> None:
    ceiling = ["--worker-memory-max-bytes", "1"]  # every worker is above it: they are replaced one after the other
    with served(tmp_path, "--workers", "2", *ceiling) as (_process, port, file):
        until(
            lambda: file.read_text().count("worker_memory_max_bytes; it is replaced"), lambda count: count >= 2, 120.0
        )

        def count() -> float:
            with contextlib.suppress(OSError):
                text = fetch(port, "/metrics")
                return float(
                    re.findall(r'swimscope_requests_total\{method="GET",route="/health",status="200"\} (\S+)', text)[0]
                )
            return 0.0

        first = until(count, lambda value: value >= 1, 60.0)
        asked = 0
        for _ in range(10):
            with contextlib.suppress(OSError):
                fetch(port, "/health")
                asked += 1
        until(count, lambda value: value >= first + asked - 1, 60.0)  # ended workers' counts are kept
        assert asked >= 8
        assert len(list((tmp_path / "data" / "metrics").glob("counter_*.db"))) <= 4


def test_counts_of_ended_workers_are_added_up(tmp_path: Path) -> None:
    program = (
        "import os, sys; from app.server import figures; figures.REQUESTS.labels('GET', '/', '200').inc(2)\n"
        "figures.REQUEST_SECONDS.labels('/').observe(0.2); print(os.getpid())"
    )
    environ = os.environ | {figures.DIRECTORY_VARIABLE: str(tmp_path)}
    ask = (
        "import sys; from app.server import figures\n"
        "for pid in sys.argv[1:]: figures.keep_of_ended(int(pid))\n"
        "print(figures.registry().get_sample_value('swimscope_requests_total', {'method': 'GET', 'route': '/', 'status': '200'}),"
        " figures.registry().get_sample_value('swimscope_request_seconds_count', {'route': '/'}))"
    )
    pids = [
        subprocess.run(
            [sys.executable, "-c", program], cwd=REPO, env=environ, capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    done = subprocess.run([sys.executable, "-c", ask, *pids], cwd=REPO, env=environ, capture_output=True, text=True)
    assert done.stdout.split() == ["4.0", "2.0"], done.stderr
    assert not list(tmp_path.glob(f"*_{pids[0]}.db"))
