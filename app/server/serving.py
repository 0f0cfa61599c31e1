"""How are requests received? Waitress reads each one whole (line, headers, body) before it costs a thread.

A connection that sends slowly, or nothing, holds a socket and no thread, so it cannot keep others waiting; header and
body have limits of size and time. With several workers gunicorn starts and watches the processes and each of them
receives its requests the same way (:class:`Worker`).
"""

from __future__ import annotations

import contextlib
import copy
import fcntl
import functools
import logging
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gunicorn.workers.base import Worker as GunicornWorker
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import MultiSocketServer, create_server

from app.server import figures
from app.server.settings import Settings

HEADER_MAX_BYTES = 32_768
"""Request line and headers together; browsers send up to 16 KB, a long view is a stored link."""
CONNECTIONS = 1_000
"""Open connections of a process; beyond, new ones wait in the kernel's queue."""
IDLE_S = 60
"""A connection without a request in it is closed after this pause."""
CHECK_S = 1.0
DRAIN_CHECK_S = 0.05
log = logging.getLogger("swimscope")


UPLOAD_PATHS = ("/api/uploads/", "/api/push/")
"""Requests whose bodies are parts of uploads: they have limits of their own."""


class Request(HTTPRequestParser):
    """A request; once its header names an upload, the limits of uploads count."""

    is_upload = False
    upload_limits: Any = None

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        self.is_upload = any(part in self.path for part in UPLOAD_PATHS) and self.command in ("PATCH", "PUT")
        if self.is_upload:
            self.adj = self.upload_limits


class Channel(HTTPChannel):
    """A connection whose request has to be there completely within a limit of its first byte."""

    parser_class = Request
    asked_at_s = 0.0

    def received(self, data: bytes) -> bool:
        if self.request is None:
            self.asked_at_s = time.monotonic()
        return bool(super().received(data))

    def is_late(self, limit_s: float, upload_limit_s: float) -> bool:
        """Whether a request has been arriving for longer than its limit."""
        limit_s = upload_limit_s if getattr(self.request, "is_upload", False) else limit_s
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
        server.channel_class = _channel(server.adj, settings)
        server.maintenance = _closing_late(server, server.maintenance, settings)
    return made


def _servers(made: Any) -> list[Any]:
    """The servers of each listening socket."""
    if isinstance(made, MultiSocketServer):
        return [item for item in made.map.values() if hasattr(item, "channel_class")]
    return [made]


def _channel(adjustments: Any, settings: Settings) -> type[Channel]:
    """The connections of a server: the limits of uploads are its own ones with another size of body."""
    limits = copy.copy(adjustments)
    limits.max_request_body_size = settings.upload_max_bytes
    request = type("UploadingRequest", (Request,), {"upload_limits": limits})
    return type("UploadingChannel", (Channel,), {"parser_class": request})


def _closing_late(server: Any, usual: Callable[[float], None], settings: Settings) -> Callable[[float], None]:
    def maintenance(now: float) -> None:
        usual(now)
        for channel in list(server.active_channels.values()):
            if channel.is_late(settings.read_time_max_s, settings.upload_time_max_s):
                channel.will_close = True

    return maintenance


