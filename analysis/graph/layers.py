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
from analysis.graph.neighbourhood import NARROW, gather


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
    """How deep does each of ``n`` nodes lie, counted in edges of the longest path that ends there?

    Near-linear: one step per layer over the edges that leave it.
    """
    turned = np.asarray(pred == succ)
    layer, placed = _peel(n, pred[~turned], succ[~turned])
    if placed == n:
        return Layers(layer, turned)
    _, component = connected_components(
        coo_matrix((np.ones(len(pred), np.int8), (pred, succ)), shape=(n, n)).tocsr(), connection="strong"
    )
    turned = (component[pred] == component[succ]) & (pred >= succ)
    real = pred != succ
    start = np.where(turned, succ, pred)[real]
    end = np.where(turned, pred, succ)[real]
    layer, _ = _peel(n, start, end)
    return Layers(layer, turned)


def csr(n: int, rows: I4, values: I4) -> tuple[I8, I4]:
    """Offsets and values grouped by row, order kept inside a row."""
    order = np.argsort(rows, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n)))).astype(np.int64)
    return offsets, values[order]


def _peel(n: int, pred: I4, succ: I4) -> tuple[I4, int]:
    offsets, targets = csr(n, pred, succ)
    waiting = np.bincount(succ, minlength=n).astype(np.int64)
    layer = np.zeros(n, dtype=np.int32)
    frontier = np.flatnonzero(waiting == 0)
    placed, depth = 0, 0
    while len(frontier):
        layer[frontier] = depth
        placed += len(frontier)
        depth += 1
        if len(frontier) <= NARROW:
            frontier = np.array(_narrow_peel(offsets, targets, frontier.tolist(), waiting), dtype=np.int64)
            continue
        freed, times = np.unique(gather(offsets, targets, frontier), return_counts=True)
        waiting[freed] -= times
        frontier = freed[waiting[freed] == 0].astype(np.int64)
    return layer, placed


def _narrow_peel(offsets: I8, targets: I4, frontier: list[int], waiting: I8) -> list[int]:
    freed: list[int] = []
    for node in frontier:
        for other in targets[int(offsets[node]) : int(offsets[node + 1])].tolist():
            waiting[other] -= 1
            if waiting[other] == 0:
                freed.append(other)
    return freed
