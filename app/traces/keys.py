"""Which URL keys has the trace page? All its own, since its times and lanes are others than those of the chip swimlane."""

from __future__ import annotations

from app.shell.url_state import MAX_TICKS, Key, choice_codec, integer_codec, list_codec, text_codec

GROUPINGS = ("name", "worker", "thread_name", "thread", "process")
TABS = ("spans", "requests", "steps", "rounds", "quality")
CLOSED = "none"
_TICKS = integer_codec(-MAX_TICKS, MAX_TICKS)

KEYS = (
    Key("trace", text_codec(300), "", "Which trace of the run: a file name, or host-logs."),
    Key("xt0", _TICKS, None, "Start of the trace's window in ns after its zero."),
    Key("xt1", _TICKS, None, "End of the trace's window in ns after its zero."),
    Key("xy", integer_codec(0, 1_000_000), 0, "First visible row of the trace."),
    Key("xpin", list_codec(1_100), (), "Lanes of the trace pinned to the top."),
    Key("xhide", list_codec(1_100), (), "Lanes of the trace that are hidden."),
    Key("xlanes", text_codec(200), "", "Filter on lanes of the trace."),
    Key("xmk", list_codec(100), (), "Markers of the trace."),
    Key("xmz", text_codec(45), "", "Measured range of the trace, START:END in ns."),
    Key("xitem", text_codec(20), "", "Focused item of the trace, such as s12."),
    Key("xsel", text_codec(60), "", "Selection of the trace: item:s12, or span:PROCESS.LANE.NAME."),
    Key("xhl", text_codec(60), "", "Highlight of the trace: search, or a selection."),
    Key("xq", text_codec(200), "", "Search text of the trace."),
    Key("xlabels", choice_codec("func", "none"), "func", "What is written on a span."),
    Key("xtab", choice_codec("", CLOSED, *TABS), "", "Open tab of the trace's panel."),
    Key("xby", choice_codec(*GROUPINGS), "name", "What the table of spans groups by."),
)
