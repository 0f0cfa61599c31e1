"""How is the server kept safe to host? Host names, sign-in, headers, same-origin writes, a limit on bodies."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import socket
from urllib.parse import urlsplit

import flask
from dash import Dash
from werkzeug.sansio.utils import host_is_trusted
from werkzeug.security import check_password_hash

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
    if settings.auth_user:
        _require_sign_in(server, settings)

    @server.before_request
    def same_origin() -> flask.Response | None:
        """Refuse writes that another site's page sends."""
        if flask.request.method in ("GET", "HEAD", "OPTIONS"):
            return None
        origin = flask.request.headers.get("Origin")
        hosts = (flask.request.host, flask.request.headers.get("X-Forwarded-Host"))
        if origin and _host_of(origin) not in hosts:
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


def _require_sign_in(server: flask.Flask, settings: Settings) -> None:
    """HTTP basic sign-in on every route, /health included."""
    salt = secrets.token_bytes(16)
    accepted: set[bytes] = set()

    def known(user: str, password: str) -> bool:
        # scrypt takes tens of milliseconds: remember (salted) what was accepted once.
        digest = hmac.new(salt, f"{user}\0{password}".encode(), hashlib.sha256).digest()
        if digest in accepted:
            return True
        right = hmac.compare_digest(user.encode(), settings.auth_user.encode())
        if check_password_hash(settings.auth_password_hash, password) and right:
            accepted.add(digest)
            return True
        return False

    @server.before_request
    def sign_in() -> flask.Response | None:
        given = flask.request.authorization
        if given and given.type == "basic" and known(given.username or "", given.password or ""):
            return None
        response = flask.make_response("Sign in to use Swimscope.\n", 401)
        response.headers["WWW-Authenticate"] = 'Basic realm="Swimscope", charset="UTF-8"'
        return response
