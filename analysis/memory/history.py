"""Which pass raised a peak? Used and alive bytes of every function after every pass of a dump."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from analysis.errors import InputError, NotFoundError
from analysis.memory.chips import choose_chip
from analysis.memory.maps import case_of, read_map, read_snapshot, snapshot_file, snapshots
from analysis.memory.model import MemoryMap
from analysis.memory.questions import peak


@dataclass(frozen=True, slots=True)
class Use:
    """One space of one function after one pass.

    Args:
        used_bytes: the high-water mark; None while addresses are not assigned.
        alive_bytes: most bytes alive on one line; before addresses are assigned every base counts as bytes of its own.
        alive: the tiles alive there, aliases included, largest box first.
    """

    used_bytes: int | None
    alive_bytes: int
    alive: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassUse:
    """One snapshot: ``uses`` by (function, space). ``changed`` is false when the file equals the one before it, byte for
    byte; ``problem`` says why it has no map ("" when it has one)."""

    number: int
    pass_name: str
    file: str
    changed: bool
    uses: Mapping[tuple[str, str], Use] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Rise:
    """A pass after which more bytes are alive in a space than before it; ``tiles`` are alive at the new peak and were not
    at the old one."""

    function: str
    space: str
    number: int
    pass_name: str
    before_bytes: int
    after_bytes: int
    tiles: tuple[str, ...]


def history(path: Path, progress: Callable[[int, int], None] | None = None) -> tuple[PassUse, ...]:
    """Used and alive bytes after every pass, in the order of the passes.

    Args:
        path: a dump directory, or the directory around it.
        progress: called with (snapshots done, of how many) after each; raise in it to stop.

    Raises:
        NotFoundError: there is no snapshot.
    """
    if not path.is_dir():
        raise NotFoundError(f"{path.name}: no directory of a dump")
    directory = snapshot_file(path)[0].parent
    chip = choose_chip(None, case_of(directory))
    found = snapshots(directory)
    out: list[PassUse] = []
    before: bytes | None = None
    for done, (number, name, file) in enumerate(found, 1):
        try:
            text = read_snapshot(file)
            digest = hashlib.blake2b(text.encode()).digest()
            if out and digest == before:
                out.append(PassUse(number, name, file.name, False, out[-1].uses, out[-1].problem))
            else:
                out.append(PassUse(number, name, file.name, True, _uses(read_map(text, file.name, chip))))
            before = digest
        except InputError as error:
            out.append(PassUse(number, name, file.name, True, {}, str(error)))
            before = None
        if progress is not None:
            progress(done, len(found))
    return tuple(out)


def rises(passes: tuple[PassUse, ...]) -> tuple[Rise, ...]:
    """Every pass that raised the alive bytes of a space, in the order of the passes; a first appearance is no rise."""
    out: list[Rise] = []
    last: dict[tuple[str, str], Use] = {}
    for each in passes:
        for key, use in each.uses.items():
            old = last.get(key)
            if old is not None and use.alive_bytes > old.alive_bytes:
                new = tuple(tile for tile in use.alive if tile not in set(old.alive))
                out.append(Rise(*key, each.number, each.pass_name, old.alive_bytes, use.alive_bytes, new))
            last[key] = use
    return tuple(out)


def _uses(made: MemoryMap) -> dict[tuple[str, str], Use]:
    uses = {}
    for function in made.functions:
        for space in function.spaces:
            found = peak(function, space.space)
            if found is not None:
                names = tuple(dict.fromkeys(name for box in found.alive for name in box.names()))
                uses[function.name, space.space] = Use(space.used_bytes, found.alive_bytes, names)
    return uses
