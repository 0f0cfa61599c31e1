"""The sample tree that ``make run`` serves: a dozen captures that show what the product can and cannot know."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.synth.capture import write_capture
from analysis.synth.passes import write_passes
from analysis.synth.serving import as_bytes, serving_trace, strace_log

_DONE = "complete.json"
"""Written last; names the version of the tree, so a crash half way or an older tree is made again."""
_VERSION = 4


def _drop_rows(path: Path) -> None:
    """Buffers lost on rotation: rows without partner on both sides, and rows reserved but never committed."""
    data = json.loads(path.read_text(encoding="ascii"))
    data["aicpu_tasks"] = [row for i, row in enumerate(data["aicpu_tasks"]) if i % 97 != 13]
    data["aicore_tasks"] = [row for i, row in enumerate(data["aicore_tasks"]) if i % 151 != 40]
    core, token, _, _, _, _ = data["aicore_tasks"][-1]
    data["aicore_tasks"] += [[core, token, 900_000 + i, 0, 0, 0] for i in range(3)]
    path.write_text(json.dumps(data), encoding="ascii")


def _disorder(path: Path) -> None:
    """Stamps out of order, a key used twice, a phase of an unknown kind."""
    data = json.loads(path.read_text(encoding="ascii"))
    tasks = data["aicore_tasks"]
    for row in tasks[20:24]:
        row[3], row[4] = row[4], row[3]
    tasks[30] = [*tasks[30][:4], tasks[30][3], tasks[30][5]]
    tasks[41][2] = tasks[40][2] if tasks[41][0] == tasks[40][0] else tasks[41][2]
    for row in data["aicpu_tasks"][50:55]:
        row[2] = row[3] + 40
    for phase in data["aicpu_scheduler_phases"][0][5:400:50]:
        phase["kind"] = "prefetch_window"
    path.write_text(json.dumps(data), encoding="ascii")


def _cut_short(path: Path) -> None:
    """A copy that stopped half way."""
    path.write_bytes(path.read_bytes()[:20_000])


@dataclass(frozen=True, slots=True)
class Sample:
    """One capture of the tree: where it is, its size, and the options of ``write_capture``."""

    name: str
    records: int
    seed: int
    options: dict[str, Any] = field(default_factory=dict)
    damage: Callable[[Path], None] | None = None


_LAYERS = {"shape": "decoder-layers"}
SAMPLES = (
    Sample("attention_small", 240, 1),
    Sample("attention", 5_000, 2),
    Sample("attention_large", 30_000, 3),
    Sample("decoder_layers", 12_960, 4, _LAYERS),
    Sample("decoder_layers_large", 51_840, 13, _LAYERS),
    Sample("decoder_one_layer", 324, 5, _LAYERS),
    Sample("levels/level_1", 1_500, 6, {"level": 1}),
    Sample("levels/level_2", 1_500, 6, {"level": 2}),
    Sample("levels/level_3", 1_500, 6, {"level": 3}),
    Sample("missing/no_deps", 1_500, 7, {"deps": False}),
    Sample("missing/no_name_map", 1_500, 7, {"name_map": False}),
    *(Sample(f"multi_rank/rank{rank}", 2_000, 20 + rank, _LAYERS) for rank in range(4)),
    Sample("host_orchestrated_a5", 2_000, 9, {"host": True, "clock_freq_hz": 1_000_000_000}),
    Sample("damaged/rows_dropped", 3_000, 10, damage=_drop_rows),
    Sample("damaged/stamps_disordered", 3_000, 11, damage=_disorder),
    Sample("damaged/cut_short", 400, 12, damage=_cut_short),
)
"""Every capture of the tree, in the order it is made."""
DUMP_OF = "attention"
"""The sample that has a pass dump beside its capture."""
DUMP_LINES = 5_000


TRACE_OF, TRACE_REQUESTS = "attention_small", 24
"""The capture that a serving trace and a host log are beside."""


def write_demo(directory: str | Path, progress: Callable[[str], None] = lambda text: None) -> Path:
    """Write the sample tree into ``directory`` unless it is already there; return ``directory``.

    Args:
        directory: created if needed.
        progress: called with one line per capture.
    """
    root = Path(directory)
    root.mkdir(parents=True, exist_ok=True)
    mark = root / _DONE
    if mark.is_file() and json.loads(mark.read_text(encoding="ascii")).get("version") == _VERSION:
        return root
    for sample in SAMPLES:
        progress(f"{sample.name}: {sample.records:,} records")
        _write(sample, root)
    progress(f"{DUMP_OF}: a pass dump of {DUMP_LINES:,} lines")
    write_passes(root / DUMP_OF, DUMP_LINES)
    progress(f"{TRACE_OF}: a serving trace of {TRACE_REQUESTS} requests and a host log")
    beside = root / TRACE_OF / "dfx_outputs"
    beside.mkdir(parents=True, exist_ok=True)
    (beside / "serving_trace.json").write_bytes(as_bytes(serving_trace(TRACE_REQUESTS, 1)[0]))
    (beside / "host.41.log").write_bytes(strace_log(40, 1, torn=1, dropped=2)[0])
    mark.write_text(json.dumps({"version": _VERSION}), encoding="ascii")
    return root


def _write(sample: Sample, root: Path) -> None:
    """Write one capture beside the tree and move it there whole: whoever looks meanwhile sees no half-written file."""
    with tempfile.TemporaryDirectory(prefix=".demo_", dir=root.parent) as beside:
        made = Path(beside) / "dfx_outputs"
        swimlane = write_capture(made, sample.records, sample.seed, **sample.options).files[0]
        if sample.damage:
            sample.damage(swimlane)
        target = root / sample.name / "dfx_outputs"
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        made.rename(target)


if __name__ == "__main__":
    write_demo(sys.argv[1], lambda text: print(text, file=sys.stderr))