class Serving:
    """Serve on a thread of its own until :meth:`stop`, which lets requests under way finish."""

    def __init__(self, made: Any) -> None:
        self._made = made
        self._thread = threading.Thread(target=made.run, name="swimscope-serve", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether it serves."""
        return self._thread.is_alive()

    def stop(self, most_s: float) -> bool:
        """Take no new connection, and wait for what has been asked, at most ``most_s`` seconds; True when all was answered."""
        for server in _servers(self._made):
            server.trigger.pull_trigger(functools.partial(_close_listener, server))
        until_s = time.monotonic() + most_s
        quiet = 0
        while quiet < 3 and time.monotonic() < until_s:  # a task hands its answer over before it is forgotten
            time.sleep(DRAIN_CHECK_S)
            quiet = 0 if any(_is_busy(channel) for channel in self._channels()) else quiet + 1
        return quiet >= 3

    def _channels(self) -> list[Any]:
        return [channel for server in _servers(self._made) for channel in list(server.active_channels.values())]


def _close_listener(server: Any) -> None:
    """On the serving thread: stop listening; connections that are open stay."""
    if server.accepting:
        server.accepting = False
        server.del_channel()
        server.socket.close()


def _is_busy(channel: Any) -> bool:
    """Whether a request of this connection is arriving, being answered, or its answer being sent."""
    return bool(channel.requests or channel.request is not None or channel.total_outbufs_len)


def serve_until_stopped(application: Callable[..., Any], settings: Settings) -> None:
    """Serve in this process until SIGTERM or SIGINT; requests under way are answered first.

    Raises:
        OSError: the address cannot be listened on.
    """
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    serving = Serving(make_server(application, settings))
    while serving.is_alive and not stopped.wait(CHECK_S):
        figures.WORKER_MEMORY.labels("own").set(own_memory_bytes())
    if not serving.stop(settings.graceful_stop_s):
        log.warning("stopped with requests under way: they took longer than graceful_stop_s")


def own_memory_bytes() -> int:
    """Memory that this process holds for itself, without the files it has mapped; 0 where the system does not say."""
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


class Worker(GunicornWorker):
    """A gunicorn process that receives requests through waitress; ``app.server.wsgi`` holds application and settings."""

    def run(self) -> None:
        from app.server import wsgi

        sockets = [listener.sock for listener in self.sockets]
        serving = Serving(make_server(self.wsgi, wsgi.settings, sockets))
        while self.alive and self.ppid == os.getppid() and serving.is_alive:
            self.notify()
            held = own_memory_bytes()
            figures.WORKER_MEMORY.labels("own").set(held)
            most = wsgi.settings.worker_memory_max_bytes
            if most and held > most and self._may_be_replaced(wsgi.settings):
                log.warning(
                    "this worker holds %s bytes, more than worker_memory_max_bytes; it is replaced", f"{held:,}"
                )
                break
            time.sleep(CHECK_S)
        threading.Thread(target=self._keep_notifying, name="swimscope-notify", daemon=True).start()
        if not serving.stop(wsgi.settings.graceful_stop_s):
            log.warning("stopped with requests under way: they took longer than graceful_stop_s")

    def _keep_notifying(self) -> None:
        while True:
            self.notify()
            time.sleep(CHECK_S)

    def _may_be_replaced(self, settings: Settings) -> bool:
        """One worker at a time: the lock is held until this process has ended."""
        handle = os.open(settings.data_dir / "tmp" / "replacing.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        return True


def needs_gunicorn(settings: Settings) -> bool:
    """Whether processes are to be watched: there are several, or one that is replaced when it grows."""
    return settings.workers > 1 or settings.worker_memory_max_bytes > 0


def gunicorn_arguments(settings: Settings) -> list[str]:
    """How gunicorn is called for ``settings``: it writes below the data directory only."""
    folder: Path = settings.data_dir / "tmp"
    return [
        f"--workers={settings.workers}",
        f"--threads={settings.threads}",
        f"--bind={settings.host}:{settings.port}",
        "--worker-class=app.server.serving.Worker",
        "--logger-class=app.server.gunicorn_hooks.Logger",
        "--config=python:app.server.gunicorn_hooks",
        f"--worker-tmp-dir={folder}",
        f"--graceful-timeout={int(settings.graceful_stop_s) + 5}",
        "--no-control-socket",
        "--timeout=120",
    ]


def prepare_figures(settings: Settings) -> str:
    """Make the directory through which the figures of several workers are shared, empty; returns it."""
    folder = settings.data_dir / "metrics"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.db"):
        file.unlink(missing_ok=True)
    return str(folder)
