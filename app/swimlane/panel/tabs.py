"""Which analysis does a tab of the panel show, with which parameters? The page's own view, read from the panel's URL."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

from analysis import registry
from analysis.errors import NotFoundError
from app.analyses.views import TableView, parameters_for, table_view
from app.server.services import Services
from app.shell.url_state import ViewState
from app.work.outcomes import compute, outcome_key

OVERVIEW = "overview"
KEEP_WINDOWS = 2
"""Windowed outcomes kept per process: a window is rarely asked for twice, and its curves can be large."""


def tab_texts() -> list[tuple[str, str, str]]:
    """(name in the URL, text, question) of every tab: the overview, then the analyses that declare one."""
    overview = (OVERVIEW, "Overview", "How did this run go?")
    return [overview, *((item.name, item.title, item.question) for item in registry.in_panel())]


@dataclass(frozen=True, slots=True)
class Tab:
    """An open tab: its name, which of the analysis' tables, and the view as the page of its own would have it."""

    name: str
    at: int
    view: ViewState
    window: str
    """Where the window comes from: ``measured``, ``visible`` or ``whole``; "" for tabs without a window."""


def read_tab(view: ViewState) -> Tab:
    """The tab that a URL of the swimlane opens.

    Raises:
        NotFoundError: there is no such tab.
    """
    name, _, at = view.tab.partition(".")
    names = [known for known, _text, _question in tab_texts()]
    if name not in names:
        raise NotFoundError(f"the panel has no tab {name!r}; there are {', '.join(names)}")
    number = int(at) if at.isdecimal() else 0
    windowed = name != OVERVIEW and registry.find(name).windowed
    t0, t1, window = _window(view) if windowed else (None, None, "")
    # The swimlane's search text is its own; the page's ``tab`` holds the number of the table.
    own = replace(view, q="", tab=str(number) if number else "", t0=t0, t1=t1, mz="")
    return Tab(name, number, own, window)


def _window(view: ViewState) -> tuple[int | None, int | None, str]:
    if view.mz:
        t0, t1 = (int(part) for part in view.mz.split(":"))
        if t1 > t0:
            return t0, t1, "measured"
    if view.t0 is not None and view.t1 is not None:
        return view.t0, view.t1, "visible"
    return None, None, "whole"


class Panels:
    """Table views of the panel: the shared outcomes, and the last windows that were asked for."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def table_view(self, run_key: str, tab: Tab) -> TableView:
        """What ``tab`` shows of a run.

        Raises:
            NotFoundError: no such run.
            InputError: the capture cannot be read.
        """
        if not tab.window:
            return table_view(self._services, run_key, tab.name, tab.view)
        analysis = registry.find(tab.name)
        capture = self._services.library.capture(run_key, tab.view.launch)
        parameters, problems = parameters_for(capture, analysis, tab.view)
        key = outcome_key(capture.meta.capture_id, tab.name, parameters)
        outcome = self._services.caches.get(
            "windows", key, lambda: compute(capture, tab.name, parameters), KEEP_WINDOWS
        )
        at = tab.at if tab.at < len(outcome.tables) else 0
        return TableView(analysis, parameters, outcome, at, tuple(problems), key)


def content_key(tab: Tab, shown: TableView, infinite: bool) -> str:
    """What must not change for the grid to stay: the table, and for one that comes in blocks its parameters too."""
    words = [tab.name, str(shown.at), "blocks" if infinite else "rows"]
    if infinite:
        words.append(hashlib.sha256(json.dumps(shown.parameters, sort_keys=True).encode()).hexdigest()[:12])
    return "-".join(words)
