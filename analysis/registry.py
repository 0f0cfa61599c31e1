"""Which analyses are there, what do they take, and how are they shown?

One list drives the command line, the pages, the panel and the exports: an entry declares everything about its analysis.
"""

from __future__ import annotations

from analysis.entry import (
    SELECTS_BY_ID,
    Analysis,
    Card,
    Figure,
    InReport,
    Parameter,
    Section,
    Selects,
)
from analysis.errors import NotFoundError

PATH_KINDS = ("observed", "static", "imported-observed", "imported-static")
PATH_LABELS = ("Observed", "Static", "Imported observed", "Imported static")

KIND = Parameter("kind", "choice", "observed", "Which critical path.", PATH_KINDS, PATH_LABELS, url_key="kind")
THROUGH_UNTIMED = Parameter(
    "through_untimed",
    "flag",
    False,
    "Follow dependencies through tasks without records (dummy, alloc, graph) as well; the default does not.",
    label="Through untimed tasks",
    url_key="untimed",
)
WINDOW = (
    Parameter("t0_ticks", "time", None, "Beginning of the window, by default the first start.", url_key="t0"),
    Parameter("t1_ticks", "time", None, "End of the window, by default the last end.", url_key="t1"),
)
ON_THE_PATH = Selects("task_id", "task", "path:{kind}")
MARKED_EARLY = Selects("task_id", "task", "early")

