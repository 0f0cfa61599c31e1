"""Which URL keys say what the pass page shows? A pass is named by its file without ``.py``, which is unique in a dump."""

from __future__ import annotations

from app.shell.url_state import Key, choice_codec, integer_codec, list_codec, text_codec

MAX_NAME = 400
"""Characters of a name that a URL can hold; longer names are shown but cannot be chosen."""
WHOLE_FILE = "*"
"""Value of ``fn`` for the whole file even though a function is selected."""

_FLAG = integer_codec(0, 1)
_NAME = text_codec(MAX_NAME)

KEYS: tuple[Key, ...] = (
    Key("dump", _NAME, "", "Which pass dump of the run; the first by default.", follow=True),
    Key("pass", _NAME, "", "The pass that is open (NN_after_Name); the first changed one by default.", follow=True),
    Key("vs", _NAME, "", "The pass it is compared with; the one before it by default."),
    Key("other", text_codec(40), "", "Run whose dump it is compared with."),
    Key("odump", _NAME, "", "Which pass dump of that other run."),
    Key("fn", _NAME, "", "Function that is shown; by default the selected one, * for the whole file."),
    Key("fn2", _NAME, "", "Function of the second pane."),
    Key("pf", choice_codec("all", "changed", "noop", "warnings"), "all", "Filter of the pass list."),
    Key("find", _NAME, "", "Text that a pass's name contains."),
    Key("re", _FLAG, 1, "0: the search text is no regular expression."),
    Key("case", _FLAG, 1, "0: the search ignores case."),
    Key("lay", choice_codec("split", "stacked"), "split", "Side by side, or one column."),
    Key("ctx", integer_codec(-1, 1_000), 3, "Equal lines kept beside a change; -1 for the whole file."),
    Key("unf", list_codec(2_000), (), "First rows of the folds that are open."),
    Key("struct", _FLAG, 0, "1: memory and layout annotations are hidden."),
    Key("line", text_codec(12), "", "Line that is in view: R120 of the right side, L88 of the left."),
    Key("name", _NAME, "", "Name whose history through the passes is shown."),
)
