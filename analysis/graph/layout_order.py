"""In which order do the nodes of each layer stand so that few edges cross, and at which height?

Works on *proper* edges only, which lead from one layer to the next; longer ones have been cut by ``analysis.graph.layout``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from analysis.capture import I4, I8, Bool

F8 = NDArray[np.float64]

PATIENCE = 4
"""Sweeps without improvement before the search ends."""
BLOCK = 1024
"""Edges compared at once when crossings are counted."""


@dataclass(frozen=True, slots=True)
class Proper:
    """A graph cut into layers: nodes by layer, and edges between neighbouring layers by the layer of their end."""

    layer: I4
    nodes_of: list[I8]
    edges_of: list[tuple[I4, I4]]
    """For layer k, the (start, end) nodes of the edges from layer k-1 to k; empty for layer 0."""


def proper(layer: I4, pred: I4, succ: I4) -> Proper:
    """Group the nodes by layer and the edges by the layer they enter."""
    n_layers = int(layer.max()) + 1 if len(layer) else 0
    by_layer = np.argsort(layer, kind="stable")
    cuts = np.cumsum(np.bincount(layer, minlength=n_layers))[:-1]
    entering = np.argsort(layer[succ], kind="stable")
    edge_cuts = np.cumsum(np.bincount(layer[succ], minlength=n_layers))[:-1]
    starts, ends = np.split(pred[entering], edge_cuts), np.split(succ[entering], edge_cuts)
    return Proper(layer, np.split(by_layer, cuts), list(zip(starts, ends, strict=True)))


def crossings(graph: Proper, position: F8) -> int:
    """How many pairs of edges cross when each layer stands in the order of ``position``?"""
    return sum(_inversions(position, start, end) for start, end in graph.edges_of if len(start) > 1)


def reduce_crossings(graph: Proper, position: F8, should_stop: Callable[[], bool]) -> tuple[F8, int, int]:
    """Barycentre and median sweeps down and up the layers.

    Returns the best positions (ranks inside each layer), their crossings and the number of sweeps done. ``should_stop``
    is asked before every sweep; the best order so far is always valid.
    """
    best = ranked(graph, position)
    best_crossings = crossings(graph, best)
    current, since_best, sweeps = best.copy(), 0, 0
    while best_crossings and since_best < PATIENCE and not should_stop():
        _sweep(graph, current, median=sweeps % 4 >= 2, down=sweeps % 2 == 0)
        sweeps += 1
        count = crossings(graph, current)
        since_best = 0 if count < best_crossings else since_best + 1
        if count < best_crossings:
            best, best_crossings = current.copy(), count
    return best, best_crossings, sweeps


def ranked(graph: Proper, position: F8) -> F8:
    """Replace positions by ranks 0, 1, 2, … inside each layer; equal positions keep node order."""
    rank = np.empty(len(position), dtype=np.float64)
    for nodes in graph.nodes_of:
        rank[nodes[np.argsort(position[nodes], kind="stable")]] = np.arange(len(nodes))
    return rank


def heights(graph: Proper, rank: F8, gap: F8, dummy: Bool, passes: int = 6) -> F8:
    """Place the nodes of each layer near their neighbours, in the given order with at least a gap between them.

    ``gap`` holds the room each node needs; two neighbours in a layer keep at least half the sum of their rooms between them.
    Each pass solves every layer exactly (least squares under the separation), alternately looking down and up.
    """
    height = np.zeros(len(rank), dtype=np.float64)
    ordered = [nodes[np.argsort(rank[nodes], kind="stable")] for nodes in graph.nodes_of]
    offsets = []
    for nodes in ordered:
        room = gap[nodes]
        offset = np.concatenate(([0.0], np.cumsum((room[1:] + room[:-1]) / 2)))
        offsets.append(offset)
        height[nodes] = offset - offset[-1] / 2
    weight = np.where(dummy, 4.0, 1.0)
    for step in range(passes):
        down = step % 2 == 0
        layers = range(len(ordered)) if down else range(len(ordered) - 1, -1, -1)
        for k in layers:
            wish = _wish(graph, k, height, weight, down=down, both=step >= passes - 2)
            nodes = ordered[k]
            wanted = wish[nodes] - offsets[k]
            height[nodes] = isotonic_regression(wanted, weights=weight[nodes]).x + offsets[k]
    return height


def _wish(graph: Proper, k: int, height: F8, weight: F8, *, down: bool, both: bool) -> F8:
    """The mean height of each node's neighbours, heavier towards the straightness of long edges."""
    total = np.zeros(len(height))
    count = np.zeros(len(height))
    if down or both:
        start, end = graph.edges_of[k]
        pull = weight[start] * weight[end]
        np.add.at(total, end, height[start] * pull)
        np.add.at(count, end, pull)
    if (not down or both) and k + 1 < len(graph.edges_of):
        start, end = graph.edges_of[k + 1]
        pull = weight[start] * weight[end]
        np.add.at(total, start, height[end] * pull)
        np.add.at(count, start, pull)
    return np.where(count > 0, total / np.maximum(count, 1), height)


def _sweep(graph: Proper, position: F8, *, median: bool, down: bool) -> None:
    layers = range(1, len(graph.nodes_of)) if down else range(len(graph.nodes_of) - 2, -1, -1)
    for k in layers:
        nodes = graph.nodes_of[k]
        if len(nodes) < 2:
            continue
        start, end = graph.edges_of[k] if down else graph.edges_of[k + 1][::-1]
        local = np.searchsorted(nodes, end)
        centre = (_medians if median else _means)(local, position[start], len(nodes))
        lonely = np.isnan(centre)
        centre[lonely] = position[nodes[lonely]]
        position[nodes[np.lexsort((position[nodes], centre))]] = np.arange(len(nodes))


def _means(local: I8, values: F8, n: int) -> F8:
    count = np.bincount(local, minlength=n)
    total = np.bincount(local, weights=values, minlength=n)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _medians(local: I8, values: F8, n: int) -> F8:
    order = np.lexsort((values, local))
    count = np.bincount(local, minlength=n)
    first = np.cumsum(count) - count
    sorted_values = values[order]
    centre = np.full(n, np.nan)
    has = count > 0
    low = first[has] + (count[has] - 1) // 2
    high = first[has] + count[has] // 2
    centre[has] = (sorted_values[low] + sorted_values[high]) / 2
    return centre


def _inversions(position: F8, start: I4, end: I4) -> int:
    order = np.lexsort((position[end], position[start]))
    ends = position[end][order].astype(np.int32)
    total = 0
    for at in range(0, len(ends), BLOCK):
        block = ends[at : at + BLOCK]
        inside = block[:, None] > block[None, :]
        total += int(np.triu(inside, 1).sum())
        rest = ends[at + BLOCK :]
        if len(rest):
            total += int((len(block) - np.searchsorted(np.sort(block), rest, side="right")).sum())
    return total
