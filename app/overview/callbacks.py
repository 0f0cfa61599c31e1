"""Callbacks of the run overview: the cards and the plot that need an analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import Dash, Input, Output, no_update

from app.overview import page
from app.server.services import Services
from app.shell import ids
from app.shell.url_state import ViewState
from app.work.outcomes import Outcome
from app.work.waiting import ended_just_now
from components import cards, fmt, notices
from components import figures as plots


def register(app: Dash, services: Services) -> None:
    """One callback per card, so that a slow analysis holds up no other; while a job runs its card asks again."""

    def ticking(name: str) -> tuple[Output, Input]:
        return Output(page.tick_id(name), "disabled"), Input(page.tick_id(name), "n_intervals")

    stop, tick = ticking("utilisation")

    @app.callback(
        Output("overview-card-utilisation", "children"),
        Output(ids.OVERVIEW_PLOT, "children"),
        stop,
        Input(ids.RUN, "data"),
        tick,
    )
    def show_utilisation(run: dict[str, Any], _tick: int | None) -> Any:
        outcome = run_outcome(services, run, "utilisation")
        cores = run_outcome(services, run, "cores")
        if outcome is None or cores is None:
            return no_update, no_update, False
        plot = notices.empty(outcome.reason)
        if outcome.available:
            plot = plots.curves(ids.OVERVIEW_PLOT + "-graph", outcome.curves)
        return utilisation_card(services, run, cores), plot, True

    def show_when_there(name: str, card: Callable[[Services, dict[str, Any], Outcome], Any], **parameters: Any) -> None:
        stop, tick = ticking(name)

        @app.callback(Output(f"overview-card-{name}", "children"), stop, Input(ids.RUN, "data"), tick)
        def show(run: dict[str, Any], _tick: int | None) -> Any:
            outcome = run_outcome(services, run, name, **parameters)
            return (no_update, False) if outcome is None else (card(services, run, outcome), True)

    show_when_there("critical-path", path_card, kind="observed")
    show_when_there("gaps", gap_card)
    show_when_there("overhead", overhead_card)


def run_outcome(services: Services, run: dict[str, Any], name: str, **parameters: Any) -> Outcome | None:
    """The outcome of an analysis for the run and launch of a page, None while a child computes a large capture's.

    No request waits for a job: that would keep one of a few threads from everybody else.
    """
    launch = run.get("launch", 0)
    capture = services.library.capture(run["key"], launch)
    large = len(capture.records) > services.settings.inline_analysis_records
    if large and services.analyses.kept(capture.meta.capture_id, name, parameters) is None:
        job = services.library.job(run["key"], launch, name, parameters)
        progress = services.jobs.status(job)
        if progress.state == "idle" or not (progress.state == "running" or ended_just_now(progress)):
            progress = services.jobs.start(job)
        if progress.state == "running":
            return None
        if progress.state != "done":
            return Outcome(name, reason=progress.message or "it was cancelled")
    return services.analyses.get(capture, name, parameters)


def _href(services: Services, run: dict[str, Any], to: str, **view: Any) -> str:
    return services.href(to, run["key"], ViewState(launch=run.get("launch", 0), **view))


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
