"""Which file of a dump shows where the tiles are?

A directory is a ``passes_dump*`` directory or a case that holds one. The map is drawn from the highest-numbered snapshot
of AllocateMemoryAddr (pass numbers move between compiler versions, so the name decides); without one, from the last
snapshot that gives tiles a MemRef, and the reason is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import AmbiguousError, InputError, NotFoundError

ADDRESS_PASS = "AllocateMemoryAddr"
MOST_BYTES = 256 << 20
"""A snapshot larger than this is refused; the largest real one has 1.5 MB."""

_SNAPSHOT = re.compile(r"(\d{2,9})_(?:after_)?(\w+)\.py", re.ASCII)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One ``NN_after_<Pass>.py`` file: its number, the pass that wrote it, its path."""

    number: int
    pass_name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Chosen:
    """The snapshot to draw: its path, pass (``""`` if the name states none), the case it belongs to, and why it is not
    what one would expect (``""`` if it is)."""

    path: Path
    pass_name: str
    case: Path
    reason: str


def dump_directory(path: Path) -> Path:
    """The ``passes_dump*`` directory that ``path`` is or holds.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: there are several.
    """
    if path.name.startswith("passes_dump") or snapshots(path):
        return path
    held = sorted(child for child in path.iterdir() if child.name.startswith("passes_dump") and child.is_dir())
    if len(held) == 1:
        return held[0]
    if not held:
        raise NotFoundError(f"{path.name}: no passes_dump directory here; give one, or a snapshot file of it")
    names = tuple(child.name for child in held)
    raise AmbiguousError(f"{path.name} holds several dumps: {', '.join(names)}; choose one", names)


def snapshots(directory: Path) -> list[Snapshot]:
    """Snapshots of a dump directory by number; files of other names are left out."""
    found = []
    for child in directory.iterdir():
        match = _SNAPSHOT.fullmatch(child.name)
        if match and child.is_file():
            found.append(Snapshot(int(match[1]), match[2], child))
    return sorted(found, key=lambda snapshot: (snapshot.number, snapshot.path.name))


def choose(path: Path, pass_name: str | None = None) -> Chosen:
    """The snapshot a map of ``path`` (a file, a dump or a case) is drawn from.

    Args:
        path: a snapshot file, a ``passes_dump*`` directory or a directory that holds one.
        pass_name: draw the highest-numbered snapshot of this pass instead of the default.

    Raises:
        NotFoundError: the path, a dump directory, a snapshot or the named pass does not exist.
        AmbiguousError: the directory holds several dumps.
    """
    if path.is_file():
        match = _SNAPSHOT.fullmatch(path.name)
        inside = path.parent.name.startswith("passes_dump")
        return Chosen(path, match[2] if match else "", path.parent.parent if inside else path.parent, "")
    if not path.is_dir():
        raise NotFoundError(f"{path.name}: no such file or directory")
    directory = dump_directory(path)
    case = directory.parent if directory.name.startswith("passes_dump") else directory
    found = snapshots(directory)
    if not found:
        raise NotFoundError(f"{directory.name}: no snapshot (NN_after_<Pass>.py) in this directory")
    wanted = pass_name or ADDRESS_PASS
    named = [snapshot for snapshot in found if snapshot.pass_name == wanted]
    if named:
        return Chosen(named[-1].path, wanted, case, "")
    if pass_name is not None:
        raise NotFoundError(
            f"{directory.name}: no snapshot of the pass {pass_name}; the last one is {found[-1].path.name}"
        )
    last = next((snapshot for snapshot in reversed(found) if _gives_memory(snapshot.path)), found[-1])
    return Chosen(last.path, last.pass_name, case, _why_absent(directory.name, found, last))


def read(path: Path) -> str:
    """The text of a snapshot, line ends as ``\\n``.

    Raises:
        InputError: the file cannot be read, is too large or is not UTF-8.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(path.name, "", f"larger than {MOST_BYTES >> 20} MB", "A map of it is not drawn.")
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(path.name, "", f"cannot be read: {error.strerror}") from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path.name, f"byte {error.start}", "not UTF-8", "Compile again with dump_passes.") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _gives_memory(path: Path) -> bool:
    """Does any buffer of this snapshot have an allocation? A cheap look that only chooses among snapshots."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return False
        return b"pl.tile.alloc(" in path.read_bytes()
    except OSError:
        return False


def _why_absent(directory: str, found: list[Snapshot], shown: Snapshot) -> str:
    passes = {snapshot.pass_name for snapshot in found}
    last = found[-1]
    if "MemoryReuse" not in passes and "InitMemRef" in passes and last.number > _number(found, "InitMemRef") + 1:
        why = "the PTOAS planner leaves addresses to ptoas and skips the pass"
    else:
        why = f"the compile ended after {last.path.name}"
    return f"{directory} has no snapshot of {ADDRESS_PASS} ({why}); shown is {shown.path.name}, without addresses"


def _number(found: list[Snapshot], pass_name: str) -> int:
    return max(snapshot.number for snapshot in found if snapshot.pass_name == pass_name)
