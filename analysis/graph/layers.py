"""Which layer of the picture does each node belong to: longest-path layers, with cycles opened.

A layer is the length of the longest path from any node without predecessors. Cycles cannot have one, so inside every
strongly connected component the edges that run against node order are turned round first, and reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from analysis.capture import I4, I8, Bool


@dataclass(frozen=True, slots=True)
class Layers:
    """Longest-path layers of a directed graph.

    ``layer`` has one entry per node. ``turned`` marks the edges that were turned round to open a cycle (self edges
    included: they take part in no layer).
    """

    layer: I4
    turned: Bool

    @property
    def n_layers(self) -> int:
        """How many layers there are."""
        return int(self.layer.max()) + 1 if len(self.layer) else 0


def longest_path_layers(n: int, pred: I4, succ: I4) -> Layers:
    """At which depth is each of ``n`` nodes, counted in edges of the longest path that ends there?

    Linear: one compiled walk in topological order, the one of the edge reduction.
    """
    turned = np.asarray(pred == succ)
    layer, placed = _levels(n, pred[~turned], succ[~turned])
    if placed == n:
        return Layers(layer, turned)
    _, component = connected_components(
        coo_matrix((np.ones(len(pred), np.int8), (pred, succ)), shape=(n, n)).tocsr(), connection="strong"
    )
    turned = (component[pred] == component[succ]) & (pred >= succ)
    real = pred != succ
    start = np.where(turned, succ, pred)[real]
    end = np.where(turned, pred, succ)[real]
    layer, _ = _levels(n, start, end)
    return Layers(layer, turned)


def csr(n: int, rows: I4, values: I4) -> tuple[I8, I4]:
    """Offsets and values grouped by row, order kept inside a row."""
    order = np.argsort(rows, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n)))).astype(np.int64)
    return offsets, values[order]


def _levels(n: int, pred: I4, succ: I4) -> tuple[I4, int]:
    """Layer per node, and how many nodes have one (fewer than ``n``: there is a cycle)."""
    from analysis.graph.reduction_kernels import topological_order

    offsets, targets = csr(n, pred, succ)
    incoming = np.concatenate(([0], np.cumsum(np.bincount(succ, minlength=n)))).astype(np.int64)
    _, level, placed = topological_order(offsets, np.ascontiguousarray(targets, dtype=np.int32), incoming)
    return level, int(placed)
