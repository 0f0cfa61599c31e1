"""What surrounds every page? Top bar, breadcrumb, tabs, theme and tab-sync switches, key sheet, notices, page."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from app.server.access.roles import allows, role_now
from app.server.services import Services
from app.shell import ids
from app.shell.feature import View
from app.shell.page import Page
from app.shell.url_state import Place, ViewState

KEYS_SHELL: tuple[tuple[str, str], ...] = (
    ("?", "This sheet"),
    ("/", "Search on this page"),
    ("Esc", "Close what is open; else clear the selection"),
)


ANALYSES_ORDER = 90
"""Order of the page that the ``Analyses`` tab opens."""


def layout(services: Services, views: tuple[View, ...]) -> html.Div:
    """The frame that stays while pages change."""
    return html.Div(
        [
            dcc.Location(id=ids.URL, refresh=False),
            dcc.Store(id=ids.RELOAD),
            dcc.Store(id=ids.SELECTION),
            html.A("Skip to content", href="#page", className="skip-link"),
            html.Header(
                [
                    html.A(
                        [html.Span(className="brand-mark", **{"aria-hidden": "true"}), services.settings.title],
                        href=services.href("runs"),
                        className="brand",
                        **{"data-nav": "home"},
                    ),
                    html.Nav(id=ids.BREADCRUMB, className="breadcrumb", **{"aria-label": "Breadcrumb"}),
                    html.Nav(id=ids.TABS, className="tabs", **{"aria-label": "Views of this run"}),
                    html.Div(id="selection-chip", className="selection-chip", hidden=True),
                    html.Div([*_admin_link(services), *_controls()], className="topbar-controls"),
                ],
                className="topbar",
            ),
            html.Div(id=ids.NOTICES, className="notices", role="status", **{"aria-live": "polite"}),
            html.Main(id=ids.PAGE, className="page", tabIndex=-1),
            _key_sheet(views),
        ],
        className="shell",
    )


def _has_tab(services: Services, item: View, place: Place) -> bool:
    """Whether a page has a tab for this run: the open page always, others where the run has something to show."""
    if item.page.order < 0 or item.page.name == "runs":
        return False
    return item.offered is None or item.page.name == place.page or item.offered(services, place.run_key)


def _is_current(page: Page, place: Place, order: dict[str, int]) -> bool:
    """Whether ``page``'s tab is the current one; the pages without a tab belong to ``Analyses``."""
    return page.name == place.page or (page.order == ANALYSES_ORDER and order.get(place.page, 0) < 0)


def _admin_link(services: Services) -> list[Any]:
    """The way to the administrators' page, for those who may open it."""
    if not allows(role_now(), "admin"):
        return []
    return [
        html.A("Admin", href=services.href("admin"), className="button quiet", title="Figures, jobs, storage, settings")
    ]


def _controls() -> list[Any]:
    return [
        _icon_button("sync-switch", "⇄", "Selections follow between open tabs of this run"),
        _icon_button("copy-link", "Copy link", "Copy a link to exactly this view"),
        _icon_button("theme-switch", "◐", "Theme"),
        _icon_button("keys-open", "?", "Keys"),
    ]


def _icon_button(button_id: str, sign: str, text: str) -> html.Button:
    look = "button quiet icon glyph" if len(sign) == 1 else "button quiet icon"
    return html.Button(sign, id=button_id, className=look, title=text, **{"aria-label": text})


def _key_sheet(views: tuple[View, ...]) -> html.Dialog:
    pages = tuple((f"g then {item.page.key}", item.page.title) for item in views if item.page.key)
    rows = [html.Tr([html.Td(html.Kbd(key)), html.Td(text)]) for key, text in (*KEYS_SHELL, *pages)]
    return html.Dialog(
        [
            html.Div(
                [
                    html.H2("Keys", id="keys-title"),
                    html.Button("Close", id="keys-close", className="button quiet"),
                ],
                className="dialog-head",
            ),
            html.Div(
                [
                    html.Section([html.H3("Everywhere"), html.Table(html.Tbody(rows), className="keys")]),
                    html.Section(id="keys-page", className="keys-page"),
                ],
                className="keys-body",
            ),
        ],
        id="keys-sheet",
        className="dialog",
        **{"aria-labelledby": "keys-title"},
    )


def breadcrumb(services: Services, place: Place, run_name: str, path: str) -> list[Any]:
    """``Runs / run name``; the name's tooltip is its path."""
    if not place.run_key:
        return []
    return [
        html.A("Runs", href=services.href("runs"), **{"data-nav": "home"}),
        html.Span("/", className="crumb-slash", **{"aria-hidden": "true"}),
        html.Span(run_name, title=path, className="crumb-run"),
        html.A(
            "×",
            href=services.href("runs"),
            className="crumb-close",
            title="Close this run and go back to the runs",
            **{"data-nav": "home", "aria-label": "Close this run"},
        ),
    ]


def tabs(services: Services, views: tuple[View, ...], place: Place, view: ViewState) -> list[Any]:
    """One link per page of the run; url.js keeps the selection in them."""
    if not place.run_key:
        return []
    order = {item.page.name: item.page.order for item in views}
    offered = (item.page for item in views if _has_tab(services, item, place))
    shown = sorted(offered, key=lambda page: page.order)
    return [
        html.A(
            "Analyses" if page.order == ANALYSES_ORDER else page.title,
            href=services.href(page.name, place.run_key, view),
            className="view-tab",
            **{"data-follow": "1"} | ({"aria-current": "page"} if _is_current(page, place, order) else {}),
        )
        for page in shown
    ]
