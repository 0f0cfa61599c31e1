"""Which traces are open in this process? Small ones are read within a request, large ones by a background job before."""

from __future__ import annotations

from pathlib import Path

from analysis.errors import NotFoundError
from analysis.traces.kept import JOB, Opened, load, ready, stamp_of
from analysis.traces.sources import HOST, TraceSource, folder_of, host_files
from app.runs.library import PACKED_RATIO, Run
from app.server.services import Services

__all__ = ["JOB", "Opened", "at_once", "choices", "chosen", "opened"]
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


def choices(run: Run) -> tuple[TraceSource, ...]:
    """What the run offers: Chrome traces, newest first, then the host logs."""
    folder = folder_of(run.source)
    traces = [TraceSource(name, (folder / name,)) for name in reversed(run.disk.traces)]
    logs = host_files(folder)
    return (*traces, *([TraceSource(HOST, logs)] if logs else []))


def chosen(run: Run, name: str) -> TraceSource:
    """The choice called ``name``; "" means the first.

    Raises:
        NotFoundError: the run holds no trace, or none of that name.
    """
    offered = choices(run)
    if not offered:
        raise NotFoundError(
            f"{run.row.root}/{run.row.path} holds no trace. A Chrome trace (*.json, *.json.gz) or a host log "
            "(host.<pid>.log, host_clock_alignment.*.log) in the run's directory makes one"
        )
    found = next((each for each in offered if each.name == name), None) if name else offered[0]
    if found is None:
        raise NotFoundError(f"this run has no trace {name!r}; it has {', '.join(each.name for each in offered)}")
    return found
