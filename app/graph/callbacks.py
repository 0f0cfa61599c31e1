"""Callbacks of the task graph: the picture and the panel follow the URL."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, no_update, set_props
from dash.exceptions import PreventUpdate

from app.graph import page, picture, side
from app.server.services import Services
from app.shell import ids
from app.shell.url_state import decode
from app.work import waiting
from components.dag import elements as dag
from components.dag import page as dag_page


def register(app: Dash, services: Services) -> None:
    """Redraw when the URL asks for another picture; refill the panel when it names something else."""

    @app.callback(
        Output(page.CY, "elements"),
        Output(page.STYLES, "data"),
        Output(page.HUD, "children"),
        Output(page.MODES, "children"),
        Output(page.NOTES, "children"),
        Output(page.SIGNATURE, "data"),
        Input(ids.VIEW, "data"),
        State(ids.RUN, "data"),
        State(page.SIGNATURE, "data"),
        prevent_initial_call=True,
    )
    def redraw(query: dict[str, str] | None, run: dict[str, Any], signature: str) -> Any:
        view = decode(query)[0]
        if not page.is_prepared(services, view, run["key"]):
            set_props(ids.RELOAD, {"data": waiting.reload(query)})
            return [no_update] * 6
        drawn, problem = picture.possible(services, run["key"], view)
        if drawn.signature == signature and not problem:
            raise PreventUpdate
        return (
            dag.elements(drawn.capture, drawn.scene, drawn.layout, drawn.marks),
            page.styles(drawn.direction),
            dag_page.hud(drawn.scene, drawn.mode),
            dag_page.mode_buttons(drawn.mode, drawn.mode_counts),
            page.notes(drawn, problem),
            drawn.signature,
        )

    @app.callback(
        Output(page.SIDE, "children"),
        Input(ids.VIEW, "data"),
        State(ids.RUN, "data"),
        prevent_initial_call=True,
    )
    def refill(query: dict[str, str] | None, run: dict[str, Any]) -> Any:
        return side.content(services, decode(query)[0], run["key"])

    @app.callback(
        Output(page.LIT, "data"),
        Input(ids.VIEW, "data"),
        State(ids.RUN, "data"),
        prevent_initial_call=True,
    )
    def light(query: dict[str, str] | None, run: dict[str, Any]) -> Any:
        view = decode(query)[0]
        return picture.lit(services.library.capture(run["key"], view.launch), view)

    app.clientside_callback(
        ClientsideFunction("swimscopeGraph", "update"), Input(page.STYLES, "data"), Input(page.LIT, "data")
    )
