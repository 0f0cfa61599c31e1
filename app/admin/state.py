"""What does the administrators' page show? The figures of ``/metrics`` reduced to a few, and storage by run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import Metric

from app.server import figures
from app.server.services import Services


@dataclass(frozen=True, slots=True)
class Totals:
    """Counted since the server started, all workers together; means are None before the first."""

    requests: int
    failed: int
    request_mean_s: float | None
    callback_mean_s: float | None
    cache_hits: int
    cache_lookups: int
    open_captures: int
    workers: int


def totals() -> Totals:
    """The counts of all workers."""
    found = {family.name: family for family in figures.registry().collect()}
    requests = _samples(found, "swimscope_requests", "_total")
    cache = _samples(found, "swimscope_cache", "_total")
    return Totals(
        requests=int(sum(value for _labels, value in requests)),
        failed=int(sum(value for labels, value in requests if labels["status"].startswith("5"))),
        request_mean_s=_mean(found, "swimscope_request_seconds"),
        callback_mean_s=_mean(found, "swimscope_callback_seconds"),
        cache_hits=int(sum(value for labels, value in cache if labels["result"] == "hit")),
        cache_lookups=int(sum(value for _labels, value in cache)),
        open_captures=int(sum(value for _labels, value in _samples(found, "swimscope_open_captures"))),
        workers=len(_samples(found, "swimscope_worker_memory_bytes")),
    )


def _samples(found: dict[str, Metric], name: str, suffix: str = "") -> list[tuple[dict[str, str], float]]:
    family = found.get(name)
    return [(one.labels, one.value) for one in family.samples if one.name == name + suffix] if family else []


def _mean(found: dict[str, Metric], name: str) -> float | None:
    count = sum(value for _labels, value in _samples(found, name, "_count"))
    return sum(value for _labels, value in _samples(found, name, "_sum")) / count if count else None


@dataclass(slots=True)
class Stored:
    """What the store holds of one content; ``runs`` are the keys of the runs that have it now."""

    capture_id: str
    label: str = ""
    capture_bytes: int = 0
    derived_bytes: int = 0
    used_s: float = 0.0
    runs: list[str] = field(default_factory=list)


def storage(services: Services) -> list[Stored]:
    """The content of the store, largest first."""
    found: dict[str, Stored] = {}
    for entry in services.store.entries():
        is_capture = entry.path.is_dir()
        capture_id = entry.path.name.rpartition("-")[0] if is_capture else entry.path.parent.name
        stored = found.setdefault(capture_id, Stored(capture_id))
        stored.used_s = max(stored.used_s, entry.used_at)
        if is_capture:
            stored.capture_bytes += entry.size_bytes
            stored.label = _label(entry.path / "meta.json")
        else:
            stored.derived_bytes += entry.size_bytes
    for row in services.library.runs():
        if row.facts and row.facts.capture_id in found:
            found[row.facts.capture_id].runs.append(row.key)
    return sorted(found.values(), key=lambda item: -(item.capture_bytes + item.derived_bytes))


def _label(meta: Any) -> str:
    try:
        return str(json.loads(meta.read_bytes()).get("label", ""))
    except (OSError, ValueError):  # evicted while we look
        return ""
