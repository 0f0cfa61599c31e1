"""Which traces are open in this process? Small ones are read within a request, large ones by a background job before."""

from __future__ import annotations

from pathlib import Path

from analysis.errors import NotFoundError
from app.runs.library import PACKED_RATIO, Run
from app.server.services import Services
from app.traces.kept import JOB, Opened, load, ready, stamp_of
from app.traces.sources import TraceSource, chosen

__all__ = ["JOB", "Opened", "at_once", "opened"]
KEPT_TRACES = 4


def at_once(services: Services, source: TraceSource) -> bool:
    """Whether the trace can be opened within a request: it is small, or kept."""
    return unpacked_max_bytes(source) <= services.settings.inline_open_max_bytes or ready(services.store, source)


def opened(services: Services, run: Run, name: str) -> Opened:
    """The trace called ``name`` of a run.

    Raises:
        NotFoundError: no such trace, or it is large and changed since the page was made.
        NotAvailable: host logs without a span of the host clock.
        InputError: it cannot be read.
    """
    source = chosen(run, name)
    with services.library.shown_errors():
        key = stamp_of(source)
        if not at_once(services, source):
            raise NotFoundError(f"{source.name} changed since this page was made; reload the page")
        return services.caches.get("traces", key, lambda: load(services.store, source), KEPT_TRACES)


def unpacked_max_bytes(source: TraceSource) -> int:
    """The most that the files can hold unpacked, whatever they claim; files that are gone hold nothing."""
    return sum(_size(path) * (PACKED_RATIO if path.suffix == ".gz" else 1) for path in source.files)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # opening it says why it cannot be read
