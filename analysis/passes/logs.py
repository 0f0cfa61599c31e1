"""What did the compiler warn of in a pass, and at which line? Grammar: FORMATS-2.md section 7.2."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analysis.passes.text import split_lines

_WARNING = re.compile(r"(.*?)(?::(\d{1,9}):(\d{1,9}))?: (warning|error|note|hint): (.*?)(?: \[([\w.-]+)\])?\s*\Z")
_QUOTED = re.compile(r"^\s*(?:\d+\s)?\s*\|")
_IN_FUNCTION = re.compile(r"in function '([^']+)'")
_MOST_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Warning:
    """One warning: ``line`` and ``column`` from 1, or 0 when it has no position; ``check`` is its bracketed name.

    ``function`` is the one the text names (short), "" for none; ``file`` the last part of the path in the log.
    """

    line: int
    column: int
    severity: str
    text: str
    check: str
    function: str
    file: str


def warnings(text: str) -> tuple[tuple[Warning, ...], int]:
    """The warnings of a log, and how many other lines it holds that are neither a warning nor its quoted source."""
    found: list[Warning] = []
    other = 0
    for line in split_lines(text):
        match = _WARNING.match(line[:_MOST_CHARS])
        if match is not None:
            path, number, column, severity, words, check = match.groups()
            named = _IN_FUNCTION.search(words)
            file = re.split(r"[/\\]", path)[-1]
            place = int(number or 0), int(column or 0)
            found.append(Warning(*place, severity, words, check or "", named[1] if named else "", file))
        elif line.strip() and not _QUOTED.match(line):
            other += 1
    return tuple(found), other
