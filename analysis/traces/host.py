"""The host timeline: log records and ``host_phase_records.jsonl`` as one trace of processes and threads.

Written as a Chrome trace text in memory (µs = ns / 1000) and read as any other, so lanes, nesting, details and counts are
those of every trace. Spans of the device's clock have no place on this axis; they are listed in
``metadata["unalignedDeviceSpans"]``.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import InputError, NotAvailable
from analysis.traces.build import build
from analysis.traces.model import Trace
from analysis.traces.scan import scan_file
from analysis.traces.strace import ROOTS, StraceLog, StraceSpan, read_logs

BIND_SEGMENTS = frozenset(
    ["args", "arena_build", "static_arena", "gm_heap", "shared_mem", "runtime_init", "host_orch", "graph_pack", "arena_h2d", "host_view_close", "prebuilt"]
)  # fmt: skip
_WORKER_PHASES = ("record_sub_task", "build_definition")
_ROLES = ("facade", "scheduler", "worker")


@dataclass
class HostPhases:
    """The passes of ``host_phase_records.jsonl``; lines that are none are counted in ``bad_lines``."""

    passes: list[dict[str, Any]] = field(default_factory=list)
    bad_lines: int = 0
    bad_records: int = 0
    dropped: int = 0


def read_phases(path: str | Path) -> HostPhases:
    """The passes of a ``host_phase_records.jsonl``.

    Raises:
        InputError: the file cannot be read.
    """
    out = HostPhases()
    try:
        with Path(path).open("rb") as file:
            for line in file:
                if line.strip():
                    _add_pass(out, line)
    except OSError as error:
        raise InputError(
            str(path), "", f"cannot be read: {error.strerror or error}", "Check path and rights"
        ) from error
    return out


def _add_pass(out: HostPhases, line: bytes) -> None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    whole = isinstance(row, dict) and isinstance(row.get("records"), list) and _integers(row, "pid", "inv")
    if not whole:
        out.bad_lines += 1
        return
    good = [
        r
        for r in row["records"]
        if isinstance(r, dict)
        and isinstance(r.get("phase"), str)
        and _integers(r, "start_ns", "end_ns")
        and r["end_ns"] >= r["start_ns"]
    ]
    out.bad_records += len(row["records"]) - len(good)
    out.dropped += row["dropped"] if _integers(row, "dropped") else 0
    out.passes.append({**row, "records": good})


def _integers(row: dict[str, Any], *keys: str) -> bool:
    return all(isinstance(row.get(key), int) and not isinstance(row.get(key), bool) for key in keys)


@dataclass(frozen=True)
class HostTimeline:
    """The trace, the log it came from, and what could not be placed.

    ``notes`` are sentences for the data-quality panel; ``orphaned`` passes have no bind span of their (pid, inv).
    """

    trace: Trace
    log: StraceLog
    notes: tuple[str, ...]
    orphaned: int


def open_host(
    logs: Iterable[str | Path], phases: str | Path | None = None, label: str = "host timeline"
) -> HostTimeline:
    """The host timeline of log files and, if given, the phase records of the same run.

    Raises:
        InputError: a file cannot be read.
        NotAvailable: the logs hold no span of the host clock.
    """
    return host_timeline(read_logs(logs), read_phases(phases) if phases is not None else None, label)


def host_timeline(log: StraceLog, phases: HostPhases | None = None, label: str = "host timeline") -> HostTimeline:
    """As :func:`open_host`, from records already read."""
    spans = [span for span in log.spans if not span.device]
    if not spans:
        raise NotAvailable("the log holds no [STRACE] span of the host clock")
    lanes = _split(spans)
    events = [
        *_names(log.spans, spans, lanes),
        *(_event(log, span, tid) for span, tid in zip(spans, lanes, strict=True)),
    ]
    events += _arrows(spans, lanes)
    placed, orphaned = _phase_events(log, phases or HostPhases())
    away = [
        {"name": s.name, "ts_ns": s.ts_ns, "dur_ns": s.dur_ns, "pid": s.pid, "tid": s.tid, "inv": s.inv, "hid": s.hid,
         "depth": s.depth, "attrs": {**s.attributes, "raw": s.raw}}
        for s in log.spans if s.device
    ]  # fmt: skip
    body = ",\n".join(map(_written, events + placed))
    text = f'{{"traceEvents": [{body}], "unalignedDeviceSpans": {json.dumps(away)}}}'
    trace = build(scan_file(Path(label), text=text.encode()), label)
    return HostTimeline(trace, log, tuple(_notes(log, phases, orphaned)), orphaned)


def _us(ns: int) -> str:
    """ns as exact decimal µs."""
    sign, size = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{size // 1000}.{size % 1000:03}"


def _event(log: StraceLog, span: StraceSpan, tid: str) -> dict[str, Any]:
    args: dict[str, Any] = {
        "inv": str(span.inv),
        "hid": span.hid,
        "depth": span.depth,
        **span.attributes,
        "raw": span.raw,
    }
    if (wall := log.wall_time(span)) is not None:
        args["wall_time"] = wall
    if tid != str(span.tid):
        args["os_tid"] = span.tid
    return {
        "ph": "X", "pid": span.pid, "tid": tid, "name": span.name, "cat": span.family, "ts": span.ts_ns,
        "dur": span.dur_ns, "args": args,
    }  # fmt: skip


def _written(event: dict[str, Any]) -> str:
    """An event as JSON; ``ts`` and ``dur``, given in ns, as exact decimal µs."""
    times = "".join(f'"{key}":{_us(event.pop(key))},' for key in ("ts", "dur") if key in event)
    return "{" + times + json.dumps(event)[1:]


def _split(spans: list[StraceSpan]) -> list[str]:
    """Lane of each span: its tid, or ``tid slot N`` where the runs of several slots of one thread really overlap."""
    runs: dict[tuple[int, int], list[StraceSpan]] = defaultdict(list)
    slot: dict[tuple[int, int], str] = {}
    for span in spans:
        if span.name in ROOTS and "slot_id" in span.attributes and span.family != "external":
            runs[span.pid, span.tid].append(span)
            slot[span.pid, span.inv] = span.attributes["slot_id"]
    overlapping = set()
    for key, found in runs.items():
        found.sort(key=lambda s: s.ts_ns)
        until = None
        for run in found:
            if until is not None and run.ts_ns < until:
                overlapping.add(key)
            until = max(until or 0, run.ts_ns + run.dur_ns)
    return [
        f"{s.tid} slot {slot[s.pid, s.inv]}"
        if (s.pid, s.tid) in overlapping and (s.pid, s.inv) in slot and s.family in ("chip", "core", "unknown")
        else str(s.tid)
        for s in spans
    ]


def _names(all_spans: list[StraceSpan], spans: list[StraceSpan], lanes: list[str]) -> list[dict[str, Any]]:
    """Names of processes and lanes: what is ours decides before external producers."""
    ours: dict[int, set[str]] = defaultdict(set)
    external: dict[int, set[str]] = defaultdict(set)
    for span in all_spans:
        if span.family == "external":
            external[span.pid].add(span.producer or "unknown")
        else:
            ours[span.pid].add(span.family)
    out = []
    for pid in sorted({span.pid for span in all_spans}):
        if ours[pid]:
            name = "simpler node" if "node" in ours[pid] else "simpler chip child"
        else:
            name = f"external producer {', '.join(sorted(external[pid]))}"
        out.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": f"{name} {pid}"}})
    roles: dict[tuple[int, str], set[str]] = defaultdict(set)
    for span, lane in zip(spans, lanes, strict=True):
        if span.family != "external" and span.attributes.get("role") in _ROLES:
            roles[span.pid, lane].add(span.attributes["role"])
    for (pid, lane), found in sorted(roles.items()):
        role = next(r for r in _ROLES if r in found)
        out.append({"ph": "M", "pid": pid, "tid": lane, "name": "thread_name", "args": {"name": f"{role} {lane}"}})
    return out


_KEYS = ("run_id", "task_slot", "group_index", "worker_id")


def _arrows(spans: list[StraceSpan], lanes: list[str]) -> list[dict[str, Any]]:
    """Each dispatch with the latest earlier submit of its task, as a flow from the submit's end."""
    submits: dict[tuple[Any, ...], list[tuple[int, int]]] = defaultdict(list)
    for i, span in enumerate(spans):
        if span.leaf == "submit":
            submits[span.pid, *(span.attributes.get(key) for key in _KEYS)].append((span.ts_ns, i))
    for found in submits.values():
        found.sort()
    out: list[dict[str, Any]] = []
    for i, span in enumerate(spans):
        found = (
            submits.get((span.pid, *(span.attributes.get(key) for key in _KEYS)), []) if span.leaf == "dispatch" else []
        )
        at = bisect_right(found, (span.ts_ns, len(spans))) - 1
        if at >= 0:
            source = spans[found[at][1]]
            shared = {"cat": "submit to dispatch", "name": "submit", "id": i, "pid": span.pid}
            ends = min(source.ts_ns + source.dur_ns, span.ts_ns)
            out.append({**shared, "ph": "s", "tid": lanes[found[at][1]], "ts": ends})
            out.append({**shared, "ph": "f", "bp": "e", "tid": lanes[i], "ts": span.ts_ns})
    return out


