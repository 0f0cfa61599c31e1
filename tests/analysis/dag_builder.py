"""Small captures for tests: records and edges in, a Capture out (through the reference loader)."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from analysis.capture import Capture
from tests.reference_loader import build

Row = tuple[int, int, int, int]
"""(core, start, end, task id); starts are >= 1, since a row with start 0 was never committed."""

UNTIMED = settings(deadline=None)
"""For properties: the first example may pay for compiling a kernel, so examples have no deadline."""

IDS = (1, 2, 9, 10, 19, 99, 100, 1 << 32, (1 << 32) + 1, (2 << 32) + 7, (1 << 64) - 1, 10**19)
"""Ids whose order as numbers differs from their order as text."""


def capture_of(
    rows: list[Row],
    edges: list[tuple[int, int]] | list[dict[str, Any]] | None,
    *,
    tasks: list[dict[str, Any]] | None = None,
    tensors: list[dict[str, Any]] | None = None,
    stamps: dict[int, tuple[int, int]] | None = None,
    setup: int = 0,
    core_types: tuple[str, ...] = ("aic", "aiv", "aiv", "aic"),
    cpm: dict[str, Any] | None = None,
    phases: list[list[dict[str, Any]]] | None = None,
) -> Capture:
    """Build a capture.

    Args:
        rows: one per record.
        edges: pairs (explicit edges) or whole deps.json rows; None = no deps.json at all.
        tasks: deps.json tasks; by default every task with a record, kernel 0.
        tensors: deps.json tensors.
        stamps: per position in ``rows`` (dispatch, finish): makes it a level 2 capture.
        setup: receive_to_start of every row.
        core_types: per core.
        cpm: parsed CPM files by kind.
        phases: scheduler phases, makes it level 3.
    """
    ids = dict.fromkeys(row[3] for row in rows)
    listed = tasks if tasks is not None else [{"task_id": str(i), "kernel_ids": [0, 1, -1]} for i in ids]
    raw = {
        "chip_swimlane_level": 3 if phases else 2 if stamps else 1,
        "metadata": {"clock_freq_hz": 50_000_000, "num_cores": len(core_types), "core_types": list(core_types)},
        "aicore_tasks": [[core, task, i, start, end, setup] for i, (core, start, end, task) in enumerate(rows)],
        "aicpu_tasks": [[rows[i][0], i, *pair] for i, pair in (stamps or {}).items()],
        "aicpu_scheduler_phases": phases or [],
    }
    deps = None
    if edges is not None:
        whole = [
            edge if isinstance(edge, dict) else {"pred": edge[0], "succ": edge[1], "arg": -1, "source": "explicit"}
            for edge in edges
        ]
        deps = {"tasks": listed, "tensors": tensors or [], "edges": whole}
    return build(raw, deps, {"0": "QK", "1": "SF"}, cpm or {})


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Row], list[tuple[int, int]]]:
    """Records and unique edges: ties, touching and overlapping records, several blocks, untimed tasks, backward edges."""
    ids = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=8, unique=True))
    untimed = draw(st.sets(st.sampled_from(ids), max_size=len(ids) // 2))
    timed = [i for i in ids if i not in untimed] or ids[:1]
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(1, 30), st.integers(0, 8), st.sampled_from(timed)),
            min_size=1,
            max_size=16,
        )
    )
    pairs = draw(st.sets(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=24))
    return [(core, start, start + length, task) for core, start, length, task in rows], sorted(pairs)


@st.composite
def dags(draw: st.DrawFn, max_nodes: int = 12) -> list[tuple[int, int]]:
    """Unique edges of a DAG over numbers from 1 on whose topological order is not the numeric one."""
    order = draw(st.permutations(range(1, draw(st.integers(2, max_nodes)) + 1)))
    pairs = draw(st.sets(st.tuples(st.integers(0, len(order) - 1), st.integers(0, len(order) - 1)), max_size=40))
    return sorted((order[a], order[b]) for a, b in pairs if a < b)
