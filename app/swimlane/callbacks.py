"""Callbacks of the swimlane page: the details panel follows the focus that the browser reports."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output

from analysis import selection
from analysis.capture import Capture
from analysis.errors import SwimscopeError
from analysis.registry import FUNCTIONS
from analysis.timeline.details import item_facts, task_facts
from app.server.services import Services
from app.shell.url_state import ViewState
from components import notices
from components.swimlane import details as swimlane_details


def register(app: Dash, services: Services) -> None:
    """Details of what ``swim-focus`` names."""

    @app.callback(Output("swim-details", "children"), Input("swim-focus", "data"), prevent_initial_call=True)
    def show(focus: dict[str, Any] | None) -> Any:
        if not focus:
            return swimlane_details.empty()
        try:
            capture = services.library.capture(focus["run"], focus["launch"])
            return details_of(services, capture, focus)
        except SwimscopeError as error:
            return notices.notice("No details", str(error), "warn")


def details_of(services: Services, capture: Capture, focus: dict[str, Any]) -> Any:
    """The panel for a focus ``{run, sel, item, view, launch}``."""
    item = item_facts(capture, focus["item"]) if focus["item"] else None
    chosen = selection.task_of(capture, focus["sel"], selection.OF_A_TASK)
    if item and chosen not in (-1, item.task):  # another tab selected a task; its own item is not known here
        item = None
    task = item.task if item else chosen
    if item is None and task < 0:
        return swimlane_details.empty()
    facts = task_facts(capture, task) if task >= 0 else None
    links = {}
    if facts:
        view = ViewState(sel=f"task:{facts.task_id}", launch=focus["launch"])
        links["Show in graph"] = services.href("graph", focus["run"], view)
        func_id = int(capture.tasks.func_id[task])
        if func_id >= 0:
            function = ViewState(sel=f"func:{func_id}", launch=focus["launch"])
            links["Show function"] = services.href(FUNCTIONS.name, focus["run"], function)
    return swimlane_details.details(item, facts, capture.meta.us, links)
