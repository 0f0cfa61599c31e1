"""Which tasks, ids and edges does a synthetic capture of exactly N records have?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.capture import I4, I8, U8
from analysis.synth.schedule import AIC, AIV, ALLOC, MIX, NONE, Delays, Graph, draws, ints
from analysis.synth.shapes import PREVIOUS, Arg, Edge, Shape, Task, Tile


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole graph: which tile each piece is, and flat columns over tasks in submit order."""

    shape: Shape
    tiles: tuple[Tile, ...]
    pieces: I4
    """Tile index of each piece, in order."""
    task_starts: I8
    """(pieces + 1): first task of each piece."""
    tensor_starts: I8
    """(pieces + 1): first tile tensor of each piece."""
    task_id: U8
    tensor_id: U8
    """Ids of the tile tensors; the shared ones are in ``shared_id``."""
    shared_id: U8
    early: I4
    """1 where deps.json marks the task for early dispatch."""
    kernels: I4
    """Shape (tasks, 3)."""
    graph: Graph
    pairs: tuple[I8, I8]
    """Unique edges (pred, succ) as task positions."""


def _tiles(shape: Shape, records: int, seed: int) -> tuple[tuple[Tile, ...], list[int]]:
    """Choose variants until ``records`` are reached exactly; the rest is a cut tile and an SPMD filler task."""
    tiles = list(shape.variants)
    pieces: list[int] = []
    left = records
    while True:
        pick = int(draws(seed, 1, 1, len(pieces))[0] % np.uint64(len(shape.variants)))
        if tiles[pick].records > left:
            break
        pieces.append(pick)
        left -= tiles[pick].records
    cut = tiles[pick].cut(left)
    if cut.tasks:
        pieces.append(len(tiles))
        tiles.append(cut)
        left -= cut.records
    if left:
        arg = Arg("INOUT", len(shape.shared) - 1, True, shape.shared[-1].dtype, (16, 128))
        filler = Task((-1, shape.filler, -1), 1, left, False, True, False, (arg,))
        pieces.append(len(tiles))
        tiles.append(Tile((filler,), (Edge(PREVIOUS, 0, -1, "explicit"),), (), 0))
    return tuple(tiles), pieces


def _lane(task: Task) -> int:
    if task.alloc:
        return ALLOC
    aic, aiv0, aiv1 = (k >= 0 for k in task.kernels)
    if aic and (aiv0 or aiv1):
        return MIX
    return AIC if aic else AIV if aiv0 or aiv1 else NONE


def _ids(rings: I8) -> U8:
    """Task ids: ring in the upper half, a running number per ring below."""
    ids = np.zeros(len(rings), np.uint64)
    for ring in np.unique(rings):
        where = np.flatnonzero(rings == ring)
        ids[where] = (np.uint64(ring) << np.uint64(32)) + np.arange(len(where), dtype=np.uint64)
    return ids


def _pairs(tiles: tuple[Tile, ...], pieces: I4, starts: I8, count: int) -> tuple[I8, I8]:
    """Unique (pred, succ) positions over all pieces, sorted."""
    keys = []
    for index, tile in enumerate(tiles):
        at = np.flatnonzero(pieces == index)
        local = np.array([(e.pred, e.succ) for e in tile.edges], np.int64).reshape(-1, 2)
        inside = local[local[:, 0] >= 0]
        first = starts[at][:, None]
        keys.append(((inside[:, 0] + first) * count + inside[:, 1] + first).ravel())
        entering = local[local[:, 0] < 0][:, 1]
        later = at[at > 0]
        exits = np.array([tiles[p].exit for p in pieces[later - 1]], np.int64) + starts[later - 1]
        keys.append((exits[:, None] * count + entering + starts[later][:, None]).ravel())
    key = np.sort(np.concatenate(keys))
    key = key[np.concatenate(([True], key[1:] != key[:-1]))]
    return key // count, key % count


