"""What does the runs table say about a capture? Small facts, kept on disk so that they outlive the process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from analysis.capture import Capture
from analysis.files import write_atomically


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts and notices of one capture (launch 0); None where the file that would tell is missing."""

    capture_id: str
    level: int | None
    container: str
    records: int | None
    tasks: int | None
    edges: int | None
    cores: int
    makespan_us: float | None
    launches: int
    has_deps: bool
    has_name_map: bool
    has_phases: bool
    has_orchestrator: bool
    notices: dict[str, int]


def facts_of(capture: Capture) -> Facts:
    """The facts of an open capture; ``tasks`` counts ids that have a record, as everywhere."""
    meta = capture.meta
    makespan = capture.makespan_ticks
    timed = meta.has_records_file
    return Facts(
        capture_id=meta.capture_id,
        level=meta.level if timed else None,
        container=meta.container,
        records=len(capture.records) if timed else None,
        tasks=int((capture.tasks.n_records > 0).sum()) if timed else None,
        edges=len(capture.edges) if meta.has_deps or meta.edges_from_fanout else None,
        cores=meta.num_cores,
        makespan_us=None if makespan is None else meta.us(makespan),
        launches=meta.launches,
        has_deps=meta.has_deps,
        has_name_map=meta.has_name_map,
        has_phases=len(capture.phases) > 0,
        has_orchestrator=len(capture.orch) > 0,
        notices={notice.code: notice.count for notice in meta.notices},
    )


FACTS_VERSION = 2
"""Raise when a fact changes its meaning: what was kept under another version is made again."""


class FactsCache:
    """Facts by run key and file signature, one small JSON file each; shared by all workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str, signature: str) -> Facts | None:
        """The facts kept for these very files, or None."""
        try:
            content = json.loads((self._folder / f"{key}.json").read_text("utf-8"))
            return Facts(**content["facts"]) if content["signature"] == f"{FACTS_VERSION} {signature}" else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, signature: str, facts: Facts) -> None:
        """Keep ``facts``; replaces what was kept for an older signature. Raises NoRoomError when the disk is full."""
        content = {"signature": f"{FACTS_VERSION} {signature}", "facts": asdict(facts)}
        write_atomically(self._folder / f"{key}.json", json.dumps(content).encode())
