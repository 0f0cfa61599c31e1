"""Which API token is this, and is it good now? One small file per token, read at every use by every worker."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from analysis.errors import NotFoundError
from analysis.files import write_atomically

SCHEMA = 1
PREFIX = "swim"
USED_EVERY_S = 60.0
"""The time of the last use is noted at most this often."""
_TOKEN = re.compile(rf"{PREFIX}_([0-9a-f]{{12}})_[A-Za-z0-9_-]{{43}}")
_ID = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token: never the token itself. ``expires_s`` 0 is never; ``revoked_s`` 0 is not revoked."""

    id: str
    user: str
    role: str
    note: str
    sha256: str
    created_s: float
    expires_s: float = 0.0
    revoked_s: float = 0.0

    def state(self, now_s: float) -> str:
        """``valid``, ``expired`` or ``revoked``."""
        if self.revoked_s:
            return "revoked"
        return "expired" if self.expires_s and now_s >= self.expires_s else "valid"


class Tokens:
    """The tokens under ``folder``; nothing is kept in memory, so that a revoked one is refused at once everywhere."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, user: str, role: str, days: float, note: str = "") -> tuple[str, Token]:
        """A new token for ``user``, shown this once, and what is kept of it; ``days`` 0 is without end."""
        token_id = secrets.token_hex(6)
        text = f"{PREFIX}_{token_id}_{secrets.token_urlsafe(32)}"
        now = time.time()
        token = Token(token_id, user, role, note, _sha256(text), now, now + days * 86_400 if days else 0.0)
        self._save(token)
        return text, token

    def find(self, text: str) -> Token | None:
        """The token of this text, whatever its state; None when there is none."""
        match = _TOKEN.fullmatch(text)
        found = self._read(match.group(1)) if match else None
        return found if found and hmac.compare_digest(found.sha256, _sha256(text)) else None

    def revoke(self, token_id: str) -> Token:
        """Refuse the token from now on.

        Raises:
            NotFoundError: there is none of that id.
        """
        found = self._read(token_id) if _ID.fullmatch(token_id) else None
        if found is None:
            raise NotFoundError(f"there is no token {token_id[:40]!r}; `swimscope token list` shows them")
        self._save(new := replace(found, revoked_s=found.revoked_s or time.time()))
        return new

    def all(self) -> list[Token]:
        """Every token, newest first."""
        found = [self._read(file.stem) for file in self._folder.glob("*.json")]
        return sorted((token for token in found if token), key=lambda token: -token.created_s)

    def used(self, token: Token) -> None:
        """Note that it was used now."""
        file = self._folder / f"{token.id}.used"
        if time.time() - self.used_s(token) >= USED_EVERY_S:
            with contextlib.suppress(OSError):  # a full or read-only disk: the audit log's warning says so
                file.touch()

    def used_s(self, token: Token) -> float:
        """When it was used last; 0 for never."""
        try:
            return (self._folder / f"{token.id}.used").stat().st_mtime
        except OSError:
            return 0.0

    def _save(self, token: Token) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(self._folder / f"{token.id}.json", json.dumps({"schema": SCHEMA, **asdict(token)}).encode())
        os.chmod(self._folder / f"{token.id}.json", 0o600)

    def _read(self, token_id: str) -> Token | None:
        try:
            known = json.loads((self._folder / f"{token_id}.json").read_bytes())
            known.pop("schema")
            return Token(**known)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or damaged: it lets nobody in
            return None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
