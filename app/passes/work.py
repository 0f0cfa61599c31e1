"""What about a pass dump is computed once and kept: its list, comparisons, searches and histories of names?

Each answer is a :class:`Work`: where to compute it from, and the key under which it is kept. Long ones run in a child,
``python -m app.passes.child``, which is handed the same values as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import diskcache
import msgspec

from analysis.errors import NotFoundError
from analysis.passes.comparison import VERSION, compare, comparison_key, from_bytes
from analysis.passes.dump import open_dump
from analysis.passes.history import History, history
from analysis.passes.listing import PassList, list_from_bytes, list_passes
from analysis.passes.opening import load
from analysis.passes.search import Search, search
from analysis.passes.snapshot import Snapshot
from app.runs.dumps import OpenDump

PROGRAM = "app.passes.child"
DISK_LIMIT_BYTES = 2_000_000_000
"""What was used longest ago goes beyond this."""
"""What the cache raises on a disk that is full or has lost its folder."""
Say = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Work:
    """One answer about dumps.

    Attributes:
        kind: ``list``, ``diff``, ``search`` or ``history``.
        path, label: the dump (of the right side).
        key: under which the answer is kept; it names the content and every parameter.
        parameters: what the kind needs beyond the dump, as JSON values.
    """

    kind: str
    path: Path
    label: str
    key: str
    parameters: dict[str, Any] = field(default_factory=dict)


def list_work(dump: OpenDump) -> Work:
    """The pass list of a dump."""
    return Work("list", dump.dump.path, dump.dump.label, f"list-{VERSION}-{dump.signature}")


def diff_work(
    left: tuple[OpenDump, str], right: tuple[OpenDump, str], digests: tuple[str, str], structure: bool
) -> Work:
    """The comparison of two snapshots, (dump, file) each; ``digests`` are theirs."""
    parameters = {"left": [str(left[0].dump.path), left[0].dump.label, left[1]], "file": right[1],
                  "structure": structure}  # fmt: skip
    key = comparison_key(*digests, structure)
    return Work("diff", right[0].dump.path, right[0].dump.label, key, parameters)


def question_work(kind: str, dump: OpenDump, parameters: dict[str, Any]) -> Work:
    """A search, or the history of a name."""
    key = json.dumps([kind, VERSION, dump.signature, parameters], sort_keys=True)
    return Work(kind, dump.dump.path, dump.dump.label, key, parameters)


def disk(folder: Path) -> diskcache.Cache:
    """The answers kept in ``folder``: each is written in one step and shared by all workers and children."""
    return diskcache.Cache(str(folder), size_limit=DISK_LIMIT_BYTES, eviction_policy="least-recently-used")


def compute(work: Work, kept: Callable[[str], bytes | None], say: Say | None = None) -> bytes:
    """The answer as bytes.

    Args:
        work: what to compute.
        kept: gives what is kept under another key, or None.
        say: is told the share done and the next step; may raise to stop.

    Raises:
        SwimscopeError: a file cannot be read, or the question makes no sense.
    """
    return _KINDS[work.kind](work, kept, say or (lambda share, step: None))


def read(work: Work, data: bytes | None) -> Any:
    """The answer in ``data``, or None when it is damaged or of another version."""
    if data is None:
        return None
    if work.kind == "list":
        return list_from_bytes(data)
    if work.kind == "diff":
        return from_bytes(data)
    try:
        return msgspec.msgpack.decode(data, type=Search if work.kind == "search" else History)
    except msgspec.DecodeError:
        return None


def compare_sides(left: Snapshot, right: Snapshot) -> bytes:
    """The comparison of two snapshots that are already read."""
    return compare(left, right).to_bytes()


def _list(work: Work, _kept: Any, say: Say) -> bytes:
    def report(done: int, total: int) -> None:
        say(done / max(1, total), f"reading pass {done + 1:,} of {total:,}")

    return list_passes(open_dump(work.path, work.label), report).to_bytes()


def _diff(work: Work, _kept: Any, say: Say) -> bytes:
    path, label, file = work.parameters["left"]
    structure = work.parameters["structure"]
    sides = []
    for share, place, name, wanted in (
        (0.0, Path(path), label, file),
        (0.2, work.path, work.label, work.parameters["file"]),
    ):
        say(share, f"reading {wanted}")
        dump = open_dump(place, name)
        sides.append(load(dump, dump.find(wanted), structure=structure))
    say(0.4, f"comparing {len(sides[0].lines):,} with {len(sides[1].lines):,} lines")
    return compare_sides(*sides)


def _listing(work: Work, kept: Callable[[str], bytes | None]) -> PassList:
    found = list_from_bytes(kept(work.parameters["list"]) or b"")
    if found is None:
        raise NotFoundError(f"the pass list of {work.label} is no longer kept; reload the page")
    return found


def _search(work: Work, kept: Callable[[str], bytes | None], say: Say) -> bytes:
    ask = work.parameters
    found = search(open_dump(work.path, work.label), _listing(work, kept), ask["pattern"], regex=ask["regex"],
                   ignore_case=ask["ignore_case"], report=_by_pass(say, "searching"))  # fmt: skip
    return msgspec.msgpack.encode(found)


def _history(work: Work, kept: Callable[[str], bytes | None], say: Say) -> bytes:
    ask = work.parameters
    found = history(open_dump(work.path, work.label), _listing(work, kept), ask["name"],
                    report=_by_pass(say, "following the name through"))  # fmt: skip
    return msgspec.msgpack.encode(found)


def _by_pass(say: Say, verb: str) -> Callable[[int, int], None]:
    return lambda done, total: say(done / max(1, total), f"{verb} pass {done + 1:,} of {total:,}")


_KINDS: dict[str, Callable[[Work, Callable[[str], bytes | None], Say], bytes]] = {
    "list": _list,
    "diff": _diff,
    "search": _search,
    "history": _history,
}
