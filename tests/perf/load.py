"""Does a server keep answering under load? ``python tests/perf/load.py``: 40 clients and 40 slow connections, 60 s.

Two workers serve one capture of 300,000 records. Each client asks what a page asks (windows of the swimlane, searches,
a table's CSV, pages' scripts, health) as fast as it is answered; beside them 40 connections send one byte a second.
Prints answers per kind with their times, and errors and time-outs; exits 1 when there is any.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import defaultdict
from pathlib import Path

import orjson

from analysis.synth.capture import write_capture
from app.runs.library import run_key

REPO = Path(__file__).resolve().parents[2]
TIMEOUT_S = 20.0
KEY = run_key("load", "run")


class Results:
    """Times by kind of request, and what went wrong."""

    def __init__(self) -> None:
        self.times_s: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []
        self.lock = threading.Lock()


def ask(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=TIMEOUT_S) as answer:
        body: bytes = answer.read()
        return body


def client(port: int, seed: int, span: tuple[int, int], until_s: float, results: Results) -> None:
    rng = random.Random(seed)
    while time.monotonic() < until_s:
        t0 = rng.randrange(*span)
        t1 = t0 + rng.randrange(1, max(2, (span[1] - span[0]) // 10))
        kind, path = rng.choice(
            [
                ("window", f"/api/timeline/{KEY}/window?t0={t0}&t1={t1}&px=1200"),
                ("window", f"/api/timeline/{KEY}/window?t0={t0}&t1={t1}&px=1200"),
                ("search", f"/api/timeline/{KEY}/search?q=t{rng.randrange(1000)}&from={t0}"),
                ("range", f"/api/timeline/{KEY}/range?t0={t0}&t1={t1}"),
                ("table", f"/api/r/{KEY}/table/cores.csv"),
                ("missing launch", f"/api/timeline/{KEY}/info?launch={rng.randrange(1, 99)}"),
                ("health", "/health"),
            ]
        )
        began = time.monotonic()
        try:
            ask(port, path)
        except urllib.error.HTTPError as error:
            if not (kind == "missing launch" and error.code == 404):
                with results.lock:
                    results.errors.append(f"{kind}: {error.code} {error.read()[:200]!r}")
        except OSError as error:
            with results.lock:
                results.errors.append(f"{kind}: {error}")
        with results.lock:
            results.times_s[kind].append(time.monotonic() - began)


def slow(port: int, until_s: float) -> None:
    """A connection that sends a byte a second, and comes again when it is dropped."""
    while time.monotonic() < until_s:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as link:
            for byte in b"GET /health HTTP/1.1 and so on and on and on":
                if time.monotonic() > until_s:
                    return
                link.sendall(bytes([byte]))
                time.sleep(1.0)


def main() -> int:
    """Serve, load, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--clients", type=int, default=40)
    parser.add_argument("--slow", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_capture(root / "tree" / "run", options.records, 1)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "app", "serve", "--root", f"load={root / 'tree'}", "--port", str(port)]
        command += ["--data-dir", str(root / "data"), "--workers", str(options.workers)]
        server = subprocess.Popen(command, cwd=REPO, start_new_session=True)
        try:
            return load(port, options)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(30)


def load(port: int, options: argparse.Namespace) -> int:
    """Run the clients against the server at ``port`` once it has opened the capture."""
    for _ in range(1_200):
        with contextlib.suppress(OSError):
            info = orjson.loads(ask(port, f"/api/timeline/{KEY}/info"))
            break
        time.sleep(0.2)
    span = tuple(info["span"])
    ask(port, f"/api/r/{KEY}/table/cores.csv")
    results, until_s = Results(), time.monotonic() + options.seconds
    threads = [threading.Thread(target=slow, args=(port, until_s)) for _ in range(options.slow)]
    threads += [
        threading.Thread(target=client, args=(port, seed, span, until_s, results)) for seed in range(options.clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for kind, times in sorted(results.times_s.items()):
        times.sort()
        print(
            f"{kind:15} {len(times):6} answers   median {times[len(times) // 2] * 1e3:7.1f} ms   "
            f"99 % {times[int(len(times) * 0.99)] * 1e3:7.1f} ms   longest {times[-1] * 1e3:7.1f} ms"
        )
    print(f"errors and time-outs: {len(results.errors)}")
    print("\n".join(results.errors[:10]))
    return 1 if results.errors else 0


if __name__ == "__main__":
    sys.exit(main())
