"""One module per page: ``PAGE`` says where it lies, ``layout(services, view, run_key)`` builds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.server.services import Services
    from app.shell.url_state import ViewState

Layout = Callable[["Services", "ViewState", str], Any]


@dataclass(frozen=True, slots=True)
class Page:
    """Where a page lies and how it is called.

    Args:
        name: the last part of the path, unique; ``""`` for the run overview and ``"runs"`` for home.
        path_template: ``"/"`` or ``"/r/<run>/…"``, without the prefix.
        title: text of the tab and of the browser title.
        order: position among the tabs; pages below 0 have no tab.
        needs_capture: the page wants an open capture, so the router opens it first (with progress when it is long).
    """

    name: str
    path_template: str
    title: str
    order: int
    needs_capture: bool = True
