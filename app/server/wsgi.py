"""WSGI entry for gunicorn: ``gunicorn app.server.wsgi:server``; settings come from the environment."""

from __future__ import annotations

from app.server.factory import create_app
from app.server.observing import configure_logs
from app.server.places import check_places
from app.server.settings import load
from app.work import housekeeping

loaded = load()
settings = loaded.settings
check_places(settings)
configure_logs(settings)
server = create_app(settings, loaded.origins).server
housekeeping.start(server.extensions["swimscope"])
