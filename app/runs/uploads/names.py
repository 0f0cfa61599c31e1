"""Which names may an upload use? Relative, plain, and no two that a file system could take for one."""

from __future__ import annotations

import unicodedata

from analysis.errors import InputError, LimitError

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 2_048
FORBIDDEN = frozenset('<>:"|?*\\')
"""Characters that are separators or reserved on some system."""
RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{word}{n}" for word in ("com", "lpt") for n in range(1, 10))})


def clean_path(name: str, max_depth: int) -> tuple[str, ...]:
    """The parts of a relative path, in one Unicode form.

    Raises:
        InputError: the name is absolute, leaves its folder, or holds characters that no file of a run has.
        LimitError: it is deeper than ``max_depth`` (``upload_max_depth``).
    """
    text = unicodedata.normalize("NFC", name.replace("\\", "/"))
    if len(text.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise InputError(shown(name), "", f"the name is longer than {MAX_PATH_BYTES:,} bytes", "Shorten it")
    if text.startswith("/"):
        raise InputError(shown(name), "", "the name is absolute", "Pack the files with names relative to their folder")
    parts = tuple(part for part in text.split("/") if part not in ("", "."))
    if not parts:
        raise InputError(shown(name), "", "the name is empty", "Give the file a name")
    for part in parts:
        reason = _wrong(part)
        if reason:
            raise InputError(shown(name), "", reason, "Rename the file")
    if len(parts) > max_depth:
        raise LimitError(f"{shown(name)}: {len(parts)} directories deep; upload_max_depth is {max_depth}")
    return parts


def _wrong(part: str) -> str:
    if part == "..":
        return "the name leaves its folder"
    if any(ord(c) < 32 or ord(c) == 127 or c in FORBIDDEN or 0xD800 <= ord(c) < 0xE000 for c in part):
        return "the name holds a character that file names must not have"
    if len(part.encode()) > MAX_NAME_BYTES:
        return f"a part of the name is longer than {MAX_NAME_BYTES} bytes"
    if part.endswith((" ", ".")) or part.split(".")[0].casefold() in RESERVED:
        return "the name is reserved on some systems"
    return ""


def shown(name: str) -> str:
    """A name as it may stand in a message."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name[:120])
    return text + ("…" if len(name) > 120 else "")


class Names:
    """The paths of one upload: refuses the second of two that differ in case or Unicode form only, and a file used as folder."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._files: dict[tuple[str, ...], str] = {}
        self._folders: dict[tuple[str, ...], tuple[str, ...]] = {}

    def add(self, name: str) -> tuple[str, ...]:
        """The parts of ``name``, now taken.

        Raises:
            InputError: as :func:`clean_path`, or the name collides with an earlier one.
            LimitError: as :func:`clean_path`.
        """
        parts = clean_path(name, self._max_depth)
        key = _key(parts)
        if key in self._files or key in self._folders:
            raise InputError(shown(name), "", "another file of the upload has this name", "Rename one of them")
        for size in range(1, len(parts)):
            folder = key[:size]
            if folder in self._files:
                raise InputError(shown(name), "", f"{self._files[folder]} is a file already", "Rename one of them")
            if self._folders.setdefault(folder, parts[:size]) != parts[:size]:
                raise InputError(
                    shown(name), "", "a folder differs from another one in case only", "Rename one of them"
                )
        self._files[key] = shown(name)
        return parts


def _key(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFKC", part).casefold() for part in parts)
