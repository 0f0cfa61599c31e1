"""What does an analysis say above its table and on its card? Values only; ``app.analyses`` draws them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from analysis.results import Table

if TYPE_CHECKING:
    from analysis.measures.steps import StepCurve


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and how it is written: a count, µs with three digits, a length in the best unit, a share in per cent."""

    value: float | int | None
    unit: Literal["count", "us", "duration", "share"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """Plain text, with a first part that stands out."""

    strong: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Quantities:
    """Named numbers in one line."""

    items: tuple[tuple[str, Quantity], ...]


@dataclass(frozen=True, slots=True)
class Shares:
    """The parts of a sum, drawn as bars; ``meaning`` gives a part the colour of a kind of stall, idle time or compute."""

    label: str
    parts: Mapping[str, float]
    meaning: Mapping[str, str] = field(default_factory=dict)
    """Part → ``compute``, ``data-wait``, ``core-wait``, ``front-gap`` or ``idle``; others take the colour of their name."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A sentence with how another analysis compares two lists, and a link to it.

    Args:
        strong: what stands before it.
        analysis: name of the other analysis.
        parameters: its parameters.
        column: its column with ``both``, ``imported`` or ``computed``.
        what: what is compared.
    """

    strong: str
    analysis: str
    parameters: Mapping[str, Any]
    column: str
    what: str


Part: TypeAlias = Sentence | Quantities | Shares | Comparison


@dataclass(frozen=True, slots=True)
class CardText:
    """What a card says: its figure, a line below, and what is selected on the page it opens."""

    value: str | Quantity
    detail: tuple[str | Quantity, ...] = ()
    tooltip: str = ""
    """Added to the card's own definition."""
    sel: str = ""


@dataclass(frozen=True, slots=True)
class PlotCurve:
    """A step curve over ``[t0_ticks, t1_ticks)``; ``top`` is the largest value possible."""

    name: str
    curve: StepCurve
    t0_ticks: int
    t1_ticks: int
    top: float


def column_sum(table: Table, column: str) -> float | None:
    """Sum of the cells that were captured; None when none was."""
    cells = [cell for cell in table.cells(column) if cell is not None]
    return sum(cells) if cells else None


def shares(table: Table, name: str, value: str, label: str, meaning: Mapping[str, str] | None = None) -> Shares:
    """The shares of the rows of ``table`` in the sum of column ``value``."""
    cells = zip(table.cells(name), table.cells(value), strict=True)
    return Shares(label, {str(key): total for key, total in cells if total is not None}, meaning or {})
