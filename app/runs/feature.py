"""The list of runs under the mounted roots."""

from __future__ import annotations

from app.runs import callbacks, page
from app.runs.uploads import routes
from app.shell.feature import Feature, View

FEATURE = Feature(
    "runs",
    views=(View(page.PAGE, page.layout),),
    callbacks=(callbacks.register,),
    routes=(routes.register,),
)
