"""Which settings are there, and what are they in this process?

One table, the fields of :class:`Settings`, drives the command line, the environment (``SWIMSCOPE_<NAME>``), the TOML
config file, validation and ``docs/settings.md``. Precedence: command line, environment, config file, default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from analysis.capture.remembered import STORE_MAX_BYTES, default_data_dir
from analysis.errors import SwimscopeError

ENV_PREFIX = "SWIMSCOPE_"
ORIGINS_VARIABLE = "SWIMSCOPE_SETTING_ORIGINS"
"""``name=origin,…``: how a parent process says where the values came from that it passes on in the environment."""
UPLOADS_ROOT = "uploads"
"""Name under which uploads are listed among the roots."""


class SettingsError(SwimscopeError):
    """A setting has an unknown name or a value that cannot be used."""


@dataclass(frozen=True, slots=True)
class Root:
    """A directory tree that is offered read-only under ``name``."""

    name: str
    path: Path


def _setting(default: Any, unit: str, doc: str, secret: bool = False) -> Any:
    return field(default=default, metadata={"unit": unit, "help": doc, "secret": secret})


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of the server; immutable once the application is made."""

    roots: tuple[Root, ...] = _setting((), "", "Directory trees to offer, NAME=PATH each; they are only read.")
    host: str = _setting("127.0.0.1", "", "Address to listen on.")
    port: int = _setting(8050, "", "Port to listen on.")
    workers: int = _setting(1, "processes", "Server processes; more than one are started and watched by gunicorn.")
    threads: int = _setting(4, "threads", "Request threads in each process.")
    data_dir: Path = field(
        default_factory=default_data_dir,
        metadata={
            "unit": "",
            "help": "Where opened captures, derived results and stored links are kept.",
            "secret": False,
        },
    )
    allowed_hosts: str = _setting(
        "",
        "",
        "Host names by which browsers may address the server, separated by commas; empty: the names it listened on "
        "and any IP address; * for every name.",
    )
    url_prefix: str = _setting("/", "", "Path prefix when the server is behind a proxy, for example /swimscope/.")
    title: str = _setting("Swimscope", "", "Name shown in the top bar and the browser tab.")
    access: str = _setting(
        "none", "", "Who may come in: none (everybody, as admin), htpasswd (HTTP Basic) or proxy (headers of a proxy)."
    )
    htpasswd_file: str = _setting("", "", "File of users and bcrypt hashes (htpasswd -B); read again when it changes.")
    auth_user: str = _setting("", "", "Name of the only user, instead of an htpasswd file; switches HTTP Basic on.")
    auth_password_hash: str = _setting("", "", "Password hash made by `swimscope hash-password`.", secret=True)
    secret_key: str = _setting(
        "", "", "Signing secret shared by all workers; made up at start when empty.", secret=True
    )
    roles: str = _setting(
        "",
        "",
        "Roles (view, upload, admin) of users and, with @, groups: alice=admin,@npu=upload; * is everybody else.",
    )
    roles_file: str = _setting("", "", "File with one NAME=ROLE per line, beside `roles`; read again when it changes.")
    proxy_addresses: str = _setting(
        "", "", "Addresses and networks of trusted proxies, separated by commas; their headers are believed."
    )
    proxy_user_header: str = _setting("X-Forwarded-User", "", "Header in which the trusted proxy names the user.")
    proxy_groups_header: str = _setting(
        "X-Forwarded-Groups", "", "Header in which the trusted proxy lists the groups of the user."
    )
    sign_in_attempts: int = _setting(
        10, "attempts", "Wrong passwords or tokens per address in sign_in_window_s; five times as many per user name."
    )
    sign_in_window_s: float = _setting(300.0, "seconds", "How long a wrong password or token counts.")
    audit_max_bytes: int = _setting(
        10_000_000, "bytes", "Size at which audit.log in the data directory is rotated; five older ones are kept."
    )
    request_max_bytes: int = _setting(2_000_000, "bytes", "Largest body of a request; a longer one is refused unread.")
    read_time_max_s: float = _setting(
        20.0, "seconds", "A request that has not arrived completely by then is dropped with its connection."
    )
    scan_interval_s: float = _setting(5.0, "seconds", "Pause between two looks at the roots for new runs.")
    scan_max_runs: int = _setting(50_000, "captures", "Captures listed per root before the scan says it stopped.")
    facts_max_bytes: int = _setting(
        64_000_000,
        "bytes",
        "Captures up to this size come first when the runs table is filled in; larger ones follow one by one, with low "
        "priority. 0 leaves captures unread until somebody opens them.",
    )
    jobs_at_once: int = _setting(
        2, "processes", "Background processes of all workers together; further jobs wait and say so."
    )
    job_memory_max_bytes: int = _setting(
        32_000_000_000,
        "bytes",
        "Most memory a background process may use; small captures get less: 4 GB and 40 bytes per byte of their files.",
    )
    job_time_max_s: float = _setting(1_800.0, "seconds", "A background process that runs longer is stopped.")
    inline_open_max_bytes: int = _setting(
        12_000_000, "bytes", "Captures up to this size are opened within the request; larger ones in the background."
    )
    inline_analysis_records: int = _setting(
        200_000,
        "records",
        "Analyses and task graphs of captures up to this size are computed within the request; others in the background.",
    )
    open_captures: int = _setting(4, "captures", "Captures each process keeps mapped.")
    grid_client_rows: int = _setting(
        10_000, "rows", "Tables up to this many rows are sent whole, longer ones in blocks."
    )
    uploads: str = _setting("on", "", "Whether runs can be uploaded: on or off.")
    upload_max_bytes: int = _setting(4_000_000_000, "bytes", "Largest upload as it arrives, all its files together.")
    upload_max_unpacked_bytes: int = _setting(16_000_000_000, "bytes", "Largest upload once its archives are unpacked.")
    upload_max_files: int = _setting(20_000, "files", "Most files of an upload.")
    upload_max_ratio: float = _setting(200.0, "", "Most times that an archive may grow when it is unpacked.")
    upload_max_depth: int = _setting(32, "directories", "Deepest directory of an upload.")
    upload_quota_bytes: int = _setting(
        100_000_000_000, "bytes", "What one user may keep in uploads, deleted ones included."
    )
    upload_time_max_s: float = _setting(
        3_600.0, "seconds", "A request that sends part of an upload may take this long."
    )
    upload_resume_s: float = _setting(86_400.0, "seconds", "How long an interrupted upload can be gone on with.")
    upload_undo_s: float = _setting(604_800.0, "seconds", "How long a deleted upload can be put back.")
    upload_keep_s: float = _setting(0.0, "seconds", "Age at which an upload is deleted; 0 keeps it indefinitely.")
    link_max_bytes: int = _setting(262_144, "bytes", "Largest view that can be stored as a short link.")
    stored_links_max_bytes: int = _setting(
        1_000_000_000, "bytes", "All stored links together; beyond, those opened longest ago are removed."
    )
    store_max_bytes: int = _setting(
        STORE_MAX_BYTES,
        "bytes",
        "Opened captures and derived results together; beyond, those used longest ago are removed and made again on demand.",
    )
    log_level: str = _setting("INFO", "", "Least severe message to log: DEBUG, INFO, WARNING or ERROR.")
    log_format: str = _setting("text", "", "text, or json: one object per line, one line per request with its id.")
    graceful_stop_s: float = _setting(
        30.0, "seconds", "How long requests under way may take to finish when the server is stopped."
    )
    worker_memory_max_bytes: int = _setting(
        0, "bytes", "A worker that holds more memory of its own is replaced after its requests; 0 for no ceiling."
    )

    @property
    def access_mode(self) -> str:
        """``access``, or htpasswd where only ``auth_user`` is set."""
        return "htpasswd" if self.access == "none" and self.auth_user else self.access


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and where each value came from: flag, environment, file or default."""

    settings: Settings
    origins: Mapping[str, str]


def table() -> list[tuple[str, str, str, str]]:
    """Rows (name, default, unit, help) of the settings table, in order."""
    blank = Settings()
    rows = []
    for item in fields(Settings):
        value = getattr(blank, item.name)
        shown = "" if item.name in ("roots", "data_dir") else str(value)
        if item.name == "data_dir":
            shown = "~/.local/share/swimscope"
        rows.append((item.name, shown, item.metadata["unit"], item.metadata["help"]))
    return rows


def current(settings: Settings) -> dict[str, str]:
    """Name → value in use, secrets replaced by ``(set)``."""
    out = {}
    for item in fields(Settings):
        value = getattr(settings, item.name)
        if item.metadata["secret"]:
            out[item.name] = "(set)" if value else ""
        elif item.name == "roots":
            out[item.name] = " ".join(f"{root.name}={root.path}" for root in value)
        else:
            out[item.name] = str(value)
    return out


def parse_root(text: str) -> Root:
    """``NAME=PATH`` (or only ``PATH``, named after its last part) as a :class:`Root`; raises SettingsError."""
    name, equals, path = text.partition("=")
    if not equals:
        name, path = Path(text).name or "root", text
    name = name.strip()
    if not name or not path or "/" in name:
        raise SettingsError(f"root {text!r}: expected NAME=PATH with a name without slashes")
    return Root(name, Path(path).expanduser().resolve())


def load_settings(
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Settings:
    """Settings from command-line values, the environment and a TOML file, in that precedence.

    Args:
        overrides: name → value from the command line; None values count as not given.
        environ: the environment to read; the process's own by default.
        config: TOML file; ``SWIMSCOPE_CONFIG`` names one when None.

    Raises:
        SettingsError: an unknown name or an unusable value; the message names the place it came from.

    A secret may stand in a file of its own: ``SWIMSCOPE_SECRET_KEY_FILE``, or ``secret_key_file`` in the TOML file.
    """
    return load(overrides, environ, config).settings


def load(
    overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None, config: Path | None = None
) -> Loaded:
    """:func:`load_settings`, with the origin of every value; what a parent process passes on keeps its origin."""
    environ = os.environ if environ is None else environ
    known = {item.name for item in fields(Settings)}
    secret = {f"{item.name}_file": item.name for item in fields(Settings) if item.metadata["secret"]}
    config = config or (Path(environ[ENV_PREFIX + "CONFIG"]) if environ.get(ENV_PREFIX + "CONFIG") else None)
    values: dict[str, Any] = {}
    origins = dict.fromkeys(known, "default")

    def take(name: str, value: Any, place: str, origin: str) -> None:
        if name in secret:
            name, value = secret[name], _read_secret(Path(value), place)
        values[name], origins[name] = _convert(name, value, place), origin

    for name, value in _read_config(config).items() if config else ():
        if name not in known and name not in secret:
            raise SettingsError(f"{config}: unknown setting {name!r}; `swimscope settings` lists them")
        take(name, value, f"{config}: {name}", "file")
    for name in (*secret, *known):
        if environ.get(ENV_PREFIX + name.upper()):
            take(name, environ[ENV_PREFIX + name.upper()], ENV_PREFIX + name.upper(), "environment")
    for name, value in (overrides or {}).items():
        if name not in known:
            raise SettingsError(f"unknown setting {name!r}; `swimscope settings` lists them")
        if value is not None:
            take(name, value, "--" + name.replace("_", "-"), "flag")
    passed_on = environ.get(ORIGINS_VARIABLE, "")
    origins |= dict(pair.split("=", 1) for pair in passed_on.split(",") if "=" in pair)
    return Loaded(_check(Settings(**values)), origins)


def _read_secret(path: Path, place: str) -> str:
    try:
        return path.expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not text"
        raise SettingsError(f"{place}: {path} cannot be read: {reason}") from error


def _read_config(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"config file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"config file {path}: {error}") from error


def _convert(name: str, value: Any, place: str) -> Any:
    """``value`` in the type of setting ``name``."""
    if name == "roots":
        return _convert_roots(value, place)
    kind = {item.name: item.type for item in fields(Settings)}[name]
    try:
        if kind == "int":
            return int(value)
        if kind == "float":
            return float(value)
        if kind == "Path":
            return Path(value).expanduser().resolve()
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{place}: {value!r} is not a {'number' if kind in ('int', 'float') else kind}") from error
    if not isinstance(value, str):
        raise SettingsError(f"{place}: {value!r} is not a text")
    return value


def _convert_roots(value: Any, place: str) -> tuple[Root, ...]:
    if isinstance(value, Mapping):
        return tuple(parse_root(f"{name}={path}") for name, path in value.items())
    if isinstance(value, str):
        value = [part for part in value.split(os.pathsep) if part]
    if isinstance(value, (list, tuple)):
        return tuple(item if isinstance(item, Root) else parse_root(str(item)) for item in value)
    raise SettingsError(f"{place}: expected a table of NAME = PATH")


_LEAST = {
    "port": 0,
    "workers": 1,
    "threads": 1,
    "scan_interval_s": 0.1,
    "scan_max_runs": 1,
    "open_captures": 1,
    "request_max_bytes": 1_000,
    "read_time_max_s": 1,
    "jobs_at_once": 1,
    "job_memory_max_bytes": 1_000_000_000,
    "job_time_max_s": 1,
    "sign_in_attempts": 1,
    "sign_in_window_s": 1,
    "audit_max_bytes": 1_000,
    "graceful_stop_s": 0,
    "worker_memory_max_bytes": 0,
    "upload_max_bytes": 1,
    "upload_max_files": 1,
    "upload_max_depth": 1,
    "upload_max_ratio": 1,
    "upload_keep_s": 0,
}
"""Smallest value of a setting."""


def _check(settings: Settings) -> Settings:
    """``settings`` when every value is in range; raises SettingsError."""
    names = [root.name for root in settings.roots]
    if len(set(names)) != len(names):
        raise SettingsError(f"two roots share a name: {', '.join(sorted(n for n in names if names.count(n) > 1))}")
    for name, least in _LEAST.items():
        if not getattr(settings, name) >= least:
            raise SettingsError(f"{name}: {getattr(settings, name)} is below {least}")
    if settings.log_level.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise SettingsError(f"log_level: {settings.log_level!r} is none of DEBUG, INFO, WARNING, ERROR")
    _check_access(settings)
    if settings.uploads not in ("on", "off"):
        raise SettingsError(f"uploads: {settings.uploads!r} is neither on nor off")
    if UPLOADS_ROOT in names and settings.uploads == "on":
        raise SettingsError(f"the root name {UPLOADS_ROOT} is taken by uploads; rename the root or set uploads to off")
    if bool(settings.auth_user) != bool(settings.auth_password_hash):
        raise SettingsError("sign-in needs both auth_user and auth_password_hash")
    if settings.log_format not in ("text", "json"):
        raise SettingsError(f"log_format: {settings.log_format!r} is neither text nor json")
    if not (settings.url_prefix.startswith("/") and settings.url_prefix.endswith("/")):
        raise SettingsError(f"url_prefix: {settings.url_prefix!r} must begin and end with /")
    return settings


def _check_access(settings: Settings) -> None:
    if settings.access not in ("none", "htpasswd", "proxy"):
        raise SettingsError(f"access: {settings.access!r} is none of none, htpasswd, proxy")
    if settings.access == "htpasswd" and not (settings.htpasswd_file or settings.auth_user):
        raise SettingsError("access = htpasswd needs htpasswd_file (or auth_user and auth_password_hash)")
    if settings.htpasswd_file and settings.access != "htpasswd":
        raise SettingsError("htpasswd_file is given, but access is not htpasswd")
    if settings.access == "proxy" and not settings.proxy_addresses:
        raise SettingsError("access = proxy needs proxy_addresses: whose identity headers are to be believed")
    if settings.access == "proxy" and settings.auth_user:
        raise SettingsError("auth_user is for access = htpasswd; with access = proxy the proxy signs users in")
