"""What ``serving``, ``requests`` and ``trace-info`` of the command line print."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from analysis.results import Column, Table
from analysis.traces.build import open_trace
from analysis.traces.host import host_timeline, summary
from analysis.traces.model import Trace
from analysis.traces.serving import requests
from analysis.traces.statistics import span_statistics
from analysis.traces.strace import read_logs, rounds

_HEAD_BYTES = 1 << 20
_FACTS = (Column("fact", "text", "what"), Column("value", "text", "how much"))


def serving(path: str) -> tuple[Any, Table, list[str]]:
    """JSON, table and notes of the span statistics per process and name."""
    trace = open_trace(path)
    found = span_statistics(trace)
    return found.to_json(), found.table, notes(trace)


def request_table(path: str) -> tuple[Any, Table, list[str]]:
    """JSON, table and notes of the requests."""
    trace = open_trace(path)
    found = requests(trace)
    return found.to_json(), found.table, [found.rule, *notes(trace)]


def trace_info(path: str) -> tuple[Any, Table, list[str]]:
    """JSON, table and notes of what a Chrome trace or a log with ``[STRACE]`` records holds."""
    if _is_log(Path(path)):
        log = read_logs([path])
        timeline = host_timeline(log, label=Path(path).name)
        facts = {**info(timeline.trace), "log": summary(timeline), **rounds(log).to_json()}
        return facts, _table(facts), [*timeline.notes, *notes(timeline.trace)]
    trace = open_trace(path)
    facts = info(trace)
    return facts, _table(facts), notes(trace)


def info(trace: Trace) -> dict[str, Any]:
    """What is in a trace, and what is wrong with it."""
    return {
        "file": trace.label, "events_in": trace.events_in, "events_shown": sum(trace.shown.values()),
        "shown": dict(trace.shown), "left_out": dict(trace.left_out), "zero_us": trace.zero_us,
        "span_us": trace.span_ns / 1000, "slices": len(trace.slices), "instants": len(trace.instants),
        "flows": len(trace.flows), "counter_series": len(trace.counters), "names": len(trace.names),
        "processes": [
            {"pid": process.pid, "name": process.name,
             "lanes": [{"key": lane.key, "label": lane.label, "slices": lane.slices} for lane in trace.lanes if lane.process == i]}
            for i, process in enumerate(trace.processes)
        ],
        "findings": [asdict(finding) for finding in trace.findings],
    }  # fmt: skip


def notes(trace: Trace) -> list[str]:
    """Sentences on what is not shown or was put right."""
    shown = sum(trace.shown.values())
    out = [] if trace.complete else [f"{shown:,} of {trace.events_in:,} events shown."]
    return out + [f"{f.text} ({f.count:,})" if f.count else f.text for f in trace.findings]


def _table(facts: dict[str, Any]) -> Table:
    rows = [(key, str(value)) for key, value in facts.items() if isinstance(value, str | int | float)]
    rows += [(f"shown: {key.replace('_', ' ')}", str(count)) for key, count in facts["shown"].items()]
    rows += [(f"left out: {key.replace('_', ' ')}", str(count)) for key, count in facts["left_out"].items()]
    rows += [
        (f"process {process['pid']}", f"{process['name']}, {len(process['lanes'])} lanes")
        for process in facts["processes"]
    ]
    return Table(_FACTS, {"fact": [row[0] for row in rows], "value": [row[1] for row in rows]})


def _is_log(path: Path) -> bool:
    """A text with ``[STRACE]`` or ``[HOSTLOG_DROPS]`` that begins with no JSON object of a trace."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False  # opening it as a trace says why
    return b"[STRACE] v=" in head and b'"traceEvents"' not in head
