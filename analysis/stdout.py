"""What happens when the standard output cannot take what a command writes? Shared by both command lines."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from analysis.errors import SwimscopeError


class OutputError(SwimscopeError):
    """The output of a command cannot be written, for example because its disk is full."""


@contextlib.contextmanager
def output_errors() -> Iterator[None]:
    """A reader that has seen enough (``| head``) ends a command quietly; a full device raises :class:`OutputError`."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        if error.filename is not None:  # of a file, not of the output
            raise
        _drop_output()
        raise OutputError(f"cannot write the output: {error.strerror}") from error


def _drop_output() -> None:
    """Keep the interpreter from writing the rest of its buffer again on exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
