"""How are requests received? Waitress reads each one whole (line, headers, body) before it costs a thread.

A connection that sends slowly, or nothing, holds a socket and no thread, so it cannot keep others waiting; header and
body have limits of size and time. With several workers gunicorn starts and watches the processes and each of them
receives its requests the same way (:class:`Worker`).
"""

from __future__ import annotations

import logging
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gunicorn.workers.base import Worker as GunicornWorker
from waitress.channel import HTTPChannel
from waitress.server import MultiSocketServer, create_server

from app.server.settings import Settings

HEADER_MAX_BYTES = 32_768
"""Request line and headers together; browsers send up to 16 KB, a long view is a stored link."""
CONNECTIONS = 1_000
"""Open connections of a process; beyond, new ones wait in the kernel's queue."""
IDLE_S = 60
"""A connection without a request in it is closed after this pause."""
CHECK_S = 1.0


class Channel(HTTPChannel):
    """A connection whose request has to be there completely within ``read_time_max_s`` of its first byte."""

    asked_at_s = 0.0

    def received(self, data: bytes) -> bool:
        if self.request is None:
            self.asked_at_s = time.monotonic()
        return bool(super().received(data))

    def is_late(self, limit_s: float) -> bool:
        """Whether a request has been arriving for longer than ``limit_s`` seconds."""
        return self.request is not None and time.monotonic() - self.asked_at_s > limit_s


def make_server(application: Callable[..., Any], settings: Settings, sockets: Sequence[socket.socket] = ()) -> Any:
    """A server for ``application``, bound to the settings' address or listening on ``sockets``; ``run()`` serves."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a queue under load is no news
    folder = settings.data_dir / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(folder)  # where waitress puts bodies and answers that are too large for memory
    place: dict[str, Any] = {"sockets": list(sockets)} if sockets else {"host": settings.host, "port": settings.port}
    made = create_server(
        application,
        threads=settings.threads,
        ident=None,
        connection_limit=CONNECTIONS,
        channel_timeout=IDLE_S,
        cleanup_interval=CHECK_S,
        max_request_header_size=HEADER_MAX_BYTES,
        max_request_body_size=settings.request_max_bytes,
        asyncore_use_poll=True,
        asyncore_loop_timeout=CHECK_S,
        clear_untrusted_proxy_headers=False,  # X-Forwarded-Host is compared in app.server.security
        url_scheme="http",
        **place,
    )
    for server in _servers(made):
        server.channel_class = Channel
        server.maintenance = _closing_late(server, server.maintenance, settings.read_time_max_s)
    return made


def _servers(made: Any) -> list[Any]:
    """The servers of each listening socket."""
    if isinstance(made, MultiSocketServer):
        return [item for item in made.map.values() if hasattr(item, "channel_class")]
    return [made]


def _closing_late(server: Any, usual: Callable[[float], None], limit_s: float) -> Callable[[float], None]:
    def maintenance(now: float) -> None:
        usual(now)
        for channel in list(server.active_channels.values()):
            if channel.is_late(limit_s):
                channel.will_close = True

    return maintenance


class Worker(GunicornWorker):
    """A gunicorn process that receives requests through waitress; ``app.server.wsgi`` holds application and settings."""

    def run(self) -> None:
        from app.server import wsgi

        sockets = [listener.sock for listener in self.sockets]
        served = make_server(self.wsgi, wsgi.settings, sockets)
        threading.Thread(target=served.run, name="swimscope-serve", daemon=True).start()
        while self.alive and self.ppid == os.getppid():
            self.notify()
            time.sleep(CHECK_S)


def gunicorn_arguments(settings: Settings) -> list[str]:
    """How gunicorn is called for ``settings``: it writes below the data directory only."""
    folder: Path = settings.data_dir / "tmp"
    return [
        f"--workers={settings.workers}",
        f"--threads={settings.threads}",
        f"--bind={settings.host}:{settings.port}",
        "--worker-class=app.server.serving.Worker",
        f"--worker-tmp-dir={folder}",
        "--no-control-socket",
        "--timeout=120",
    ]
