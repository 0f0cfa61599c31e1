"""What did each compiler pass change?"""

from __future__ import annotations

from app.compiler.keys import KEYS
from app.passes import callbacks, page, routes
from app.runs import dumps
from app.shell.feature import Feature, View

FEATURE = Feature(
    "passes",
    views=(View(page.PAGE, page.layout, ("dump",), dumps.offered),),
    keys=KEYS,
    callbacks=(callbacks.register,),
    routes=(routes.register,),
)
