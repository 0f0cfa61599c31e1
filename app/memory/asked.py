"""Which snapshot, chip, function and box does a URL ask for?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.errors import NotFoundError
from analysis.memory.chips import Chip, choose_chip
from analysis.memory.maps import ADDRESS_PASS, snapshot_file
from analysis.memory.model import Box, FunctionMap, MemoryMap
from analysis.passes.dump import PassFile
from app.compiler.names import function_names
from app.memory import kept
from app.memory.keys import ALL_FUNCTIONS
from app.runs import dumps
from app.runs.dumps import OpenDump
from app.server.services import Services
from app.shell.url_state import ViewState


@dataclass(frozen=True, slots=True)
class Asked:
    """A map and what of it is shown.

    Attributes:
        dump, file: the snapshot.
        files: the snapshots from AllocateMemoryAddr on; every one where the dump lacks that pass.
        memory: its map.
        function: whose map is shown; None for the overview.
        notes: what is not as asked.
        ids: function id by name, from the run's name map.
    """

    dump: OpenDump
    file: PassFile
    files: tuple[PassFile, ...]
    memory: MemoryMap
    function: FunctionMap | None
    notes: tuple[str, ...]
    ids: dict[str, int]


def stem(file: PassFile) -> str:
    """How the URL names a snapshot."""
    return file.file.removesuffix(".py")


def asked(services: Services, run_key: str, view: ViewState) -> Asked:
    """What a URL asks for.

    Raises:
        NotFoundError: no such run, dump or snapshot.
        InputError: the snapshot cannot be read.
        NotYet: a child is reading it.
    """
    run = services.library.run(run_key)
    dump = dumps.choose(run, services.settings, view.own_value("dump"))
    file, reason = chosen(dump, view.own_value("snap"))
    memory = kept.of(services).map(dump, file, chip_of(dump, view))
    if reason:
        memory = replace(memory, reason=reason)
    ids = function_names(services, run_key, view.launch)
    function, notes = _function(memory, view, ids)
    return Asked(dump, file, later(dump), memory, function, notes, ids)


def chip_of(dump: OpenDump, view: ViewState) -> Chip:
    """The chosen chip, else the one that the kernels beside the dump were compiled for."""
    return choose_chip(view.own_value("chip") or None, dump.dump.path.parent)


def chosen(dump: OpenDump, wanted: str) -> tuple[PassFile, str]:
    """The snapshot called ``wanted``, or the one after AllocateMemoryAddr, and why the default is another one."""
    if wanted:
        return dump.dump.find(wanted), ""
    path, reason = snapshot_file(dump.dump.path)
    return dump.dump.find(path.name), reason


def later(dump: OpenDump) -> tuple[PassFile, ...]:
    """The snapshots from the last AllocateMemoryAddr on, by number; all of them where that pass did not run."""
    passes = dump.dump.passes
    starts = [at for at, item in enumerate(passes) if item.name == ADDRESS_PASS]
    return passes[starts[-1] :] if starts else passes


def _function(memory: MemoryMap, view: ViewState, ids: dict[str, int]) -> tuple[FunctionMap | None, tuple[str, ...]]:
    wanted = view.own_value("mf")
    if wanted == ALL_FUNCTIONS:
        return None, ()
    by_name = {function.name: function for function in memory.functions}
    if wanted:
        found = by_name.get(wanted)
        return found, () if found else (f"{wanted[:100]} owns no map in {memory.snapshot}: all functions are shown",)
    selected = [name for name, func_id in ids.items() if view.sel == f"func:{func_id}"]
    return next((by_name[name] for name in selected if name in by_name), None), ()


def box_ids(function: FunctionMap) -> dict[str, Box]:
    """Every box by the name that URLs use, in drawing order: its first tile's, ``#2`` for the second box of that name."""
    out: dict[str, Box] = {}
    seen: dict[str, int] = {}
    for box in function.all_boxes():
        name = box.name[:200]
        seen[name] = seen.get(name, 0) + 1
        out[name if seen[name] == 1 else f"{name}#{seen[name]}"] = box
    return out


def find_file(services: Services, run_key: str, view: ViewState) -> tuple[OpenDump, PassFile]:
    """The snapshot that a URL names, without reading its map.

    Raises:
        NotFoundError: no such run, dump or snapshot.
    """
    dump = dumps.choose(services.library.run(run_key), services.settings, view.own_value("dump"))
    return dump, chosen(dump, view.own_value("snap"))[0]


def other_dump(services: Services, run_key: str, view: ViewState) -> OpenDump:
    """The dump that the comparison reads from: the same one unless the URL names another run or dump.

    Raises:
        NotFoundError: no such run or dump.
    """
    other, odump = view.own_value("other"), view.own_value("odump")
    label = odump or ("" if other else view.own_value("dump"))
    found = dumps.choose(services.library.run(other or run_key), services.settings, label)
    if not found.dump.passes:
        raise NotFoundError(f"{found.dump.label} holds no snapshot to compare with")
    return found
