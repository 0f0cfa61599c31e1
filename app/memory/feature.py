"""Where did each tile lie in on-chip memory, and what is full?"""

from __future__ import annotations

from app.memory import callbacks, page, routes
from app.memory.keys import KEYS
from app.runs import dumps
from app.shell.feature import Feature, View

FEATURE = Feature(
    "memory",
    views=(View(page.PAGE, page.layout, page.REBUILD, dumps.offered),),
    keys=KEYS,
    callbacks=(callbacks.register,),
    routes=(routes.register,),
)
