"""The task dependency graph."""

from __future__ import annotations

from app.graph import callbacks, page, routes
from app.shell.feature import Feature, View

FEATURE = Feature(
    "graph",
    views=(View(page.PAGE, page.layout),),
    callbacks=(callbacks.register,),
    routes=(routes.register,),
)
