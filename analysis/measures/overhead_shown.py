"""What do the numbers of scheduler overhead say at a glance? Headline, card, curves and the parts above its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.capture import Capture
from analysis.measures.overhead import SchedulerOverhead
from analysis.results import Table
from analysis.shown import CardText, Part, PlotCurve, Quantities, Quantity, Shares, column_sum


def numbers(capture: Capture, found: SchedulerOverhead) -> dict[str, Any]:
    """``window_us`` and the system's two shares of it; nothing without the system part."""
    if found.system is None:
        return {}
    window = found.system.window_ticks
    return {
        "window_us": capture.meta.us(window),
        "all_share": found.system.all_ticks / window if window else None,
        "has_share": found.system.has_ticks / window if window else None,
    }


def card(_tables: Mapping[str, Table], numbers: Mapping[str, Any]) -> CardText | None:
    """How long work was ready while a core of its type was idle."""
    if numbers.get("has_share") is None:
        return None
    return CardText(
        Quantity(numbers["has_share"], "share"), ("all types at once ", Quantity(numbers["all_share"], "share"))
    )


def curves(found: SchedulerOverhead) -> list[PlotCurve]:
    """Where each core type, and all at once, are in overhead."""
    if found.system is None:
        return []
    system = found.system
    named = [(f"{item.core_type} in overhead", item.overhead) for item in system.by_type]
    named.append(("all types in overhead", system.all_curve))
    return [PlotCurve(name, curve, system.t0_ticks, system.t1_ticks, 1) for name, curve in named]


def summary(_capture: Capture, tables: Mapping[str, Table], _parameters: Mapping[str, Any]) -> list[Part]:
    """Overhead per core type, mean core switch, pop hit rate, and where the time of the scheduler loop went."""
    named = [
        (f"{row['scope'].upper()} in overhead", Quantity(row["share"], "share"))
        for row in tables["Scheduler overhead"].to_records()
        if row["scope"] not in ("all", "has")
    ]
    if "Core switch" in tables:
        named.append(("core switch, mean", Quantity(_mean_switch_us(tables["Core switch"]), "us")))
    parts: list[Part] = [Quantities(tuple(named))]
    if "Scheduler threads" in tables:
        hit, miss = (column_sum(tables["Scheduler threads"], name) for name in ("pop_hit", "pop_miss"))
        tried = None if hit is None or miss is None else hit + miss
        named.append(("pop hit rate", Quantity(hit / tried if hit is not None and tried else None, "share")))
        parts = [Quantities(tuple(named)), _loop_budget(tables["Scheduler threads"], tables["Scheduler phases"])]
    return parts


def _mean_switch_us(table: Table) -> float | None:
    count, total = column_sum(table, "count"), column_sum(table, "total_us")
    return total / count if count and total is not None else None


def _loop_budget(threads: Table, phases: Table) -> Shares:
    """The loop time of all threads, divided into outer phases and idle."""
    spent: dict[str, float] = {}
    for row in phases.to_records():
        if row["lane"] == "outer" and row["total_us"] is not None:
            spent[row["phase"]] = spent.get(row["phase"], 0.0) + row["total_us"]
    idle = column_sum(threads, "idle_us")
    if idle is not None:
        spent["idle"] = idle
    return Shares("Loop budget of all scheduler threads", spent, {"idle": "idle"})