def plan(shape: Shape, records: int, seed: int, ticks_scale: int, *, host: bool = False) -> Plan:
    """Repeat the tiles of ``shape`` to exactly ``records`` records and lay out ids, edges and submit times.

    ``ticks_scale`` is the number of ticks per 20 ns. With ``host`` the graph is built before the device starts: every
    task is in ring 0 and submitted at tick 0.
    """
    tiles, order = _tiles(shape, records, seed)
    pieces = np.array(order, np.int32)
    task_starts = np.concatenate(([0], np.cumsum([len(tiles[p].tasks) for p in order]))).astype(np.int64)
    tensor_starts = np.concatenate(([0], np.cumsum([len(tiles[p].tensors) for p in order]))).astype(np.int64)
    count = int(task_starts[-1])

    columns = [
        np.array([(_lane(t), t.records, t.ring, t.early, *t.kernels) for t in tile.tasks], np.int64) for tile in tiles
    ]
    flat = np.concatenate([columns[p] for p in order])
    pred, succ = _pairs(tiles, pieces, task_starts, count)
    succ_offsets = np.searchsorted(pred, np.arange(count + 1)).astype(np.int64)
    submit = np.cumsum(ints(seed, 2, count, 4, 10)) * (0 if host else ticks_scale)
    graph = Graph(
        lane=flat[:, 0].astype(np.int8),
        records=flat[:, 1].copy() * (flat[:, 0] < NONE),
        offsets=np.concatenate(([0], np.cumsum(flat[:, 1] * (flat[:, 0] < NONE)))),
        succ_offsets=succ_offsets,
        succ=succ.astype(np.int32),
        fan_in=np.bincount(succ, minlength=count).astype(np.int32),
        submit=submit,
    )
    tensors = int(tensor_starts[-1])
    ids = draws(seed, 3, tensors + len(shape.shared))
    return Plan(
        shape=shape,
        tiles=tiles,
        pieces=pieces,
        task_starts=task_starts,
        tensor_starts=tensor_starts,
        task_id=_ids(flat[:, 2] * (not host)),
        tensor_id=ids[len(shape.shared) :],
        shared_id=ids[: len(shape.shared)],
        early=flat[:, 3].astype(np.int32),
        kernels=flat[:, 4:7].astype(np.int32),
        graph=graph,
        pairs=(pred, succ),
    )


def record_functions(p: Plan) -> I4:
    """Function id per record: slots repeat aic, aiv0, aiv1 for MIX blocks."""
    task = np.repeat(np.arange(len(p.graph.lane)), p.graph.records)
    position = np.arange(len(task)) - p.graph.offsets[task]
    slot = np.where(p.graph.lane[task] == MIX, position % 3, np.where(p.graph.lane[task] == AIC, 0, 1))
    return p.kernels[task, slot]


def delays(p: Plan, seed: int, ticks_scale: int) -> Delays:
    """Draw every delay of every record: bell-shaped around the kernel's middle, one in a hundred far out."""
    n = int(p.graph.offsets[-1])
    middle = np.array([k.ticks for k in p.shape.kernels], np.int64)[record_functions(p)] * ticks_scale
    bell = sum((ints(seed, s, n, 0, 100) for s in (10, 11, 12)), np.zeros(n, np.int64))
    slow = np.where(ints(seed, 13, n, 0, 99) == 0, ints(seed, 14, n, 400, 1500), 0)
    return Delays(
        duration=np.maximum(2, middle * (850 + bell + slow) // 1000),
        schedule=ints(seed, 15, n, 6 * ticks_scale, 60 * ticks_scale),
        propagate=ints(seed, 16, n, 4 * ticks_scale, 14 * ticks_scale),
        setup=ints(seed, 17, n, 3, 30 * ticks_scale),
        detect=ints(seed, 18, n, 8 * ticks_scale, 160 * ticks_scale),
        eager=(ints(seed, 19, n, 0, 99) < 45).astype(np.int8),
    )
