"""What keeps the data directory from growing indefinitely? What was used longest ago goes when a limit is passed."""

from __future__ import annotations

import logging
import threading
import time

from app.server.access.attempts import Attempts
from app.server.services import Services

EVERY_S = 600.0
JOBS_KEPT_S = 7 * 86_400.0
"""Age at which the status of an ended job is forgotten."""
log = logging.getLogger("swimscope")


def start(services: Services) -> None:
    """Begin to look for new runs and to tidy up, on daemon threads of this process."""
    services.library.start()
    threading.Thread(target=_keep_tidy, args=(services,), name="swimscope-tidy", daemon=True).start()


def _keep_tidy(services: Services) -> None:
    while True:
        try:
            tidy(services)
        except OSError as error:
            log.warning("the data directory could not be tidied up: %s", error)
        time.sleep(EVERY_S)


def tidy(services: Services) -> int:
    """Bring store and stored links back within their limits, forget old jobs; returns the bytes removed.

    Safe while other processes use the directory: what is mapped stays readable, and what is asked for again is made again.
    """
    removed = services.store.evict(services.settings.store_max_bytes)
    removed += services.links.evict(services.settings.stored_links_max_bytes)
    services.jobs.forget(JOBS_KEPT_S)
    Attempts(services.settings.data_dir / "attempts", services.settings.sign_in_window_s).tidy()
    limits = services.settings
    services.uploads.tidy(limits.upload_undo_s, limits.upload_resume_s, limits.upload_keep_s)
    if removed:
        log.info("removed %s bytes that were used longest ago from %s", f"{removed:,}", services.settings.data_dir)
    return removed
