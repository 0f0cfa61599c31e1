"""Which files make up a capture: a swimlane and its siblings (FORMATS section 1)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import AmbiguousError, InputError, NotFoundError
from analysis.formats.peek import kind_of_file, read_head

SIBLINGS = {
    "deps": ("deps.json", "deps_*.json"),
    "name_map": ("name_map*.json",),
    "cpm_static": ("CPM_static*.json",),
    "cpm_observed": ("CPM_observed*.json",),
}
"""Kind of sibling → name patterns, best first; each also with ``.gz``."""
_SWIMLANE_NAME = re.compile(r"((chip_swimlane|l2_swimlane|l2_perf|perf_swimlane).*|records_e\d+)\.json(\.gz)?")
RANK_DIRECTORY = re.compile(r"(rank|device|dev|d|node|network\d?|worker|card|npu|chip)_?\d+", re.IGNORECASE)
"""Directories of one node, rank, device or capture of a case (FORMATS-2 section 5.1)."""
RUN_DIRECTORY = re.compile(r"swimlane-\d+")
"""Where a retained run lies; its siblings are one directory up (FORMATS-2 section 1.1)."""
UNFINISHED = re.compile(r"(deps\.json|records_e\d+\.json|(chip|l2)_swimlane_records.*\.json)\.tmp")
"""A write that was never finished: reported, not read."""
PROGRAM_FILE = "dispatch_program.json"
_HOST_LEVEL = re.compile(rb'"level"\s*:\s*3\b')
_PROGRAM = re.compile(rb'"program"\s*:\s*"([^"\\]{1,200})"')
_ORCHESTRATOR = re.compile(rb'"orchestrator_name"\s*:\s*"([^"\\]{1,200})"')
_DISPATCH_DEPTHS = ("*/", "*/*/", "*/*/*/")
"""How far below a shared name map captures of the same tree lie: ranks, and nodes above them."""
_LEVEL_BYTES = 512
_JSON = (".json", ".json.gz")


@dataclass(frozen=True)
class Inputs:
    """Files of one capture: ``files`` maps kinds (``swimlane``, ``deps``, …) to paths."""

    files: dict[str, Path]
    label: str
    findings: tuple[tuple[str, str], ...] = ()
    """(code, reason) of what choosing the files brought to light."""

    @property
    def swimlane(self) -> Path | None:
        """The swimlane file; None where a directory holds only a graph or names."""
        return self.files.get("swimlane")


def find(path: Path) -> Inputs:
    """The capture at ``path``: a swimlane file, or a directory that holds exactly one (or whose ``dfx_outputs`` does).

    A directory without a swimlane but with deps.json or a name map is a capture without records.

    Raises:
        NotFoundError: nothing there, or nothing of a capture in the directory.
        AmbiguousError: the directory holds several swimlanes.
        InputError: the path cannot be read.
    """
    if path.is_dir():
        return _of_directory(path)
    if not path.exists():
        raise NotFoundError(f"{path}: no such file or directory")
    return of_swimlane(path)


def _of_directory(directory: Path) -> Inputs:
    nested = directory / "dfx_outputs"
    places = [directory, nested] if nested.is_dir() else [directory]
    found = next((files for files in map(swimlanes, places) if files), [])
    if len(found) == 1:
        return of_swimlane(found[0])
    if not found:
        for place in places:
            files, findings = siblings(place)
            if "deps" in files or "name_map" in files:
                return Inputs(files, label_of(place), findings)
        left = ", ".join(name for place in places for name in unfinished(place))
        why = f"; {left} is an unfinished write" if left else ""
        raise NotFoundError(f"{directory}: no swimlane file (chip_swimlane_records.json or an older name) in here{why}")
    names = tuple(str(file) for file in found)
    raise AmbiguousError(f"{directory} holds {len(names)} captures; name one of: {', '.join(names)}", names)


def json_files(directory: Path) -> list[Path]:
    """Files of the directory that may hold JSON, by name.

    Raises:
        InputError: the directory cannot be listed.
    """
    try:
        return sorted(file for file in directory.iterdir() if file.name.endswith(_JSON) and file.is_file())
    except OSError as error:
        raise InputError(
            str(directory), "", f"cannot be listed: {error.strerror or error}", "Check the rights"
        ) from error


def swimlanes(directory: Path) -> list[Path]:
    """Swimlane files of the directory, ordered by name."""
    return [file for file in json_files(directory) if is_swimlane(file.name, kind_of_file(file))]


def is_swimlane(name: str, kind: str | None) -> bool:
    """Whether a file of this name and recognised kind stands for a capture's swimlane.

    Structure decides; a file that only has the name is a damaged swimlane, which is an error to show and not a file to
    pass over.
    """
    return kind == "swimlane" or _SWIMLANE_NAME.fullmatch(name) is not None


def of_swimlane(swimlane: Path) -> Inputs:
    """The capture of one swimlane file: siblings are joined by directory."""
    directory = swimlane.parent
    alone = swimlanes(directory) == [swimlane]
    label = label_of(directory)
    files, findings = siblings(directory)
    return Inputs({"swimlane": swimlane, **files}, label if alone else f"{label}/{stem(swimlane)}", findings)


def label_of(directory: Path) -> str:
    """What the capture of a directory is called: its name, with the ranks above it (``rank0/d0``)."""
    resolved = directory.absolute()
    if resolved.name == "dfx_outputs":
        resolved = resolved.parent
    parts = [resolved.name]
    while _is_part(resolved) and _is_part(resolved.parent):
        resolved = resolved.parent
        parts.insert(0, resolved.name)
    return "/".join(parts)


def _is_part(directory: Path) -> bool:
    return RANK_DIRECTORY.fullmatch(directory.name) is not None or RUN_DIRECTORY.fullmatch(directory.name) is not None


def unfinished(directory: Path) -> list[str]:
    """Names of unfinished writes in a directory, ascending."""
    try:
        return sorted(file.name for file in directory.iterdir() if UNFINISHED.fullmatch(file.name))
    except OSError:
        return []


def siblings(directory: Path) -> tuple[dict[str, Path], tuple[tuple[str, str], ...]]:
    """(kind → file for everything but the swimlane, what choosing them brought to light)."""
    files: dict[str, Path] = {}
    findings = [("unfinished_file", name) for name in unfinished(directory)]
    places = [directory]
    if RUN_DIRECTORY.fullmatch(directory.name):
        places.append(directory.parent)
        findings += [("unfinished_file", name) for name in unfinished(directory.parent)]
    for kind in SIBLINGS:
        found = next((file for place in places if (file := sibling(place, kind)) is not None), None)
        if found is None and kind == "name_map":
            found, program = _outer_name_map(places[-1])
            findings += [("foreign_names", program)] if program else []
        if found is not None:
            files[kind] = found
    return files, tuple(findings)


def stem(path: Path) -> str:
    """File name without ``.json`` and ``.gz``."""
    return path.name.removesuffix(".gz").removesuffix(".json")


def sibling(directory: Path, kind: str) -> Path | None:
    """The newest file of a kind: best pattern first, then modification time, then name.

    Name maps of a host-level run name callables, not functions of a chip: they do not count.
    """
    for pattern in SIBLINGS[kind]:
        found = [file for suffix in ("", ".gz") for file in directory.glob(pattern + suffix) if file.is_file()]
        if kind == "name_map":
            found = [file for file in found if not _HOST_LEVEL.search(read_head(file, _LEVEL_BYTES)[0])]
        if found:
            return max(found, key=lambda file: (file.stat().st_mtime_ns, file.name))
    return None


def _outer_name_map(directory: Path) -> tuple[Path | None, str]:
    """(a name map shared by ranks, "") looked for above directories that are named after a rank or device; (None, why)
    where the one that is there is not of this directory's program (FORMATS-2 section 5.1)."""
    program = program_of(directory)
    while RANK_DIRECTORY.fullmatch(directory.name) and directory.parent != directory:
        directory = directory.parent
        found = sibling(directory, "name_map") or sibling(directory / "dfx_outputs", "name_map")
        if found is None:
            continue
        if program is None or _belongs(found, program, directory):
            return found, ""
        own = _names_of_program(directory, program)
        return (own, "") if own is not None else (None, f"{program}; {found.name}")
    return None, ""


