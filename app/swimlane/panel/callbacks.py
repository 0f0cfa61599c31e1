"""Callbacks of the performance panel: the body of the open tab, and blocks of rows for long tables."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, ctx, no_update

from analysis.errors import SwimscopeError
from app.analyses.blocks import block
from app.server.services import Services
from app.shell import ids
from app.shell.url_state import decode
from app.swimlane.panel.content import content
from app.swimlane.panel.tabs import Panels, read_tab
from app.work.waiting import progress_body, stand
from components import notices
from components.swimlane import panel


def register(app: Dash, services: Services) -> None:
    """Answer the panel's requests; assets/js/panel asks only while the panel is open."""
    panels = Panels(services)
    register_waiting(app, services, panels)

    @app.callback(
        Output(panel.BODY, "children"),
        Input(panel.REQUEST, "data"),
        prevent_initial_call=True,
    )
    def show(request: dict[str, Any] | None) -> Any:
        return answer(services, panels, request) if request else no_update

    @app.callback(
        Output(panel.GRID, "getRowsResponse"),
        Input(panel.GRID, "getRowsRequest"),
        State(panel.REQUEST, "data"),
        prevent_initial_call=True,
    )
    def rows(asked: dict[str, Any] | None, request: dict[str, Any] | None) -> Any:
        if not asked or not request:
            return no_update
        tab = read_tab(decode(request["query"])[0])
        return block(services, panels.table_view(request["run"], tab), asked, "")


def answer(services: Services, panels: Panels, request: dict[str, Any]) -> Any:
    """The body for a request; an error stands in its place."""
    try:
        return content(services, panels, request)
    except SwimscopeError as error:
        return panel.answer(int(request["n"]), "error", [notices.notice("No table", str(error), "warn")])


def register_waiting(app: Dash, services: Services, panels: Panels) -> None:
    """Follow the job of a table that takes long; it replaces the waiting lines when it is there."""

    @app.callback(
        Output(panel.SCOPE + ids.OPEN_PROGRESS, "children"),
        Output(panel.BODY, "children", allow_duplicate=True),
        Input(panel.SCOPE + ids.OPEN_TICK, "n_intervals"),
        Input(panel.SCOPE + ids.OPEN_CANCEL, "n_clicks"),
        Input(panel.SCOPE + ids.OPEN_RETRY, "n_clicks"),
        State(panel.REQUEST, "data"),
        State(panel.SCOPE + ids.OPEN_JOB, "data"),
        prevent_initial_call=True,
    )
    def follow(_tick: Any, _cancel: Any, _retry: Any, request: dict[str, Any] | None, what: dict[str, Any]) -> Any:
        if not request:
            return no_update, no_update
        launch = decode(request["query"])[0].launch
        progress = stand(services, request["run"], launch, what, str(ctx.triggered_id).removeprefix(panel.SCOPE))
        if progress.state != "done":
            return progress_body(progress), no_update
        return no_update, answer(services, panels, request)
