"""The ``swimscope`` command: serve, demo, settings, token, hash-password."""

from __future__ import annotations

import argparse
import getpass
import http.client
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from werkzeug.security import generate_password_hash

from analysis.errors import SwimscopeError
from analysis.formats.text.warm import warm_in_background
from analysis.stdout import OutputError, output_errors
from analysis.version import version
from app.server.access import commands as tokens
from app.server.places import check_places
from app.server.settings import (
    ENV_PREFIX,
    ORIGINS_VARIABLE,
    Loaded,
    Settings,
    SettingsError,
    current,
    load,
    load_settings,
    table,
)

_FLAGS = [item.name for item in fields(Settings) if item.name != "roots" and not item.metadata["secret"]]

ORIGIN_WORDS = {"flag": "from the command line", "environment": "from the environment", "file": "from the config file"}


def parser() -> argparse.ArgumentParser:
    """The command line; flags are made from the settings table."""
    top = argparse.ArgumentParser(prog="swimscope", description="Serve and look at PyPTO 3.0 run records.")
    top.add_argument("--version", action="version", version=f"swimscope {version()}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("serve", "Serve the captures under one or more directory trees."),
        ("demo", "Make sample captures and serve them."),
        ("settings", "Show every setting, its value here, where it comes from and its meaning."),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--config", type=Path, help="TOML file with settings")
        command.add_argument(
            "--root", action="append", dest="roots", metavar="NAME=PATH", help="directory tree to offer; repeatable"
        )
        docs = {item.name: item.metadata["help"] for item in fields(Settings)}
        for flag in _FLAGS:
            command.add_argument("--" + flag.replace("_", "-"), dest=flag, help=docs[flag].replace("%", "%%"))
    tokens.add(commands)
    probe = commands.add_parser("probe", help="Ask the server of these settings whether it is live: exit code 0 or 1.")
    probe.add_argument("--config", type=Path, help="TOML file with settings")
    probe.add_argument("--port", help="port of the server")
    commands.add_parser("hash-password", help="Read a password and print its hash for auth_password_hash.")
    words = "Send a run's directory, files or an archive to a server."
    sending = commands.add_parser("push", help=words, description=words)
    sending.add_argument(
        "path", type=Path, metavar="PATH", help="a directory, a file, or a zip, tar, tar.gz or tar.zst"
    )
    sending.add_argument("--server", default="http://127.0.0.1:8050/", metavar="URL", help="default: %(default)s")
    sending.add_argument("--name", default="", help="name of the run (default: that of the directory)")
    sending.add_argument("--note", default="", help="what others should know about it")
    sending.add_argument("--token", default="", help="API token (default: the environment's SWIMSCOPE_TOKEN)")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 fine, 2 usage, settings, or an output that cannot be written."""
    try:
        with output_errors():
            return _run(argv)
    except OutputError as error:
        sys.stderr.write(f"swimscope: {error}\n")
        return 2


def _run(argv: Sequence[str] | None) -> int:
    args = vars(parser().parse_args(argv))
    command, config = args.pop("command"), args.pop("config", None)
    if command == "hash-password":
        sys.stdout.write(generate_password_hash(_read_password()) + "\n")
        return 0
    words: dict[str, Any] = {
        name: args.pop(name) for name in ("action", "user", "role", "days", "note", "id") if name in args
    }
    try:
        if command == "push":
            return _push(args)
        if command == "demo":
            args = _demo(args, config)
        loaded = load(args, config=config)
        if command == "probe":
            return _probe(loaded.settings)
        if command == "token":
            return tokens.run(loaded.settings, words)
        if command == "settings":
            _print_settings(loaded)
            return 0
        return serve(loaded.settings, loaded.origins)
    except SwimscopeError as error:
        sys.stderr.write(f"swimscope: {error}\n")
        return 2


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _push(args: dict[str, Any]) -> int:
    from app.runs.uploads.push import Client, push

    token = args["token"] or os.environ.get(ENV_PREFIX + "TOKEN", "")
    client = Client(args["server"], f"Bearer {token}" if token else "")
    address = push(args["path"], client, args["name"], args["note"], _say)
    sys.stdout.write(address + "\n")
    return 0


def serve(settings: Settings, origins: Mapping[str, str]) -> int:
    """Serve until stopped, in this process or, for several workers, under gunicorn. Never in debug mode."""
    check_places(settings)
    from app.server.serving import gunicorn_arguments, needs_gunicorn, prepare_figures, serve_until_stopped

    warm_in_background()
    sys.stderr.write(f"Swimscope at http://{settings.host}:{settings.port}{settings.url_prefix}\n")
    if needs_gunicorn(settings):
        os.environ.update(environment(settings))
        os.environ[ORIGINS_VARIABLE] = ",".join(f"{name}={origin}" for name, origin in origins.items())
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = prepare_figures(settings)
        os.execvp(
            sys.executable, [sys.executable, "-m", "gunicorn", *gunicorn_arguments(settings), "app.server.wsgi:server"]
        )
    from app.server.factory import create_app
    from app.server.observing import configure_logs
    from app.work import housekeeping

    configure_logs(settings)
    server = create_app(settings, origins).server
    housekeeping.start(server.extensions["swimscope"])
    try:
        serve_until_stopped(server, settings)
    except OSError as error:
        raise SettingsError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}") from error
    return 0


def environment(settings: Settings) -> dict[str, str]:
    """``settings`` as environment variables, for worker processes; one signing key for all of them."""
    from app.server.security import random_key

    out = {}
    for item in fields(Settings):
        value: Any = getattr(settings, item.name)
        if item.name == "roots":
            value = os.pathsep.join(f"{root.name}={root.path}" for root in value)
        out[ENV_PREFIX + item.name.upper()] = str(value)
    out[ENV_PREFIX + "SECRET_KEY"] = settings.secret_key or random_key()
    return out


def _probe(settings: Settings) -> int:
    """0 when the server answers on this machine; being asked to sign in is an answer too."""
    host = settings.host if settings.host not in ("", "0.0.0.0", "::") else "127.0.0.1"
    link = http.client.HTTPConnection(host, settings.port, timeout=5)
    try:
        link.request("GET", f"{settings.url_prefix}health/live")
        status = link.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"swimscope: no answer from {host}:{settings.port}: {error}\n")
        return 1
    finally:
        link.close()
    return 0 if status in (200, 401, 403) else 1


def _demo(args: dict[str, Any], config: Path | None) -> dict[str, Any]:
    """The command-line values with the sample tree as first root.

    The samples are made once, then reused. A process of its own makes them while the server starts: the runs page shows
    each as soon as it is there.
    """
    settings = load_settings(args, config=config)
    check_places(settings)
    folder = settings.data_dir / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    maker = subprocess.Popen([sys.executable, "-m", "analysis.synth.demo", str(folder)], stdin=subprocess.DEVNULL)
    threading.Thread(target=maker.wait, name="swimscope_demo", daemon=True).start()
    return args | {"roots": [f"samples={folder}", *(args.get("roots") or [])]}


def _print_settings(loaded: Loaded) -> None:
    values = current(loaded.settings)
    for name, _default, unit, text in table():
        origin = loaded.origins[name]
        note = f"    # {ORIGIN_WORDS[origin]}" if origin != "default" else ""
        sys.stdout.write(f"{name} = {values[name]}{f' ({unit})' if unit else ''}{note}\n    {text}\n")


def _read_password() -> str:
    if sys.stdin.isatty():
        return getpass.getpass("Password: ")
    return sys.stdin.readline().rstrip("\n")
