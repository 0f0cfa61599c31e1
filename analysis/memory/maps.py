"""Which snapshot holds the map, and what is it? A file or a directory in, a :class:`MemoryMap` out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from analysis.errors import InputError, NotFoundError
from analysis.memory.beyond import beyond_boxes
from analysis.memory.boxes import reference_boxes, spaces_of, unassigned_spaces
from analysis.memory.chips import Chip, choose_chip
from analysis.memory.model import FunctionMap, MemoryMap
from analysis.memory.source import Function, functions_of

ADDRESS_PASS = "AllocateMemoryAddr"
"""The pass that assigns addresses; its number moves between compiler versions."""
DUMP_FOLDER = "passes_dump"
_SNAPSHOT = re.compile(r"^(\d{2,})_(?:after_)?(.+)\.py$")


def load_map(
    path: Path,
    function: str | None = None,
    chip: str | None = None,
    capacity_bytes: Mapping[str, int] | None = None,
) -> MemoryMap:
    """The map of a snapshot file, a dump directory, or a case directory that holds one.

    A dump without AllocateMemoryAddr opens at its last snapshot with tiles, and ``reason`` says what is missing.

    Args:
        path: a snapshot, a ``passes_dump*`` directory, or the directory around it.
        function: only this function.
        chip: ``910B`` or ``950``; None detects it beside the dump, else assumes 910B.
        capacity_bytes: sizes of spaces that count instead of the chip's.

    Raises:
        NotFoundError: nothing there is a snapshot, or there is no such function.
        InputError: the snapshot cannot be read.
        ParameterError: an unknown chip, or a capacity that is no positive number of bytes.
    """
    file, reason = snapshot_file(path)
    case = case_of(file.parent)
    return read_map(
        read_snapshot(file), file.name, choose_chip(chip, case).with_capacity(capacity_bytes or {}), reason, function
    )


def read_map(text: str, name: str, chip: Chip, reason: str = "", function: str | None = None) -> MemoryMap:
    """The map of a snapshot's text; parameters and errors as for :func:`load_map`."""
    read, broken = functions_of(text, name)
    owning = [item for item in read if item.tiles or item.unplaced or item.rings or item.notes]
    if function is not None:
        owning = [item for item in owning if item.name == function]
        if not owning:
            known = ", ".join(item.name for item in read) or "none"
            raise NotFoundError(f"{name}: no function {function!r} owns a map; there are {known}")
    drawn = [_function_map(item, chip) for item in owning]
    maps = tuple(made for made in drawn if made.boxes or made.beyond)
    notes = tuple(f"{made.name}: {note}" for made in drawn if not (made.boxes or made.beyond) for note in made.notes)
    notes += tuple(f"lines {part.start_line} to {part.end_line} cannot be read: {part.reason}" for part in broken)
    match = _SNAPSHOT.match(name)
    return MemoryMap(name, match.group(2) if match else "", chip, maps, reason or _reason(maps, owning), notes)


def _function_map(function: Function, chip: Chip) -> FunctionMap:
    boxes = reference_boxes(function)
    beyond = beyond_boxes(function, boxes)
    unassigned = unassigned_spaces(boxes)
    if unassigned:  # every offset is 0 until the pass has run: tiles that seem to share bytes need not
        boxes = tuple(replace(box, conflict_kind="") for box in boxes)
    notes = list(function.notes)
    popped = {name for name, _line in function.popped}
    loose = [name for name in function.unplaced if name not in popped]
    if loose:
        notes.append(f"{len(loose):,} tiles have no MemRef, {loose[0][:80]} first: they are not drawn")
    return FunctionMap(
        function.name,
        function.type,
        function.start_line,
        function.end_line,
        spaces_of(boxes, chip, unassigned),
        boxes,
        beyond,
        unassigned,
        tuple(notes),
    )


def _reason(maps: tuple[FunctionMap, ...], owning: list[Function]) -> str:
    if any(made.unassigned for made in maps):
        return f"Addresses are not assigned yet in this snapshot: open one at or after {ADDRESS_PASS}."
    if not maps and any(item.unplaced for item in owning):
        return f"The tiles of this snapshot have no MemRef yet: open one at or after {ADDRESS_PASS}."
    return "" if maps else "No AIC, AIV or InCore function of this snapshot binds a tile."


def case_of(directory: Path) -> Path:
    """The case directory around the directory of a dump; the directory itself where it is not named as one."""
    return directory.parent if directory.name.startswith(DUMP_FOLDER) else directory


def snapshots(directory: Path) -> list[tuple[int, str, Path]]:
    """(number, pass, file) of every snapshot in a dump directory, by number, then name.

    Raises:
        NotFoundError: the directory cannot be listed.
    """
    try:
        files = [file for file in directory.iterdir() if file.is_file()]
    except OSError as error:
        raise NotFoundError(f"{directory.name}: {error.strerror}") from error
    found = [(int(match.group(1)[:9]), match.group(2), file) for file in files if (match := _SNAPSHOT.match(file.name))]
    return sorted(found, key=lambda item: (item[0], item[2].name))


def snapshot_file(path: Path) -> tuple[Path, str]:
    """The snapshot that ``path`` stands for, and why it is not one after AllocateMemoryAddr ("" when it is).

    Raises:
        NotFoundError: there is no snapshot.
    """
    if path.is_file():
        return path, ""
    folders = [path, *sorted(path.glob(f"{DUMP_FOLDER}*"), reverse=True)] if path.is_dir() else []
    for folder in folders:
        listed = snapshots(folder) if folder.is_dir() else []
        if not listed:
            continue
        wanted = [file for _number, name, file in listed if name == ADDRESS_PASS]
        if wanted:
            return wanted[-1], ""
        return _last_with_tiles(folder, listed)
    raise NotFoundError(f"{path.name}: no snapshot of a pass (NN_after_PASS.py) is in it or in {DUMP_FOLDER} below it")


def _last_with_tiles(folder: Path, listed: list[tuple[int, str, Path]]) -> tuple[Path, str]:
    """The last snapshot that names buffers, else the last one, with the reason."""
    ends = listed[-1][2]
    planned = any(name in ("LowerTileToBuffer", "PTOASPlanMemory") for _number, name, _file in listed)
    reason = (
        f"{folder.name} has no snapshot after {ADDRESS_PASS}: "
        + (
            "the PTOAS planner assigned the addresses later. "
            if planned or _complete(listed)
            else "the compile ended early. "
        )
        + "Shown is {} , whose tiles have no addresses yet."
    )
    with_tiles = (file for _number, _name, file in reversed(listed) if b"pl.MemRef(mem_" in _head(file))
    file = next(with_tiles, ends)
    return file, reason.format(file.name).replace(" ,", ",")


def _complete(listed: list[tuple[int, str, Path]]) -> bool:
    """Whether the compile went past the passes that follow memory planning."""
    return any(name in ("MaterializeRuntimeScopes", "DeriveCallDirections") for _number, name, _file in listed)


def _head(file: Path, limit: int = 1 << 22) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(limit)
    except OSError:  # an unreadable snapshot is reported when it is opened
        return b""


def read_snapshot(file: Path) -> str:
    """The text of a snapshot.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(file.name, "", error.strerror or "cannot be read") from error
    except UnicodeDecodeError as error:
        raise InputError(file.name, f"byte {error.start}", "not UTF-8 text", "Dump the pass again") from error
