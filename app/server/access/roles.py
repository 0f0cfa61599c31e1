"""What may a user do? Three roles, each with everything the one before may; names are mapped by settings and a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import flask

from analysis.errors import SwimscopeError
from app.server.access.watched import Watched
from app.server.settings import Settings, SettingsError

ROLES = ("view", "upload", "admin")
EVERYBODY = "*"


class ForbiddenError(SwimscopeError):
    """The user may not see or do this."""


def allows(role: str, needed: str) -> bool:
    """Whether ``role`` (one of :data:`ROLES`, or "" for none) includes ``needed``."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(needed)


def role_now() -> str:
    """The role of the user whose request is being answered, as the guard set it; outside of requests the process's own, admin."""
    return str(flask.g.get("role", "admin")) if flask.has_request_context() else "admin"


def parse(text: str, place: str) -> dict[str, str]:
    """``NAME=ROLE`` pairs, separated by commas or lines; ``#`` begins a comment line.

    Raises:
        SettingsError: a part is no pair, or names another role; the message begins with ``place``.
    """
    found = {}
    for line in text.splitlines():
        for part in () if line.lstrip().startswith("#") else line.split(","):
            name, equals, role = (word.strip() for word in part.rpartition("="))
            if not part.strip():
                continue
            if not (name and equals) or role not in (*ROLES, "none"):
                raise SettingsError(
                    f"{place}: {part.strip()!r} is not NAME=ROLE with a role of {', '.join(ROLES)} or none"
                )
            found[name] = role
    return found


class Roles:
    """The mapping from users and groups to roles, current with ``roles_file``.

    Raises:
        SettingsError: the settings or the file cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        self._given = parse(settings.roles, "roles")
        self._default = self._given.pop(EVERYBODY, "view")
        self._file: Watched[dict[str, str]] | None = None
        if settings.auth_user:
            self._given.setdefault(settings.auth_user, "admin")
        if settings.roles_file:
            self._file = Watched(Path(settings.roles_file), lambda text: parse(text, settings.roles_file), {})

    def of(self, user: str, groups: Iterable[str] = ()) -> str:
        """The role of ``user``: what is said of the name, else the highest of its groups, else of everybody; "" is none."""
        known = self._given | (self._file.value() if self._file else {})
        named = known.get(user)
        if named is None:
            of_groups = [known[f"@{group}"] for group in groups if known.get(f"@{group}") in ROLES]
            named = max(of_groups, key=ROLES.index, default=known.get(EVERYBODY, self._default))
        return named if named in ROLES else ""
