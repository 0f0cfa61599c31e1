"""May this request be answered? Every one is asked, before any route, page, script or callback sees it.

Sets ``flask.g.user`` (``""`` where nobody signs in), ``flask.g.role`` and ``flask.g.how`` (none, password, proxy, token).
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from typing import Any

import flask
from werkzeug.datastructures import Authorization

from app.server.access.attempts import Attempts, Key
from app.server.access.audit import Audit
from app.server.access.passwords import Passwords
from app.server.access.proxies import Proxies, neighbourhood
from app.server.access.roles import Roles, allows
from app.server.access.tokens import Tokens
from app.server.settings import Settings

UPLOADING = re.compile(r"api/(uploads|batches|push|uploaded)(/|$)")
USER_FACTOR = 5
"""A user name may have so many times the wrong attempts of an address: guessing from everywhere locks nobody out early."""
AUDITED = (
    ("PUT", re.compile(r"api/push/"), "upload"),
    ("POST", re.compile(r"api/batches/[^/]+/finish$"), "upload"),
    ("PATCH", re.compile(r"api/uploaded/"), "upload described"),
    ("DELETE", re.compile(r"api/uploaded/"), "upload deleted"),
    ("POST", re.compile(r"api/uploaded/[^/]+/undo$"), "upload restored"),
)
EXTENSION = "swimscope-access"


@dataclass(frozen=True, slots=True)
class Access:
    """What access needs in this process; ``needed`` says which endpoints and callback outputs need more than "view"."""

    settings: Settings
    passwords: Passwords
    proxies: Proxies
    roles: Roles
    tokens: Tokens
    attempts: Attempts
    audit: Audit
    needed: dict[str, str]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, and with which status; ``retry_s`` is for 429."""

    status: int
    text: str
    retry_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks, in which role, known by what."""

    user: str
    role: str
    how: str


def register(server: flask.Flask, settings: Settings) -> Access:
    """Guard every request to ``server``; to be called before anything else is registered there.

    Raises:
        SettingsError: a file or setting of access cannot be used.
    """
    access = Access(
        settings,
        Passwords(settings),
        Proxies(settings),
        Roles(settings),
        Tokens(settings.data_dir / "tokens"),
        Attempts(settings.data_dir / "attempts", settings.sign_in_window_s),
        Audit(settings.data_dir, settings.audit_max_bytes),
        {},
    )
    server.extensions[EXTENSION] = access

    @server.before_request
    def guard() -> flask.Response | None:
        flask.g.user = flask.g.role = flask.g.how = ""
        flask.g.address = access.proxies.client_address(flask.request)
        found = identify(access, flask.request)
        if isinstance(found, Identity):
            flask.g.user, flask.g.role, flask.g.how = found.user, found.role, found.how
            needed = needed_role(access, flask.request, found.role)
            if allows(found.role, needed):
                return None
            found = Refusal(403, f"{found.user} may not do this: it needs the role {needed}")
        return _answer(access, found)

    @server.after_request
    def note(response: flask.Response) -> flask.Response:
        _audit(access, response)
        return response

    return access


def identify(access: Access, request: flask.Request) -> Identity | Refusal:
    """Who sends ``request``: a token counts first, then what the mode of access asks for."""
    mode = access.settings.access_mode
    if mode == "none":
        return Identity("", "admin", "none")
    given = request.authorization
    if given is not None and given.type == "bearer":
        return _by_token(access, given.token or "")
    return _by_proxy(access, request) if mode == "proxy" else _by_password(access, given)


def _by_token(access: Access, text: str) -> Identity | Refusal:
    address: Key = (f"address {neighbourhood(flask.g.address)}", access.settings.sign_in_attempts)
    token = access.tokens.find(text)
    state = token.state(time.time()) if token else "unknown"
    if token and state == "valid":
        access.tokens.used(token)
        once = flask.request.method in ("GET", "HEAD")
        write = access.audit.write_once if once else access.audit.write
        more = {} if once else {"method": flask.request.method, "path": flask.request.path}
        write("token used", token=token.id, user=token.user, role=token.role, address=flask.g.address, **more)
        return Identity(token.user, token.role, "token")
    wait_s = access.attempts.begin([address])
    if wait_s:
        return Refusal(429, "too many wrong tokens or passwords from this address", wait_s)
    access.audit.write("token refused", token=token.id if token else "", state=state, address=flask.g.address)
    return Refusal(401, f"this token is {state}")


def _by_password(access: Access, given: Authorization | None) -> Identity | Refusal:
    if given is None or given.type != "basic":
        return Refusal(401, "Sign in to use Swimscope.")
    user, password = given.username or "", given.password or ""
    if not access.passwords.was_right(user, password):
        most = access.settings.sign_in_attempts
        keys = [(f"address {neighbourhood(flask.g.address)}", most), (f"user {user}", USER_FACTOR * most)]
        wait_s = access.attempts.begin(keys)
        if wait_s:
            access.audit.write_once("sign-in blocked", user=user[:128], address=flask.g.address)
            return Refusal(429, "too many wrong passwords; wait, then try again", wait_s)
        if not access.passwords.is_right(user, password):
            access.audit.write("sign-in refused", user=user[:128], address=flask.g.address)
            return Refusal(401, "Sign in to use Swimscope.")
        access.attempts.take_back(keys)
    return _known(access, user, (), "password")


def _by_proxy(access: Access, request: flask.Request) -> Identity | Refusal:
    if not access.proxies.trusts(request.remote_addr or ""):
        return Refusal(
            403, "this server answers through its sign-in proxy only (proxy_addresses), or with an API token"
        )
    user, groups = access.proxies.identity(request)
    if not user:
        return Refusal(401, f"the proxy named no user in {access.settings.proxy_user_header}")
    return _known(access, user, groups, "proxy")


def _known(access: Access, user: str, groups: list[str] | tuple[str, ...], how: str) -> Identity | Refusal:
    role = access.roles.of(user, groups)
    if not role:
        access.audit.write_once("sign-in without a role", user=user, address=flask.g.address, how=how)
        return Refusal(403, f"{user} has no role on this server")
    access.audit.write_once("sign-in", user=user, role=role, address=flask.g.address, how=how)
    return Identity(user, role, how)


def needed_role(access: Access, request: flask.Request, role: str) -> str:
    """The role that ``request`` needs; a user of ``role`` admin is asked nothing more."""
    if role == "admin":
        return "view"
    inside = request.path.removeprefix(access.settings.url_prefix)
    if request.method not in ("GET", "HEAD") and UPLOADING.match(inside):
        return "upload"
    needed = access.needed.get(f"route {request.endpoint}", "view")
    if inside == "_dash-update-component" and request.method == "POST":
        body = request.get_json(silent=True)
        needed = access.needed.get(f"callback {body.get('output')}", needed) if isinstance(body, dict) else needed
    return needed


def _answer(access: Access, refusal: Refusal) -> flask.Response:
    inside = flask.request.path.removeprefix(access.settings.url_prefix)
    plain = inside.startswith(("api/", "_dash"))
    response = flask.make_response({"error": refusal.text} if plain else f"{refusal.text}\n", refusal.status)
    if not plain:
        response.mimetype = "text/plain"
    if refusal.status == 401 and access.settings.access_mode == "htpasswd":
        response.headers["WWW-Authenticate"] = 'Basic realm="Swimscope", charset="UTF-8"'
    elif refusal.status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="Swimscope"'
    if refusal.retry_s:
        response.headers["Retry-After"] = str(math.ceil(refusal.retry_s))
    response.headers["Cache-Control"] = "no-store"
    return response


def _audit(access: Access, response: flask.Response) -> None:
    """Write what a request changed; one that was refused for its role too."""
    request, inside = flask.request, flask.request.path.removeprefix(access.settings.url_prefix)
    who: dict[str, Any] = {"user": flask.g.get("user", ""), "address": flask.g.get("address", "")}
    for method, pattern, event in AUDITED:
        if request.method == method and pattern.match(inside):
            facts = {"path": f"/{inside}", "status": response.status_code, "size_bytes": request.content_length}
            access.audit.write(event, **who, **facts)
            return
    if response.status_code == 403 and flask.g.get("role"):
        access.audit.write("refused", **who, method=request.method, path=f"/{inside}", role=flask.g.role)
