"""What does gunicorn do beside serving? Its own lines in our log format; the counts of workers that end are kept."""

from __future__ import annotations

import os
from typing import Any

from gunicorn import glogging

from app.server import figures
from app.server.observing import JsonLines


class Logger(glogging.Logger):
    """gunicorn's log, as JSON lines where ``log_format`` says so."""

    def setup(self, cfg: Any) -> None:
        """Set the formatter after gunicorn's own."""
        super().setup(cfg)
        if os.environ.get("SWIMSCOPE_LOG_FORMAT") == "json":
            for handler in self.error_log.handlers:
                handler.setFormatter(JsonLines())


def child_exit(_server: Any, worker: Any) -> None:
    """A worker ended: gunicorn calls this in the process that watches."""
    figures.keep_of_ended(worker.pid)
