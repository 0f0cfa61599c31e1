"""``swimscope push``: how does a directory get from here to a server? Piece by piece, and on after a broken connection."""

from __future__ import annotations

import base64
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import InputError, SwimscopeError

PIECE_BYTES = 8 << 20
TRIES = 8
WAIT_S = 1.0
POLL_S = 0.3
TIMEOUT_S = 120.0


class PushError(SwimscopeError):
    """The server refused, or could not be reached."""


@dataclass(frozen=True, slots=True)
class Client:
    """A server and how to sign in: ``authorization`` is the header's value, "" for none."""

    server: str
    authorization: str = ""

    def ask(self, method: str, address: str, body: bytes | None = None, **headers: str) -> tuple[Any, Any]:
        """(headers, JSON or None) of an answer; connection errors are tried again.

        Raises:
            PushError: the server refused, or did not answer in :data:`TRIES` tries.
        """
        url = address if address.startswith("http") else self.server.rstrip("/") + "/" + address.lstrip("/")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.authorization:
            named["Authorization"] = self.authorization
        for attempt in range(TRIES):
            request = urllib.request.Request(url, data=body, method=method, headers=named)
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                    text = answer.read()
                    return answer.headers, json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                if error.code == 409:
                    return error.headers, None
                raise PushError(f"{self.server}: {error.code} {_reason(error)}") from error
            except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
                if method == "PATCH" or attempt + 1 == TRIES:
                    raise PushError(f"{self.server} cannot be reached: {error}") from error
                time.sleep(WAIT_S * 2**attempt / 4)
        raise AssertionError


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["error"])
    except (ValueError, KeyError, TypeError, OSError):
        return error.reason


def push(source: Path, client: Client, name: str = "", note: str = "", say: Callable[[str], None] = print) -> str:
    """Send a file or a directory; returns the address of the runs it became.

    Raises:
        PushError: the server refused, or could not be reached any more.
        InputError: there is nothing to send.
    """
    files = list(_files(source))
    if not files:
        raise InputError(str(source), "", "no file is in it", "Name a run's directory, a file or an archive")
    _headers, batch = client.ask(
        "POST", "api/batches", json.dumps({"name": name or _name(source), "note": note}).encode(),
        Content_Type="application/json",
    )  # fmt: skip
    total = sum(file.stat().st_size for file, _relative in files)
    sent = 0
    for file, relative in files:
        for done in _send(client, batch["id"], file, relative):
            say(f"{(sent + done) / max(total, 1):.0%} of {total:,} bytes")
        sent += file.stat().st_size
    client.ask("POST", f"api/batches/{batch['id']}/finish", b"")
    while True:
        _headers, state = client.ask("GET", f"api/batches/{batch['id']}")
        if state["state"] == "done":
            return client.server.rstrip("/") + "/" + state["href"].lstrip("/")
        if state["state"] in ("failed", "cancelled"):
            raise PushError(f"{client.server}: {state['message']}")
        time.sleep(POLL_S)


def _name(source: Path) -> str:
    """A directory is called by its name, ``dfx_outputs`` by the one around it, an archive without its ending."""
    place = source.resolve()
    if place.is_dir():
        return place.parent.name if place.name == "dfx_outputs" else place.name
    return place.name.partition(".")[0] or place.name


def _files(source: Path) -> Iterator[tuple[Path, str]]:
    """Regular files with their names relative to ``source``; links are left out, as the server refuses them."""
    if source.is_file():
        yield source, source.name
        return
    for folder, names, inside in os.walk(source):
        names.sort()
        for name in sorted(inside):
            file = Path(folder) / name
            if file.is_file() and not file.is_symlink():
                yield file, file.relative_to(source).as_posix()


def _send(client: Client, batch: str, file: Path, relative: str) -> Iterator[int]:
    """Send one file; yields the bytes that are there. A broken connection goes on where the server's copy ends."""
    length = file.stat().st_size
    words = {"batch": batch, "filename": relative}
    metadata = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in words.items())
    headers, _ = client.ask("POST", "api/uploads", b"", Upload_Length=str(length), Upload_Metadata=metadata)
    address = "api/uploads/" + headers["Location"].rpartition("/")[2]
    offset, failures = 0, 0
    with file.open("rb") as stream:
        while offset < length:
            stream.seek(offset)
            piece = stream.read(PIECE_BYTES)
            try:
                headers, _ = client.ask(
                    "PATCH", address, piece, Upload_Offset=str(offset), Content_Type="application/offset+octet-stream"
                )
                failures = 0
            except PushError as error:
                failures += 1
                if failures == TRIES or "cannot be reached" not in str(error):
                    raise
                time.sleep(WAIT_S)
                headers, _ = client.ask("HEAD", address)
            offset = int(headers["Upload-Offset"])
            yield offset
