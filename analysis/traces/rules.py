"""What happens to every event of a trace: shown as something, or left out by a named rule; and what was put right.

``events in = shown + left out`` holds for every file. A repair changes nothing of that sum: the event is shown.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal


class Fate(enum.IntEnum):
    """What became of an event; up to ``METADATA`` it is shown."""

    SLICE = 1
    PAIR = 2
    INSTANT = 3
    COUNTER = 4
    FLOW = 5
    METADATA = 6
    NO_OBJECT = 16
    BROKEN = 17
    CUT = 18
    UNKNOWN_PHASE = 19
    NOT_DRAWN = 20
    NO_TIME = 21
    BAD_TIME = 22
    FAR_TIME = 23
    NEGATIVE_LENGTH = 24
    BAD_LENGTH = 25
    END_WITHOUT_BEGIN = 26
    FLOW_WITHOUT_PARTNER = 27
    COUNTER_WITHOUT_NUMBER = 28


class Repair(enum.StrEnum):
    """What was put right in an event that is shown."""

    TIME_AS_TEXT = "time_as_text"
    MISSING_LENGTH = "missing_length"
    UNCLOSED_BEGIN = "unclosed_begin"
    NO_NAME = "no_name"
    LONG_NAME = "long_name"
    BAD_UTF8 = "bad_utf8"
    BAD_ESCAPE = "bad_escape"
    COUNTER_VALUE = "counter_value"
    CROSSING = "crossing_spans"
    DUPLICATE_FLOW = "duplicate_flow_id"


LEFT_OUT: dict[Fate, str] = {
    Fate.NO_OBJECT: "Entries of the list that are no JSON object are left out.",
    Fate.BROKEN: "Events that are not valid JSON, or longer than 64 MB, are left out; reading goes on at the next event.",
    Fate.CUT: "The file ends inside this event; it is left out.",
    Fate.UNKNOWN_PHASE: "Events without a known phase letter (ph) are left out.",
    Fate.NOT_DRAWN: "Object, sample, memory dump and clock events are not drawn.",
    Fate.NO_TIME: "Events without a time (ts) are left out.",
    Fate.BAD_TIME: "Events whose time is no finite number below 10^18 µs are left out.",
    Fate.FAR_TIME: "Events more than a day and far away from most others, in a trace of more than 52 days, are left out.",
    Fate.NEGATIVE_LENGTH: "Spans of negative length are left out.",
    Fate.BAD_LENGTH: "Spans whose length is no finite number are left out.",
    Fate.END_WITHOUT_BEGIN: "Ends (E, e, F) without a begin in their thread or of their id are left out.",
    Fate.FLOW_WITHOUT_PARTNER: "Flow events without a partner of the same category, name and id, or without a span, are left out.",
    Fate.COUNTER_WITHOUT_NUMBER: "Counter events without any number are left out.",
}
PUT_RIGHT: dict[Repair, str] = {
    Repair.TIME_AS_TEXT: "Times that are texts are read as numbers.",
    Repair.MISSING_LENGTH: "Complete events (X) without a length are drawn with length 0 and are in no statistic.",
    Repair.UNCLOSED_BEGIN: "Begins without an end are drawn to the last time of their lane and are in no statistic.",
    Repair.NO_NAME: "Events without a name are called (no name); other JSON values are shown as text.",
    Repair.LONG_NAME: "Names and ids of more than 4096 bytes are told apart by their first 4096 bytes.",
    Repair.BAD_UTF8: "Bytes that are not UTF-8 are shown as U+FFFD.",
    Repair.BAD_ESCAPE: "Texts with an invalid escape are shown as they are written.",
    Repair.COUNTER_VALUE: "Counter series that are no finite number are left out of that sample.",
    Repair.CROSSING: "Spans of one lane that overlap without one holding the other are drawn on rows of their own.",
    Repair.DUPLICATE_FLOW: "A flow id that begins again starts a new flow; an end belongs to the latest begin before it.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the data-quality panel.

    Args:
        rule: short name, stable.
        kind: ``left_out`` (not shown), ``repaired`` (shown), or ``note`` (about the file).
        text: the rule in words.
        count: how many events; 0 for a note about the file.
        example: begin of the first such event's text, or "".
        offset: where it is in the unpacked text, -1 when nowhere.
    """

    rule: str
    kind: Literal["left_out", "repaired", "note"]
    text: str
    count: int
    example: str = ""
    offset: int = -1
