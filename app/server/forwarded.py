"""Under which path does the application answer behind a proxy that strips its prefix?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def restore_prefix(application: Wsgi, prefix: str) -> Wsgi:
    """``application`` with the prefix put back where a proxy stripped it and says so in ``X-Forwarded-Prefix``.

    Only the configured ``prefix`` is put back: whoever sends the header gets what that address answers anyway.
    """
    if prefix == "/":
        return application

    def restored(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        said = environ.get("HTTP_X_FORWARDED_PREFIX", "").strip("/")
        if said == prefix.strip("/") and not path.startswith(prefix):
            environ["PATH_INFO"] = prefix + path.lstrip("/")
        return application(environ, start)

    return restored
