"""How much on-chip memory does a chip have, per space? A table that callers may override."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.errors import ParameterError

CAPACITY_BYTES: Mapping[str, Mapping[str, int]] = {
    "910B": {"Vec": 188_416, "Mat": 524_288, "Left": 65_536, "Right": 65_536, "Acc": 131_072, "Bias": 1_024},
    "950": {
        "Vec": 245_760,
        "Mat": 524_288,
        "Left": 65_536,
        "LeftScale": 4_096,
        "Right": 65_536,
        "RightScale": 4_096,
        "Acc": 262_144,
        "Bias": 4_096,
    },
}
"""Bytes per space of each chip (ALGORITHMS, "Memory map")."""
SPACE_ORDER = ("Vec", "Mat", "Left", "LeftScale", "Right", "RightScale", "Acc", "Bias")
"""Order of the spaces everywhere; unknown spaces follow by name."""
DEFAULT_CHIP = "910B"
_ARCHES = {"a2a3": "910B", "a5": "950"}
_ARCH_KEY = b"pto.target_arch"
MAX_PTO_FILES = 64
MAX_ENTRIES = 20_000
HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Chip:
    """Which chip a map is drawn for.

    Args:
        name: ``910B`` or ``950``.
        origin: ``chosen`` by the user, ``detected`` in the kernels beside the dump, or ``assumed``.
        own_bytes: (space, bytes) that the user set instead of the table's.
    """

    name: str
    origin: str
    own_bytes: tuple[tuple[str, int], ...] = ()

    def capacity_bytes(self, space: str) -> int | None:
        """Bytes of a space; None when the chip's table does not know it."""
        return dict(self.own_bytes).get(space, CAPACITY_BYTES[self.name].get(space))

    def with_capacity(self, own_bytes: Mapping[str, int]) -> Chip:
        """The chip with other sizes for some spaces.

        Raises:
            ParameterError: a size is not a positive number of bytes below 2**40.
        """
        for space, size_bytes in own_bytes.items():
            if not 0 < size_bytes < 1 << 40:
                raise ParameterError(f"the capacity of {space} must be a positive number of bytes, not {size_bytes}")
        return replace(self, own_bytes=tuple(own_bytes.items()))


def choose_chip(chosen: str | None, case: Path | None) -> Chip:
    """The chosen chip, else the one the ``*.pto`` files of ``case`` were compiled for, else the default, assumed.

    Raises:
        ParameterError: there is no chip of that name.
    """
    if chosen is not None:
        if chosen not in CAPACITY_BYTES:
            raise ParameterError(f"there is no chip {chosen!r}; there are {', '.join(CAPACITY_BYTES)}")
        return Chip(chosen, "chosen")
    found = None if case is None else _detect(case)
    return Chip(DEFAULT_CHIP, "assumed") if found is None else Chip(found, "detected")


def _detect(case: Path) -> str | None:
    """The chip that the first of the case's kernels names; looks at a bounded number of files and directories."""
    kernels = entries = 0
    for directory, folders, files in os.walk(case):  # a directory that vanishes or is closed is passed over
        folders.sort()
        entries += len(folders) + len(files)
        for name in sorted(files):
            if name.endswith(".pto"):
                kernels += 1
                found = _arch_of(Path(directory, name))
                if found in _ARCHES:
                    return _ARCHES[found]
        if kernels >= MAX_PTO_FILES or entries >= MAX_ENTRIES:
            return None
    return None


def _arch_of(file: Path) -> str | None:
    try:
        with file.open("rb") as stream:
            return _arch_in(stream.read(HEAD_BYTES))
    except OSError:  # a kernel that cannot be read says nothing about the chip
        return None


def _arch_in(head: bytes) -> str | None:
    """The quoted value after ``pto.target_arch =``."""
    _before, key, rest = head.partition(_ARCH_KEY)
    parts = rest[:200].split(b'"')
    if not key or len(parts) < 2 or parts[0].strip() != b"=":
        return None
    return parts[1].decode("ascii", "replace")


def space_rank(space: str) -> tuple[int, str]:
    """Sort key of a space."""
    return (SPACE_ORDER.index(space) if space in SPACE_ORDER else len(SPACE_ORDER), space)
