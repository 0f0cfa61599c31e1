"""One page about a capture for people who were not there: facts, tables and pictures without any outside resource.

:func:`build` computes; :mod:`analysis.export.report.writers` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis import registry
from analysis.capture import Capture
from analysis.discovery.sources import facts, quality_table
from analysis.entry import Analysis, InReport
from analysis.errors import NotAvailable
from analysis.export.report.model import Picture, Report, ReportSection
from analysis.export.report.pictures import function_bars, lanes, overhead_curves, path_strip, utilisation_curves
from analysis.measures.functions import FunctionStatistics
from analysis.measures.overhead import SchedulerOverhead
from analysis.measures.utilisation import Utilisation
from analysis.paths.critical_path import CriticalPath
from analysis.results import Result


def build(capture: Capture, link: str | None = None) -> Report:
    """Compute every section; an analysis without an answer becomes a section that says why."""
    found = facts(capture)
    return Report(
        title=capture.meta.label,
        facts=_overview(found),
        quality=quality_table(found),
        sections=tuple(
            _section(capture, analysis, place, parameters)
            for analysis, place in registry.in_report()
            for parameters in place.parameters
        ),
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


def _section(capture: Capture, analysis: Analysis, place: InReport, parameters: Mapping[str, Any]) -> ReportSection:
    title = analysis.title
    if place.titled:
        title += f": {next(iter(parameters.values()))}"
    options = "".join(f" --{key} {value}" for key, value in parameters.items())
    command = f"python -m analysis {place.command or analysis.name} PATH{options} --format csv"
    try:
        result = analysis.run(capture, **parameters)
    except NotAvailable as error:
        return ReportSection(analysis.name, title, analysis.question, command, reason=error.reason)
    tables = tuple(analysis.tables(result))[place.tables_from :]
    pictures, notes = _pictures(capture, result), analysis.notes(result)
    return ReportSection(analysis.name, title, analysis.question, command, tables, pictures, notes)


def _pictures(capture: Capture, result: Result) -> tuple[Picture, ...]:
    if isinstance(result, Utilisation):
        return (
            Picture("Busy share of every core over time", lanes(capture)),
            Picture("Busy cores over time", utilisation_curves(capture, result)),
        )
    if isinstance(result, FunctionStatistics):
        return (Picture("Execution per function", function_bars(result)),)
    if isinstance(result, CriticalPath) and result.kind == "observed":
        return (Picture("The path along time", path_strip(capture, result)),)
    if isinstance(result, SchedulerOverhead) and result.system is not None:
        return (Picture("Overhead over time", overhead_curves(capture, result.system)),)
    return ()
