"""What does an analysis declare about itself? The classes of which the entries of :mod:`analysis.registry` are made.

Functions and columns are named as ``module:NAME`` and imported on first use, so that a command pays only for what it runs.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from analysis.capture import Capture
from analysis.errors import ParameterError
from analysis.results import Column, Result, Table
from analysis.shown import CardText, Part, PlotCurve

ParameterKind: TypeAlias = Literal["choice", "int", "float", "flag", "time"]
"""``time`` is a moment: microseconds from capture zero outside (``t0_us``), ticks in the function (``t0_ticks``)."""
MAX_US = 1e12
"""Beyond any time of a run (11 days)."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an analysis: keyword ``name`` of its function."""

    name: str
    kind: ParameterKind
    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """What a page writes for each of ``choices``."""
    label: str = ""
    """What a page writes beside a flag or a number."""
    url_key: str = ""
    """Key of the URL that carries it; a parameter without a key keeps its default on pages."""
    marks: str = ""
    """Column whose cells above the value a page marks, where the command line leaves the other rows out."""

    @property
    def external(self) -> str:
        """Its name outside (URL, form, command line): a time is given in microseconds."""
        return self.name.replace("_ticks", "_us") if self.kind == "time" else self.name

    @property
    def option(self) -> str:
        """Its option on the command line."""
        return "--" + self.external.replace("_", "-")

    def label_of(self, choice: str) -> str:
        """What a page writes for ``choice``."""
        return dict(zip(self.choices, self.labels, strict=False)).get(choice, choice)


@dataclass(frozen=True, slots=True)
class Section:
    """A further table of a result: a heading and the attribute of the result that holds it (``None`` = not captured)."""

    title: str
    attribute: str
    columns: str
    """Name of the columns' constant, ``module:NAME``."""


@dataclass(frozen=True, slots=True)
class Selects:
    """What a click on a row puts into the URL: ``sel=word:cell``, and what it highlights.

    Args:
        column: column of the row; of a list its first member. The next rule counts where the cell is empty.
        word: kind of the selection.
        highlight: the highlight, with ``{parameter}`` replaced by its value; ``same`` for the selection itself, "" for none.
    """

    column: str
    word: str
    highlight: str = "same"


SELECTS_BY_ID = (Selects("task_id", "task"), Selects("func_id", "func"), Selects("succ", "task", ""))
"""Rows select the task, else the function, else the successor that they name."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the headline: a key of what ``Analysis.numbers`` gives, its name, and how it is written."""

    name: str
    label: str
    unit: Literal["count", "us", "share"]


@dataclass(frozen=True, slots=True)
class Card:
    """The headline figure on the overview.

    Args:
        order: position among the cards.
        title: what stands above it.
        text: ``module:function`` from (tables by title, numbers) to a CardText, or None where there is none.
        tooltip: its definition.
        page: the page it opens; "" for the page of the analysis.
        missing: why there is none although the analysis has an answer.
    """

    order: int
    title: str
    text: str
    tooltip: str
    page: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class InReport:
    """Where the report shows the analysis, once for each set of parameters."""

    order: int
    parameters: tuple[Mapping[str, Any], ...] = ({},)
    titled: bool = False
    """Whether the heading names the value of the first parameter."""
    tables_from: int = 0
    """The first table that is shown."""
    command: str = ""
    """The command that prints the first table shown; "" for the command of the analysis."""


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
    compiled: bool = False
    """It runs compiled loops, which take longer to load than most answers to compute."""
    selects: tuple[Selects, ...] = SELECTS_BY_ID
    """What a row selects: the first rule whose cell is there."""
    names_functions: bool = True
    """Whether the column ``name`` holds functions, which have a colour."""
    default_sort: str = ""
    """Order of the table while the URL names none, ``column:asc`` or ``column:desc``."""
    total: str = ""
    """Title of the section that stands as the last row of the main table instead of as a table of its own."""
    numbers: str = ""
    """``module:function`` from (capture, result) to the few numbers that headline and card show."""
    figures: tuple[Figure, ...] = ()
    curves: str = ""
    """``module:function`` from a result to its curves."""
    curves_title: str = "share of time"
    summary: str = ""
    """``module:function`` from (capture, tables by title, parameters) to the parts above the table."""
    card: Card | None = None
    overview_curves: str = ""
    """Heading of its curves on the overview; "" for none."""
    rail: int = 1_000
    """Position in the list of analyses."""
    panel: int = 0
    """Position of its tab in the swimlane's panel; 0 for no tab."""
    own_page: bool = False
    """Whether a feature of its own draws its page."""
    in_report: InReport | None = None
    exports: tuple[tuple[str, str], ...] = ()
    """Further formats of the command line: name and ``module:function`` from (capture, result) to pieces of text."""

    @property
    def windowed(self) -> bool:
        """Whether it looks at a window of time."""
        return any(parameter.kind == "time" for parameter in self.parameters)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the main table."""
        return cast("tuple[Column, ...]", resolve(self.columns_at))

    def run(self, capture: Capture, **parameters: Any) -> Result:
        """The result; parameters not given take their defaults.

        Raises:
            NotAvailable: the capture does not hold what the analysis needs.
            ParameterError: a parameter has an impossible value.
            TypeError: a parameter is unknown.
        """
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        return cast(Result, resolve(self.target)(capture, **{**defaults, **parameters}))

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

    def arguments(self, capture: Capture, outside: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the function from values as the outside writes them; ``None`` means the default.

        Raises:
            ParameterError: a number that is not finite or beyond any time of a run.
        """
        out: dict[str, Any] = {}
        for parameter in self.parameters:
            value = outside.get(parameter.external)
            if value is None:
                continue
            if isinstance(value, float) and not (math.isfinite(value) and abs(value) <= MAX_US):
                raise ParameterError(f"{parameter.external} is {value}: it must be a number of microseconds")
            out[parameter.name] = round(value * capture.meta.ticks_per_us) if parameter.kind == "time" else value
        return out

    def numbers_of(self, capture: Capture, result: Result) -> dict[str, Any]:
        """The few numbers that headline and card show."""
        return cast("dict[str, Any]", resolve(self.numbers)(capture, result)) if self.numbers else {}

    def curves_of(self, result: Result) -> Sequence[PlotCurve]:
        """The curves of a result."""
        return cast("Sequence[PlotCurve]", resolve(self.curves)(result)) if self.curves else ()

    def exported(self, form: str, capture: Capture, result: Result) -> Iterator[str]:
        """The result in one of its further formats, in pieces."""
        return cast("Iterator[str]", resolve(dict(self.exports)[form])(capture, result))

    def summary_of(
        self, capture: Capture, tables: Mapping[str, Table], parameters: Mapping[str, Any]
    ) -> Sequence[Part]:
        """What stands above the table; parameters not given take their defaults."""
        if not self.summary:
            return ()
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        return cast("Sequence[Part]", resolve(self.summary)(capture, tables, {**defaults, **parameters}))

    def card_text(self, tables: Mapping[str, Table], numbers: Mapping[str, Any]) -> CardText | None:
        """What the card says, None where there is nothing to say."""
        return cast("CardText | None", resolve(self.card.text)(tables, numbers)) if self.card else None


def section_columns(section: Section) -> tuple[Column, ...]:
    """Columns of a further table."""
    return cast("tuple[Column, ...]", resolve(section.columns))


def resolve(target: str) -> Any:
    """What ``module:NAME`` names."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