FUNCTIONS = Analysis(
    "functions",
    "Functions",
    "How long does each function take, and how much of its time is execution?",
    "analysis.measures.functions:function_statistics",
    "analysis.measures.functions:COLUMNS",
    sections=(Section("TOTAL", "total", "analysis.measures.functions:COLUMNS"),),
    rows_are_json=True,
    default_sort="total_us:desc",
    total="TOTAL",
    rail=1,
    panel=1,
    own_page=True,
    in_report=InReport(2),
)
SETUP = Analysis(
    "setup",
    "Setup",
    "Which records spend the longest, or the largest share, of their time in setup?",
    "analysis.measures.setup_time:setup_times",
    "analysis.measures.setup_time:COLUMNS",
    (
        Parameter(
            "order",
            "choice",
            "setup",
            "Longest setup or largest share first.",
            ("setup", "share"),
            ("Longest setup", "Largest share"),
            url_key="kind",
        ),
        Parameter("top", "int", 50, "How many records to list."),
    ),
    rows_are_json=True,
    rail=11,
    panel=2,
    in_report=InReport(10, ({"order": "setup"},)),
)
CORES = Analysis(
    "cores",
    "Cores",
    "How busy is each core, and what was its longest idle time?",
    "analysis.measures.cores:core_statistics",
    "analysis.measures.cores:COLUMNS",
    sections=(Section("Core types", "by_type", "analysis.measures.cores:TYPE_COLUMNS"),),
    card=Card(
        1,
        "Utilisation",
        "analysis.measures.cores:card",
        "Busy time over cores × makespan, per core type; below, the cores with at least one record",
        page="utilisation",
    ),
    rail=10,
    panel=3,
    in_report=InReport(3),
)
CHAINS = Analysis(
    "chains",
    "Chains",
    "Which tasks run one after the other with nothing else to wait for or to feed?",
    "analysis.measures.chains:single_dependency_chains",
    "analysis.measures.chains:COLUMNS",
    rows_are_json=True,
    selects=(Selects("tasks", "chain"), *SELECTS_BY_ID),
    rail=5,
    panel=4,
    in_report=InReport(8),
)
CRITICAL_PATH = Analysis(
    "critical-path",
    "Critical path",
    "Which tasks decide how long the run takes, and where do they stall?",
    "analysis.paths.critical_path:critical_path",
    "analysis.paths.critical_path:COLUMNS",
    (KIND, THROUGH_UNTIMED),
    (
        Section("Compute and stall by kind", "by_kind", "analysis.paths.critical_path:KIND_COLUMNS"),
        Section("Functions on the path", "by_function", "analysis.paths.critical_path:FUNCTION_COLUMNS"),
    ),
    selects=(ON_THE_PATH, *SELECTS_BY_ID),
    numbers="analysis.paths.critical_path_shown:numbers",
    figures=(
        Figure("tasks", "tasks on the path", "count"),
        Figure("length_us", "length", "us"),
        Figure("compute_us", "compute", "us"),
        Figure("stall_us", "stall", "us"),
        Figure("makespan_us", "makespan", "us"),
        Figure("compute_share", "compute share of the makespan", "share"),
        Figure("hb_edges", "happens-before edges kept", "count"),
    ),
    summary="analysis.paths.critical_path_shown:summary",
    card=Card(
        2,
        "Critical path",
        "analysis.paths.critical_path_shown:card",
        "Share of the makespan that the observed critical path computes",
    ),
    rail=2,
    panel=5,
    in_report=InReport(4, ({"kind": "observed"}, {"kind": "static"}), titled=True),
    compiled=True,
)
PATH_DIFFERENCE = Analysis(
    "path-difference",
    "Path difference",
    "Where do the imported critical path and the one computed here differ?",
    "analysis.paths.critical_path:path_difference",
    "analysis.paths.critical_path:DIFFERENCE_COLUMNS",
    (
        Parameter(
            "kind",
            "choice",
            "observed",
            "Which pair of paths.",
            PATH_KINDS[:2],
            PATH_LABELS[:2],
            url_key="kind",
        ),
    ),
    selects=(ON_THE_PATH, *SELECTS_BY_ID),
    rail=3,
    compiled=True,
)
GAPS = Analysis(
    "gaps",
    "Gaps and blockers",
    "What did each task of the critical path wait for, and where did that time go?",
    "analysis.paths.gaps:gaps",
    "analysis.paths.gaps:COLUMNS",
    (
        KIND,
        Parameter(
            "threshold_us",
            "float",
            None,
            "List only gaps longer than this many microseconds.",
            label="Threshold (µs)",
            url_key="thr",
            marks="gap_us",
        ),
        THROUGH_UNTIMED,
    ),
    (Section("Gaps by cause", "by_cause", "analysis.paths.gaps:CAUSE_COLUMNS"),),
    rows_are_json=True,
    selects=(Selects("task_id", "gap", "path:{kind}"), *SELECTS_BY_ID),
    numbers="analysis.paths.gaps:numbers",
    summary="analysis.paths.gaps:summary",
    card=Card(
        3,
        "Worst gap",
        "analysis.paths.gaps:card",
        "Longest gap before a task of the observed critical path",
        missing="no gap on the path",
    ),
    rail=4,
    panel=6,
    in_report=InReport(6, ({"kind": "observed"},)),
    compiled=True,
)
EARLY_DISPATCH = Analysis(
    "early-dispatch",
    "Early dispatch",
    "How far ahead of its predecessors' last FIN was each target task dispatched?",
    "analysis.measures.early_dispatch:early_dispatch",
    "analysis.measures.early_dispatch:COLUMNS",
    rows_are_json=True,
    selects=(MARKED_EARLY, *SELECTS_BY_ID),
    rail=6,
    panel=7,
    in_report=InReport(9),
)
MARKERS = Analysis(
    "markers",
    "Early-dispatch markers",
    "Which tasks may be processed early (🔥), and which may be dispatched early because of it (⭐)?",
    "analysis.measures.early_dispatch:markers",
    "analysis.measures.early_dispatch:MARKER_COLUMNS",
    selects=(MARKED_EARLY, *SELECTS_BY_ID),
    names_functions=False,
    rail=7,
)
OVERHEAD = Analysis(
    "overhead",
    "Scheduler overhead",
    "How long was work ready while a core of its type had nothing to do?",
    "analysis.measures.overhead:scheduler_overhead",
    "analysis.measures.overhead:COLUMNS",
    (Parameter("curves", "flag", False, "Put the step curves into the JSON; they are large."),),
    (
        Section("Core switch", "switch_table", "analysis.measures.core_switch:COLUMNS"),
        Section("Scheduler threads", "thread_table", "analysis.measures.scheduler_loop:THREAD_COLUMNS"),
        Section("Scheduler phases", "loop_table", "analysis.measures.scheduler_loop:COLUMNS"),
    ),
    numbers="analysis.measures.overhead_shown:numbers",
    figures=(
        Figure("window_us", "window", "us"),
        Figure("all_share", "every type at once in overhead", "share"),
        Figure("has_share", "every type that has ready work", "share"),
    ),
    curves="analysis.measures.overhead_shown:curves",
    summary="analysis.measures.overhead_shown:summary",
    card=Card(
        4,
        "Scheduler overhead",
        "analysis.measures.overhead_shown:card",
        "Share of the time in which every type that has ready work has an idle core",
    ),
    rail=8,
    panel=8,
    in_report=InReport(7),
)
UTILISATION = Analysis(
    "utilisation",
    "Utilisation",
    "How many cores are busy at each moment, and with which functions?",
    "analysis.measures.utilisation:utilisation",
    "analysis.measures.utilisation:COLUMNS",
    WINDOW,
    (Section("Functions", "functions", "analysis.measures.utilisation:FUNCTION_COLUMNS"),),
    curves="analysis.measures.utilisation:curves",
    curves_title="busy cores",
    overview_curves="Utilisation over time",
    rail=9,
    panel=9,
    # The steps are the picture; the functions are the main table of the range.
    in_report=InReport(1, tables_from=1, command="range"),
)
RANGE = Analysis(
    "range",
    "Range statistics",
    "What happens between two moments: records, functions, busy share per core type?",
    "analysis.measures.ranges:range_statistics",
    "analysis.measures.utilisation:FUNCTION_COLUMNS",
    WINDOW,
    (Section("Core types", "by_type", "analysis.measures.ranges:TYPE_COLUMNS"),),
    summary="analysis.measures.ranges:summary",
    rail=12,
    panel=10,
)
EDGES = Analysis(
    "edges",
    "Dependency edges",
    "Which dependency edges are there, and which are redundant?",
    "analysis.graph.reduction:edges",
    "analysis.graph.reduction:COLUMNS",
    (
        Parameter(
            "mode",
            "choice",
            "full",
            "Which edges.",
            ("full", "reduced", "omitted", "reduced-df", "omitted-df"),
            ("Full", "Reduced", "Omitted", "Reduced DF", "Omitted DF"),
            url_key="mode",
        ),
    ),
    rail=13,
    exports=(
        ("graphml", "analysis.graph.networkx:graphml"),
        ("gexf", "analysis.graph.networkx:gexf"),
        ("dot", "analysis.graph.networkx:graphviz"),
    ),
)

