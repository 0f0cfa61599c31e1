"""What does a table page show for a view? The analysis, its parameters, the chosen table, its rows and their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from analysis import registry
from analysis.registry import Analysis, Parameter
from analysis.results import Table
from app import table_query
from app.analyses import Outcome
from app.services import Services
from app.url_state import Problem, ViewState
from components.grid import filter_model, sort_keys

URL_KEY = {
    "kind": "kind",
    "order": "kind",
    "mode": "mode",
    "threshold_us": "thr",
    "through_untimed": "untimed",
    "t0_ticks": "t0",
    "t1_ticks": "t1",
}
"""Parameter of an analysis → key of the URL that carries it; a parameter without a key keeps its default."""


@dataclass(frozen=True, slots=True)
class TableView:
    """An outcome and the one of its tables that the URL chooses (``tab`` holds its position)."""

    analysis: Analysis
    parameters: dict[str, Any]
    outcome: Outcome
    at: int
    problems: tuple[Problem, ...]

    @property
    def title(self) -> str:
        """Heading of the chosen table."""
        return self.outcome.tables[self.at][0]

    @property
    def table(self) -> Table:
        """The chosen table."""
        return self.outcome.tables[self.at][1]


def table_view(services: Services, run_key: str, name: str, view: ViewState) -> TableView:
    """The table page ``name`` of a run for ``view``.

    Raises:
        NotFoundError: no such run or analysis.
        InputError: the capture cannot be read.
    """
    analysis = registry.find(name)
    parameters, problems = parameters_of(analysis, view)
    outcome = services.analyses.get(services.library.capture(run_key, view.launch), name, parameters)
    at = int(view.tab) if view.tab.isdigit() else 0
    if outcome.available and at >= len(outcome.tables):
        problems.append(Problem("tab", view.tab, "there is no such table"))
        at = 0
    return TableView(analysis, parameters, outcome, at, tuple(problems))


def parameters_of(analysis: Analysis, view: ViewState) -> tuple[dict[str, Any], list[Problem]]:
    """Keyword arguments that the URL sets; what the analysis does not know becomes a Problem and its default."""
    out: dict[str, Any] = {}
    problems = []
    for parameter in analysis.parameters:
        key = URL_KEY.get(parameter.name, "")
        value = getattr(view, key) if key else None
        if value is None or value in ("", 0):
            continue
        if parameter.kind == "choice" and value not in parameter.choices:
            problems.append(Problem(key, str(value), "not one of " + ", ".join(parameter.choices)))
            continue
        if value != parameter.default:
            out[parameter.name] = bool(value) if parameter.kind == "flag" else value
    window = (out.get("t0_ticks"), out.get("t1_ticks"))
    if None not in window and window[0] >= window[1]:
        problems.append(Problem("t1", str(window[1]), "the window ends before it begins"))
        del out["t0_ticks"], out["t1_ticks"]
    return out, problems


def url_keys(analysis: Analysis) -> tuple[str, ...]:
    """URL keys whose change needs the page built again."""
    keys = [URL_KEY[p.name] for p in analysis.parameters if p.name in URL_KEY]
    return ("launch", "tab", *dict.fromkeys(keys))


def choice_parameters(analysis: Analysis) -> list[Parameter]:
    """Parameters with a list of choices that the URL can carry."""
    return [p for p in analysis.parameters if p.kind == "choice" and p.name in URL_KEY]


def selected_rows(table: Table, view: ViewState) -> NDArray[Any]:
    """Rows that the view's filters and search text leave, in its order."""
    return table_query.select(table, sort_keys(view.sort), filter_model(view.f), view.q)
