"""What do the numbers of a critical path say at a glance? Headline, card, and the parts above its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.capture import Capture
from analysis.paths.critical_path import CriticalPath
from analysis.results import Table
from analysis.shown import CardText, Comparison, Part, Quantity, Sentence, shares

ORIGIN = {
    "observed": "Computed here: observed path, walking back from the last task to what each task really waited for.",
    "static": "Computed here: static path, the longest by execution over the kept edges; the floor with unlimited cores.",
    "imported-observed": "Imported from CPM_observed*.json as it is.",
    "imported-static": "Imported from CPM_static*.json as it is.",
}
MEANING = {kind: kind for kind in ("compute", "data-wait", "core-wait", "front-gap")}


def numbers(capture: Capture, found: CriticalPath) -> dict[str, Any]:
    """The totals of the path: tasks, lengths in µs, and the share of the makespan that it computes."""
    us, makespan = capture.meta.us, found.makespan_ticks
    return {
        "tasks": len(found.tasks),
        "makespan_us": us(makespan),
        "length_us": us(found.length_ticks),
        "compute_us": us(found.compute_total_ticks),
        "stall_us": us(found.stall_total_ticks),
        "compute_share": found.compute_total_ticks / makespan if makespan else None,
        "hb_edges": found.hb_edges,
    }


def card(_tables: Mapping[str, Table], numbers: Mapping[str, Any]) -> CardText:
    """How much of the makespan the path computes, and how long it stalls."""
    return CardText(
        Quantity(numbers["compute_share"], "share"), (Quantity(numbers["stall_us"], "duration"), " stalled")
    )


def summary(capture: Capture, tables: Mapping[str, Table], parameters: Mapping[str, Any]) -> list[Part]:
    """Where the path comes from, whether imported and computed path agree, and the shares of stalls and functions."""
    kind = str(parameters["kind"])
    origin = ORIGIN[kind]
    if parameters["through_untimed"]:
        origin += " It leads through tasks without records (dummy, alloc, graph) too."
    base = kind.removeprefix("imported-")
    imported = capture.paths.static if base == "static" else capture.paths.observed
    first: Part = Comparison(origin, "path-difference", {"kind": base}, "on", f"{base} path")
    if not len(imported):
        first = Sentence(origin, f"No CPM_{base}*.json is beside the capture, so there is no imported path to compare.")
    return [
        first,
        shares(tables["Compute and stall by kind"], "kind", "total_us", "Compute and stall of the path", MEANING),
        shares(tables["Functions on the path"], "name", "compute_us", "Functions on the path"),
    ]
