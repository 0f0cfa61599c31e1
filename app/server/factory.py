"""How is the application made? ``create_app(settings)``: the only ``Dash(...)``; may be called twice in a process."""

from __future__ import annotations

import importlib
import json
import logging
from pathlib import Path
from types import ModuleType
from typing import Any

import flask
from dash import Dash

from analysis.capture.store import Store
from app.runs import content
from app.runs.facts import FactsCache
from app.runs.library import Library
from app.server import errors, scripts, security
from app.server.places import Places
from app.server.services import Services
from app.server.settings import Settings
from app.shell import frame as shell
from app.shell import router
from app.shell.links import Links
from app.shell.url_state import FOLLOW_KEYS, KEYS
from app.tables import page as tables
from app.work.caches import Caches
from app.work.jobs import Jobs, Limits
from app.work.outcomes import Analyses

PAGES = ("app.runs.page", "app.overview.page", "app.swimlane.page", "app.functions.page", "app.graph.page")
"""Modules with ``PAGE`` and ``layout``; add yours here."""
CALLBACKS = (
    "app.runs.callbacks",
    "app.overview.callbacks",
    "app.swimlane.callbacks",
    "app.functions.callbacks",
    "app.graph.callbacks",
    "app.tables.callbacks",
    "app.swimlane.panel.callbacks",
    "app.work.callbacks",
)
"""Modules with ``register(app, services)``; add yours here."""
ROUTES = (
    "app.shell.routes",
    "app.swimlane.routes",
    "app.graph.routes",
    "app.server.health",
    "app.tables.routes",
    "app.swimlane.panel.routes",
)
"""Modules with ``register(server, services)``; add yours here."""


def create_app(settings: Settings) -> Dash:
    """The Dash application for ``settings``; ``.server`` is the WSGI callable."""
    logging.getLogger("swimscope").setLevel(settings.log_level.upper())
    services = make_services(settings)
    server = flask.Flask("swimscope")
    server.secret_key = settings.secret_key or security.random_key()
    app = Dash(
        "swimscope",
        server=server,
        assets_folder=str(assets_folder()),
        assets_ignore=r"\.js$",  # app.server.scripts joins them
        requests_pathname_prefix=settings.url_prefix,
        routes_pathname_prefix=settings.url_prefix,
        title=settings.title,
        update_title="",
        serve_locally=True,
        compress=True,
        # Pages come and go, so callbacks name ids that the first layout lacks; tests/app/test_ids.py checks each.
        suppress_callback_exceptions=True,
        on_error=errors.on_error,
    )
    app.layout = lambda: shell.layout(services)
    app.index_string = index_string(app, settings, scripts.register(server, settings, assets_folder()))
    modules: tuple[Any, ...] = (*load(PAGES), *tables.pages())
    router.register(app, services, modules)
    for module in load(CALLBACKS):
        module.register(app, services)
    for module in load(ROUTES):
        module.register(server, services)
    content.register(server)
    security.register(app, settings)
    errors.register(app, settings)
    server.extensions["swimscope"] = services
    return app


def make_services(settings: Settings) -> Services:
    """The bundle for ``settings``; nothing is scanned or opened yet."""
    store = Store(settings.data_dir / "store")
    outcomes = settings.data_dir / "outcomes"
    limits = Limits(settings.jobs_at_once, settings.job_memory_max_bytes, settings.job_time_max_s)
    shown = Places.of(settings).shown
    jobs = Jobs(settings.data_dir / "jobs", settings.data_dir / "store", outcomes, limits, shown)
    return Services(
        settings=settings,
        library=Library(settings, store, FactsCache(settings.data_dir / "facts"), jobs),
        store=store,
        jobs=jobs,
        analyses=Analyses(outcomes),
        links=Links(settings.data_dir / "links", settings.link_max_bytes),
        caches=Caches(),
    )


def load(names: tuple[str, ...]) -> tuple[ModuleType, ...]:
    """The modules called ``names``."""
    return tuple(importlib.import_module(name) for name in names)


def assets_folder() -> Path:
    """``assets/`` beside the packages in a checkout, ``app/_assets`` in an installed wheel."""
    checkout = Path(__file__).resolve().parents[2] / "assets"
    return checkout if checkout.is_dir() else Path(__file__).resolve().parents[1] / "_assets"


def index_string(app: Dash, settings: Settings, script: str) -> str:
    """The page shell, with our ``script``; what it needs to know lies in a meta element: inline scripts are forbidden."""
    config: dict[str, Any] = {"prefix": settings.url_prefix, "keys": list(KEYS), "follow": list(FOLLOW_KEYS)}
    content = json.dumps(config).replace("&", "&amp;").replace('"', "&quot;").replace("{", "&#123;")
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="light">
    <head>
        {{%metas%}}
        <meta name="swimscope-config" content="{content}">
        <title>{{%title%}}</title>
        <link rel="icon" type="image/svg+xml" href="{app.get_asset_url("favicon.svg")}">
        {{%css%}}
    </head>
    <body>
        <noscript>Swimscope draws in the browser and needs JavaScript.</noscript>
        {{%app_entry%}}
        <footer>
            {{%config%}}
            {{%scripts%}}
            <script src="{script}"></script>
            {{%renderer%}}
        </footer>
    </body>
</html>
"""
