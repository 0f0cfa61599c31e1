"""The functions of a run, and one of them over time."""

from __future__ import annotations

from app.functions import callbacks, page
from app.shell.feature import Feature, View

FEATURE = Feature(
    "functions",
    views=(View(page.PAGE, page.layout),),
    callbacks=(callbacks.register,),
)
