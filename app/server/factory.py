"""How is the application made? ``create_app(settings)``: the only ``Dash(...)``; may be called twice in a process."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import flask
from dash import Dash

from analysis.capture.store import Store
from app.functions import feature as functions
from app.graph import feature as graph
from app.overview import feature as overview
from app.runs import content
from app.runs import feature as runs
from app.runs.facts import FactsCache
from app.runs.library import Library
from app.server import errors, health, scripts, security
from app.server.places import Places
from app.server.services import Services
from app.server.settings import Settings
from app.shell import frame as shell
from app.shell import router, url_state
from app.shell import routes as links
from app.shell.feature import Feature, View
from app.shell.links import Links
from app.swimlane import feature as swimlane
from app.tables import feature as tables
from app.traces import feature as traces
from app.work import callbacks as waiting
from app.work.caches import Caches
from app.work.jobs import Jobs, Limits
from app.work.outcomes import Analyses

FEATURES: tuple[Feature, ...] = (
    runs.FEATURE,
    overview.FEATURE,
    swimlane.FEATURE,
    functions.FEATURE,
    graph.FEATURE,
    traces.FEATURE,
    tables.FEATURE,
)
"""Everything the product shows; a new feature is one line here."""


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
        assets_ignore=r"\.m?js$",  # app.server.scripts serves the bundle; build.mjs is for developers
        assets_path_ignore=["js", "node_modules", "vendor"],
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
    url_state.declare(key for feature in FEATURES for key in feature.keys)
    views = tuple(view for feature in FEATURES for view in feature.views)
    app.layout = lambda: shell.layout(services, views)
    app.index_string = index_string(app, settings, views, scripts.register(server, settings, assets_folder()))
    router.register(app, services, views)
    waiting.register(app, services)
    links.register(server, services)
    health.register(server, services)
    for feature in FEATURES:
        for callbacks in feature.callbacks:
            callbacks(app, services)
        for routes in feature.routes:
            routes(server, services)
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


def assets_folder() -> Path:
    """``assets/`` beside the packages in a checkout, ``app/_assets`` in an installed wheel."""
    checkout = Path(__file__).resolve().parents[2] / "assets"
    return checkout if checkout.is_dir() else Path(__file__).resolve().parents[1] / "_assets"


def index_string(app: Dash, settings: Settings, views: tuple[View, ...], script: str) -> str:
    """The page shell, with our ``script``; what it must know is in a meta element, since inline scripts are forbidden."""
    keys = url_state.all_keys().values()
    config: dict[str, Any] = {
        "prefix": settings.url_prefix,
        "keys": [key.name for key in keys],
        "follow": [key.name for key in keys if key.follow],
        "go": {view.page.key: view.page.name for view in views if view.page.key},
    }
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
