"""Which dependency edges say nothing new? (ALGORITHMS: Redundant edges)

Five modes over the unique edges: ``full``, ``reduced`` (an edge with another path beside it is dropped, creator edges
never), ``reduced-df`` (creator edges too, where the data flow spares them) and their complements ``omitted`` and
``omitted-df``. A graph with a cycle keeps all its edges and one cycle is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import NotAvailable
from analysis.model import I4, I8, Bool, Capture, EdgeSource, task_label
from analysis.reduction_df import droppable
from analysis.results import Column, Table, task_ids, task_names

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
    """The edges of one mode. ``edge`` are indexes into EdgeTable, ascending, so pairs are sorted by numeric id.

    ``cycle`` names the tasks of one cycle (first = last is not repeated), empty for a DAG.
    """

    capture: Capture
    mode: str
    nodes: int
    edges: int
    edge: I8
    cycle: I4

    @property
    def is_dag(self) -> bool:
        """Whether the graph has no cycle (a self edge is one)."""
        return not len(self.cycle)

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits the answer, in plain words."""
        found = []
        if len(self.cycle):
            found.append(f"The graph has a cycle, so no edge is redundant and all are kept: {self._cycle_text()}.")
        if self.capture.meta.edges_from_fanout:
            found.append("Edges come from fanout[]: dependencies on alloc tasks and annotations are missing.")
        return tuple(found)

    def _cycle_text(self) -> str:
        labels = [task_label(int(i)) for i in self.capture.tasks.task_id[self.cycle]]
        more = f" … ({len(labels)} tasks)" if len(labels) > MAX_NAMED else ""
        return " → ".join([*labels[:MAX_NAMED], *([] if more else labels[:1])]) + more

    @property
    def table(self) -> Table:
        """One row per edge (:data:`COLUMNS`)."""
        edges = self.capture.edges
        pred, succ = edges.pred[self.edge], edges.succ[self.edge]
        return Table(
            COLUMNS,
            {
                "pred": task_ids(self.capture, pred),
                "succ": task_ids(self.capture, succ),
                "pred_name": task_names(self.capture, pred),
                "succ_name": task_names(self.capture, succ),
                "annotations": np.diff(edges.ann_offsets)[self.edge],
            },
        )

    def frame(self) -> Any:
        """The table as a pandas frame."""
        return self.table.frame()

    def to_json(self) -> dict[str, Any]:
        """The keys of ``python -m analysis edges``."""
        edges = self.capture.edges
        pairs = zip(
            task_ids(self.capture, edges.pred[self.edge]), task_ids(self.capture, edges.succ[self.edge]), strict=True
        )
        return {
            "nodes": self.nodes,
            "edges": self.edges,
            "shown": len(self.edge),
            "is_dag": self.is_dag,
            "pairs": [list(pair) for pair in pairs],
        }


def edges(capture: Capture, mode: str = "full", masks: dict[str, NDArray[Any]] | None = None) -> EdgeSelection:
    """Which edges does ``mode`` (one of :data:`MODES`) show?

    Args:
        capture: one launch.
        mode: which edges.
        masks: what :func:`edge_masks` gave for this capture, where it is at hand (``Store.derived``).

    Raises:
        NotAvailable: the capture has no dependencies.
        ValueError: an unknown mode.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, not {mode!r}")
    found = edge_masks(capture, with_df=mode.endswith("-df")) if masks is None else masks
    if mode == "full":
        shown = np.ones(len(capture.edges), np.bool_)
    else:
        omitted = found["omitted_df" if mode.endswith("-df") else "omitted"]
        shown = omitted if mode.startswith("omitted") else ~omitted
    nodes = int(capture.tasks.in_graph.sum())
    at: I8 = np.flatnonzero(shown).astype(np.int64)
    return EdgeSelection(capture, mode, nodes, len(capture.edges), at, np.asarray(found["cycle"]))


def edge_masks(capture: Capture, with_df: bool = True) -> dict[str, NDArray[Any]]:
    """Everything the five modes need, as arrays worth caching.

    Returns:
        ``omitted`` and ``omitted_df`` (only ``with_df``; bool per unique edge) and ``cycle`` (dense task indexes).

    Raises:
        NotAvailable: the capture has no dependencies.
    """
    if not capture.meta.has_deps and not capture.meta.edges_from_fanout:
        raise NotAvailable(
            "deps.json is missing, so there are no dependency edges. Put the deps.json of this run beside the swimlane"
        )
    redundant, cycle = redundant_edges(capture)
    at = np.flatnonzero(redundant)
    result: dict[str, NDArray[Any]] = {"omitted": redundant & ~_has_creator(capture), "cycle": cycle}
    if with_df:
        omitted_df = np.zeros(len(redundant), np.bool_)
        omitted_df[at] = droppable(capture, at.astype(np.int64))
        result["omitted_df"] = omitted_df
    return result


def redundant_edges(capture: Capture) -> tuple[Bool, I4]:
    """Which unique edges have a path of length >= 2 beside them, whatever their annotations; and a cycle if any.

    Only edges that skip a level can be redundant; reachability runs from their predecessors alone, in blocks of bits
    along the topological order (50,000 tasks: some hundredths of a second; 64 bytes per task).
    """
    from analysis import reduction_kernels

    table = capture.edges
    n, m = len(capture.tasks), len(table)
    order, level, reached = reduction_kernels.topological_order(table.out_offsets, table.succ, table.in_offsets)
    if reached < n:
        return np.zeros(m, np.bool_), _name_cycle(capture, order[:reached])
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
    return redundant, np.zeros(0, np.int32)


def _has_creator(capture: Capture) -> Bool:
    """Which edges carry a creator annotation."""
    creator = np.concatenate(([0], np.cumsum(capture.annotations.source == EdgeSource.CREATOR)))
    offsets = capture.edges.ann_offsets
    result: Bool = creator[offsets[1:]] > creator[offsets[:-1]]
    return result


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
