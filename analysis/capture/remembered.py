"""What do commands remember? Captures and answers, in the store of the data directory, as the server does."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from analysis.capture.model import Capture

DATA_DIR_VARIABLE = "SWIMSCOPE_DATA_DIR"
STORE_MAX_VARIABLE = "SWIMSCOPE_STORE_MAX_BYTES"
STORE_MAX_BYTES = 50_000_000_000
log = logging.getLogger("swimscope")


def default_data_dir() -> Path:
    """The data directory where none is named."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(base) / "swimscope"


class Memory:
    """The store of ``SWIMSCOPE_DATA_DIR``, kept within ``SWIMSCOPE_STORE_MAX_BYTES``.

    Where it cannot be used, everything is read and computed again, and the log says why.

    Args:
        used: False reads the files every time and keeps nothing.
    """

    def __init__(self, used: bool = True) -> None:
        self.used = used
        self.read: list[Capture] = []
        """Captures that had to be read from their files."""
        self._store: Any = None

    def open(self, path: Path, launch: int, include_flagged: bool = False) -> Capture:
        """The capture at ``path``: from the store when its files are known there, else read and stored.

        Raises:
            NotFoundError, UnknownFormatError, InputError: as :func:`analysis.formats.load`.
        """
        if self.used:
            try:
                return self._open(path, launch, include_flagged)
            except OSError as error:
                self._give_up(error)
        from analysis.formats import load

        return load(path, launch, include_flagged)

    def answer(self, capture: Capture, name: str, arguments: Mapping[str, Any], make: Callable[[], str]) -> str:
        """What ``make`` wrote for this content, ``name`` and ``arguments`` before with the same code, or writes now."""
        if self._store is None:
            return make()
        import numpy as np

        key = json.dumps(["answer", code_version(), name, dict(sorted(arguments.items()))], default=str)
        try:
            kept = self._store.derived(capture, key, lambda: {"text": np.frombuffer(make().encode(), np.uint8)})
        except OSError as error:
            self._give_up(error)
            return make()
        return bytes(kept["text"]).decode()

    def _open(self, path: Path, launch: int, include_flagged: bool) -> Capture:
        from analysis.capture.store import Store

        self._store = self._store or Store(data_dir() / "store")
        known: Capture | None = self._store.known(path, launch, include_flagged)
        if known is not None:
            return known
        found: Capture = self._store.open(path, launch, include_flagged=include_flagged)
        self.read.append(found)
        self._store.evict(_limit_bytes())
        return found

    def _give_up(self, error: OSError) -> None:
        log.info("the store in %s cannot be used: %s", data_dir(), error)
        self.used, self.read, self._store = False, [], None


def data_dir() -> Path:
    """The data directory of this process's environment."""
    return Path(os.environ.get(DATA_DIR_VARIABLE) or default_data_dir()).expanduser()


def code_version() -> str:
    """Changes with every file of ``analysis``: an answer of other code is not this code's answer."""
    import hashlib

    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    return hashlib.sha256(
        str([(file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files]).encode()
    ).hexdigest()


def _limit_bytes() -> int:
    text = os.environ.get(STORE_MAX_VARIABLE, "")
    return int(text) if text.isascii() and text.isdecimal() else STORE_MAX_BYTES
