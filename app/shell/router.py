"""Which page does a URL show? One callback on the path, so that changes of the query never rebuild a page."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from dash import Dash, Input, Output, State, ctx, dcc, html

from analysis.errors import NotFoundError, SwimscopeError
from app.server.access.roles import ForbiddenError, allows, role_now
from app.server.services import Services
from app.shell import frame, ids
from app.shell.feature import View
from app.shell.url_state import STORED_LINK_KEY, Place, Problem, ViewState, decode, decode_path, pairs
from app.work import waiting
from components.notices import notice


def register(app: Dash, services: Services, views: tuple[View, ...]) -> None:
    """Show the page of the path; ``reload`` builds the same path again with a fresh query."""

    @app.callback(
        Output(ids.PAGE, "children"),
        Output(ids.BREADCRUMB, "children"),
        Output(ids.TABS, "children"),
        Input(ids.URL, "pathname"),
        Input(ids.RELOAD, "data"),
        State(ids.URL, "search"),
        prevent_initial_call=True,
    )
    def show(pathname: str | None, reload: dict[str, Any] | None, search: str | None) -> Any:
        if ctx.triggered_id == ids.RELOAD and reload:
            search = reload.get("search", search)
        place = decode_path(pathname, services.settings.url_prefix)
        view, problems = read_view(services, search)
        content = page_content(services, views, place, view, problems)
        place = place or Place("", "")
        name, path = _run_name(services, place)
        return content, frame.breadcrumb(services, place, name, path), frame.tabs(services, views, place, view)


def read_view(services: Services, search: str | None) -> tuple[ViewState, list[Problem]]:
    """The view of a query, with a stored link (``s=``) taken first and explicit keys on top."""
    given = dict(parse_qsl((search or "").removeprefix("?"), keep_blank_values=True))
    stored = given.pop(STORED_LINK_KEY, None)
    problems: list[Problem] = []
    if stored is not None:
        try:
            given = services.links.get(stored) | given
        except SwimscopeError as error:
            problems.append(Problem(STORED_LINK_KEY, stored, str(error)))
    view, more = decode(given)
    return view, problems + more


def page_content(
    services: Services, views: tuple[View, ...], place: Place | None, view: ViewState, problems: list[Problem]
) -> html.Div:
    """The page of ``place`` inside its wrapper; any SwimscopeError becomes a notice in its place."""
    shown = next((item for item in views if place and item.page.name == place.page), None)
    runtime = ""
    try:
        if place is None or shown is None:
            raise NotFoundError("there is no such page; the tabs above and the runs page list what there is")
        if not allows(role_now(), shown.role):
            raise ForbiddenError(f"this page needs the role {shown.role}")
        opens = shown.page.needs_capture and place.run_key
        wait = waiting.waiting(services, place.run_key, view.launch) if opens else None
        body = shown.layout(services, view, place.run_key) if wait is None else wait
        if opens and wait is None:
            runtime = services.library.capture(place.run_key, view.launch).meta.runtime
    except SwimscopeError as error:
        body = html.Div(notice("The page cannot be shown", str(error), "error"), className="page-pad")
    place = place or Place("", "")
    return html.Div(
        [
            dcc.Store(id=ids.VIEW, data=pairs(view)),
            dcc.Store(id=ids.RUN, data={"key": place.run_key, "page": place.page, "launch": view.launch}),
            *(_problem(problem) for problem in problems),
            body,
        ],
        className=f"page-body page-{place.page or 'overview'}",
        key=f"{place.run_key}/{place.page}",
        **{"data-rebuild": ",".join(shown.rebuild if shown else ("launch",)), "data-runtime": runtime},
    )


def _problem(problem: Problem) -> html.Div:
    shown = problem.text if len(problem.text) <= 60 else problem.text[:60] + "…"
    return notice(f"Part of this link was not used: {problem.key}={shown}", problem.reason, "warn")


def _run_name(services: Services, place: Place) -> tuple[str, str]:
    if not place.run_key:
        return "", ""
    try:
        row = services.library.run(place.run_key).row
    except NotFoundError:
        return "unknown run", place.run_key
    return row.name, f"{row.root}/{row.path}"
