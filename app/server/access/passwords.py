"""Is this the user's password? An htpasswd file with bcrypt hashes, or the one user of the settings."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from pathlib import Path

import bcrypt
from cachetools import LRUCache
from werkzeug.security import check_password_hash

from app.server.access.watched import Watched
from app.server.settings import Settings, SettingsError

_BCRYPT = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")
BCRYPT_BYTES = 72
"""bcrypt reads so many bytes of a password; htpasswd cuts it there too."""
MAX_COST = 15
"""A hash of a higher cost would keep a thread for seconds at every attempt."""
NOBODY = bcrypt.hashpw(secrets.token_bytes(16), bcrypt.gensalt(10))
"""What a password is compared with where the user does not exist, so that both answers take as long."""


def parse_htpasswd(text: str, place: str) -> dict[str, str]:
    """User → bcrypt hash.

    Raises:
        SettingsError: a line holds no user with a bcrypt hash; the message begins with ``place`` and names the line.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        user, _, hashed = line.strip().partition(":")
        match = _BCRYPT.fullmatch(hashed)
        if not user or match is None or not 4 <= int(match.group(1)) <= MAX_COST:
            raise SettingsError(
                f"{place}, line {number}: not USER:HASH with a bcrypt hash of cost 4 to {MAX_COST}; make it with htpasswd -B"
            )
        found[user] = hashed
    return found


class Passwords:
    """Users and passwords as the settings and the htpasswd file say now.

    Raises:
        SettingsError: the htpasswd file cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        self._one = (settings.auth_user, settings.auth_password_hash) if settings.auth_user else None
        self._file: Watched[dict[str, str]] | None = None
        if settings.htpasswd_file:
            name = settings.htpasswd_file
            self._file = Watched(Path(name), lambda text: parse_htpasswd(text, name), {})
        self._salt = secrets.token_bytes(16)
        self._accepted: LRUCache[bytes, bool] = LRUCache(4_096)
        self._lock = threading.Lock()

    def was_right(self, user: str, password: str) -> bool:
        """Whether this process has found the password right before, and it still is: costs no hashing of passwords."""
        digest = self._digest(user, password)
        with self._lock:
            return digest in self._accepted

    def is_right(self, user: str, password: str) -> bool:
        """Whether the password is right; takes tens of milliseconds."""
        right = self._check(user, password)
        if right:
            digest = self._digest(user, password)
            with self._lock:
                self._accepted[digest] = True
        return right

    def _check(self, user: str, password: str) -> bool:
        hashed = self._hash_of(user)
        if self._one and user == self._one[0]:
            return check_password_hash(hashed, password)
        given = password.encode("utf-8", "surrogateescape")[:BCRYPT_BYTES]
        if b"\0" in given:
            return False
        return bcrypt.checkpw(given, hashed.encode() or NOBODY) and bool(hashed)

    def _hash_of(self, user: str) -> str:
        if self._one and user == self._one[0]:
            return self._one[1]
        return self._file.value().get(user, "") if self._file else ""

    def _digest(self, user: str, password: str) -> bytes:
        """Names user, password and the hash of now: a changed or removed hash ends what was accepted by it."""
        words = "\0".join((user, password, self._hash_of(user)))
        return hmac.new(self._salt, words.encode("utf-8", "surrogateescape"), hashlib.sha256).digest()
