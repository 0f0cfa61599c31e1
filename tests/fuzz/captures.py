"""Damaged captures by the thousand: does every one open, or end in one clear error, without losing a row unsaid?

``python -m tests.fuzz.captures --inputs 3000 --seed 1`` mutates the structure of the fixtures in ``tests/data`` (keys and
elements removed, repeated, swapped, wrapped, replaced by odd values; text cut, keys repeated, packed). Every input must

* open as a capture or raise a SwimscopeError, and so must every analysis, view, detail and export of it;
* take no longer than :data:`MAX_SECONDS`;
* account for every row: rows of the file = shown + left out + other launches, per stream;
* give the same capture by the compiled and by the typed reader.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from analysis import formats
from analysis.capture import Capture, FlagStream
from analysis.discovery import sources
from analysis.errors import SwimscopeError
from analysis.export.trace import iter_trace
from analysis.formats.text import walk
from analysis.registry import ANALYSES
from analysis.timeline.details import item_facts, task_facts
from analysis.timeline.items import View, available_views
from analysis.timeline.query import build_index

DATA = Path(__file__).parents[1] / "data"
SWIMLANES = ("chip", "l2_cycles", "unified", "us", "host", "launches", "rings", "hostgraph")
MAX_SECONDS = 20.0
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 5, 1.5, 5e7, 1e300, -(2**62), 2**31, 2**32, 2**53, 2**60 - 1, 2**60, 2**62, 2**63,
    2**64 - 1, 2**64, 10**40, "", "x", "7", "0x10", "-1", "aic", "idle", "\ud83d\ude00", [], {}, [[]], [{}], [None], {"": 0},
    {"kind": "resolve", "start_cycles": 1, "end_cycles": 2}, [0, 1, 2, 3, 4, 5, 6, 7, 8],
)  # fmt: skip
Place = tuple[Any, Any]
"""(container, key or index)."""


@dataclass(frozen=True)
class Input:
    """One damaged capture: texts of the swimlane and of deps.json."""

    number: int
    swimlane: bytes
    deps: bytes | None


def inputs(seed: int, count: int) -> Iterator[Input]:
    """``count`` inputs; the same seed gives the same ones."""
    bases = [json.loads(path.read_text()) for kind in SWIMLANES for path in sorted((DATA / kind).glob("healthy.json"))]
    graphs = [json.loads(path.read_text()) for path in sorted((DATA / "deps").glob("*.json"))]
    for number in range(count):
        chance = random.Random(seed * 1_000_003 + number)
        value, graph = copy.deepcopy(chance.choice(bases)), copy.deepcopy(chance.choice(graphs))
        for _ in range(chance.randint(1, 6)):
            _mutate(value if chance.random() < 0.7 else graph, chance)
        deps = _text(graph, chance) if chance.random() < 0.8 else None
        yield Input(number, _text(value, chance), deps)


def _places(value: Any) -> list[Place]:
    found: list[Place] = []
    waiting = [value]
    while waiting:
        node = waiting.pop()
        keys: Any = node.keys() if isinstance(node, dict) else range(len(node))
        for key in list(keys):
            found.append((node, key))
            if isinstance(node[key], dict | list) and node[key]:
                waiting.append(node[key])
    return found


def _mutate(value: Any, chance: random.Random) -> None:
    places = _places(value)
    if not places:
        return
    node, key = chance.choice(places)
    how = chance.randrange(9)
    if how == 0:
        del node[key]
    elif how <= 4:
        node[key] = copy.deepcopy(chance.choice(ODD))
    elif how == 5:
        other, at = chance.choice(places)
        if key in node or isinstance(node, list):
            node[key] = copy.deepcopy(other[at])
    elif how == 6 and isinstance(node[key], list):
        node[key] = (node[key] * chance.choice((2, 3, 40)))[:2000]
    elif how == 7:
        node[key] = [node[key]] if chance.random() < 0.5 else {"x": node[key]}
    elif isinstance(node[key], int) and not isinstance(node[key], bool):
        node[key] += chance.choice((-1, 1, -(2**33), 2**33, 2**43, -(10**13), 10**13))


def _text(value: Any, chance: random.Random) -> bytes:
    text = json.dumps(value, indent=chance.choice((None, None, 2)))
    how = chance.randrange(20)
    if how == 0:
        text = text[: chance.randrange(len(text))]
    elif how == 1 and text.startswith("{") and isinstance(value, dict) and value:
        key = chance.choice(list(value))
        text = text.rstrip()[:-1] + f", {json.dumps(key)}: {json.dumps(copy.deepcopy(chance.choice(ODD)))}}}"
    elif how == 2:
        text = text.replace(": 1", ": NaN", 1)
    data = text.encode("utf-8", "surrogatepass")
    return gzip.compress(b"\xef\xbb\xbf" + data) if how == 3 else data


def failures(one: Input) -> list[str]:
    """What is wrong with how ``one`` is treated; empty when nothing is."""
    begun = time.monotonic()
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "chip_swimlane_records.json").write_bytes(one.swimlane)
        if one.deps is not None:
            (Path(folder) / "deps.json").write_bytes(one.deps)
        try:
            found += _look(Path(folder), one)
        except Exception:  # noqa: BLE001 - any other exception is what this looks for
            found.append(traceback.format_exc())
    seconds = time.monotonic() - begun
    return [*found, *([f"took {seconds:.1f} s"] if seconds > MAX_SECONDS else [])]


def _opened(folder: Path, launch: int, fast: bool, include: bool = False) -> Capture | SwimscopeError:
    before = walk.WORTH_BYTES
    walk.WORTH_BYTES = 0 if fast else 1 << 60
    try:
        return formats.load(folder, launch, include)
    except SwimscopeError as error:
        return error
    finally:
        walk.WORTH_BYTES = before


def _look(folder: Path, one: Input) -> list[str]:
    found: list[str] = []
    launch, launches = 0, 1
    while launch < min(launches, 3):
        capture, fast = _opened(folder, launch, False), _opened(folder, launch, True)
        found += _differences(capture, fast)
        if isinstance(capture, SwimscopeError):
            return [*found, *([] if str(capture) else ["an error without words"])]
        launches = capture.meta.launches
        found += _unaccounted(capture, one)
        whole = _opened(folder, launch, False, include=True)
        for this in (capture, whole):
            if isinstance(this, Capture):
                _use(this)
        launch += 1
    return found


def _quietly(action: Callable[[], Any]) -> None:
    try:
        action()
    except SwimscopeError as error:
        if not str(error):
            raise AssertionError("an error without words") from error


def _use(capture: Capture) -> None:
    """Everything a page, a command or an export does with a capture."""
    msgspec.json.encode(capture.meta)
    msgspec.json.encode(sources.facts(capture))
    for analysis in ANALYSES:
        _quietly(lambda analysis=analysis: json.dumps(analysis.run(capture).to_json()))
    for view, reason in available_views(capture).items():
        if not reason or view is View.WORKER:
            build_index(capture, view)
    for letter, table in zip(
        "rupoh", (capture.records, capture.unmatched, capture.phases, capture.orch, capture.uploads), strict=True
    ):
        for row in range(min(len(table), 3)):
            item_facts(capture, f"{letter}{row}")
    for task in range(min(len(capture.tasks), 4)):
        task_facts(capture, task)
        item_facts(capture, f"g{task}")
    _quietly(lambda: sum(map(len, iter_trace(capture, arrows=True))))


def _differences(one: Capture | SwimscopeError, other: Capture | SwimscopeError) -> list[str]:
    """Where the two readers do not agree."""
    if isinstance(one, SwimscopeError) or isinstance(other, SwimscopeError):
        return [] if str(one) == str(other) else [f"readers: {one!s:.200} | {other!s:.200}"]
    found = []
    for table in fields(one):
        mine, yours = getattr(one, table.name), getattr(other, table.name)
        if table.name == "meta":
            found += [
                f"readers: meta.{f.name}" for f in fields(mine) if getattr(mine, f.name) != getattr(yours, f.name)
            ]
            continue
        found += [
            f"readers: {table.name}.{f.name}"
            for f in fields(mine)
            if not np.array_equal(getattr(mine, f.name), getattr(yours, f.name))
        ]
    return found


def _unaccounted(capture: Capture, one: Input) -> list[str]:
    """Streams in which rows of the file were lost."""
    orch_host = int(capture.orch.host.sum())
    flagged = np.bincount(capture.flagged.stream, minlength=len(FlagStream)).tolist()
    shown = {
        "aicore_tasks": len(capture.records) + len(capture.unmatched),
        "scheduler_phases": int((capture.phases.lane != 4).sum()),
        "orchestrator": len(capture.orch) - orch_host,
        "host_orchestrator": orch_host,
        "uploads": len(capture.uploads),
        "deps.edges": len(capture.annotations),
        "deps.tensors": len(capture.tensors),
    }
    found = []
    for stream, (in_file, left_out, elsewhere) in capture.meta.stream_rows.items():
        if stream in shown and in_file != shown[stream] + left_out + elsewhere:
            found.append(f"rows: {stream} {in_file} in file, {shown[stream]} shown, {left_out} out, {elsewhere} other")
    if sum(flagged) and not any(n.code in ("negative_length", "far_stamp") for n in capture.meta.notices):
        found.append("rows: flagged without a finding")
    lost = sum(left_out for _, left_out, _ in capture.meta.stream_rows.values())
    if lost and not capture.meta.notices:
        found.append("rows: left out without a finding")
    return found + _uncounted(capture, one)


def _uncounted(capture: Capture, one: Input) -> list[str]:
    """Lists whose rows the capture does not even count (plain JSON without repeated keys only)."""
    try:
        value = json.loads(one.swimlane, object_pairs_hook=_strict)
    except (ValueError, UnicodeDecodeError):
        return []
    if not isinstance(value, dict) or capture.meta.container == "us":
        return []
    want = {"aicore_tasks": value.get("aicore_tasks"), "uploads": value.get("host_device_uploads")}
    counted = {stream: rows for stream, (rows, _, _) in capture.meta.stream_rows.items()}
    return [
        f"rows: {stream} holds {len(rows)} rows, {counted.get(stream, 0)} were counted"
        for stream, rows in want.items()
        if isinstance(rows, list) and len(rows) != counted.get(stream, 0)
    ]


def _strict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a repeated key")
    return dict(pairs)


def main() -> int:
    """Run many inputs; the failing ones are written to ``--keep`` and named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="directory for failing inputs")
    options = parser.parse_args()
    bad = 0
    for one in inputs(options.seed, options.first + options.inputs):
        if one.number < options.first:
            continue
        found = failures(one)
        if found:
            bad += 1
            sys.stdout.write(f"input {one.number} of seed {options.seed}:\n" + "\n".join(found) + "\n")
            if options.keep is not None:
                folder = options.keep / str(one.number)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "chip_swimlane_records.json").write_bytes(one.swimlane)
                (folder / "deps.json").write_bytes(one.deps or b"{}")
    sys.stdout.write(f"{options.inputs} inputs, {bad} failures\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
