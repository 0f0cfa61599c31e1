"""Do the data directory and the roots exist, and how are places below them shown? From the root's name on."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass

from app.server.settings import Settings, SettingsError


def check_places(settings: Settings) -> None:
    """Make the data directory and see that every root is a directory.

    Raises:
        SettingsError: the data directory cannot be made or written, or a root is not there.
    """
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        (settings.data_dir / "tmp").mkdir(exist_ok=True)
        tempfile.TemporaryFile(dir=settings.data_dir / "tmp").close()
    except OSError as error:
        raise SettingsError(
            f"data_dir: {settings.data_dir} cannot be made or written: {error.strerror or error}"
        ) from error
    for root in settings.roots:
        if not root.path.is_dir():
            state = "is not a directory" if root.path.exists() else "does not exist"
            raise SettingsError(f"root {root.name}: {root.path} {state}")


@dataclass(frozen=True, slots=True)
class Places:
    """Turns absolute paths of the server inside messages into paths as the user knows them."""

    names: tuple[tuple[str, str], ...]
    """(absolute path, name), longest first."""

    @classmethod
    def of(cls, settings: Settings) -> Places:
        """The roots by name, and the data directory as ``data_dir``."""
        found = [(str(root.path), root.name) for root in settings.roots]
        found.append((str(settings.data_dir), "data_dir"))
        return cls(tuple(sorted((pair for pair in found if pair[0] != "/"), key=lambda pair: -len(pair[0]))))

    def shown(self, text: str) -> str:
        """``text`` with every path below a root beginning at the root's name."""
        for path, name in self.names:
            text = re.sub(re.escape(path) + r"(?![\w.-])", name.replace("\\", r"\\"), text)
        return text
