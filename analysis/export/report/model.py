"""What is in a report, before any markup?"""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.results import Table


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
