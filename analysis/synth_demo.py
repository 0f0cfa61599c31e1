"""The sample tree that ``make run`` serves: a dozen captures that show what the product can and cannot know."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from analysis.synth import Synthetic, write_capture

_DONE = "complete.json"
"""Written last; names the version of the tree, so a crash half way or an older tree is made again."""
_VERSION = 2


def _drop_rows(data: dict[str, Any]) -> None:
    """Buffers lost on rotation: rows without partner on both sides, and rows reserved but never committed."""
    data["aicpu_tasks"] = [row for i, row in enumerate(data["aicpu_tasks"]) if i % 97 != 13]
    data["aicore_tasks"] = [row for i, row in enumerate(data["aicore_tasks"]) if i % 151 != 40]
    core, token, _, _, _, _ = data["aicore_tasks"][-1]
    data["aicore_tasks"] += [[core, token, 900_000 + i, 0, 0, 0] for i in range(3)]


def _disorder(data: dict[str, Any]) -> None:
    """Stamps out of order, a key used twice, a phase of an unknown kind."""
    tasks = data["aicore_tasks"]
    for row in tasks[20:24]:
        row[3], row[4] = row[4], row[3]
    tasks[30] = [*tasks[30][:4], tasks[30][3], tasks[30][5]]
    tasks[41][2] = tasks[40][2] if tasks[41][0] == tasks[40][0] else tasks[41][2]
    for row in data["aicpu_tasks"][50:55]:
        row[2] = row[3] + 40
    for phase in data["aicpu_scheduler_phases"][0][5:400:50]:
        phase["kind"] = "prefetch_window"


def _damage(directory: Path, damage: Callable[[dict[str, Any]], None]) -> None:
    path = directory / "chip_swimlane_records.json"
    data = json.loads(path.read_text(encoding="ascii"))
    damage(data)
    path.write_text(json.dumps(data), encoding="ascii")


def write_demo(directory: str | Path, progress: Callable[[str], None] = lambda text: None) -> Path:
    """Write the sample tree into ``directory`` unless it is already there; return ``directory``.

    Args:
        directory: created if needed.
        progress: called with one line per capture.
    """
    root = Path(directory)
    mark = root / _DONE
    if mark.is_file() and json.loads(mark.read_text(encoding="ascii")).get("version") == _VERSION:
        return root

    def make(name: str, records: int, seed: int, **options: Any) -> Synthetic:
        progress(f"{name}: {records:,} records")
        return write_capture(root / name / "dfx_outputs", records, seed, **options)

    make("attention_small", 240, 1)
    make("attention", 5_000, 2)
    make("attention_large", 30_000, 3)
    make("decoder_layers", 12_960, 4, shape="decoder-layers")
    make("decoder_layers_large", 51_840, 13, shape="decoder-layers")
    make("decoder_one_layer", 324, 5, shape="decoder-layers")
    make("levels/level_1", 1_500, 6, level=1)
    make("levels/level_2", 1_500, 6, level=2)
    make("levels/level_3", 1_500, 6, level=3)
    make("missing/no_deps", 1_500, 7, deps=False)
    make("missing/no_name_map", 1_500, 7, name_map=False)
    for rank in range(4):
        make(f"multi_rank/rank{rank}", 2_000, 20 + rank, shape="decoder-layers")
    make("host_orchestrated_a5", 2_000, 9, host=True, clock_freq_hz=1_000_000_000)
    make("damaged/rows_dropped", 3_000, 10)
    _damage(root / "damaged/rows_dropped/dfx_outputs", _drop_rows)
    make("damaged/stamps_disordered", 3_000, 11)
    _damage(root / "damaged/stamps_disordered/dfx_outputs", _disorder)
    cut = root / "damaged/cut_short/dfx_outputs/chip_swimlane_records.json"
    make("damaged/cut_short", 400, 12)
    cut.write_bytes(cut.read_bytes()[:20_000])
    mark.write_text(json.dumps({"version": _VERSION}), encoding="ascii")
    return root