def _phase_events(log: StraceLog, phases: HostPhases) -> tuple[list[dict[str, Any]], int]:
    binds = {}
    for key, names in log.invocations().items():
        bind = next((names[f"{root}.bind"] for root in ROOTS if f"{root}.bind" in names), None)
        if bind is not None:
            binds[key] = (bind, names)
    out, orphaned = [], 0
    for row in phases.passes:
        found = binds.get((row["pid"], row["inv"]))
        if found is None:
            orphaned += 1
            continue
        bind, names = found
        for record in row["records"]:
            phase = record["phase"]
            if phase in BIND_SEGMENTS and f"{bind.name}.{phase}" in names:
                continue
            tid = record["tid"] if _integers(record, "tid") and record["tid"] > 0 else bind.tid
            lane: Any = tid
            if tid != bind.tid:
                lane = f"{tid} graph record worker" if phase in _WORKER_PHASES else f"{tid} host phases"
            out.append({
                "ph": "X", "pid": row["pid"], "tid": lane, "name": phase, "cat": "bind" if phase in BIND_SEGMENTS else "host_orch",
                "ts": record["start_ns"], "dur": record["end_ns"] - record["start_ns"],
                "args": {"inv": str(row["inv"]), "detail": record.get("detail"), "source": "host_phase_records.jsonl"},
            })  # fmt: skip
    return out, orphaned


