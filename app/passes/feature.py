"""What did each compiler pass change?"""

from __future__ import annotations

from app.passes import callbacks, page, routes
from app.passes.keys import KEYS
from app.shell.feature import Feature, View

FEATURE = Feature(
    "passes",
    views=(View(page.PAGE, page.layout, ("dump",), page.offered),),
    keys=KEYS,
    callbacks=(callbacks.register,),
    routes=(routes.register,),
)
