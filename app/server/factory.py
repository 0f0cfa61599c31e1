"""How is the application made? ``create_app(settings)``: the only ``Dash(...)``; may be called twice in a process."""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import flask
from dash import Dash

from analysis.capture.store import Store
from app.runs import content
from app.runs.facts import FactsCache
from app.runs.library import Library
from app.runs.uploads.store import Uploads
from app.runs.uploads.unpacking import Limits as UploadLimits
from app.server import errors, health, observing, scripts, security
from app.server.access import guard
from app.server.forwarded import restore_prefix
from app.server.places import Places
from app.server.services import Services
from app.server.settings import UPLOADS_ROOT, Root, Settings
from app.shell import frame, router, selecting, url_state
from app.shell import routes as shell_routes
from app.shell.feature import Feature, View
from app.shell.links import Links
from app.work import callbacks as work_callbacks
from app.work.caches import Caches
from app.work.jobs import Jobs, Limits
from app.work.outcomes import Analyses

FEATURES: tuple[Feature, ...] = tuple(
    importlib.import_module(f"app.{name}.feature").FEATURE
    for name in (
        "runs",
        "overview",
        "swimlane",
        "functions",
        "graph",
        "traces",
        "ranks",
        "passes",
        "memory",
        "tables",
        "admin",
    )
)
"""Everything the product shows; a new feature is one line here."""


def create_app(settings: Settings, origins: Mapping[str, str] | None = None) -> Dash:
    """The Dash application for ``settings``; ``.server`` is the WSGI callable."""
    logging.getLogger("swimscope").setLevel(settings.log_level.upper())
    services = make_services(settings, origins)
    server = flask.Flask("swimscope")
    server.secret_key = settings.secret_key or security.random_key()
    observing.register(server)
    access = guard.register(server, settings)
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
        # Pages come and go, so callbacks name ids that the first layout lacks; tests/app/test_factory.py checks each.
        suppress_callback_exceptions=True,
        on_error=errors.on_error,
    )
    observing.watch_callbacks(app, settings)
    url_state.declare(key for feature in FEATURES for key in feature.keys)
    views = tuple(view for feature in FEATURES for view in feature.views)
    app.layout = lambda: frame.layout(services, views)
    app.index_string = index_string(app, settings, views, scripts.register(server, settings, assets_folder()))
    router.register(app, services, views)
    work_callbacks.register(app, services)
    selecting.register(app)
    shell_routes.register(server, services)
    health.register(server, services)
    for feature in FEATURES:
        before = _names(app)
        for callbacks in feature.callbacks:
            callbacks(app, services)
        for routes in feature.routes:
            routes(server, services)
        access.needed.update(dict.fromkeys(_names(app) - before, feature.role))
    content.register(server)
    security.register(app, settings)
    errors.register(app, settings)
    server.extensions["swimscope"] = services
    server.wsgi_app = restore_prefix(server.wsgi_app, settings.url_prefix)  # type: ignore[assignment, method-assign]
    return app


def _names(app: Dash) -> set[str]:
    """Every route and callback output there is now, as :class:`app.server.access.guard.Access` names them."""
    return {f"route {name}" for name in app.server.view_functions} | {f"callback {name}" for name in app.callback_map}


def make_services(settings: Settings, origins: Mapping[str, str] | None = None) -> Services:
    """The bundle for ``settings``; nothing is scanned or opened yet."""
    store = Store(settings.data_dir / "store")
    outcomes = settings.data_dir / "outcomes"
    limits = Limits(settings.jobs_at_once, settings.job_memory_max_bytes, settings.job_time_max_s)
    shown = Places.of(settings).shown
    jobs = Jobs(settings.data_dir / "jobs", settings.data_dir / "store", outcomes, limits, shown)
    uploads = make_uploads(settings)
    roots = (*settings.roots, Root(UPLOADS_ROOT, uploads.content)) if settings.uploads == "on" else settings.roots
    return Services(
        settings=settings,
        library=Library(replace(settings, roots=roots), store, FactsCache(settings.data_dir / "facts"), jobs),
        store=store,
        jobs=jobs,
        analyses=Analyses(outcomes),
        links=Links(settings.data_dir / "links", settings.link_max_bytes),
        caches=Caches(),
        origins=origins or {},
        uploads=uploads,
    )


def make_uploads(settings: Settings) -> Uploads:
    """The uploads below the data directory, with the limits of ``settings``."""
    limits = UploadLimits(
        settings.upload_max_unpacked_bytes,
        settings.upload_max_files,
        settings.upload_max_ratio,
        settings.upload_max_depth,
    )
    folder = settings.data_dir / "uploads"
    return Uploads(folder, limits, settings.upload_max_bytes, settings.upload_quota_bytes)


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
