"""From a path on the command line to captures: one file, one directory, or a tree of several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from analysis.capture import Capture
from analysis.discovery.tree import CaptureSource, ErrorSink, scan
from analysis.errors import AmbiguousError, NotFoundError, SwimscopeError, readable
from analysis.results import Column, Table

Facts: TypeAlias = dict[str, Any]
Opener: TypeAlias = Callable[[Path, int, bool], Capture]


def load(path: Path, launch: int, include_flagged: bool) -> Capture:
    """The capture as its files hold it, kept nowhere; the readers are imported when one is needed."""
    from analysis import formats

    return formats.load(path, launch, include_flagged)


COLUMNS = (
    Column("path", "text", "Swimlane file, or directory, of the capture."),
    Column("level", "count", "Capture level 1 to 4."),
    Column("records", "count", "Joined rows."),
    Column("tasks", "count", "Task ids that have a record."),
    Column("cores", "count", "Cores in the capture."),
    Column("clock_freq_hz", "count", "Device clock; empty where the container holds none."),
    Column("makespan_ticks", "ticks", "First start to last end; empty without a device clock or records."),
    Column("span_us", "us", "First start to last end."),
    Column("launch", "index", "Launch of the file that is described."),
    Column("launches", "count", "Launches in the file."),
    Column("findings", "count", "Data-quality findings, each counted once."),
    Column("error", "text", "Why the capture cannot be read."),
)
QUALITY_COLUMNS = (
    Column("code", "text", "Kind of finding."),
    Column("count", "count", "How often."),
    Column("message", "text", "What it means."),
)


def capture_paths(path: str | Path, on_error: ErrorSink | None = None) -> list[Path]:
    """What to open for every capture at or below ``path``, recognised by structure.

    Directories with a graph or names but no swimlane count only where there is no swimlane at all.

    Args:
        path: a swimlane file, or a directory to search.
        on_error: called with everything that cannot be read; the search goes on.

    Raises:
        NotFoundError: nothing there, or no capture in it.
        OSError: the directory itself cannot be listed.
    """
    root = Path(path)
    if not root.exists():
        raise NotFoundError(f"{root}: no such file or directory")
    if not root.is_dir():
        return [root]
    found = list(scan(root, on_error))
    swimlanes = [_swimlane(source) for source in found if "swimlane" in source.files]
    others = [source.path for source in found if {"deps", "name_map"} & source.files.keys()]
    if swimlanes or others:
        return swimlanes or others
    raise NotFoundError(f"{root}: no swimlane file (chip_swimlane_records.json or an older name) in here")


def open_one(
    path: str | Path,
    launch: int = 0,
    on_error: ErrorSink | None = None,
    include_flagged: bool = False,
    opener: Opener = load,
) -> Capture:
    """The one capture at or below ``path``, read by ``opener``.

    Raises:
        AmbiguousError: there are several; the message lists them.
        NotFoundError: there is none, or no such launch.
        InputError: it cannot be read.
    """
    paths = capture_paths(path, on_error)
    if len(paths) == 1:
        return opener(paths[0], launch, include_flagged)
    names = tuple(str(one) for one in paths)
    raise AmbiguousError(f"{path} holds {len(names)} captures; name one of: {', '.join(names)}", names)


def describe(
    path: str | Path,
    launch: int = 0,
    on_error: ErrorSink | None = None,
    include_flagged: bool = False,
    opener: Opener = load,
) -> Facts | list[Facts]:
    """``info``: the facts of one capture, or a list with ``path`` and ``error`` in each entry for several.

    Raises:
        NotFoundError, InputError: as :func:`open_one`; among several an unreadable capture is an entry with its error.
    """
    paths = capture_paths(path, on_error)
    if len(paths) == 1:
        return facts(opener(paths[0], launch, include_flagged))
    return [_entry(one, launch, include_flagged, opener) for one in paths]


def facts(capture: Capture) -> Facts:
    """The keys of ``python -m analysis info``."""
    meta, span = capture.meta, capture.makespan_ticks
    return {
        "label": meta.label,
        "container": meta.container,
        "runtime": meta.runtime or None,
        "level": meta.level,
        "records": len(capture.records),
        "tasks": int((capture.tasks.n_records > 0).sum()),
        "cores": meta.num_cores,
        "clock_freq_hz": meta.clock_freq_hz,
        "makespan_ticks": span if meta.clock_freq_hz is not None else None,
        "span_us": meta.us(span) if span is not None else None,
        "launch": meta.launch,
        "launches": meta.launches,
        "flagged": len(capture.flagged),
        "sources": meta.sources,
        "streams": {
            name: {"in_file": rows, "left_out": out, "other_launches": other}
            for name, (rows, out, other) in meta.stream_rows.items()
        },
        "quality": [{"code": n.code, "count": n.count, "message": n.message} for n in meta.notices],
    }


def facts_table(found: Facts | list[Facts]) -> Table:
    """One row per capture."""
    rows = found if isinstance(found, list) else [found]
    data: dict[str, list[Any]] = {c.name: [row.get(c.name) for row in rows] for c in COLUMNS}
    data["path"] = [row.get("path", row.get("sources", {}).get("swimlane")) for row in rows]
    data["findings"] = [len(row["quality"]) if "quality" in row else None for row in rows]
    return Table(COLUMNS, data)


def quality_table(one: Facts) -> Table:
    """The data-quality findings of one capture."""
    findings = one.get("quality", [])
    return Table(QUALITY_COLUMNS, {c.name: [row[c.name] for row in findings] for c in QUALITY_COLUMNS})


def _swimlane(source: CaptureSource) -> Path:
    """The file itself: opening it by name says what is wrong with a broken one."""
    return source.path if source.path.is_file() else source.path / source.files["swimlane"]


def _entry(file: Path, launch: int, include_flagged: bool, opener: Opener) -> Facts:
    try:
        return {"path": readable(str(file)), **facts(opener(file, launch, include_flagged)), "error": None}
    except SwimscopeError as error:
        return {"path": readable(str(file)), "error": str(error)}