ANALYSES: tuple[Analysis, ...] = (
    FUNCTIONS,
    SETUP,
    CORES,
    CHAINS,
    CRITICAL_PATH,
    PATH_DIFFERENCE,
    GAPS,
    EARLY_DISPATCH,
    MARKERS,
    OVERHEAD,
    UTILISATION,
    RANGE,
    EDGES,
)
"""Every analysis, in the order of the command line."""


def find(name: str) -> Analysis:
    """The analysis called ``name``.

    Raises:
        NotFoundError: there is none.
    """
    for analysis in ANALYSES:
        if analysis.name == name:
            return analysis
    raise NotFoundError(f"There is no analysis {name!r}; there are {', '.join(a.name for a in ANALYSES)}.")


def in_rail() -> list[Analysis]:
    """Every analysis in the order of the list of analyses."""
    return sorted(ANALYSES, key=lambda analysis: analysis.rail)


def in_panel() -> list[Analysis]:
    """The analyses with a tab in the swimlane's panel, in order."""
    return sorted((analysis for analysis in ANALYSES if analysis.panel), key=lambda analysis: analysis.panel)


def in_report() -> list[tuple[Analysis, InReport]]:
    """The analyses of the report, in order."""
    found = [(analysis, analysis.in_report) for analysis in ANALYSES if analysis.in_report]
    return sorted(found, key=lambda pair: pair[1].order)


def cards() -> list[tuple[Analysis, Card]]:
    """The analyses with a card on the overview, in order."""
    found = [(analysis, analysis.card) for analysis in ANALYSES if analysis.card]
    return sorted(found, key=lambda pair: pair[1].order)
