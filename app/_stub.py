"""Stand-in for analysis.discovery and analysis.store until they land."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Found:
    path: Path
    relative: str
    files: dict[str, str]
    size_bytes: int
    modified_s: float
    signature: str


def discover(root: Path) -> Iterator[Found]:
    for folder, _dirs, names in os.walk(root):
        lanes = [n for n in names if n.endswith(".json") and ("swimlane_records" in n or "perf_" in n)]
        files = {}
        if lanes:
            files["swimlane"] = lanes[0]
        if "deps.json" in names:
            files["deps"] = "deps.json"
        maps = [n for n in names if n.startswith("name_map")]
        if maps:
            files["name_map"] = maps[0]
        if not files:
            continue
        stats = [os.stat(os.path.join(folder, n)) for n in files.values()]
        yield Found(
            Path(folder),
            os.path.relpath(folder, root),
            files,
            sum(s.st_size for s in stats),
            max(s.st_mtime for s in stats),
            str([(s.st_size, s.st_mtime_ns) for s in stats]),
        )


class Store:
    def __init__(self, root: Path) -> None:
        self.root = root

    def open(self, path: Path, launch: int = 0, progress=None):
        from tests.reference_loader import load

        return load(path)

    def derived(self, capture, key, build):
        return build()
