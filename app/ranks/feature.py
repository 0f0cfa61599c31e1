"""The ranks of one run tree on one axis: who was late, who was slow, and with what."""

from __future__ import annotations

from app.ranks import callbacks, page
from app.shell.feature import Feature, View
from app.shell.url_state import Key, text_codec

FEATURE = Feature(
    "ranks",
    views=(View(page.PAGE, page.layout, ("dispatch", "align"), page.offered),),
    keys=(
        Key("dispatch", text_codec(200), "", "Dispatch of the ranks page."),
        Key("align", text_codec(40), "", "Task on which the ranks are aligned by hand."),
    ),
    callbacks=(callbacks.register,),
)
