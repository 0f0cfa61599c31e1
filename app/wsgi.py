"""WSGI entry for gunicorn: ``gunicorn app.wsgi:server``; settings come from the environment."""

from __future__ import annotations

from app import housekeeping
from app.factory import create_app
from app.settings import load_settings

server = create_app(load_settings()).server
housekeeping.start(server.extensions["swimscope"])
