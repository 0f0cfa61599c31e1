"""Is the server up, and can it answer? ``/health``, ``/health/live``, ``/health/ready``, and its figures ``/metrics``."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import flask
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from analysis.files import free_bytes
from app.server import figures
from app.server.services import Services

STORE_LOOKED_AT_S = 30.0
"""Sizes below the data directory are added up at most this often: a large store has many files."""


def register(server: flask.Flask, services: Services) -> None:
    """Serve health and figures; asking has the scan started."""
    prefix = services.settings.url_prefix
    directory = DataDirectory(services)

    @server.get(f"{prefix}health")
    def health() -> flask.Response:
        services.library.start()
        state = services.library.state
        return flask.jsonify(status="ok", scan_complete=state.complete, runs=state.seen)

    @server.get(f"{prefix}health/live")
    def live() -> flask.Response:
        return flask.jsonify(status="ok")

    @server.get(f"{prefix}health/ready")
    def ready() -> Any:
        services.library.start()
        missing = [root.name for root in services.settings.roots if not os.access(root.path, os.R_OK | os.X_OK)]
        writable = os.access(services.settings.data_dir, os.W_OK)
        usable = os.access(services.settings.data_dir, os.R_OK | os.X_OK)
        told = {
            "status": "ready" if usable else "not ready",
            "data_dir_writable": writable,
            "roots_unreadable": missing,
        }
        return told, 200 if usable else 503

    @server.get(f"{prefix}metrics")
    def metrics() -> flask.Response:
        now = CollectorRegistry()
        now.register(Now(services, directory))
        text = generate_latest(figures.registry()) + generate_latest(now)
        return flask.Response(text, content_type=CONTENT_TYPE_LATEST)


class DataDirectory:
    """Sizes below the data directory, looked at now and then."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._sizes: dict[str, int] = {}
        self._looked_s = 0.0

    def sizes(self) -> dict[str, int]:
        """Bytes by part (a directory or file directly below), largest first."""
        if not self._sizes or time.monotonic() - self._looked_s > STORE_LOOKED_AT_S:
            self._looked_s = time.monotonic()
            found = {}
            with os.scandir(self._services.settings.data_dir) as entries:
                for entry in entries:
                    found[entry.name] = _size(entry)
            self._sizes = dict(sorted(found.items(), key=lambda item: -item[1]))
        return self._sizes


def _size(entry: os.DirEntry[str]) -> int:
    """Bytes of a file, or of everything below a directory; what vanishes meanwhile counts nothing."""
    try:
        if entry.is_symlink():
            return 0
        if not entry.is_dir():
            return entry.stat().st_size
        with os.scandir(entry.path) as below:
            return sum(_size(one) for one in below)
    except OSError:
        return 0


class Now(Collector):
    """Figures of the data directory and the run library as they are now: the same whichever worker is asked."""

    def __init__(self, services: Services, directory: DataDirectory) -> None:
        self._services = services
        self._directory = directory

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Jobs by state, runs, sizes, free space."""
        jobs = GaugeMetricFamily("swimscope_jobs", "Background jobs by state.", labels=["state"])
        for state, number in count_jobs(self._services).items():
            jobs.add_metric([state], number)
        yield jobs
        sizes = GaugeMetricFamily("swimscope_data_bytes", "Bytes below the data directory.", labels=["part"])
        for part, size in self._directory.sizes().items():
            sizes.add_metric([part], size)
        yield sizes
        store = GaugeMetricFamily("swimscope_store_bytes", "Bytes of opened captures and what was derived of them.")
        store.add_metric([], self._directory.sizes().get("store", 0))
        yield store
        free = GaugeMetricFamily("swimscope_data_free_bytes", "Bytes free on the disk of the data directory.")
        free.add_metric([], free_bytes(self._services.settings.data_dir))
        yield free
        runs = GaugeMetricFamily("swimscope_runs", "Captures listed under the roots.")
        runs.add_metric([], len(self._services.library.runs()))
        yield runs


def count_jobs(services: Services) -> dict[str, int]:
    """Jobs of all workers by state: running and waiting now, ended ones as long as they are remembered."""
    found = dict.fromkeys(("running", "waiting", "done", "failed", "cancelled"), 0)
    for entry in services.jobs.all():
        found[entry.state] += 1
    return found