def program_of(directory: Path) -> str | None:
    """The program that ``dispatch_program.json`` of a directory names; None without one."""
    head, _ = read_head(directory / PROGRAM_FILE, _LEVEL_BYTES)
    found = _PROGRAM.search(head)
    return found[1].decode("utf-8", "replace") if found is not None else None


def _belongs(name_map: Path, program: str, above: Path) -> bool:
    """Whether a shared name map can be of ``program``: it names it, or no other program was dispatched below it."""
    head, _ = read_head(name_map, _LEVEL_BYTES)
    orchestrator = _ORCHESTRATOR.search(head)
    words = {orchestrator[1].decode("utf-8", "replace") if orchestrator is not None else "", stem(name_map)[9:]}
    if program in words:
        return True
    files = [file for depth in _DISPATCH_DEPTHS for file in above.glob(f"{depth}{PROGRAM_FILE}")]
    programs = {program_of(file.parent) for file in files if RANK_DIRECTORY.fullmatch(file.parent.name)}
    return programs <= {program, None}


def _names_of_program(above: Path, program: str) -> Path | None:
    """The name map of the program's own build, ``next_levels/<program>/``."""
    if not program or "/" in program or program.startswith("."):
        return None
    build = above / "next_levels" / program
    return sibling(build, "name_map") or sibling(build / "dfx_outputs", "name_map")


def identity(digests: dict[str, str], launch: int, include_flagged: bool = False) -> str:
    """capture_id: sha256 over the digests of all files, the launch, and whether flagged rows are in the tables."""
    words = [f"launch {launch}", *(["with flagged rows"] if include_flagged else [])]
    text = "\n".join([*(f"{kind} {digests[kind]}" for kind in sorted(digests)), *words])
    return hashlib.sha256(text.encode()).hexdigest()