def _notes(log: StraceLog, phases: HostPhases | None, orphaned: int) -> list[str]:
    out = list(log.warnings)
    if log.torn:
        out.append(
            f"{log.torn} of {log.heads} [STRACE] records are torn and left out; every number of this log is provisional."
        )
    for pid, drop in sorted(log.drops.items()):
        if drop.get("total"):
            out.append(f"Process {pid} dropped {drop['total']} log records; every number of this log is provisional.")
    if phases is not None:
        for number, text in (
            (phases.bad_lines, "lines of the phase records are no passes and left out"),
            (phases.bad_records, "phase records are damaged and left out"),
            (phases.dropped, "phase records were dropped by the runtime"),
            (orphaned, "passes have no bind span of their process and invocation and are not drawn"),
        ):
            if number:
                out.append(f"{number} {text}.")
    return out


def summary(timeline: HostTimeline) -> dict[str, Any]:
    """Counts of the log for ``trace-info``."""
    log = timeline.log
    return {
        "spans": len(log.spans), "torn": log.torn, "drops": {str(pid): drop for pid, drop in log.drops.items()},
        "provisional": log.provisional, "device_spans": sum(s.device for s in log.spans), "orphaned": timeline.orphaned,
        "notes": list(timeline.notes), "findings": [asdict(f) for f in timeline.trace.findings],
    }  # fmt: skip
