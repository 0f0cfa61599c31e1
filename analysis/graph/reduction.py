"""Which dependency edges say nothing new? (ALGORITHMS: Redundant edges)

Five modes over the unique edges: ``full``, ``reduced`` (an edge with another path beside it is dropped, creator edges
never), ``reduced-df`` (creator edges too, where the data flow spares them) and their complements ``omitted`` and
``omitted-df``. A graph with a cycle keeps all its edges and one cycle is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, I8, U8, Bool, Capture
from analysis.errors import NotAvailable, ParameterError
from analysis.graph.reduction_df import droppable, has_creator
from analysis.results import Column, Table, task_names

MODES: tuple[str, ...] = ("full", "reduced", "omitted", "reduced-df", "omitted-df")
MAX_NAMED = 12
"""Tasks of a cycle written out in a notice; ``EdgeSelection.cycle`` always holds all."""

COLUMNS: tuple[Column, ...] = (
    Column("pred", "id", "Task the edge leaves"),
    Column("succ", "id", "Task that waits for it"),
    Column("pred_name", "text", "Function of the first"),
    Column("succ_name", "text", "Function of the second"),
    Column("annotations", "count", "Rows of deps.json behind the edge"),
)


@dataclass(frozen=True, slots=True)
class EdgeSelection:
    """The edges of one mode, sorted by (pred, succ) as numbers.

    ``edge`` are indexes into EdgeTable; ``pred_id``, ``succ_id``, ``annotations`` and the function names (indexes into
    ``names``) run parallel to it. ``cycle`` are the dense indexes of one cycle's tasks (the first is not repeated at the
    end), empty for a DAG. ``notes`` say in plain words what limits the answer.
    """

    mode: str
    nodes: int
    edges: int
    edge: I8
    pred_id: U8
    succ_id: U8
    annotations: I8
    pred_name: I4
    succ_name: I4
    names: tuple[str, ...]
    cycle: I4
    notes: tuple[str, ...]

    @property
    def is_dag(self) -> bool:
        """Whether the graph has no cycle (a self edge is one)."""
        return not len(self.cycle)

    @property
    def table(self) -> Table:
        """One row per edge (:data:`COLUMNS`), made on demand: a full graph may have millions."""
        return Table(
            COLUMNS,
            {
                "pred": [str(i) for i in self.pred_id.tolist()],
                "succ": [str(i) for i in self.succ_id.tolist()],
                "pred_name": [self.names[i] for i in self.pred_name.tolist()],
                "succ_name": [self.names[i] for i in self.succ_name.tolist()],
                "annotations": self.annotations,
            },
        )

    def frame(self) -> Any:
        """The table as a pandas frame."""
        return self.table.frame()

    def to_json(self) -> dict[str, Any]:
        """The keys of ``python -m analysis edges``."""
        return {
            "nodes": self.nodes,
            "edges": self.edges,
            "shown": len(self.edge),
            "is_dag": self.is_dag,
            "pairs": [[str(p), str(s)] for p, s in zip(self.pred_id.tolist(), self.succ_id.tolist(), strict=True)],
        }


def edges(capture: Capture, mode: str = "full", masks: dict[str, NDArray[Any]] | None = None) -> EdgeSelection:
    """Which edges does ``mode`` (one of :data:`MODES`) show?

    Args:
        capture: one launch.
        mode: which edges.
        masks: what :func:`edge_masks` gave for this capture, where it is at hand (``Store.derived``).

    Raises:
        NotAvailable: the capture has no dependencies.
        ParameterError: an unknown mode.
    """
    if mode not in MODES:
        raise ParameterError(f"mode is {mode!r}: choose one of {', '.join(MODES)}")
    if mode == "full":
        cycle = find_cycle(capture) if masks is None else np.asarray(masks["cycle"])
        shown = np.ones(len(capture.edges), np.bool_)
    else:
        found = edge_masks(capture, with_df=mode.endswith("-df")) if masks is None else masks
        cycle, omitted = np.asarray(found["cycle"]), found["omitted_df" if mode.endswith("-df") else "omitted"]
        shown = omitted if mode.startswith("omitted") else ~omitted
    at: I8 = np.flatnonzero(shown).astype(np.int64)
    tasks, table = capture.tasks, capture.edges
    names, code = np.unique(np.array(task_names(capture, np.arange(len(tasks))), np.str_), return_inverse=True)
    pred, succ = table.pred[at], table.succ[at]
    return EdgeSelection(
        mode,
        int(tasks.in_graph.sum()),
        len(table),
        at,
        tasks.task_id[pred],
        tasks.task_id[succ],
        np.diff(table.ann_offsets)[at],
        code[pred].astype(np.int32),
        code[succ].astype(np.int32),
        tuple(names.tolist()),
        cycle,
        tuple(_notes(capture, cycle)),
    )


def _notes(capture: Capture, cycle: I4) -> Iterator[str]:
    """What limits the answer, in plain words."""
    if len(cycle):
        labels = [capture.meta.task_label(int(i)) for i in capture.tasks.task_id[cycle[:MAX_NAMED]]]
        rest = f"… ({len(cycle)} tasks)" if len(cycle) > MAX_NAMED else labels[0]
        yield f"The graph has a cycle, so no edge is redundant and all are kept: {' → '.join([*labels, rest])}."
    if capture.meta.edges_from_fanout:
        yield "Edges come from fanout[]: dependencies on alloc tasks and annotations are missing."


def edge_masks(capture: Capture, with_df: bool = True) -> dict[str, NDArray[Any]]:
    """Everything the five modes need, as arrays worth caching.

    Returns:
        ``omitted`` and ``omitted_df`` (only ``with_df``; bool per unique edge) and ``cycle`` (dense task indexes).

    Raises:
        NotAvailable: the capture has no dependencies.
    """
    _check_has_edges(capture)
    redundant, cycle = redundant_edges(capture)
    at = np.flatnonzero(redundant)
    result: dict[str, NDArray[Any]] = {"omitted": redundant & ~has_creator(capture), "cycle": cycle}
    if with_df:
        omitted_df = np.zeros(len(redundant), np.bool_)
        omitted_df[at] = droppable(capture, at.astype(np.int64))
        result["omitted_df"] = omitted_df
    return result


def find_cycle(capture: Capture) -> I4:
    """The tasks of one cycle (dense indexes, the first not repeated), empty for a DAG.

    Raises:
        NotAvailable: the capture has no dependencies.
    """
    _check_has_edges(capture)
    return _order(capture)[2]


def redundant_edges(capture: Capture) -> tuple[Bool, I4]:
    """Which unique edges have a path of length >= 2 beside them, whatever their annotations; and a cycle if any.

    Only edges that skip a level can be redundant; reachability runs from their predecessors alone, in blocks of bits
    along the topological order (50,000 tasks: some hundredths of a second; 64 bytes per task).
    """
    from analysis.graph import reduction_kernels

    table = capture.edges
    n, m = len(capture.tasks), len(table)
    order, level, cycle = _order(capture)
    if len(cycle):
        return np.zeros(m, np.bool_), cycle
    skips = level[table.succ] - level[table.pred] >= 2
    redundant = np.zeros(m, np.bool_)
    if skips.any():
        position = np.empty(n, np.int64)
        position[order] = np.arange(n)
        pred, succ = position[table.pred], position[table.succ]
        by_succ = np.argsort(succ * n + pred)
        sources, group = np.unique(pred[skips], return_inverse=True)
        last = np.zeros(len(sources), np.int32)
        np.maximum.at(last, group, succ[skips].astype(np.int32))
        redundant[by_succ] = reduction_kernels.redundant_edges(
            np.searchsorted(succ[by_succ], np.arange(n + 1)).astype(np.int64),
            pred[by_succ].astype(np.int32),
            skips[by_succ],
            sources.astype(np.int32),
            last,
        )
    return redundant, cycle


def _order(capture: Capture) -> tuple[I4, I4, I4]:
    """Topological order, level per task and a cycle (empty for a DAG; else order and level are partial)."""
    from analysis.graph import reduction_kernels

    table = capture.edges
    order, level, reached = reduction_kernels.topological_order(table.out_offsets, table.succ, table.in_offsets)
    if reached == len(capture.tasks):
        return order, level, np.zeros(0, np.int32)
    return order, level, _name_cycle(capture, order[:reached])


def _check_has_edges(capture: Capture) -> None:
    if not capture.meta.has_deps and not capture.meta.edges_from_fanout:
        raise NotAvailable(
            "deps.json is missing, so there are no dependency edges. Put the deps.json of this run beside the swimlane"
        )


def _name_cycle(capture: Capture, ordered: I4) -> I4:
    """One cycle among the nodes a topological order could not place: each of them has an unplaced predecessor."""
    edges, left = capture.edges, np.ones(len(capture.tasks), np.bool_)
    left[ordered] = False
    at = int(np.flatnonzero(left)[0])
    seen: dict[int, int] = {}
    walk: list[int] = []
    while at not in seen:
        seen[at] = len(walk)
        walk.append(at)
        preds = edges.pred[edges.in_order[edges.in_offsets[at] : edges.in_offsets[at + 1]]]
        at = int(preds[left[preds]][0])
    return np.array(walk[seen[at] :][::-1], np.int32)
