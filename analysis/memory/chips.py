"""How many bytes does each on-chip memory space have, and for which chip was this dump compiled?

Sizes and the order of the spaces: docs/ALGORITHMS.md, "Memory map". The table is data: callers may override any entry.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from analysis.errors import ParameterError

SPACE_ORDER = ("Vec", "Mat", "Left", "LeftScale", "Right", "RightScale", "Acc", "Bias")
"""Spaces in the order in which every table and picture lists them; unknown spaces follow by name."""

CAPACITY_BYTES: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "910B": MappingProxyType(
            {"Vec": 188_416, "Mat": 524_288, "Left": 65_536, "Right": 65_536, "Acc": 131_072, "Bias": 1_024}
        ),
        "950": MappingProxyType(
            {
                "Vec": 245_760,
                "Mat": 524_288,
                "Left": 65_536,
                "LeftScale": 4_096,
                "Right": 65_536,
                "RightScale": 4_096,
                "Acc": 262_144,
                "Bias": 4_096,
            }
        ),
    }
)
ARCHITECTURES: Mapping[str, str] = MappingProxyType({"a2a3": "910B", "a5": "950"})
ASSUMED_CHIP = "910B"

_ARCH_KEY = b"pto.target_arch"
_HEAD_BYTES = 65_536
_MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Chip:
    """The chip whose capacities a map is measured against.

    ``origin`` is ``chosen`` (by the user), ``detected`` (``pto.target_arch`` of the case) or ``assumed``; ``note`` says
    in a sentence where it comes from.
    """

    name: str
    origin: str
    note: str


def space_rank(space: str) -> tuple[int, str]:
    """Sort key of a space: the fixed order first, unknown spaces after it by name."""
    return (SPACE_ORDER.index(space), "") if space in SPACE_ORDER else (len(SPACE_ORDER), space)


def capacities(chip: str, override: Mapping[str, int] | None = None) -> dict[str, int]:
    """Bytes per space of ``chip``, ``override`` laid over it; a space that is absent has an unknown capacity.

    Raises:
        ParameterError: the chip is unknown, or an overriding size is not a positive number of bytes.
    """
    if chip not in CAPACITY_BYTES:
        raise ParameterError(f"unknown chip {chip!r}; known chips: {', '.join(CAPACITY_BYTES)}")
    for space, size_bytes in (override or {}).items():
        if not 0 < size_bytes < 1 << 48:
            raise ParameterError(f"the capacity of {space} must be a positive number of bytes, not {size_bytes}")
    return {**CAPACITY_BYTES[chip], **(override or {})}


def choose_chip(chosen: str | None, case: Path | None) -> Chip:
    """The chip of a map: ``chosen``, else the architecture named in the ``*.pto`` files below ``case``, else assumed.

    Raises:
        ParameterError: ``chosen`` is not a known chip.
    """
    if chosen is not None:
        capacities(chosen)
        return Chip(chosen, "chosen", f"{chosen} was chosen")
    found = _architecture(case) if case is not None else None
    if found is None:
        return Chip(ASSUMED_CHIP, "assumed", f"{ASSUMED_CHIP} is assumed: no *.pto file of the case names its chip")
    arch, name = found
    if arch not in ARCHITECTURES:
        return Chip(ASSUMED_CHIP, "assumed", f"{ASSUMED_CHIP} is assumed: {name} names the unknown chip {arch!r}")
    return Chip(ARCHITECTURES[arch], "detected", f"{name} names {arch}")


def _architecture(case: Path) -> tuple[str, str] | None:
    """(architecture, file name) of the first ``*.pto`` file that states one, in the order of the paths."""
    seen = 0
    for directory, folders, files in os.walk(case):
        folders.sort()
        seen += len(files) + len(folders)
        for name in sorted(files):
            if name.endswith(".pto"):
                arch = _stated_arch(Path(directory, name))
                if arch is not None:
                    return arch, name
        if seen > _MOST_ENTRIES:
            return None
    return None


def _stated_arch(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    _, key, rest = head.partition(_ARCH_KEY)
    quoted = rest.split(b"\n", 1)[0].split(b'"')
    if not key or len(quoted) < 3 or quoted[0].strip() != b"=":
        return None
    return quoted[1][:80].decode("utf-8", "replace")
