"""Callbacks of the task graph: the picture and the panel follow the URL."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, no_update, set_props

from app.graph import page, picture, side
from app.server.services import Services
from app.shell import ids
from app.shell.url_state import ViewState, decode
from app.work import waiting
from components.dag import page as dag_page
from components.dag.elements import elements


def register(app: Dash, services: Services) -> None:
    """One answer to each change of the URL: the picture where it is another one, the panel, and what is highlighted."""

    @app.callback(
        Output(page.CY, "elements"),
        Output(page.STYLES, "data"),
        Output(page.HUD, "children"),
        Output(page.MODES, "children"),
        Output(page.NOTES, "children"),
        Output(page.PICTURE_KEY, "data"),
        Output(page.SIDE, "children"),
        Output(page.LIT, "data"),
        Input(ids.VIEW, "data"),
        State(ids.RUN, "data"),
        State(page.PICTURE_KEY, "data"),
        prevent_initial_call=True,
    )
    def follow(query: dict[str, str] | None, run: dict[str, Any], drawn_key: str) -> Any:
        view = decode(query)[0]
        if not page.is_prepared(services, view, run["key"]):
            set_props(ids.RELOAD, {"data": waiting.reload(query)})
            return [no_update] * 8
        capture = services.library.capture(run["key"], view.launch)
        key = picture.picture_key(services, capture, view)
        drawing = [no_update] * 6 if key == drawn_key else [*redrawn(services, run["key"], view), key]
        return [*drawing, side.content(services, view, run["key"]), picture.lit(services, capture, view)]

    app.clientside_callback(
        ClientsideFunction("swimscopeGraph", "update"), Input(page.STYLES, "data"), Input(page.LIT, "data")
    )


def redrawn(services: Services, run_key: str, view: ViewState) -> list[Any]:
    """Elements, styles, figures, edge modes and notes of the picture of ``view``."""
    drawn, problem = picture.possible(services, run_key, view)
    return [
        elements(drawn.capture, drawn.scene, drawn.layout, drawn.marks),
        page.styles(drawn.direction),
        dag_page.hud(drawn.scene, drawn.mode),
        dag_page.mode_buttons(drawn.mode, drawn.mode_counts),
        page.notes(drawn, problem),
    ]
