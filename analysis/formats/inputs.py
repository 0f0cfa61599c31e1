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
_SWIMLANE_NAME = re.compile(r"(chip_swimlane|l2_swimlane|l2_perf|perf_swimlane).*\.json(\.gz)?")
_RANK_DIRECTORY = re.compile(r"(rank|device|dev|d|node|worker|card|npu|chip)_?\d+", re.IGNORECASE)
_HOST_LEVEL = re.compile(rb'"level"\s*:\s*3\b')
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
            files = siblings(place)
            if "deps" in files or "name_map" in files:
                return Inputs(files, _label(place))
        raise NotFoundError(f"{directory}: no swimlane file (chip_swimlane_records.json or an older name) in here")
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
    label = _label(directory)
    return Inputs({"swimlane": swimlane, **siblings(directory)}, label if alone else f"{label}/{stem(swimlane)}")


def _label(directory: Path) -> str:
    resolved = directory.absolute()
    return resolved.parent.name if resolved.name == "dfx_outputs" else resolved.name


def siblings(directory: Path) -> dict[str, Path]:
    """Kind → file for everything but the swimlane."""
    files: dict[str, Path] = {}
    for kind in SIBLINGS:
        found = sibling(directory, kind)
        if found is None and kind == "name_map":
            found = _outer_name_map(directory)
        if found is not None:
            files[kind] = found
    return files


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


def _outer_name_map(directory: Path) -> Path | None:
    """A name map shared by ranks: looked for above directories that are named after a rank or device."""
    while _RANK_DIRECTORY.fullmatch(directory.name) and directory.parent != directory:
        directory = directory.parent
        found = sibling(directory, "name_map") or sibling(directory / "dfx_outputs", "name_map")
        if found is not None:
            return found
    return None


def identity(digests: dict[str, str], launch: int, include_flagged: bool = False) -> str:
    """capture_id: sha256 over the digests of all files, the launch, and whether flagged rows are in the tables."""
    words = [f"launch {launch}", *(["with flagged rows"] if include_flagged else [])]
    text = "\n".join([*(f"{kind} {digests[kind]}" for kind in sorted(digests)), *words])
    return hashlib.sha256(text.encode()).hexdigest()
