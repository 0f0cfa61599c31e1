"""Callbacks of the run overview: the cards and the plot that need an analysis."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output

from app.server.services import Services
from app.shell import ids
from app.shell.url_state import ViewState
from app.work.jobs import Job
from app.work.outcomes import Outcome
from components import cards, fmt, notices
from components import figures as plots


def register(app: Dash, services: Services) -> None:
    """One callback per card, so that a slow analysis holds up no other."""

    @app.callback(
        Output("overview-card-utilisation", "children"),
        Output(ids.OVERVIEW_PLOT, "children"),
        Input(ids.RUN, "data"),
    )
    def show_utilisation(run: dict[str, Any]) -> Any:
        outcome = run_outcome(services, run, "utilisation")
        cores = run_outcome(services, run, "cores")
        plot = notices.empty(outcome.reason)
        if outcome.available:
            plot = plots.curves(ids.OVERVIEW_PLOT + "-graph", outcome.curves)
        return utilisation_card(services, run, cores), plot

    @app.callback(Output("overview-card-critical-path", "children"), Input(ids.RUN, "data"))
    def show_path(run: dict[str, Any]) -> Any:
        return path_card(services, run, run_outcome(services, run, "critical-path", kind="observed"))

    @app.callback(Output("overview-card-gaps", "children"), Input(ids.RUN, "data"))
    def show_gap(run: dict[str, Any]) -> Any:
        return gap_card(services, run, run_outcome(services, run, "gaps"))

    @app.callback(Output("overview-card-overhead", "children"), Input(ids.RUN, "data"))
    def show_overhead(run: dict[str, Any]) -> Any:
        return overhead_card(services, run, run_outcome(services, run, "overhead"))


def run_outcome(services: Services, run: dict[str, Any], name: str, **parameters: Any) -> Outcome:
    """The outcome of an analysis for the run and launch of a page; a large capture's is computed by a child."""
    capture = services.library.capture(run["key"], run.get("launch", 0))
    meta = capture.meta
    large = len(capture.records) > services.settings.inline_analysis_records
    if large and services.analyses.kept(meta.capture_id, name, parameters) is None:
        disk = services.library.run(run["key"])
        ended = services.jobs.wait(Job(disk.source, meta.launch, disk.signature, name, parameters))
        if ended.state != "done":
            return Outcome(name, reason=ended.message or "it was cancelled")
    return services.analyses.get(capture, name, parameters)


def _href(services: Services, run: dict[str, Any], page: str, **view: Any) -> str:
    return services.href(page, run["key"], ViewState(launch=run.get("launch", 0), **view))


def utilisation_card(services: Services, run: dict[str, Any], cores: Outcome) -> Any:
    """Busy share per core type."""
    if not cores.available:
        return cards.card("Utilisation", fmt.MISSING_TEXT, "not available", tooltip=cores.reason)
    table = dict(cores.tables)["Core types"]
    rows = [row for row in table.to_records() if row["utilisation"] is not None]
    return cards.card(
        "Utilisation",
        " / ".join(f"{row['utilisation'] * 100:.1f}" for row in rows) + " %" if rows else fmt.MISSING_TEXT,
        " / ".join(f"{row['core_type'].upper()} {row['used_cores']} of {row['cores']}" for row in rows),
        tooltip="Busy time over cores × makespan, per core type; below, the cores with at least one record",
        href=_href(services, run, "utilisation"),
    )


def path_card(services: Services, run: dict[str, Any], path: Outcome) -> Any:
    """How much of the makespan the observed critical path computes."""
    if not path.available:
        return cards.card("Critical path", fmt.MISSING_TEXT, "not available", tooltip=path.reason)
    share = path.numbers["compute_share"]
    return cards.card(
        "Critical path",
        fmt.percent(share),
        f"{fmt.duration_us(path.numbers['stall_us'])} stalled",
        tooltip="Share of the makespan that the observed critical path computes",
        href=_href(services, run, "critical-path"),
    )


def gap_card(services: Services, run: dict[str, Any], gaps: Outcome) -> Any:
    """The longest wait on the observed critical path."""
    worst = gaps.numbers.get("worst")
    if worst is None:
        return cards.card("Worst gap", fmt.MISSING_TEXT, "not available", tooltip=gaps.reason or "no gap on the path")
    return cards.card(
        "Worst gap",
        fmt.duration_us(worst["gap_us"]),
        f"{worst['cause']}, before {worst['name']}",
        tooltip=f"Longest gap before a task of the observed critical path: {worst['cause']}, before {worst['name']}",
        href=_href(services, run, "gaps", sel=f"gap:{worst['task_id']}"),
    )


def overhead_card(services: Services, run: dict[str, Any], overhead: Outcome) -> Any:
    """How long work was ready while a core of its type was idle."""
    share = overhead.numbers.get("has_share")
    if share is None:
        reason = overhead.reason or "; ".join(overhead.notes)
        return cards.card("Scheduler overhead", fmt.MISSING_TEXT, "not available", tooltip=reason)
    return cards.card(
        "Scheduler overhead",
        fmt.percent(share),
        f"all types at once {fmt.percent(overhead.numbers['all_share'])}",
        tooltip="Share of the time in which every type that has ready work has an idle core",
        href=_href(services, run, "overhead"),
    )
