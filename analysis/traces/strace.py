"""``[STRACE]`` records out of host logs: spans, invocations, the rounds table (FORMATS-2 section 6, FIELD-FACTS)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np

from analysis.errors import InputError
from analysis.results import Column, Table

_HEAD = re.compile(rb"\[STRACE\] v=\d+")
_SPAN = re.compile(
    rb"\[STRACE\] v=(\d+)\s+pid=(-?\d+)\s+tid=(-?\d+)\s+inv=(-?\d+)\s+hid=(?:0x)?([0-9a-fA-F]+)\s+depth=(-?\d+)\s+"
    rb"name=(\S+)\s+ts=(-?\d+)\s+dur=(-?\d+)(?![^\s\[])"
)
_STOP = re.compile(rb"\[mono_ns=|\[STRACE\]")
_DROPS = re.compile(rb"\[HOSTLOG_DROPS\] v=\d+\s+pid=(\d+)((?:\s+\w+=\d+)+)")
_ANCHOR = re.compile(
    rb"\[TIMING\] clock_anchor: \[CLOCK_ANCHOR\] v=\d+\s+pid=(\d+)\s+mono_ns=(\d+)\s+wall_ns=(\d+)\s*$"
)
NODE_WORDS = ("node", "network1", "network2", "network3")
ROOTS = ("chip.run", "simpler_run")
LIMIT_LINE_BYTES = 16 << 20
"""A longer line is read in pieces of this size."""


@dataclass(frozen=True, slots=True)
class StraceSpan:
    """One record; times in ns of the host clock, or of the invocation's device axis where ``device`` is true."""

    pid: int
    tid: int
    inv: int
    hid: str
    depth: int
    name: str
    ts_ns: int
    dur_ns: int
    attributes: dict[str, str]
    raw: str
    truncated: bool

    @property
    def device(self) -> bool:
        """Measured by the device's clock; ``device_boundaries`` carries a host time all the same."""
        return self.attributes.get("clk") == "dev" and not self.name.endswith(".device_boundaries")

    @property
    def family(self) -> str:
        """``chip``, ``core``, ``node``, ``external`` or ``unknown``."""
        word = self.name.split(".")[0]
        if word in NODE_WORDS:
            return "node"
        return {"chip": "chip", "core": "core", "ext": "external"}.get(word, "unknown")

    @property
    def producer(self) -> str | None:
        """Who wrote an external span; None where its name does not say so."""
        parts = self.name.split(".")
        return parts[1] if self.family == "external" and len(parts) >= 3 and all(parts) else None

    @property
    def leaf(self) -> str | None:
        """Last part of a node span's name."""
        return self.name.rsplit(".", 1)[-1] if self.family == "node" else None


