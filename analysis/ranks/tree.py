"""Which captures of a tree belong to one dispatch? Paired by ``dispatch_identity.json`` where it is there (FORMATS-2, 5)."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import NotFoundError

IDENTITY_FILE = "dispatch_identity.json"
PROGRAM_FILE = "dispatch_program.json"
MAX_SIDECAR_BYTES = 1 << 20
MAX_DEPTH = 12
_RANK = re.compile(r"rank([0-9]{1,9})")
_CAPTURE = re.compile(r"d([0-9]{1,9})")
_ABOVE = re.compile(r"node[0-9]+|network[0-9]{2,}")
_SWIMLANE = re.compile(r"(chip|l2|perf)_swimlane.*\.json(\.gz)?")
_INTEGERS = {
    "run_id": 1,
    "task_slot": 0,
    "group_index": 0,
    "group_size": 1,
    "chip_rank": 0,
    "local_capture_index": 0,
    "endpoint_dispatch_id": 1,
    "pipeline_slot": 0,
    "pipeline_generation": 1,
}
"""Required integers of an identity with their least value."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What ``dispatch_identity.json`` says of one capture."""

    run_id: int
    task_slot: int
    group_index: int
    group_size: int
    digest: str
    host_pid: int | None


@dataclass(frozen=True, slots=True)
class Member:
    """One capture of the tree.

    Args:
        rank: label of the rank, ``rank3`` or ``node0/rank3``.
        index: ``K`` of its directory ``dK``: order of storage only.
        path: its directory; ``relative`` is the same from the tree's root on.
        identity: None when there is none or it cannot be used.
        program: name of the program it ran; "" when not recorded.
    """

    rank: str
    index: int
    path: Path
    relative: str
    identity: Identity | None
    program: str

    @property
    def has_swimlane(self) -> bool:
        """Whether a swimlane file is in it."""
        try:
            return any(_SWIMLANE.fullmatch(name) for name in os.listdir(self.path))
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Captures of several ranks that ran the same dispatch.

    Args:
        key: ``run17.task5`` when paired by identity, ``d3`` when by directory.
        paired_by: ``identity`` or ``directory``.
        members: one capture per rank, in the order of the tree's ranks.
        missing: ranks that should be there and are not.
    """

    key: str
    paired_by: str
    members: tuple[Member, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RankTree:
    """A tree of ranks, its dispatches in the order they were stored, and what is wrong with it."""

    root: Path
    ranks: tuple[str, ...]
    dispatches: tuple[Dispatch, ...]
    problems: tuple[str, ...] = ()

    def dispatch(self, key: str) -> Dispatch:
        """The dispatch called ``key``.

        Raises:
            NotFoundError: there is none.
        """
        for item in self.dispatches:
            if item.key == key:
                return item
        raise NotFoundError(f"there is no dispatch {key!r}; there are {', '.join(d.key for d in self.dispatches[:20])}")


@dataclass(slots=True)
class _Findings:
    problems: list[str] = field(default_factory=list)


def find_tree(root: Path) -> RankTree:
    """The rank tree at ``root``, itself or in its ``dfx_outputs``.

    Raises:
        NotFoundError: no ``rankN/dN`` directory is in it.
    """
    found = _Findings()
    members = [
        member
        for place in (root, root / "dfx_outputs")
        for member in _members(place, place, (), 0, found)
        if place == root or place.is_dir()
    ]
    if not members:
        raise NotFoundError(f"{root.name}: no rankN/dN directory is in it")
    members.sort(key=lambda member: (_natural(member.rank), member.index))
    ranks = tuple(dict.fromkeys(member.rank for member in members))
    dispatches = (*_by_identity(members, ranks, found), *_by_directory(members, ranks, found))
    return RankTree(root, ranks, dispatches, tuple(found.problems))


def _members(base: Path, place: Path, above: tuple[str, ...], depth: int, found: _Findings) -> list[Member]:
    """Every ``rankN/dN`` below ``place``, through ``nodeN`` and ``network1N`` directories."""
    out: list[Member] = []
    for entry in _directories(place, found):
        if _RANK.fullmatch(entry.name):
            for inner in _directories(entry, found):
                match = _CAPTURE.fullmatch(inner.name)
                if match:
                    rank = "/".join((*above, entry.name))
                    out.append(_member(base, inner, rank, int(match.group(1)), found))
        elif _ABOVE.fullmatch(entry.name) and depth < MAX_DEPTH:
            out += _members(base, entry, (*above, entry.name), depth + 1, found)
    return out


def _directories(place: Path, found: _Findings) -> list[Path]:
    try:
        with os.scandir(place) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []
    except OSError as error:
        found.problems.append(f"{place.name}: {error.strerror}")
        return []


def _member(base: Path, path: Path, rank: str, index: int, found: _Findings) -> Member:
    relative = path.relative_to(base).as_posix()
    identity = _identity(path, relative, rank, index, found)
    program = _sidecar(path / PROGRAM_FILE, relative, found)
    name = program.get("program") if program else None
    return Member(rank, index, path, relative, identity, name if isinstance(name, str) else "")


def _sidecar(file: Path, relative: str, found: _Findings) -> dict[str, Any] | None:
    try:
        with file.open("rb") as stream:
            data = json.loads(stream.read(MAX_SIDECAR_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        found.problems.append(f"{relative}/{file.name}: cannot be read ({type(error).__name__})")
        return None
    if not isinstance(data, dict):
        found.problems.append(f"{relative}/{file.name}: not an object")
        return None
    return data


def _identity(path: Path, relative: str, rank: str, index: int, found: _Findings) -> Identity | None:
    """The identity beside a capture; one that breaks a rule is named and not used."""
    data = _sidecar(path / IDENTITY_FILE, relative, found)
    if data is None:
        return None
    wrong = _wrong_keys(data)
    own = _RANK.fullmatch(rank.rpartition("/")[2])
    if not wrong and own is not None and (data["chip_rank"], data["local_capture_index"]) != (int(own.group(1)), index):
        wrong = ["chip_rank and local_capture_index (they name another directory)"]
    if wrong:
        found.problems.append(f"{relative}/{IDENTITY_FILE}: not used, since these break their rule: {', '.join(wrong)}")
        return None
    pid = data.get("host_pid")
    return Identity(
        data["run_id"],
        data["task_slot"],
        data["group_index"],
        data["group_size"],
        data["callable_digest"],
        pid if _at_least(pid, 1) else None,
    )


def _wrong_keys(data: dict[str, Any]) -> list[str]:
    wrong = [key for key, least in _INTEGERS.items() if not _at_least(data.get(key), least)]
    if not _at_least(data.get("schema_version"), 1) or data["schema_version"] != 1:
        wrong.append("schema_version")
    if not re.fullmatch(r"[0-9a-f]{64}", str(data.get("callable_digest"))):
        wrong.append("callable_digest")
    if not wrong and data["group_index"] >= data["group_size"]:
        wrong.append("group_index")
    return wrong


def _at_least(value: Any, least: int) -> bool:
    """Whether ``value`` is an integer, booleans left out, of at least ``least``."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _by_identity(members: list[Member], ranks: tuple[str, ...], found: _Findings) -> tuple[Dispatch, ...]:
    """Groups of equal (run_id, task_slot) with one size and digest; incomplete ones name what is missing."""
    groups: dict[tuple[int, int, int, str], list[Member]] = {}
    for member in members:
        identity = member.identity
        if identity is not None and identity.group_size > 1:
            key = (identity.run_id, identity.task_slot, identity.group_size, identity.digest)
            groups.setdefault(key, []).append(member)
    names = Counter((run, slot) for run, slot, _size, _digest in groups)
    out = []
    for (run, slot, size, digest), group in groups.items():
        label = f"run{run}.task{slot}" + (f".{digest[:8]}" if names[run, slot] > 1 else "")
        unique = {member.rank: member for member in reversed(group)}
        if len(unique) < len(group):
            found.problems.append(f"{label}: a rank holds it more than once; the first capture counts")
        there = {member.identity.group_index for member in unique.values() if member.identity}
        absent = [at for at in range(min(size, len(ranks) + len(there))) if at not in there]
        missing = tuple(rank for rank in ranks if rank not in unique)[: len(absent)]
        if absent:
            shown = ", ".join(map(str, absent[:20]))
            found.problems.append(f"{label}: {size - len(there)} of {size} captures are missing (group index {shown})")
        ordered = tuple(unique[rank] for rank in ranks if rank in unique)
        out.append(Dispatch(label, "identity", ordered, missing))
    return tuple(out)


def _by_directory(members: list[Member], ranks: tuple[str, ...], found: _Findings) -> tuple[Dispatch, ...]:
    """The rest: the same ``dK`` in every rank."""
    rest = [member for member in members if member.identity is None or member.identity.group_size == 1]
    holding = tuple(rank for rank in ranks if any(member.rank == rank for member in rest))
    out = []
    for index in sorted({member.index for member in rest}):
        group = [member for member in rest if member.index == index]
        missing = tuple(rank for rank in holding if rank not in {member.rank for member in group})
        if len({member.identity is None for member in group}) > 1:
            found.problems.append(
                f"d{index}: some ranks have {IDENTITY_FILE} and others not, so the pairing is a guess"
            )
        if len({member.program for member in group if member.program}) > 1:
            found.problems.append(f"d{index}: the ranks name different programs, so they are not compared")
            out += [Dispatch(f"{member.rank}.d{index}", "directory", (member,)) for member in group]
            continue
        out.append(Dispatch(f"d{index}", "directory", tuple(group), missing))
    return tuple(out)


def _natural(text: str) -> tuple[Any, ...]:
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text))
