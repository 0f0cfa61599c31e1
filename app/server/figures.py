"""What is counted? The figures of ``/metrics``; with several workers they are shared through files of the data directory.

prometheus-client decides where figures are kept when it is imported: ``PROMETHEUS_MULTIPROC_DIR`` has to be set before
(:func:`app.server.cli.serve` does). Applications of one process share its figures.
"""

from __future__ import annotations

import os
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, multiprocess
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.registry import REGISTRY

DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.8, 1.0, 2.5, 5.0, 10.0, 30.0)

REQUESTS = Counter("swimscope_requests", "Requests that were answered.", ["method", "route", "status"])
REQUEST_SECONDS = Histogram("swimscope_request_seconds", "Time to answer a request.", ["route"], buckets=SECONDS)
CALLBACK_SECONDS = Histogram("swimscope_callback_seconds", "Time to answer a callback.", ["output"], buckets=SECONDS)
CACHE = Counter("swimscope_cache", "Look-ups in the caches of the workers.", ["cache", "result"])
OPEN_CAPTURES = Gauge("swimscope_open_captures", "Captures the workers keep mapped.", multiprocess_mode="livesum")
WORKER_MEMORY = Gauge(
    "swimscope_worker_memory_bytes", "Memory that a worker holds.", ["kind"], multiprocess_mode="liveall"
)
"""Has a label, so that the process that watches the workers and serves nothing is none of them."""


def registry() -> CollectorRegistry:
    """The figures of all workers, or of this process where it is the only one."""
    if DIRECTORY_VARIABLE not in os.environ:
        return REGISTRY
    found = CollectorRegistry()
    multiprocess.MultiProcessCollector(found)
    return found


def looked_up(cache: str, hit: bool) -> None:
    """Count a look-up in ``cache``."""
    CACHE.labels(cache, "hit" if hit else "miss").inc()


def keep_of_ended(pid: int) -> None:
    """Add the counts of a worker that ended to those of all that ended before, so that files do not pile up."""
    folder = Path(os.environ[DIRECTORY_VARIABLE])
    multiprocess.mark_process_dead(pid)
    for kind in ("counter", "histogram"):
        file = folder / f"{kind}_{pid}.db"
        if not file.exists():
            continue
        kept = MmapedDict(str(folder / f"{kind}_0.db"))
        for key, (value, _time, _at) in _values(file):
            kept.write_value(key, kept.read_value(key)[0] + value, 0.0)
        kept.close()
        file.unlink()


def _values(file: Path) -> list[tuple[str, tuple[float, float, int]]]:
    return [(key, (value, time_s, at)) for key, value, time_s, at in MmapedDict.read_all_values_from_file(str(file))]
