"""What does a person see when a callback fails? A notice; what was loaded stays on the page."""

from __future__ import annotations

import logging
import secrets
from typing import Any

from dash import no_update, set_props

from analysis.errors import SwimscopeError
from app import ids
from components.notices import notice

log = logging.getLogger("swimscope")


def on_error(error: Exception) -> Any:
    """Dash's error handler: an expected error says what to do, any other is logged under an id and named by it."""
    set_props(ids.NOTICES, {"children": describe(error)})
    return no_update


def describe(error: Exception) -> Any:
    """The notice for ``error``; logs it when it is a bug."""
    if isinstance(error, SwimscopeError):
        return notice("This did not work", str(error), "error")
    error_id = secrets.token_hex(4)
    log.error("error %s", error_id, exc_info=error)
    return notice(
        "Something went wrong on the server",
        f"The page keeps what it shows. The server's log has the details under {error_id}.",
        "error",
    )
