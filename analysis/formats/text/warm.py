"""The compiled loops made ready before the first large capture needs them.

Their first use on a machine compiles for some seconds; after that they come from numba's cache on disk. A server calls
:func:`warm_in_background` when it starts, so that no reader waits for the compiler. Small captures use none of this.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np

from analysis.formats.containers.cycles import PLAN
from analysis.formats.join import lanes
from analysis.formats.text.reading import Text
from analysis.formats.text.walk import walk

_SAMPLE = b"""{"aicore_tasks": [[0, 1, 1, 5, 6, 1]], "aicpu_tasks": [[0, 1, 4, 7]], "aicpu_scheduler_phases": [[
{"kind": "dispatch", "start_cycles": 1, "end_cycles": 2, "task_id": 1, "shared_at_start": [0, 0, 0]}]],
"aicpu_orchestrator_phases": [[{"submit_idx": 0, "start_cycles": 1, "end_cycles": 2}]], "other": {}}"""


def warm_up() -> None:
    """Compile, or load, every compiled loop of the ingestion in this process."""
    from analysis.formats.join.lane_kernel import extreme, group, insertion_order, pair

    walk(Text.of(_SAMPLE), PLAN, worth_bytes=0)
    column, order = np.arange(2, dtype=np.int64), np.empty(2, np.int64)
    for lane in (column, column[::-1]):
        lanes.compiled_rows(lane, column, column, np.zeros(2, np.int16))
    insertion_order(column, column, column, order)
    task, block = column.astype(np.int32), np.empty(2, np.int32)
    group(task, np.arange(3, dtype=np.int64), block, block.copy())
    extreme(task, column, True, order)
    table, seen = np.full(4, -1, np.int32), np.zeros(4, np.bool_)
    pair(column, column, column, column, column, column + 2, table, seen, order)


def warm_in_background() -> subprocess.Popen[bytes]:
    """Fill numba's cache on disk from a child process of low priority, which ends by itself."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import os; os.nice(10); from analysis.formats.text.warm import warm_up; warm_up()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    threading.Thread(target=child.wait, name="swimscope_warm_up", daemon=True).start()
    return child
