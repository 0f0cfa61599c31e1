"""How does a test look at something that comes in its own time? Again and again, with a generous limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")


def until(look: Callable[[], Seen], right: Callable[[Seen], bool], timeout_s: float = 60.0) -> Seen:
    """Look again and again until what is seen is ``right``, and give it; when time is up, say what was seen last.

    Raises:
        TimeoutError: it never was.
    """
    deadline = time.monotonic() + timeout_s
    while not right(seen := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {timeout_s:g} s still {seen!r}")
        time.sleep(0.05)
    return seen
