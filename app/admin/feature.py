"""The administrators' page: figures, jobs, storage by run, settings and their origin."""

from __future__ import annotations

from app.admin import callbacks, page
from app.shell.feature import Feature, View

FEATURE = Feature(
    "admin",
    views=(View(page.PAGE, page.layout, role="admin"),),
    callbacks=(callbacks.register,),
    role="admin",
)
