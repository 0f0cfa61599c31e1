"""Which analyses are there, what do they take, and what do their columns mean?

One list drives the command line, the pages and the exports. Nothing is imported until an analysis is used, so that a
command pays only for what it runs.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from analysis.capture import Capture
from analysis.errors import NotFoundError, ParameterError
from analysis.results import Column, Result, Table

ParameterKind: TypeAlias = Literal["choice", "int", "float", "flag", "time"]
"""``time`` is a moment: microseconds from capture zero at the doors (``t0_us``), ticks in the function (``t0_ticks``)."""

MAX_US = 1e12
"""Beyond any time of a run (11 days)."""
PATH_KINDS = ("observed", "static", "imported-observed", "imported-static")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an analysis: keyword ``name`` of its function."""

    name: str
    kind: ParameterKind
    default: Any
    doc: str
    choices: tuple[str, ...] = ()

    @property
    def door(self) -> str:
        """Its name at the doors (URL, form, command line): a time is given in microseconds."""
        return self.name.replace("_ticks", "_us") if self.kind == "time" else self.name

    @property
    def option(self) -> str:
        """Its option on the command line."""
        return "--" + self.door.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Section:
    """A further table of a result: a heading and the attribute of the result that holds it (``None`` = not captured)."""

    title: str
    attribute: str
    columns: str
    """Name of the columns' constant, ``module:NAME``."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis of the product."""

    name: str
    """Command on the command line and last part of the page's address."""
    title: str
    question: str
    """What it answers, in one sentence."""
    target: str
    """``module:function``; the function takes a capture and the parameters."""
    columns_at: str
    """``module:NAME`` of the main table's columns."""
    parameters: tuple[Parameter, ...] = ()
    sections: tuple[Section, ...] = ()
    rows_are_json: bool = False
    """The JSON is the list of rows: a capture without records then gives an empty list."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the main table."""
        return cast("tuple[Column, ...]", _resolve(self.columns_at))

    def run(self, capture: Capture, **parameters: Any) -> Result:
        """The result; parameters not given take their defaults.

        Raises:
            NotAvailable: the capture does not hold what the analysis needs.
            ParameterError: a parameter has an impossible value.
            TypeError: a parameter is unknown.
        """
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        return cast(Result, _resolve(self.target)(capture, **{**defaults, **parameters}))

    def tables(self, result: Result) -> Iterator[tuple[str, Table]]:
        """The main table and every further one that the result has, with their headings."""
        yield self.title, result.table
        for section in self.sections:
            table = getattr(result, section.attribute)
            if table is not None:
                yield section.title, table

    def notes(self, result: Result) -> tuple[str, ...]:
        """What limits the answer, in plain words: remarks of the result, and why parts of it are missing."""
        reasons: dict[str, str] = getattr(result, "reasons", {})
        return (*getattr(result, "notes", ()), *dict.fromkeys(reasons.values()))

    def arguments(self, capture: Capture, doors: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the function from values as the doors hold them; ``None`` means the default.

        Raises:
            ParameterError: a number that is not finite or beyond any time of a run.
        """
        out: dict[str, Any] = {}
        for parameter in self.parameters:
            value = doors.get(parameter.door)
            if value is None:
                continue
            if isinstance(value, float) and not (math.isfinite(value) and abs(value) <= MAX_US):
                raise ParameterError(f"{parameter.door} is {value}: it must be a number of microseconds")
            out[parameter.name] = round(value * capture.meta.ticks_per_us) if parameter.kind == "time" else value
        return out


KIND = Parameter("kind", "choice", "observed", "Which critical path.", PATH_KINDS)
THROUGH_UNTIMED = Parameter(
    "through_untimed",
    "flag",
    False,
    "Follow dependencies through tasks without records (dummy, alloc, graph) as well; the default does not.",
)
WINDOW = (
    Parameter("t0_ticks", "time", None, "Beginning of the window, by default the first start."),
    Parameter("t1_ticks", "time", None, "End of the window, by default the last end."),
)

ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "functions",
        "Functions",
        "How long does each function take, and how much of its time is execution?",
        "analysis.measures.functions:function_statistics",
        "analysis.measures.functions:COLUMNS",
        sections=(Section("TOTAL", "total", "analysis.measures.functions:COLUMNS"),),
        rows_are_json=True,
    ),
    Analysis(
        "setup",
        "Setup",
        "Which records spend the longest, or the largest share, of their time in setup?",
        "analysis.measures.setup_time:setup_times",
        "analysis.measures.setup_time:COLUMNS",
        (
            Parameter("order", "choice", "setup", "Longest setup or largest share first.", ("setup", "share")),
            Parameter("top", "int", 50, "How many records to list."),
        ),
        rows_are_json=True,
    ),
    Analysis(
        "cores",
        "Cores",
        "How busy is each core, and what was its longest idle time?",
        "analysis.measures.cores:core_statistics",
        "analysis.measures.cores:COLUMNS",
        sections=(Section("Core types", "by_type", "analysis.measures.cores:TYPE_COLUMNS"),),
    ),
    Analysis(
        "chains",
        "Chains",
        "Which tasks run one after the other with nothing else to wait for or to feed?",
        "analysis.measures.chains:single_dependency_chains",
        "analysis.measures.chains:COLUMNS",
        rows_are_json=True,
    ),
    Analysis(
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
    ),
    Analysis(
        "path-difference",
        "Path difference",
        "Where do the imported critical path and the one computed here differ?",
        "analysis.paths.critical_path:path_difference",
        "analysis.paths.critical_path:DIFFERENCE_COLUMNS",
        (Parameter("kind", "choice", "observed", "Which pair of paths.", ("observed", "static")),),
    ),
    Analysis(
        "gaps",
        "Gaps and blockers",
        "What did each task of the critical path wait for, and where did that time go?",
        "analysis.paths.gaps:gaps",
        "analysis.paths.gaps:COLUMNS",
        (
            KIND,
            Parameter("threshold_us", "float", None, "List only gaps longer than this many microseconds."),
            THROUGH_UNTIMED,
        ),
        (Section("Gaps by cause", "by_cause", "analysis.paths.gaps:CAUSE_COLUMNS"),),
        rows_are_json=True,
    ),
    Analysis(
        "early-dispatch",
        "Early dispatch",
        "How far ahead of its predecessors' last FIN was each target task dispatched?",
        "analysis.measures.early_dispatch:early_dispatch",
        "analysis.measures.early_dispatch:COLUMNS",
        rows_are_json=True,
    ),
    Analysis(
        "markers",
        "Early-dispatch markers",
        "Which tasks may be processed early (🔥), and which may be dispatched early because of it (⭐)?",
        "analysis.measures.early_dispatch:markers",
        "analysis.measures.early_dispatch:MARKER_COLUMNS",
    ),
    Analysis(
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
    ),
    Analysis(
        "utilisation",
        "Utilisation",
        "How many cores are busy at each moment, and with which functions?",
        "analysis.measures.utilisation:utilisation",
        "analysis.measures.utilisation:COLUMNS",
        WINDOW,
        (Section("Functions", "functions", "analysis.measures.utilisation:FUNCTION_COLUMNS"),),
    ),
    Analysis(
        "range",
        "Range statistics",
        "What happens between two moments: records, functions, busy share per core type?",
        "analysis.measures.ranges:range_statistics",
        "analysis.measures.utilisation:FUNCTION_COLUMNS",
        WINDOW,
        (Section("Core types", "by_type", "analysis.measures.ranges:TYPE_COLUMNS"),),
    ),
    Analysis(
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
            ),
        ),
    ),
)


def find(name: str) -> Analysis:
    """The analysis called ``name``.

    Raises:
        NotFoundError: there is none.
    """
    for analysis in ANALYSES:
        if analysis.name == name:
            return analysis
    raise NotFoundError(f"There is no analysis {name!r}; there are {', '.join(a.name for a in ANALYSES)}.")


def section_columns(section: Section) -> tuple[Column, ...]:
    """Columns of a further table."""
    return cast("tuple[Column, ...]", _resolve(section.columns))


def _resolve(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
