"""What does a table page show for a view? The analysis, its parameters, the chosen table, its rows and their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from analysis import registry
from analysis.capture import Capture
from analysis.entry import Analysis, Parameter
from analysis.results import Table
from app.analyses import query
from app.server.services import Services
from app.shell.url_state import Problem, ViewState
from app.work.outcomes import Outcome, outcome_key
from app.work.waiting import waiting_for
from components.grid import filter_model, sort_keys


@dataclass(frozen=True, slots=True)
class TableView:
    """An outcome and the one of its tables that the URL chooses (``tab`` holds its position)."""

    analysis: Analysis
    parameters: dict[str, Any]
    outcome: Outcome
    at: int
    problems: tuple[Problem, ...]
    key: str = ""
    """Names the outcome (content, analysis, parameters) where orders of its rows are kept."""

    @property
    def title(self) -> str:
        """Heading of the chosen table."""
        return self.outcome.tables[self.at][0]

    @property
    def table(self) -> Table:
        """The chosen table."""
        return self.outcome.tables[self.at][1]

    @property
    def total(self) -> Table | None:
        """The table that stands as the last row of the chosen one."""
        return dict(self.outcome.tables).get(self.analysis.total) if self.at == 0 else None

    @property
    def choices(self) -> list[tuple[str, int]]:
        """Title and length of every table to choose from."""
        return [(title, len(table)) for title, table in self.outcome.tables if title != self.analysis.total]


def table_view(services: Services, run_key: str, name: str, view: ViewState) -> TableView:
    """The table page ``name`` of a run for ``view``.

    Raises:
        NotFoundError: no such run or analysis.
        InputError: the capture cannot be read.
    """
    analysis = registry.find(name)
    capture = services.library.capture(run_key, view.launch)
    parameters, problems = parameters_for(capture, analysis, view)
    outcome = services.analyses.get(capture, name, parameters)
    at = int(view.tab) if view.tab.isdecimal() else 0
    if outcome.available and at >= len(outcome.tables):
        problems.append(Problem("tab", view.tab, "there is no such table"))
        at = 0
    key = outcome_key(capture.meta.capture_id, name, parameters)
    return TableView(analysis, parameters, outcome, at, tuple(problems), key)


def waiting(services: Services, run_key: str, name: str, view: ViewState, scope: str = "") -> Any | None:
    """The panel to show while the outcome of a large capture is being computed, or None when it is there or quick."""
    capture = services.library.capture(run_key, view.launch)
    parameters, _problems = parameters_for(capture, registry.find(name), view)
    return waiting_for(services, services.library.run(run_key), capture, name, parameters, scope)


def parameters_for(capture: Capture, analysis: Analysis, view: ViewState) -> tuple[dict[str, Any], list[Problem]]:
    """:func:`parameters_of`, without a window that is outside the run."""
    parameters, problems = parameters_of(analysis, view)
    return parameters, problems + _drop_window_outside(capture, parameters)


def parameters_of(analysis: Analysis, view: ViewState) -> tuple[dict[str, Any], list[Problem]]:
    """Keyword arguments that the URL sets; what the analysis does not know becomes a Problem and its default."""
    out: dict[str, Any] = {}
    problems = []
    for parameter in analysis.parameters:
        key = parameter.url_key
        value = getattr(view, key) if key else None
        moment = parameter.kind == "time"
        if value is None or (value in ("", 0) and not moment) or parameter.marks:
            continue
        if parameter.kind == "choice" and value not in parameter.choices:
            problems.append(Problem(key, str(value), "not one of " + ", ".join(parameter.choices)))
            continue
        if value != parameter.default:
            out[parameter.name] = bool(value) if parameter.kind == "flag" else value
    return out, problems


def _drop_window_outside(capture: Capture, parameters: dict[str, Any]) -> list[Problem]:
    """Take a window that is outside the run, which a link from another launch may carry, out of ``parameters``."""
    if not len(capture.records) or not {"t0_ticks", "t1_ticks"} & set(parameters):
        return []
    t0 = parameters.get("t0_ticks", int(capture.records.start_ticks.min()))
    t1 = parameters.get("t1_ticks", int(capture.records.end_ticks.max()))
    if t0 < t1:
        return []
    for name in ("t0_ticks", "t1_ticks"):
        parameters.pop(name, None)
    return [Problem("t0", str(t0), "the window is outside the run")]


def url_keys(analysis: Analysis) -> tuple[str, ...]:
    """URL keys whose change needs the page built again."""
    keys = [parameter.url_key for parameter in analysis.parameters if parameter.url_key]
    return ("launch", "tab", *dict.fromkeys(keys))


def choice_parameters(analysis: Analysis) -> list[Parameter]:
    """Parameters with a list of choices that the URL can carry."""
    return [parameter for parameter in analysis.parameters if parameter.kind == "choice" and parameter.url_key]


def marked_above(analysis: Analysis, view: ViewState) -> dict[str, float]:
    """Column → value of the URL above which its cells are marked."""
    limits = {p.marks: getattr(view, p.url_key) for p in analysis.parameters if p.marks and p.url_key}
    return {column: limit for column, limit in limits.items() if limit is not None}


def selected_rows(shown: TableView, view: ViewState) -> NDArray[Any]:
    """Rows of the chosen table that the view's filters and search text leave, in its order."""
    return query.select(shown.table, sort_keys(view.sort), filter_model(view.f), view.q)
