"""Callbacks of the runs page."""

from __future__ import annotations

from dash import Dash

from app.services import Services


def register(app: Dash, services: Services) -> None:
    """None yet."""
