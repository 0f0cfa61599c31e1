"""How is the server kept safe to host? Host names, headers, same-origin writes, a limit on bodies.

Who may come in is decided in :mod:`app.server.access`.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from urllib.parse import urlsplit

import flask
from dash import Dash
from werkzeug.sansio.utils import host_is_trusted

from app.server.settings import Settings


def random_key() -> str:
    """A signing key for one process."""
    return secrets.token_hex(32)


def register(app: Dash, settings: Settings) -> None:
    """Guard every route of ``app`` and set the security headers of every answer."""
    server = app.server
    # A stored link may be as long as link_max_bytes says, whatever the limit of other bodies.
    server.config["MAX_CONTENT_LENGTH"] = max(settings.request_max_bytes, settings.link_max_bytes + 1_000)
    _require_known_host(server, settings)
    _flag_cookies(server)

    @server.before_request
    def same_origin() -> flask.Response | None:
        """Refuse writes that another site's page sends."""
        if flask.request.method in ("GET", "HEAD", "OPTIONS"):
            return None
        origin = flask.request.headers.get("Origin")
        hosts = (flask.request.host, flask.request.headers.get("X-Forwarded-Host"))
        other_site = flask.request.headers.get("Sec-Fetch-Site") == "cross-site"
        if other_site or (origin and _host_of(origin) not in hosts):
            return flask.make_response({"error": "requests from other sites are refused"}, 403)
        return None

    assets = f"{settings.url_prefix}assets/"
    policy: list[str] = []

    @server.after_request
    def headers(response: flask.Response) -> flask.Response:
        if not policy:
            policy.append(content_security_policy(app.csp_hashes()))
        if flask.request.path.startswith(assets) and "m" in flask.request.args and response.status_code == 200:
            # Dash puts the time of the last change into the address, so the content at one never changes.
            response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
        response.headers.setdefault("Content-Security-Policy", policy[0])
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("X-Frame-Options", "SAMEORIGIN")
        response.headers.setdefault("Referrer-Policy", "same-origin")
        return response


def _flag_cookies(server: flask.Flask) -> None:
    """Swimscope needs no cookie; one that is set all the same is for HTTP and this site only, and for TLS where that is on."""
    server.config.update(SESSION_COOKIE_HTTPONLY=True, SESSION_COOKIE_SAMESITE="Lax")

    @server.after_request
    def flag(response: flask.Response) -> flask.Response:
        secure = "https" in (flask.request.scheme, flask.request.headers.get("X-Forwarded-Proto"))
        cookies = response.headers.getlist("Set-Cookie")
        if cookies:
            wanted = ("HttpOnly", "SameSite=Lax", *(("Secure",) if secure else ()))
            response.headers.remove("Set-Cookie")
        for cookie in cookies:
            have = {part.strip().partition("=")[0].lower() for part in cookie.split(";")[1:]}
            missing = [word for word in wanted if word.partition("=")[0].lower() not in have]
            response.headers.add("Set-Cookie", "; ".join([cookie, *missing]))
        return response


def _host_of(origin: str) -> str:
    """Host and port of an ``Origin`` header; "" (which is no host of ours) when it is not an address."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _require_known_host(server: flask.Flask, settings: Settings) -> None:
    """Refuse requests by a name that is not ours: a page of another site may have its name point at this machine."""
    names = known_hosts(settings)

    @server.before_request
    def known_host() -> flask.Response | None:
        given = flask.request.headers.get("Host", "")
        if "*" in names or _is_address(given) or host_is_trusted(given, names):
            return None
        text = "the server is not known by this name; add it to allowed_hosts, or use one of " + ", ".join(names)
        return flask.make_response({"error": text}, 400)


def known_hosts(settings: Settings) -> tuple[str, ...]:
    """Names by which the server may be addressed: ``allowed_hosts``, or those of the address it listens on."""
    given = tuple(name.strip() for name in settings.allowed_hosts.split(",") if name.strip())
    if given:
        return given
    names = ["localhost"]
    if settings.host in ("", "0.0.0.0", "::"):
        names += [socket.gethostname(), socket.getfqdn()]
    elif not _is_address(settings.host):
        names.append(settings.host)
    return tuple(dict.fromkeys(name for name in names if name))


def _is_address(host: str) -> bool:
    """Whether ``host`` (with or without port) is an IP address, which no other site can make point here."""
    try:
        name = urlsplit(f"//{host}").hostname
        return name is not None and bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def content_security_policy(script_hashes: list[str] | tuple[str, ...]) -> str:
    """Only our own server; inline styles are what plotly and AG Grid write, inline scripts only Dash's by hash."""
    parts = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", *script_hashes]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'self'",
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items())
