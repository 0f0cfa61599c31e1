"""One page about a capture for people who were not there: facts, tables and pictures without any outside resource.

:func:`build` computes; :func:`to_html` and :func:`to_markdown` (:mod:`analysis.export.report.writers`) write.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analysis import registry
from analysis.capture import Capture
from analysis.discovery.sources import facts, quality_table
from analysis.errors import NotAvailable
from analysis.export.report import pictures as report_pictures
from analysis.export.report.writers import to_html, to_markdown
from analysis.measures.functions import FunctionStatistics
from analysis.measures.overhead import SchedulerOverhead
from analysis.measures.utilisation import Utilisation
from analysis.paths.critical_path import CriticalPath
from analysis.results import Result, Table

__all__ = ["Picture", "Report", "ReportSection", "build", "to_html", "to_markdown"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing and the words for those who cannot see it."""

    title: str
    svg: str


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One analysis: its tables and pictures, or the ``reason`` why it has no answer."""

    name: str
    title: str
    question: str
    command: str
    """What prints every row of the first table; without ``--format csv`` it prints the others as well."""
    tables: tuple[tuple[str, Table], ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report shows, before any markup."""

    title: str
    facts: tuple[tuple[str, str], ...]
    quality: Table
    sections: tuple[ReportSection, ...] = field(default=())
    link: str | None = None
    """Address of the run on a Swimscope server."""


SHOWN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("utilisation", {}),
    ("functions", {}),
    ("cores", {}),
    ("critical-path", {"kind": "observed"}),
    ("critical-path", {"kind": "static"}),
    ("gaps", {"kind": "observed"}),
    ("overhead", {}),
    ("chains", {}),
    ("early-dispatch", {}),
    ("setup", {"order": "setup"}),
)
"""Analyses of a report with their parameters, in order."""


def build(capture: Capture, link: str | None = None) -> Report:
    """Compute every section; an analysis without an answer becomes a section that says why."""
    found = facts(capture)
    return Report(
        title=capture.meta.label,
        facts=_overview(found),
        quality=quality_table(found),
        sections=tuple(_section(capture, name, parameters) for name, parameters in SHOWN),
        link=link,
    )


def _overview(found: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    span, clock = found["span_us"], found["clock_freq_hz"]
    files = ", ".join(f"{kind}: {name}" for kind, name in sorted(found["sources"].items()))
    return (
        ("Capture level", str(found["level"])),
        ("Records", f"{found['records']:,}"),
        ("Tasks with records", f"{found['tasks']:,}"),
        ("Cores", str(found["cores"])),
        ("Makespan", "not captured" if span is None else f"{span:,.3f} µs"),
        ("Device clock", "not captured" if clock is None else f"{clock / 1e6:g} MHz"),
        ("Container", str(found["container"])),
        ("Launch", f"{found['launch'] + 1} of {found['launches']}"),
        ("Files", files),
    )


def _section(capture: Capture, name: str, parameters: dict[str, Any]) -> ReportSection:
    analysis = registry.find(name)
    choice = next(iter(parameters.values()), None) if name == "critical-path" else None
    title = f"{analysis.title}: {choice}" if choice else analysis.title
    options = "".join(f" --{key} {value}" for key, value in parameters.items())
    # the steps of utilisation are the picture; its functions are the main table of range
    command = f"python -m analysis {'range' if name == 'utilisation' else name} PATH{options} --format csv"
    try:
        result = analysis.run(capture, **parameters)
    except NotAvailable as error:
        return ReportSection(name, title, analysis.question, command, reason=error.reason)
    tables = tuple(analysis.tables(result))
    if name == "utilisation":
        tables = tables[1:]
    pictures, notes = _pictures(capture, result), analysis.notes(result)
    return ReportSection(name, title, analysis.question, command, tables, pictures, notes)


def _pictures(capture: Capture, result: Result) -> tuple[Picture, ...]:
    if isinstance(result, Utilisation):
        return (
            Picture("Busy share of every core over time", report_pictures.lanes(capture)),
            Picture("Busy cores over time", report_pictures.utilisation_curves(capture, result)),
        )
    if isinstance(result, FunctionStatistics):
        return (Picture("Execution per function", report_pictures.function_bars(result)),)
    if isinstance(result, CriticalPath) and result.kind == "observed":
        return (Picture("The path along time", report_pictures.path_strip(capture, result)),)
    if isinstance(result, SchedulerOverhead) and result.system is not None:
        return (Picture("Overhead over time", report_pictures.overhead_curves(capture, result.system)),)
    return ()
