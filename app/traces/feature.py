"""Serving traces, any other Chrome trace, and host logs on the timeline."""

from __future__ import annotations

from app.shell.feature import Feature, View
from app.traces import callbacks, page, routes
from app.traces.keys import KEYS

FEATURE = Feature(
    "traces",
    views=(View(page.PAGE, page.layout, rebuild=("trace",), offered=page.offered),),
    keys=KEYS,
    callbacks=(callbacks.register,),
    routes=(routes.register,),
)
