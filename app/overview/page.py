"""What is this run? Cards, data quality, and which views its files allow."""

from __future__ import annotations

from typing import Any

from dash import html

from analysis.capture import Capture
from analysis.capture import ids as id_layout
from analysis.registry import CRITICAL_PATH, FUNCTIONS
from app.analyses.cards import CURVES, plot_slot, quick_cards, slots
from app.runs import dumps
from app.server.services import Services
from app.shell.page import Page
from app.shell.url_state import ViewState
from components import cards, fmt, quality

PAGE = Page("", "/r/<run>", "Overview", 0, "o")
LEVEL_LEAVES_OUT = {
    0: "The swimlane file names no capture level.",
    1: "AICore start and end only: no dispatch and finish, no scheduler phases, no orchestrator records.",
    2: "AICore and AICPU stamps: no scheduler phases, no orchestrator records.",
    3: "AICore and AICPU stamps and scheduler phases: no orchestrator records.",
    4: "Everything the runtime records.",
}


def layout(services: Services, view: ViewState, run_key: str) -> Any:
    """The overview of a run; what needs an analysis is filled in by callbacks."""
    run = services.library.run(run_key)
    capture = services.library.capture(run_key, view.launch)
    return html.Div(
        [
            _head(services, run.row.name, f"{run.row.root}/{run.row.path}", capture, view, run_key),
            html.Div(
                [*quick_cards(services, capture, view, run_key), *slots()],
                className="cards",
            ),
            html.Div(
                [
                    html.Div(
                        [
                            cards.panel("Views", quality.views_list(_views(services, capture, view, run_key))),
                            cards.panel(CURVES.overview_curves, plot_slot()),
                        ]
                    ),
                    html.Div(
                        [
                            cards.panel(
                                "Data quality",
                                html.Div(
                                    [
                                        quality.quality_list(capture.meta.notices),
                                        *quality.flagged_rows(capture),
                                        *quality.stream_rows(capture.meta.stream_rows),
                                    ]
                                ),
                                extra=quality.quality_badge(capture.meta.notices),
                            ),
                            cards.panel("Files", quality.facts_list(_files(capture))),
                        ]
                    ),
                ],
                className="panels",
            ),
        ],
        className="fill scroll overview",
    )


def _head(services: Services, name: str, path: str, capture: Capture, view: ViewState, run_key: str) -> html.Div:
    meta = capture.meta
    clock = fmt.frequency(meta.clock_freq_hz) if meta.clock_freq_hz else "no clock, µs only"
    facts = [f"Level {meta.level}", meta.container, clock]
    return html.Div(
        [
            html.H1(name),
            html.Span(path, className="muted mono"),
            html.Span(className="spacer"),
            *(html.Span(fact, className="badge") for fact in facts),
            launch_chooser(services, capture, view, run_key),
        ],
        className="toolbar",
    )


def launch_chooser(services: Services, capture: Capture, view: ViewState, run_key: str) -> Any:
    """Links to each launch of a file that holds several; nothing otherwise."""
    launches = capture.meta.launches
    if launches <= 1:
        return None
    return html.Div(
        [
            html.Span("Launch", id="launch-label", className="muted"),
            html.Span(
                [
                    html.A(
                        str(at + 1),
                        href=services.href("", run_key, ViewState(launch=at)),
                        className="launch",
                        **{"data-follow": "1", "data-keys": "launch"}
                        | ({"aria-current": "true"} if at == view.launch else {}),
                    )
                    for at in range(launches)
                ],
                id="launch-select",
                className="launches",
                role="group",
                **{"aria-labelledby": "launch-label"},
            ),
        ],
        className="launch-chooser",
    )


