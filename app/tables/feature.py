"""A page for every analysis of the registry."""

from __future__ import annotations

from app.shell.feature import Feature
from app.tables import callbacks, page, routes

FEATURE = Feature(
    "tables",
    views=page.views(),
    callbacks=(callbacks.register,),
    routes=(routes.register,),
)
