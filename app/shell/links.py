"""Where do long views live? JSON by content hash in the data directory, so that ``?s=<hash>`` opens the same view."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from analysis.errors import LimitError, NotFoundError
from analysis.files import write_atomically

LINK_VERSION = 1
_HASH = re.compile(r"^[0-9a-f]{20}$")


class Links:
    """Stored views under ``folder``; safe with several processes, since equal content has an equal name.

    Args:
        folder: where the files are; made on first use.
        max_bytes: largest view accepted.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def put(self, pairs: Mapping[str, str]) -> str:
        """Store a query and return its hash; raises LimitError when it is too large, NoRoomError on a full disk."""
        text = json.dumps({"version": LINK_VERSION, "query": dict(sorted(pairs.items()))}, ensure_ascii=False)
        data = text.encode("utf-8", "replace")
        if len(data) > self._max_bytes:
            raise LimitError(f"the view needs {len(data):,} bytes; link_max_bytes is {self._max_bytes:,}")
        name = hashlib.sha256(data).hexdigest()[:20]
        target = self._folder / f"{name}.json"
        if not target.exists():
            write_atomically(target, data)
        return name

    def get(self, name: str) -> dict[str, str]:
        """The stored query; raises NotFoundError when there is none of that name."""
        if not _HASH.match(name):
            raise NotFoundError(f"{name!r} is not the name of a stored link")
        file = self._folder / f"{name}.json"
        try:
            content = json.loads(file.read_text("utf-8"))
            os.utime(file)
        except OSError as error:
            raise NotFoundError(
                f"no stored link {name}; it may have been made on another server, or not been opened for very long"
            ) from error
        return {str(key): str(text) for key, text in content["query"].items()}

    def evict(self, max_bytes: int) -> int:
        """Remove the links opened longest ago until at most ``max_bytes`` remain; returns the bytes removed."""
        found = [(file.stat(), file) for file in self._folder.glob("*.json")]
        excess = sum(stat.st_size for stat, _file in found) - max_bytes
        removed = 0
        for stat, file in sorted(found, key=lambda item: item[0].st_mtime_ns):
            if removed >= excess:
                break
            file.unlink(missing_ok=True)
            removed += stat.st_size
        return removed
