"""The chip swimlane with its performance panel."""

from __future__ import annotations

from app.shell.feature import Feature, View
from app.swimlane import callbacks, page, routes
from app.swimlane.panel import callbacks as panel_callbacks
from app.swimlane.panel import routes as panel_routes

FEATURE = Feature(
    "swimlane",
    views=(View(page.PAGE, page.layout),),
    callbacks=(callbacks.register, panel_callbacks.register),
    routes=(routes.register, panel_routes.register),
)
