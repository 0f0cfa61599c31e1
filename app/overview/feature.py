"""How a run went, on one page."""

from __future__ import annotations

from app.analyses import cards
from app.overview import page
from app.shell.feature import Feature, View

FEATURE = Feature(
    "overview",
    views=(View(page.PAGE, page.layout),),
    callbacks=(cards.register,),
)
