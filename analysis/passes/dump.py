"""Where are the pass dumps, which snapshots does one hold, and which rules of its names are broken?

Rules: FORMATS.md section 7, FORMATS-2.md section 7. Every broken one is a :class:`Problem`; the rest still opens.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from analysis.errors import InputError, NotFoundError, readable
from analysis.passes.text import Decoded, decode

FRONTEND = "00_frontend.py"
_NUMBERED = re.compile(r"(\d+)_(after_)?(.+)\.(py|log)\Z")
_TOOL_DIR = "ptoas_passes"
_MAX_DEPTH = 8
_MAX_ENTRIES = 200_000


@dataclass(frozen=True, slots=True)
class Problem:
    """A broken rule: a stable ``code``, the file it is about ("" for the directory), and what it means, in words."""

    code: str
    file: str
    message: str


@dataclass(frozen=True, slots=True)
class PassFile:
    """One snapshot: its number and pass name, file and (when there is one) log, by name below the dump."""

    index: int
    name: str
    file: str
    log: str | None
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ToolDump:
    """What another tool (ptoas) dumped for one kernel: text files, shown as they are; no pairing rule is known."""

    kernel: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dump:
    """One ``passes_dump*`` directory.

    Attributes:
        path: the directory.
        label: its name below the directory that was searched (never absolute).
        passes: snapshots by (number, name); the frontend is number 0.
        problems: broken rules of the names; those of the contents come with the pass list.
    """

    path: Path
    label: str
    passes: tuple[PassFile, ...]
    problems: tuple[Problem, ...]

    def read(self, file: str) -> Decoded:
        """A snapshot or log of this dump.

        Raises:
            InputError: it cannot be read.
        """
        try:
            return decode((self.path / file).read_bytes())
        except OSError as error:
            raise InputError(f"{self.label}/{file}", "", f"cannot be read: {error.strerror}") from error

    def find(self, what: str | int) -> PassFile:
        """The pass with a number, or with a name (the last of that name, as ``AllocateMemoryAddr`` or ``35_…``).

        Raises:
            NotFoundError: there is none; the message lists what there is.
        """
        text = str(what).strip()
        number = int(text) if text.isdecimal() else None
        found = [p for p in self.passes if p.index == number or text in (p.name, p.file, p.file.removesuffix(".py"))]
        if not found:
            span = f"{self.passes[0].index} to {self.passes[-1].index}" if self.passes else "none"
            raise NotFoundError(f"{self.label}: no pass {text}; its passes are {span}")
        return found[0] if number is not None else found[-1]


def find_dumps(path: str | Path) -> tuple[Dump, ...]:
    """Every pass dump at ``path``, below it, or beside it (the run's parent), in the order of their names.

    Raises:
        NotFoundError: ``path`` does not exist or is no directory.
    """
    root = Path(path)
    if not root.is_dir():
        raise NotFoundError(f"{readable(root.name)}: no such directory")
    if _is_dump(root):
        return (open_dump(root),)
    places = list(_below(root)) or [p for p in _children(root.parent) if _named_dump(p)]
    return tuple(open_dump(place, _label(place, root)) for place in sorted(places))


def open_dump(path: str | Path, label: str = "") -> Dump:
    """Lists one dump directory; reads no snapshot.

    Raises:
        InputError: the directory cannot be listed.
    """
    root = Path(path)
    label = readable(label or root.resolve().name)
    try:
        with os.scandir(root) as listing:
            entries = {readable(e.name): (e.is_dir(), e.stat().st_size if e.is_file() else 0) for e in listing}
    except OSError as error:
        raise InputError(label, "", f"cannot be listed: {error.strerror}") from error
    problems: list[Problem] = []
    passes: list[PassFile] = []
    for name, (is_dir, size_bytes) in sorted(entries.items()):
        match = _NUMBERED.match(name)
        if match is None or match[4] != "py" or match[3].endswith("EXTRACT"):
            continue
        if is_dir:
            problems.append(Problem("directory", name, f"{name} is a directory where a snapshot is expected"))
        elif _accepted(name, match, problems):
            log = f"{name.removesuffix('.py')}.log"
            has_log = log in entries and not entries[log][0]
            passes.append(PassFile(int(match[1]), match[3], name, log if has_log else None, size_bytes))
    passes.sort(key=lambda p: (p.index, p.name, p.file))
    problems += _sequence(passes)
    problems += _logs(entries, passes)
    return Dump(root, label, tuple(passes), tuple(problems))


def tool_dumps(path: str | Path) -> tuple[ToolDump, ...]:
    """``ptoas_passes/<kernel>/`` below ``path`` or beside it: files by name, paths below the kernel's directory."""
    root = Path(path)
    out: list[ToolDump] = []
    for base in (root / _TOOL_DIR, root.parent / _TOOL_DIR):
        for kernel in _children(base):
            names = sorted(readable(f.relative_to(kernel).as_posix()) for f in _files(kernel))
            out.append(ToolDump(readable(kernel.name), tuple(names)))
    return tuple(out)


def _accepted(name: str, match: re.Match[str], problems: list[Problem]) -> bool:
    """Is it a snapshot? Says what is odd about its name."""
    if name == FRONTEND:
        return True
    if int(match[1]) == 0:
        problems.append(Problem("index-00", name, f"{name} has number 00, which is the frontend's; it is left out"))
        return False
    if len(match[1]) < 2:
        problems.append(Problem("one-digit", name, f"{name} has a number of one digit; it is taken as {match[1]:0>2}"))
    if not match[2]:
        problems.append(Problem("unusual-name", name, f"{name} is not named NN_after_<Pass>.py; it is taken as a pass"))
    return True


def _sequence(passes: list[PassFile]) -> Iterator[Problem]:
    numbered = [p for p in passes if p.index]
    if not passes:
        yield Problem("no-passes", "", "there is no snapshot (NN_after_<Pass>.py) here")
        return
    if len(numbered) == len(passes):
        yield Problem("no-frontend", "", f"{FRONTEND} is missing; the first pass has nothing to be compared with")
    if not numbered:
        yield Problem("no-passes", "", "there is no snapshot after the frontend: no pass has run")
        return
    if numbered[0].index != 1:
        yield Problem("not-from-01", "", f"the passes do not start at 01: the first is {numbered[0].file}")
    for before, after in pairwise(numbered):
        if after.index > before.index + 1:
            first, last = before.index + 1, after.index - 1
            missing = f"{first:02}" if first == last else f"{first:02} to {last:02}"
            yield Problem("gap", "", f"{missing} missing between {before.file} and {after.file}")
    several = [index for index, count in Counter(p.index for p in numbered).items() if count > 1]
    for index in several:
        names = " and ".join(p.file for p in numbered if p.index == index)
        yield Problem("duplicate", "", f"number {index:02} is used by {names}")
    if len(several) > 1:
        words = f"{len(several)} numbers are used more than once: two compiles wrote into this directory"
        yield Problem("several-compiles", "", f"{words}, and neighbours in the list may be from different ones")


def _logs(entries: dict[str, tuple[bool, int]], passes: list[PassFile]) -> Iterator[Problem]:
    attached = {p.log for p in passes}
    for name, (is_dir, _) in sorted(entries.items()):
        match = _NUMBERED.match(name)
        if match is None or match[4] != "log" or name in attached:
            continue
        if is_dir:
            yield Problem("directory", name, f"{name} is a directory where a log is expected")
        else:
            yield Problem("log-without-snapshot", name, f"{name} has no snapshot of the same name")


def _named_dump(path: Path) -> bool:
    return path.name.startswith("passes_dump")


def _is_dump(path: Path) -> bool:
    return _named_dump(path) or (path / FRONTEND).is_file()


def _children(path: Path) -> list[Path]:
    """Directories in ``path``, sorted; links are not followed."""
    try:
        return sorted(p for p in path.iterdir() if p.is_dir() and not p.is_symlink())
    except OSError:
        return []


def _below(root: Path) -> Iterator[Path]:
    seen = 0
    level = [root]
    for _ in range(_MAX_DEPTH):
        below: list[Path] = []
        for directory in level:
            for child in _children(directory):
                seen += 1
                if seen > _MAX_ENTRIES:
                    return
                if _is_dump(child):
                    yield child
                elif not child.name.startswith("."):
                    below.append(child)
        level = below


def _files(root: Path) -> Iterator[Path]:
    level = [root]
    for _ in range(_MAX_DEPTH):
        below: list[Path] = []
        for directory in level:
            try:
                yield from sorted(p for p in directory.iterdir() if p.is_file())
            except OSError:
                continue
            below += _children(directory)
        level = below


def _label(place: Path, root: Path) -> str:
    base = root if place.is_relative_to(root) else root.parent
    return place.relative_to(base.parent if base.name else base).as_posix()
