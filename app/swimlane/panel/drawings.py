"""What does a row's menu draw in the swimlane? Markers named with what they mean, and the window that shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis import selection
from analysis.capture import Capture
from analysis.errors import NotAvailable, NotFoundError
from analysis.registry import GAPS
from analysis.timeline.details import maximum_lead
from app.server.services import Services

MARGIN = 0.6
"""Room left and right of what is drawn, in lengths of it."""


def drawing(services: Services, run_key: str, kind: str, args: Mapping[str, str]) -> dict[str, Any]:
    """``{markers: [{tick, color, label}, …], t0, t1, title}`` of a gap or a maximum lead.

    Args:
        services: the bundle.
        run_key: the run.
        kind: ``gap`` (with ``kind`` and ``untimed`` of the gap table) or ``lead``.
        args: ``task`` and ``launch``.

    Raises:
        NotFoundError: no such drawing or task, or the task has no gap.
        NotAvailable: the capture lacks what it takes.
    """
    launch = args.get("launch") or "0"
    capture = services.library.capture(run_key, int(launch) if launch.isdecimal() and len(launch) <= 20 else 0)
    text = args.get("task", "")
    task = selection.existing_task(capture, text)
    if kind == "gap":
        return _gap(services, capture, text, args)
    if kind == "lead":
        return _lead(capture, task)
    raise NotFoundError(f"there is no drawing {kind!r}; there are gap and lead")


def _gap(services: Services, capture: Capture, task_id: str, args: Mapping[str, str]) -> dict[str, Any]:
    """The gap before a task of a path: where it begins and ends, its cause and its blocker."""
    parameters: dict[str, Any] = {}
    if args.get("kind") not in (None, "", "observed"):
        parameters["kind"] = args["kind"]
    if args.get("untimed") == "1":
        parameters["through_untimed"] = True
    outcome = services.analyses.get(capture, GAPS.name, parameters)
    if not outcome.available:
        raise NotAvailable(outcome.reason)
    table = outcome.tables[0][1]
    ids = table.cells("task_id")
    if task_id not in ids:
        raise NotFoundError(f"task {capture.meta.task_label(int(task_id))} is not on that path, so it has no gap")
    row = {column.name: table.cells(column.name)[ids.index(task_id)] for column in table.columns}
    per_us = capture.meta.ticks_per_us
    end = round(row["start_us"] * per_us)
    start = end - round(row["gap_us"] * per_us)
    blocker = "" if row["blocker_task_id"] is None else f" {capture.meta.task_label(int(row['blocker_task_id']))}"
    blocker += f" {row['blocker_name']}" if row["blocker_name"] else ""
    cause = {"core busy": "core busy:", "waiting for predecessor": "waiting for"}.get(row["cause"], row["cause"])
    return _drawn(
        f"Gap of {row['gap_us']:,.3f} µs before {row['name']}",
        (start, "red", f"{cause}{blocker}"),
        (end, "blue", f"{capture.meta.task_label(int(task_id))} {row['name']} starts"),
    )


def _lead(capture: Capture, task: int) -> dict[str, Any]:
    """From the earliest dispatch of a task to the last FIN of its predecessors."""
    dispatch, last_fin = maximum_lead(capture, task)
    name = f"{capture.meta.task_label(int(capture.tasks.task_id[task]))} {capture.task_name(task)}"
    lead_us = capture.meta.us(last_fin - dispatch)
    return _drawn(
        f"Maximum lead of {lead_us:,.3f} µs of {name}",
        (dispatch, "green", f"{name} dispatched"),
        (last_fin, "red", "last FIN of its predecessors"),
    )


def _drawn(title: str, *marks: tuple[int, str, str]) -> dict[str, Any]:
    ticks = [tick for tick, _colour, _label in marks]
    low, high = min(ticks), max(ticks)
    room = max(round((high - low) * MARGIN), 50)
    markers = [{"tick": tick, "color": colour, "label": label.strip()} for tick, colour, label in marks]
    return {"title": title, "markers": markers, "t0": low - room, "t1": high + room}
