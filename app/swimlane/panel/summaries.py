"""What do the numbers of an analysis say at a glance? The lines and shares above its table, on its page and in the panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import html

from analysis.results import Table
from app.server.services import Services
from app.shell.url_state import ViewState
from app.tables.views import TableView
from components import fmt
from components.swimlane.panel import bars
from components.theme import function_color_index

STALL_COLOURS = {
    "compute": "var(--fn-0)",
    "data-wait": "var(--fn-1)",
    "core-wait": "var(--fn-3)",
    "front-gap": "var(--muted)",
    "waiting for predecessor": "var(--fn-1)",
    "core busy": "var(--fn-3)",
    "launch": "var(--muted)",
}
"""Kinds of stall, and the causes of gaps that mean the same, in one colour each."""
MOST_PARTS = 7
REST = "all others"
ORIGIN = {
    "observed": "Computed here: observed path, walking back from the last task to what each task really waited for.",
    "static": "Computed here: static path, the longest by execution over the kept edges; the floor with unlimited cores.",
    "imported-observed": "Imported from CPM_observed*.json as it is.",
    "imported-static": "Imported from CPM_static*.json as it is.",
}


def summary(services: Services, shown: TableView, view: ViewState, run_key: str) -> list[Any]:
    """Lines and share bars of the analysis; nothing where a table says it all."""
    make = _SUMMARIES.get(shown.analysis.name)
    if make is None or not shown.outcome.available:
        return []
    parts = [part for part in make(services, shown, view, run_key) if part is not None]
    return [html.Div(parts, className="story")] if parts else []


def _path(services: Services, shown: TableView, view: ViewState, run_key: str) -> list[Any]:
    kind = str(shown.parameters.get("kind", "observed"))
    tables = dict(shown.outcome.tables)
    untimed = " It leads through tasks without records (dummy, alloc, graph) too." * bool(
        shown.parameters.get("through_untimed")
    )
    return [
        html.P([html.Strong(ORIGIN[kind] + untimed), " ", *_difference(services, kind, view, run_key)]),
        _shares(
            tables["Compute and stall by kind"], "kind", "total_us", "Compute and stall of the path", STALL_COLOURS
        ),
        _shares(tables["Functions on the path"], "name", "compute_us", "Functions on the path", {}),
    ]


def _difference(services: Services, kind: str, view: ViewState, run_key: str) -> list[Any]:
    """Whether the imported and the computed path are the same; where to see the differences."""
    base = kind.removeprefix("imported-")
    capture = services.library.capture(run_key, view.launch)
    imported = capture.paths.static if base == "static" else capture.paths.observed
    if not len(imported):
        return [f"No CPM_{base}*.json lies beside the capture, so there is no imported path to compare."]
    found = services.analyses.get(capture, "path-difference", {} if base == "observed" else {"kind": base})
    if not found.available:
        return [f"Imported and computed path cannot be compared: {found.reason}"]
    sides = found.tables[0][1].cells("on")
    only = {side: sides.count(side) for side in ("both", "imported", "computed")}
    if only["both"] == len(sides):
        return [f"Imported and computed {base} path name the same {len(sides):,} tasks."]
    words = (
        f"Imported and computed {base} path differ: {only['imported']:,} tasks only imported, "
        f"{only['computed']:,} only computed, {only['both']:,} on both. "
    )
    target = ViewState(launch=view.launch, kind=base, sel=view.sel, hl=view.hl)
    href = services.href("path-difference", run_key, target)
    return [words, html.A("Show where", href=href, **{"data-follow": "1", "data-keys": "kind"})]


def _gaps(_services: Services, shown: TableView, view: ViewState, _run_key: str) -> list[Any]:
    tables = dict(shown.outcome.tables)
    gaps = [gap for gap in tables["Gaps and blockers"].cells("gap_us") if gap is not None]
    above = None
    if view.thr is not None:
        many = sum(gap > view.thr for gap in gaps)
        above = html.P([html.B(f"{many:,} of {len(gaps):,} gaps"), f" are longer than {view.thr:g} µs."])
    return [above, _shares(tables["Gaps by cause"], "cause", "gap_us", "Gaps by cause", STALL_COLOURS)]


def _overhead(_services: Services, shown: TableView, _view: ViewState, _run_key: str) -> list[Any]:
    tables = dict(shown.outcome.tables)
    figures = [
        (f"{row['scope'].upper()} in overhead", fmt.percent(row["share"]))
        for row in tables["Scheduler overhead"].to_records()
        if row["scope"] not in ("all", "has")
    ]
    if "Core switch" in tables:
        figures.append(("core switch, mean", fmt.us(_mean_switch(tables["Core switch"]))))
    budget = None
    if "Scheduler threads" in tables:
        hit, miss = (_sum(tables["Scheduler threads"], name) for name in ("pop_hit", "pop_miss"))
        tried = None if hit is None or miss is None else hit + miss
        figures.append(("pop hit rate", fmt.percent(hit / tried if hit is not None and tried else None)))
        budget = _budget(tables["Scheduler threads"], tables["Scheduler phases"])
    return [_figures(figures), budget]


def _figures(figures: list[tuple[str, str]]) -> Any:
    if not figures:
        return None
    return html.P([html.Span([f"{name} ", html.B(value)]) for name, value in figures], className="story-figures")


def _mean_switch(table: Table) -> float | None:
    count, total = _sum(table, "count"), _sum(table, "total_us")
    return total / count if count and total is not None else None


def _sum(table: Table, column: str) -> float | None:
    """Sum of the cells that were captured; None when none was."""
    cells = [cell for cell in table.cells(column) if cell is not None]
    return sum(cells) if cells else None


def _budget(threads: Table, phases: Table) -> Any:
    """The loop time of all threads, divided into outer phases and idle."""
    spent: dict[str, float] = {}
    for row in phases.to_records():
        if row["lane"] == "outer" and row["total_us"] is not None:
            spent[row["phase"]] = spent.get(row["phase"], 0.0) + row["total_us"]
    idle = _sum(threads, "idle_us")
    if idle is not None:
        spent["idle"] = idle
    return _share_bar(spent, "Loop budget of all scheduler threads", {"idle": "var(--line)"})


def _range(_services: Services, shown: TableView, _view: ViewState, _run_key: str) -> list[Any]:
    rows = dict(shown.outcome.tables)["Core types"].to_records()
    return [_figures([(f"{row['core_type'].upper()} busy", fmt.percent(row["share"])) for row in rows])]


def _shares(table: Table, name: str, value: str, label: str, colours: dict[str, str]) -> Any:
    cells = zip(table.cells(name), table.cells(value), strict=True)
    return _share_bar({str(key): total for key, total in cells if total is not None}, label, colours)


def _share_bar(spent: dict[str, float], label: str, colours: dict[str, str]) -> Any:
    """The largest parts of a sum, each with its share; what is left is one part of its own."""
    whole = sum(spent.values())
    if whole <= 0:
        return None
    order = sorted(spent.items(), key=lambda item: -item[1])
    top, rest = order[:MOST_PARTS], order[MOST_PARTS:]
    parts = [(name, colours.get(name) or f"var(--fn-{function_color_index(name)})", total) for name, total in top]
    if rest:
        parts.append((f"{REST} ({len(rest):,})", "var(--line)", sum(total for _, total in rest)))
    return html.Div(
        [
            html.Span(label, className="muted"),
            bars([(name, colour, total / whole, fmt.percent(total / whole)) for name, colour, total in parts], label),
        ],
        className="story-shares",
    )


_SUMMARIES: dict[str, Callable[[Services, TableView, ViewState, str], list[Any]]] = {
    "critical-path": _path,
    "gaps": _gaps,
    "overhead": _overhead,
    "range": _range,
}