def _views(services: Services, capture: Capture, view: ViewState, run_key: str) -> list[quality.ViewLine]:
    """Each view: a link when the files allow it, else the file and capture flag that would bring it."""
    meta = capture.meta
    level = meta.level

    def line(title: str, page: str, there: bool, what: str, missing: str) -> quality.ViewLine:
        return quality.ViewLine(title, services.href(page, run_key, view) if there else "", what if there else missing)

    lane = ViewState
    scheduler = services.href("swimlane", run_key, lane(view="scheduler", launch=view.launch))
    phases = services.href("swimlane", run_key, lane(view="phases", launch=view.launch))
    orch = services.href("swimlane", run_key, lane(view="orch", launch=view.launch))
    has_records = len(capture.records) > 0
    dispatch = has_records and level >= 2
    return [
        line("Swimlane", "swimlane", meta.has_records_file, "One lane per core, exact bars", _NO_SWIMLANE),
        quality.ViewLine(
            "Scheduler view",
            scheduler if dispatch else "",
            "Dispatch to finish per core" if dispatch else "Dispatch and finish are not captured: capture at level 2",
        ),
        quality.ViewLine(
            "Scheduler phases",
            phases if len(capture.phases) else "",
            "One lane per scheduler thread"
            if len(capture.phases)
            else "Scheduler phases are not captured: capture at level 3",
        ),
        quality.ViewLine(
            "Orchestrator",
            orch if len(capture.orch) else "",
            "Submits over time" if len(capture.orch) else "Orchestrator records are not captured: capture at level 4",
        ),
        line(
            "Functions",
            FUNCTIONS.name,
            has_records or meta.has_name_map,
            "Durations per function" if has_records else "Names only: there are no records to time",
            _NO_SWIMLANE,
        ),
        line(
            "Task graph",
            "graph",
            meta.has_deps or meta.edges_from_fanout,
            "Dependencies from deps.json" if meta.has_deps else "Edges from fanout[]; alloc predecessors are missing",
            "deps.json is missing beside the swimlane file: run with dependency capture on",
        ),
        quality.ViewLine(
            "Function names",
            services.href(FUNCTIONS.name, run_key, view) if meta.has_name_map else "",
            "From the name map" if meta.has_name_map else "name_map*.json is missing: functions are shown as func_<id>",
        ),
        quality.ViewLine(
            "Imported critical path",
            services.href(CRITICAL_PATH.name, run_key, ViewState(kind="imported-observed", launch=view.launch))
            if len(capture.paths.observed) or len(capture.paths.static)
            else "",
            "From the CPM files"
            if len(capture.paths.observed) or len(capture.paths.static)
            else "CPM_static/CPM_observed*.json are missing; Swimscope computes both paths itself",
        ),
        *_beside(services, run_key),
    ]


def _beside(services: Services, run_key: str) -> list[quality.ViewLine]:
    """Views of what is stored beside the capture: pass dumps, traces, other ranks."""
    row = services.library.run(run_key).row
    dumped = dumps.offered(services, run_key)
    no_dump = "No passes_dump directory is beside the run: compile with pass dumps switched on"
    found = (
        ("IR pass trace", "passes", dumped, "What each compiler pass changed", no_dump),
        ("Memory map", "memory", dumped, "On-chip bytes of every tile", no_dump),
        (
            "Trace",
            "trace",
            "trace" in row.views,
            "Chrome trace or host log of the run",
            "No trace or host log is in it",
        ),
        (
            "Ranks",
            "ranks",
            row.rank.startswith("rank"),
            "The ranks of this tree on one axis",
            "Not in a rankN directory",
        ),
    )
    return [
        quality.ViewLine(title, services.href(page, run_key) if there else "", what if there else missing)
        for title, page, there, what, missing in found
    ]


_NO_SWIMLANE = "chip_swimlane_records.json is missing: run with swimlane capture at level 1 or above"


def _files(capture: Capture) -> list[tuple[str, str]]:
    """Facts and files as (name, value) lines."""
    meta = capture.meta
    out = [(kind.replace("_", " "), name) for kind, name in meta.sources.items()]
    out.append(("level", f"{meta.level}: {LEVEL_LEAVES_OUT.get(meta.level, 'not known to Swimscope')}"))
    if meta.runtime:
        out.append(
            (
                "runtime",
                "not known: task ids are shown as numbers" if meta.runtime == id_layout.RAW_IDS else meta.runtime,
            )
        )
    if meta.clock_freq_hz is None:
        out.append(("clock", "not in the file; ticks are nanoseconds, order is judged within 40 ns (assumed)"))
    if meta.host_clock is not None:
        host = meta.host_clock
        out.append(("host clock", fmt.host_clock(host)))
    out.append(("rows", f"{meta.aicore_rows:,} AICore, {meta.aicpu_rows:,} AICPU, {len(capture.records):,} joined"))
    out.append(("content", meta.capture_id[:16]))
    return out
