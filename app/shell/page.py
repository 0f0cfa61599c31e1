"""Where is a page, and what is it called? Its entry in the navigation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """Where a page is and what it is called.

    Args:
        name: the last part of the path, unique; ``""`` for the run overview and ``"runs"`` for home.
        path_template: ``"/"`` or ``"/r/<run>/…"``, without the prefix.
        title: text of the tab and of the browser title.
        order: position among the tabs; pages below 0 have no tab.
        key: the key that opens it after ``g``; "" for none.
        needs_capture: the page wants an open capture, so the router opens it first (with progress when it is long).
    """

    name: str
    path_template: str
    title: str
    order: int
    key: str = ""
    needs_capture: bool = True
