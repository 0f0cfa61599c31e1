"""Where does each node of a dependency graph stand: a layered layout, computed on the server in bounded time.

Steps: connected components separately (equal ones are solved once); longest-path layers (``analysis.graph.layers``), nodes pulled
towards their successors; long edges cut by bends; barycentre and median sweeps; heights by least squares; layers with
many nodes wrapped into several columns; components packed into a page-like area.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from analysis.capture import I4, I8, Bool
from analysis.graph.layers import csr, longest_path_layers
from analysis.graph.layout_order import F8, heights, proper, reduce_crossings

MAX_DUMMIES = 20_000
"""Bends one component may have; an edge beyond that is drawn straight."""
ASPECT = 1.7
"""Width over height aimed at when components are packed: a page on a wide screen."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Room of the picture in pixels: the node's box and the free space round it."""

    node_width: float = 132.0
    node_height: float = 38.0
    layer_gap: float = 46.0
    node_gap: float = 18.0
    bend_gap: float = 9.0
    component_gap: float = 46.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions in pixels (node centres), and how they were found.

    ``bends`` maps an edge (index into the input) to the points it passes between its ends. ``finished`` is false when
    the time budget or a cancel ended the sweeps early; the layout is complete and free of overlaps all the same.
    """

    x: F8
    y: F8
    layer: I4
    turned: Bool
    bends: dict[int, tuple[tuple[float, float], ...]]
    crossings: int
    sweeps: int
    finished: bool
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Part:
    """One component in abstract axes: ``along`` follows the edges, ``across`` the layers; both start at 0."""

    along: F8
    across: F8
    layer: I4
    turned: Bool
    bends: dict[int, tuple[tuple[float, float], ...]]
    crossings: int
    sweeps: int
    long: float
    broad: float


def layered(
    n: int,
    pred: I4,
    succ: I4,
    *,
    direction: str = "LR",
    budget_s: float = 1.0,
    should_stop: Callable[[], bool] = lambda: False,
    sizes: Sizes | None = None,
) -> Layout:
    """Lay out ``n`` nodes with edges ``pred[i] → succ[i]``, left to right (``LR``) or top to bottom (``TB``).

    Node order is the reading order where nothing else decides: ties and cycles follow it. Refinement ends after
    ``budget_s`` seconds or when ``should_stop()`` is true.
    """
    room = sizes or Sizes()
    deadline = time.monotonic() + budget_s

    def stop() -> bool:
        return time.monotonic() > deadline or should_stop()

    parts, members, edges_of = [], [], []
    solved: dict[bytes, _Part] = {}
    for nodes, edges in _components(n, pred, succ):
        start = np.searchsorted(nodes, pred[edges]).astype(np.int32)
        end = np.searchsorted(nodes, succ[edges]).astype(np.int32)
        key = len(nodes).to_bytes(4, "little") + start.tobytes() + end.tobytes()
        if key not in solved:
            solved[key] = _component(len(nodes), start, end, direction, room, stop)
        parts.append(solved[key])
        members.append(nodes)
        edges_of.append(edges)
    finished = not stop()
    return _pack(n, len(pred), parts, members, edges_of, direction, room, finished)


def in_rows(n: int, *, direction: str = "LR", sizes: Sizes | None = None) -> Layout:
    """Lay out a sequence of ``n`` nodes like text: row after row, or column after column for ``TB``."""
    room = sizes or Sizes()
    wide, high = room.node_width + room.layer_gap, room.node_height + room.node_gap + 14
    if direction == "LR":
        per_line = max(1, round((n * ASPECT * high / wide) ** 0.5))
        column, row = np.arange(n) % per_line, np.arange(n) // per_line
    else:
        per_line = max(1, round((n * wide / (ASPECT * high)) ** 0.5))
        column, row = np.arange(n) // per_line, np.arange(n) % per_line
    x, y = column * wide + room.node_width / 2, row * high + room.node_height / 2
    width, height = (float(v.max(initial=0.0)) for v in (x + room.node_width / 2, y + room.node_height / 2))
    none = np.zeros(0, dtype=bool)
    return Layout(x, y, np.arange(n, dtype=np.int32), none, {}, 0, 0, True, width, height)


def _components(n: int, pred: I4, succ: I4) -> list[tuple[I8, I8]]:
    """(nodes, edges) of each connected component, both ascending, by first node."""
    if n == 0:
        return []
    count, label = connected_components(
        coo_matrix((np.ones(len(pred), np.int8), (pred, succ)), shape=(n, n)).tocsr(), directed=False
    )
    node_cuts = np.cumsum(np.bincount(label, minlength=count))[:-1]
    edge_label = label[pred]
    edge_cuts = np.cumsum(np.bincount(edge_label, minlength=count))[:-1]
    nodes = np.split(np.argsort(label, kind="stable"), node_cuts)
    edges = np.split(np.argsort(edge_label, kind="stable"), edge_cuts)
    return sorted(zip(nodes, edges, strict=True), key=lambda part: int(part[0][0]))


def _component(n: int, pred: I4, succ: I4, direction: str, room: Sizes, stop: Callable[[], bool]) -> _Part:
    layers = longest_path_layers(n, pred, succ)
    start = np.where(layers.turned, succ, pred)
    end = np.where(layers.turned, pred, succ)
    layer = _pull(n, start, end, layers.layer)
    real = np.flatnonzero(start != end)
    cut = _cut(layer, start[real], end[real])
    graph = proper(cut.layer, cut.start, cut.end)
    rank, crossed, sweeps = reduce_crossings(graph, np.arange(len(cut.layer), dtype=np.float64), stop)

    node_along, node_across = room.node_width, room.node_height
    if direction == "TB":
        node_along, node_across = node_across, node_along
    dummy = np.arange(len(cut.layer)) >= n
    per_layer = np.bincount(layer, minlength=len(graph.nodes_of))
    rows = max(12, int(np.sqrt(n * (node_along + room.layer_gap) / (node_across + room.node_gap)) * 1.2))
    columns = np.maximum(1, -(-per_layer // rows))
    gap = np.where(dummy, room.bend_gap, node_across + room.node_gap) / columns[cut.layer]
    across = heights(graph, rank, gap, dummy)
    across -= across.min() - node_across / 2

    column_along = node_along + room.node_gap
    thick = (columns - 1) * column_along + node_along
    left = np.concatenate(([0.0], np.cumsum(thick + room.layer_gap)))[:-1]
    along = left[cut.layer] + node_along / 2
    for k in np.flatnonzero(columns > 1).tolist():
        nodes = graph.nodes_of[k]
        nodes = nodes[nodes < n]
        turn = np.argsort(np.argsort(rank[nodes], kind="stable"), kind="stable") % columns[k]
        along[nodes] += turn * column_along
    bends = _bends(cut, real, layers.turned, across, left, thick)
    return _Part(
        along[:n],
        across[:n],
        layer,
        layers.turned,
        bends,
        crossed,
        sweeps,
        float(left[-1] + thick[-1]),
        float(across.max() + node_across / 2),
    )


def _pull(n: int, pred: I4, succ: I4, layer: I4) -> I4:
    """Move nodes towards their successors where that lengthens nothing: feeders stand beside what they feed."""
    out_offsets, targets = csr(n, pred, succ)
    fan_out, fan_in = np.bincount(pred, minlength=n), np.bincount(succ, minlength=n)
    moved = layer.copy()
    for node in np.argsort(-layer, kind="stable").tolist():
        if fan_out[node] and fan_out[node] >= fan_in[node]:
            after = targets[out_offsets[node] : out_offsets[node + 1]]
            after = after[after != node]
            if len(after):
                moved[node] = int(moved[after].min()) - 1
    return moved - moved.min() if len(moved) else moved


@dataclass(frozen=True, slots=True)
class _Cut:
    """The graph with long edges cut: nodes ``n..`` are bends; ``chain_of`` lists them per long edge."""

    layer: I4
    start: I4
    end: I4
    chain_of: dict[int, tuple[int, int]]


def _cut(layer: I4, pred: I4, succ: I4) -> _Cut:
    span = layer[succ] - layer[pred]
    extra = np.maximum(span - 1, 0)
    order = np.argsort(extra, kind="stable")
    room_for = np.zeros(len(span), dtype=bool)
    room_for[order] = np.cumsum(extra[order]) <= MAX_DUMMIES
    layers, starts, ends = [layer], [pred[span == 1]], [succ[span == 1]]
    chains: dict[int, tuple[int, int]] = {}
    at = len(layer)
    for edge in np.flatnonzero((span > 1) & room_for).tolist():
        bends = np.arange(at, at + int(extra[edge]), dtype=np.int32)
        layers.append(np.arange(layer[pred[edge]] + 1, layer[succ[edge]], dtype=np.int32))
        starts.append(np.concatenate(([pred[edge]], bends)).astype(np.int32))
        ends.append(np.concatenate((bends, [succ[edge]])).astype(np.int32))
        chains[edge] = (at, at + len(bends))
        at += len(bends)
    return _Cut(np.concatenate(layers), np.concatenate(starts), np.concatenate(ends), chains)


def _bends(
    cut: _Cut, real: I8, turned: Bool, across: F8, left: F8, thick: F8
) -> dict[int, tuple[tuple[float, float], ...]]:
    bends: dict[int, tuple[tuple[float, float], ...]] = {}
    for edge, (first, last) in cut.chain_of.items():
        layer = cut.layer[first:last]
        height = across[first:last]
        a = np.stack((left[layer], left[layer] + thick[layer]), axis=1).ravel()
        points = _straightened(a, np.repeat(height, 2))
        index = int(real[edge])
        bends[index] = tuple(reversed(points)) if turned[index] else tuple(points)
    return bends


def _straightened(a: F8, b: F8) -> list[tuple[float, float]]:
    """Drop the points that are on the straight line between their neighbours."""
    keep = np.ones(len(a), dtype=bool)
    if len(a) > 2:
        cross = (a[1:-1] - a[:-2]) * (b[2:] - b[:-2]) - (a[2:] - a[:-2]) * (b[1:-1] - b[:-2])
        keep[1:-1] = np.abs(cross) > 2.0 * (a[2:] - a[:-2])
    return list(zip(a[keep].tolist(), b[keep].tolist(), strict=True))


def _pack(
    n: int,
    n_edges: int,
    parts: list[_Part],
    members: list[I8],
    edges_of: list[I8],
    direction: str,
    room: Sizes,
    finished: bool,
) -> Layout:
    """Set the components on shelves, the tallest first, so that the page has a readable shape."""
    x, y = np.zeros(n), np.zeros(n)
    layer, turned = np.zeros(n, dtype=np.int32), np.zeros(n_edges, dtype=bool)
    bends: dict[int, tuple[tuple[float, float], ...]] = {}
    box = [(p.long, p.broad) if direction == "LR" else (p.broad, p.long) for p in parts]
    order = sorted(range(len(parts)), key=lambda i: (-box[i][1], int(members[i][0])))
    places, width, height = _shelves([box[i] for i in order], room.component_gap)
    for index, (left, top) in zip(order, places, strict=True):
        part = parts[index]
        along, across = (left, top) if direction == "LR" else (top, left)
        px, py = part.along + along, part.across + across
        x[members[index]], y[members[index]] = (px, py) if direction == "LR" else (py, px)
        layer[members[index]] = part.layer
        turned[edges_of[index]] = part.turned
        for edge, points in part.bends.items():
            moved = tuple((a + along, b + across) for a, b in points)
            bends[int(edges_of[index][edge])] = moved if direction == "LR" else tuple((b, a) for a, b in moved)
    return Layout(
        x,
        y,
        layer,
        turned,
        bends,
        sum(p.crossings for p in parts),
        max((p.sweeps for p in parts), default=0),
        finished,
        width,
        height,
    )


def _shelves(boxes: list[tuple[float, float]], gap: float) -> tuple[list[tuple[float, float]], float, float]:
    """Left top corners of the boxes set row by row, and the size of it all, for the row width that fits a page best."""
    area = sum((w + gap) * (h + gap) for w, h in boxes)
    widest = max((w for w, _ in boxes), default=0.0)
    limits = [max(widest, (area * ASPECT) ** 0.5 * share) for share in (1.0, 1.2, 1.5)]
    limits += [widest * times + gap * (times - 1) for times in (1, 2, 3, 4)]
    best: tuple[list[tuple[float, float]], float, float] = ([], 0.0, 0.0)
    best_scale = -1.0
    for limit in limits:
        tried = _one_shelving(boxes, gap, limit)
        scale = min(ASPECT / max(tried[1], 1.0), 1 / max(tried[2], 1.0))
        if scale > best_scale:
            best, best_scale = tried, scale
    return best


def _one_shelving(
    boxes: list[tuple[float, float]], gap: float, limit: float
) -> tuple[list[tuple[float, float]], float, float]:
    places = []
    left, top, shelf, width = 0.0, 0.0, 0.0, 0.0
    for w, h in boxes:
        if left and left + w > limit:
            left, top, shelf = 0.0, top + shelf + gap, 0.0
        places.append((left, top))
        width, shelf, left = max(width, left + w), max(shelf, h), left + w + gap
    return places, width, top + shelf
