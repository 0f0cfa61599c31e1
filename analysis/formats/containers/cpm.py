"""CPM files: a critical path told by which bars of a Chrome trace kept their name (FORMATS section 5)."""

from __future__ import annotations

import re

import msgspec

from analysis.formats.registry import Format, Sections, Shape
from analysis.formats.report import Report
from analysis.formats.text.reading import integer
from analysis.formats.text.structs import Id, typed_rows

WORKER_VIEW_PID = 4
_OFF_PATH = re.compile(r"·\(|dummy\(|alloc\(")


class Args(msgspec.Struct, gc=False):
    """Arguments of a bar."""

    task_id: Id | None = msgspec.field(default=None, name="taskId")


class Bar(msgspec.Struct, gc=False):
    """One trace event, as far as the path needs it."""

    ph: str = ""
    pid: Id | float | None = None
    name: str = ""
    ts: float = 0.0
    args: Args | None = None


def read(sections: Sections, source: str, report: Report) -> list[int]:
    """Task ids of the path, by start.

    Raises:
        InputError: the event list is not JSON.
    """
    events = sections.get("traceEvents", sections.get(""))
    found: list[tuple[float, int]] = []
    for bars, _ in typed_rows(events, Bar, source, source, report):
        for bar in bars:
            if bar.ph != "X" or bar.pid != WORKER_VIEW_PID or bar.args is None or _OFF_PATH.match(bar.name):
                continue
            task_id = integer(bar.args.task_id)
            if task_id is not None and 0 <= task_id < 2**64:
                found.append((bar.ts, task_id))
    found.sort(key=lambda pair: pair[0])
    return list(dict.fromkeys(task_id for _, task_id in found))


def _sniff(shape: Shape) -> bool:
    return "traceEvents" in shape.keys or "ph" in shape.rows.get("", frozenset())


FORMAT = Format("chrome_trace", "trace", _sniff)
