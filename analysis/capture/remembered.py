"""Where do commands keep what they have read? In the store of the data directory, as the server does."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from analysis.capture.model import Capture

DATA_DIR_VARIABLE = "SWIMSCOPE_DATA_DIR"
STORE_MAX_VARIABLE = "SWIMSCOPE_STORE_MAX_BYTES"
STORE_MAX_BYTES = 50_000_000_000
log = logging.getLogger("swimscope")


def default_data_dir() -> Path:
    """The data directory where none is named."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(base) / "swimscope"


def open_remembered(path: Path, launch: int) -> Capture:
    """The capture at ``path``: from the store when its files are known there, else read and stored.

    The store is that of ``SWIMSCOPE_DATA_DIR``, kept within ``SWIMSCOPE_STORE_MAX_BYTES``. Where it cannot be used the
    capture is read from its files, and the log says so.

    Raises:
        NotFoundError, UnknownFormatError, InputError: as :func:`analysis.formats.load`.
    """
    from analysis.capture.store import Store

    folder = Path(os.environ.get(DATA_DIR_VARIABLE) or default_data_dir()).expanduser() / "store"
    try:
        store = Store(folder)
        found = store.known(path, launch)
        if found is not None:
            return found
        found = store.open(path, launch)
        store.evict(_limit_bytes())
        return found
    except OSError as error:
        from analysis.formats import load

        log.info("the store in %s cannot be used: %s", folder, error)
        return load(path, launch)


def _limit_bytes() -> int:
    text = os.environ.get(STORE_MAX_VARIABLE, "")
    return int(text) if text.isascii() and text.isdecimal() else STORE_MAX_BYTES
