"""How a run went, on one page."""

from __future__ import annotations

from app.overview import callbacks, page
from app.shell.feature import Feature, View

FEATURE = Feature(
    "overview",
    views=(View(page.PAGE, page.layout),),
    callbacks=(callbacks.register,),
)