@dataclass
class StraceLog:
    """All records of one or several logs.

    ``heads`` counts begins of records; ``torn`` of them are no complete span. ``drops`` is the largest total per process.
    """

    spans: list[StraceSpan] = field(default_factory=list)
    heads: int = 0
    drops: dict[int, dict[str, int]] = field(default_factory=dict)
    anchors: dict[int, tuple[int, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def torn(self) -> int:
        """Records that were begun and are not complete."""
        return self.heads - len(self.spans)

    @property
    def provisional(self) -> bool:
        """True when records are missing, so that every number from this log may be too small."""
        return self.torn > 0 or any(drop.get("total", 0) for drop in self.drops.values())

    def wall_time(self, span: StraceSpan) -> str | None:
        """Wall time of a host span in ISO form (UTC, nine decimals), None without its process' anchor before it."""
        anchor = self.anchors.get(span.pid)
        if span.device or anchor is None or span.ts_ns < anchor[0]:
            return None
        wall = anchor[1] + span.ts_ns - anchor[0]
        return f"{np.datetime64(wall // 1_000_000_000, 's')}.{wall % 1_000_000_000:09}Z"

    def invocations(self) -> dict[tuple[int, int], dict[str, StraceSpan]]:
        """Per (pid, inv) the span of each name that begins first; node and external spans are none."""
        out: dict[tuple[int, int], dict[str, StraceSpan]] = defaultdict(dict)
        for span in self.spans:
            if span.family not in ("node", "external"):
                names = out[span.pid, span.inv]
                known = names.get(span.name)
                if known is None or span.ts_ns < known.ts_ns:
                    names[span.name] = span
        return dict(out)


def _decoded(text: bytes) -> str:
    return unquote_to_bytes(text).decode("utf-8", "replace")


def parse_text(text: bytes, log: StraceLog | None = None) -> StraceLog:
    """The records of a log's text; adds to ``log`` where given."""
    return parse_lines(text.splitlines(), log)


def parse_lines(lines: Iterable[bytes], log: StraceLog | None = None) -> StraceLog:
    """The records of the lines of a log, several on one line too."""
    log = log or StraceLog()
    for line in lines:
        if b"[STRACE]" in line:
            log.heads += len(_HEAD.findall(line))
            for match in _SPAN.finditer(line):
                stop = _STOP.search(line, match.end())
                log.spans.append(_span(match, line[match.end() : stop.start() if stop else len(line)]))
        if b"[HOSTLOG_DROPS]" in line:
            for match in _DROPS.finditer(line):
                values = {k.decode(): int(v) for k, v in (pair.split(b"=") for pair in match[2].split())}
                pid = int(match[1])
                if values.get("total", 0) >= log.drops.get(pid, {}).get("total", 0):
                    log.drops[pid] = values
        if b"[CLOCK_ANCHOR]" in line and (anchor := _ANCHOR.search(line)):
            pid = int(anchor[1])
            if pid in log.anchors:
                log.warnings.append(f"process {pid} wrote more than one clock anchor; the first is used")
            log.anchors.setdefault(pid, (int(anchor[2]), int(anchor[3])))
    return log


def _span(match: re.Match[bytes], rest: bytes) -> StraceSpan:
    attributes = {}
    for pair in rest.split():
        key, equals, value = pair.partition(b"=")
        if equals:
            attributes[key.decode("utf-8", "replace")] = _decoded(value)
    raw = (match[0] + rest).decode("utf-8", "replace").strip()
    return StraceSpan(
        int(match[2]), int(match[3]), int(match[4]), match[5].decode().lower(), int(match[6]), _decoded(match[7]),
        int(match[8]), int(match[9]), attributes, raw, raw.endswith("~") or match[7].endswith(b"~"),
    )  # fmt: skip


def read_logs(paths: Iterable[str | Path]) -> StraceLog:
    """The records of log files, in bounded memory besides the records.

    Raises:
        InputError: a file cannot be read.
    """
    log = StraceLog()
    for path in map(Path, paths):
        try:
            with path.open("rb") as file:
                parse_lines(_lines(file), log)
        except OSError as error:
            raise InputError(
                str(path), "", f"cannot be read: {error.strerror or error}", "Check path and rights"
            ) from error
    return log


def _lines(file: Any) -> Iterator[bytes]:
    while line := file.readline(LIMIT_LINE_BYTES):
        yield line


def parents(spans: list[StraceSpan]) -> list[int]:
    """Parent of each span of one invocation, -1 for roots: by dotted name, else the nearest that holds it one depth above.

    Of several spans of the parent's name the first that begins is taken; a device span has a host parent by name only.
    """
    by_name: dict[str, int] = {}
    for i in sorted(range(len(spans)), key=lambda i: (spans[i].ts_ns, i)):
        by_name.setdefault(spans[i].name, i)
    out = []
    for i, span in enumerate(spans):
        above = by_name.get(span.name.rpartition(".")[0], -1)
        if above < 0 and span.depth > 0:
            holding = [
                j for j, other in enumerate(spans)
                if j != i and other.depth == span.depth - 1 and other.device == span.device and other.tid == span.tid
                and other.ts_ns <= span.ts_ns and span.ts_ns + span.dur_ns <= other.ts_ns + other.dur_ns
            ]  # fmt: skip
            above = max(holding, key=lambda j: spans[j].ts_ns, default=-1)
        out.append(above)
    return out


ROUND_COLUMNS = (
    Column("pid", "index", "process"),
    Column("inv", "id", "invocation"),
    Column("hid", "text", "hash of the callable"),
    Column("host_us", "us", "chip.run (older: simpler_run): the whole call on the host"),
    Column("device_us", "us", "…runner_run.device_wall"),
    Column("effective_us", "us", "union of device_wall.orch and device_wall.sched, which overlap"),
    Column("orchestrator_us", "us", "device_wall.orch"),
    Column("scheduler_us", "us", "device_wall.sched"),
    Column("dispatch_id", "id", "of the root span; 0 or none: a synchronous launch"),
)


@dataclass(frozen=True, slots=True)
class Rounds:
    """One row per invocation, by begin."""

    table: Table

    def averages(self) -> dict[str, tuple[float, int, int]]:
        """Per column that has data: mean, how many invocations have it, of how many."""
        out = {}
        for column in self.table.columns:
            if column.unit == "us":
                values = np.asarray(self.table.data[column.name], np.float64)
                known = values[~np.isnan(values)]
                if len(known):
                    out[column.name] = (float(known.mean()), len(known), len(values))
        return out

    def to_json(self) -> dict[str, Any]:
        """``{rounds, averages: {column: {mean, count, of}}}``."""
        means = {name: {"mean": m, "count": n, "of": of} for name, (m, n, of) in self.averages().items()}
        return {"rounds": self.table.to_records(), "averages": means}


def rounds(log: StraceLog) -> Rounds:
    """Host, Device, Effective, Orchestrator and Scheduler time of every invocation."""
    found = sorted(
        log.invocations().items(),
        key=lambda item: (
            min(s.ts_ns for s in item[1].values() if not s.device)
            if any(not s.device for s in item[1].values())
            else 0,
            item[0],
        ),
    )
    rows: list[dict[str, Any]] = []
    for (pid, inv), spans in found:
        root = next((spans[name] for name in ROOTS if name in spans), None)
        ends = {
            part: next((s for n, s in spans.items() if n.endswith(part)), None)
            for part in (".device_wall", ".device_wall.orch", ".device_wall.sched")
        }
        orch, sched = ends[".device_wall.orch"], ends[".device_wall.sched"]
        some = root or next(iter(spans.values()))
        rows.append({
            "pid": pid, "inv": str(inv), "hid": some.hid, "host_us": _us(root), "device_us": _us(ends[".device_wall"]),
            "effective_us": _union([s for s in (orch, sched) if s]), "orchestrator_us": _us(orch), "scheduler_us": _us(sched),
            "dispatch_id": root.attributes.get("dispatch_id") if root else None,
        })  # fmt: skip
    data = {
        c.name: np.asarray([row[c.name] for row in rows], np.float64)
        if c.unit == "us"
        else [row[c.name] for row in rows]
        for c in ROUND_COLUMNS
    }
    return Rounds(Table(ROUND_COLUMNS, data))


def _us(span: StraceSpan | None) -> float:
    return span.dur_ns / 1000 if span else float("nan")


def _union(spans: list[StraceSpan]) -> float:
    total, until = 0, None
    for span in sorted(spans, key=lambda s: s.ts_ns):
        low = span.ts_ns if until is None else max(span.ts_ns, until)
        total += max(span.ts_ns + span.dur_ns - low, 0)
        until = max(until or low, span.ts_ns + span.dur_ns)
    return total / 1000 if spans else float("nan")
