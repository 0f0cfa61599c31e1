"""What can go wrong, in words the user can act on.

Every error that reaches the user derives from :class:`SwimscopeError` and says what happened, where, and what to do.
Edges (the command line, the web server, the importer loop) catch this base class only; anything else is a bug and is
logged as one.
"""

from __future__ import annotations

import re

_UNREADABLE = re.compile("[\ud800-\udfff]")


def readable(text: str) -> str:
    """``text`` as it can be printed, sent and stored: bytes of file names that are not UTF-8 become U+FFFD."""
    return _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text)


class SwimscopeError(Exception):
    """Base of every error whose message is meant for the user."""

    def __str__(self) -> str:
        return readable(super().__str__())


class InputError(SwimscopeError):
    """A file cannot be read as what it claims to be.

    Args:
        source: the file, as the user knows it.
        place: where in the file (a key path, a byte offset, a row), or "" for the whole file.
        reason: what is wrong there.
        remedy: what the user can do about it.
    """

    def __init__(self, source: str, place: str, reason: str, remedy: str = "") -> None:
        self.source = source
        self.place = place
        self.reason = reason
        self.remedy = remedy
        where = f"{source} ({place})" if place else source
        message = f"{where}: {reason}"
        super().__init__(f"{message}. {remedy}" if remedy else message)


class UnknownFormatError(InputError):
    """No registered format recognises the file."""


class NotFoundError(SwimscopeError):
    """A run, capture, task or other named thing does not exist."""


class AmbiguousError(SwimscopeError):
    """A path holds several captures where one is needed; ``choices`` lists them."""

    def __init__(self, message: str, choices: tuple[str, ...]) -> None:
        self.choices = choices
        super().__init__(message)


class LimitError(SwimscopeError):
    """A configured limit was hit; the message names the setting, the value and the limit."""


class NotAvailable(SwimscopeError):
    """An analysis has no answer for this capture: ``reason`` says what was not captured and what would bring it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class ParameterError(SwimscopeError, ValueError):
    """A parameter of an analysis has an impossible value; the message names it."""
