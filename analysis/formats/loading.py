"""Read the files of a capture and hand them to the assembly; the hash of their bytes becomes its id."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

from analysis.capture import Capture
from analysis.errors import InputError, LimitError, UnknownFormatError
from analysis.formats.containers import cpm, cycles, deps, name_map
from analysis.formats.containers.unified import repeated_keys
from analysis.formats.inputs import Inputs, find, identity
from analysis.formats.join.assemble import Parts, assemble
from analysis.formats.join.raw import RawSwimlane, no_swimlane
from analysis.formats.known import recognise
from analysis.formats.peek import shape_of
from analysis.formats.registry import Sections, Shape
from analysis.formats.report import Report
from analysis.formats.text.reading import Text, expand, is_list, paused_collector, read_file, sections
from analysis.formats.text.walk import walk

T = TypeVar("T")
Progress: TypeAlias = Callable[[float, str], None]
"""Called with (share done 0..1, what is being done); raise from it to cancel."""
_PEEK_BYTES = 4096


def no_progress(share: float, what: str) -> None:
    """The progress callback that does nothing."""


@dataclass
class _Reader:
    """Reads files, hashing each on a second thread while it is decoded."""

    pool: ThreadPoolExecutor
    digests: dict[str, Future[str]] = field(default_factory=dict)

    def sections(self, kind: str, path: Path, report: Report) -> Sections:
        """Top-level sections of a file; repeated keys are a finding."""
        data = read_file(path)
        self.digests[kind] = self.pool.submit(_digest, data)
        text = expand(data, str(path))
        found = walk(text, cycles.PLAN) if kind == "swimlane" else None
        if found is not None:
            return found
        return Sections(sections(text.view, str(path), repeated=repeated_keys(report)))


def _digest(data: Text) -> str:
    return hashlib.sha256(data.view).hexdigest()


def load(path: str | Path, launch: int = 0, include_flagged: bool = False) -> Capture:
    """The capture at ``path`` (a swimlane file, or a directory with one) with its siblings.

    Args:
        path: swimlane file or dfx_outputs directory.
        launch: which launch of a file that holds several.
        include_flagged: put rows with impossible stamps into the tables, not only into ``capture.flagged``.

    Raises:
        NotFoundError: no such path, no swimlane in it, or no such launch.
        AmbiguousError: the directory holds several swimlanes.
        UnknownFormatError: the file is no swimlane.
        InputError: the file cannot be read.
    """
    return load_inputs(find(Path(path)), launch, include_flagged=include_flagged)


def load_inputs(
    inputs: Inputs, launch: int = 0, progress: Progress = no_progress, include_flagged: bool = False
) -> Capture:
    """The capture made of ``inputs``; a sibling that cannot be read is reported and left out.

    Raises:
        NotFoundError, UnknownFormatError, InputError: as :func:`load`.
    """
    report = Report()
    with ThreadPoolExecutor(1) as pool, paused_collector():
        reader = _Reader(pool)
        parts = Parts(raw=no_swimlane(), label=inputs.label)
        if inputs.swimlane is not None:
            progress(0.0, f"reading {inputs.swimlane.name}")
            parts.raw = _swimlane(reader, inputs.swimlane, report)
        progress(0.4, "reading deps.json")
        parts.deps = _sibling(reader, inputs, "deps", deps.read, report)
        progress(0.7, "reading names and paths")
        parts.names = _sibling(reader, inputs, "name_map", name_map.read, report)
        for name in ("static", "observed"):
            path = _sibling(reader, inputs, f"cpm_{name}", cpm.read, report)
            if path is not None:
                parts.paths[name] = path
        digests = {kind: digest.result() for kind, digest in reader.digests.items()}
        parts.capture_id = identity(digests, launch, include_flagged)
    parts.sources = {kind: path.name for kind, path in inputs.files.items() if kind in reader.digests}
    progress(0.75, "joining records")
    for code, reason in inputs.findings:
        report.add(code, 1, reason=reason)
    return assemble(parts, launch, report, include_flagged)


def full_shape(found: Sections) -> Shape:
    """Structure of a file whose sections are all known."""
    rows = {}
    for key, raw in found.items():
        inner = shape_of(bytes(memoryview(raw)[:_PEEK_BYTES]))
        if "" in inner.rows:
            rows[key] = inner.rows[""]
    texts = all(bytes(memoryview(raw)[:1]) == b'"' for raw in found.values())
    numbers = bool(found) and all(key.isascii() and key.isdigit() for key in found)
    lists = frozenset(key for key, raw in found.items() if is_list(raw))
    return Shape(frozenset(found), lists, rows, flat_names=numbers and texts)


def _swimlane(reader: _Reader, path: Path, report: Report) -> RawSwimlane:
    found = reader.sections("swimlane", path, report)
    form = recognise(full_shape(found))
    if form is None or form.read is None:
        what = f"it looks like {form.name}" if form is not None else f"its keys are {_names(found)}"
        raise UnknownFormatError(
            str(path), "", f"not a swimlane: {what}", "Open chip_swimlane_records.json (or an older name of it)"
        )
    return form.read(found, str(path), report)


def _names(found: Sections) -> str:
    keys = [key[:40] for key in list(found)[:8]]
    return ", ".join(keys) + (", …" if len(found) > 8 else "") if keys else "none"


def _sibling(
    reader: _Reader, inputs: Inputs, kind: str, read: Callable[[Sections, str, Report], T], report: Report
) -> T | None:
    path = inputs.files.get(kind)
    if path is None:
        return None
    try:
        return read(reader.sections(kind, path, report), path.name, report)
    except (InputError, LimitError) as error:
        report.add("unreadable_file", 1, kind, str(error))
        return None
