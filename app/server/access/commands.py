"""``swimscope token create | list | revoke``: API tokens of the data directory, on the machine where it is."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from app.server.access.audit import Audit, day
from app.server.access.proxies import MAX_NAME
from app.server.access.roles import ROLES
from app.server.access.tokens import Tokens
from app.server.settings import Settings, SettingsError

TOP_DAYS = 3_650.0
WORDS = ("action", "user", "role", "days", "note", "id")
"""What :func:`run` takes of the parsed words."""


def add(commands: Any) -> None:
    """``swimscope token`` and the words after it."""
    text = "Make, list and revoke API tokens."
    parser = commands.add_parser("token", help=text, description=text)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument("--config", type=Path, help="TOML file with settings")
    place.add_argument("--data-dir", dest="data_dir", help="data directory of the server")
    create = actions.add_parser("create", parents=[place], help="Make a token and show it, this once.")
    create.add_argument("user", help="whom the token acts as, for example ci-nightly")
    create.add_argument("--role", choices=ROLES, default="upload", help="default: upload")
    create.add_argument(
        "--days", type=float, default=90.0, metavar="N", help="good for N days (default 90); 0: for ever"
    )
    create.add_argument("--note", default="", help="what it is for")
    actions.add_parser("list", parents=[place], help="Show every token, without its secret.")
    revoke = actions.add_parser("revoke", parents=[place], help="Refuse a token from now on, in every worker.")
    revoke.add_argument("id", help="as `swimscope token list` shows it")


def run(settings: Settings, words: dict[str, Any]) -> int:
    """Do what ``words`` (see :func:`add`) say; 0 when done.

    Raises:
        NotFoundError: there is no token of that id.
        SettingsError: the user or the number of days cannot be one, or the data directory cannot be written.
    """
    tokens = Tokens(settings.data_dir / "tokens")
    audit = Audit(settings.data_dir, settings.audit_max_bytes)
    if words["action"] == "list":
        _list(tokens)
        return 0
    by = f"command line, uid {os.getuid()}"
    try:
        if words["action"] == "revoke":
            token = tokens.revoke(words["id"])
            audit.write("token revoked", token=token.id, user=token.user, by=by)
            sys.stdout.write(f"token {token.id} of {token.user} is revoked\n")
            return 0
        user, days = words["user"], words["days"]
        if not 0 < len(user) <= MAX_NAME or not user.isprintable() or "," in user:
            raise SettingsError(f"token: {user[:40]!r} cannot be a user name")
        if not 0 <= days <= TOP_DAYS:
            raise SettingsError(f"token: --days takes 0 to {TOP_DAYS:g}")
        text, token = tokens.create(user, words["role"], days, words["note"])
    except OSError as error:
        raise SettingsError(f"data_dir: {settings.data_dir} cannot be written: {error.strerror}") from error
    audit.write("token created", token=token.id, user=token.user, role=token.role, by=by)
    until = f"until {day(token.expires_s)} UTC" if token.expires_s else "without end"
    sys.stderr.write(f"token {token.id} for {user}, role {token.role}, good {until}; it is shown this once:\n")
    sys.stdout.write(text + "\n")
    return 0


def _list(tokens: Tokens) -> None:
    rows = [("id", "user", "role", "state", "created (UTC)", "expires (UTC)", "last used (UTC)", "note")]
    for token in tokens.all():
        times = (day(token.created_s), day(token.expires_s) or "never", day(tokens.used_s(token)) or "never")
        rows.append((token.id, token.user, token.role, token.state(time.time()), *times, token.note))
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        sys.stdout.write("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() + "\n")
