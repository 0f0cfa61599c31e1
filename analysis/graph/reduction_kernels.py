"""Compiled inner loops of the edge reduction; imported only where one is about to run (see ``path_kernels``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from analysis.paths.kernels import BOOLS, I4S, I4W, I8S, INT, compiled

WORDS = 8
"""64-bit words of a column block: 512 sources at a time, one cache line per node."""

BOOLW = types.boolean[::1]


@compiled(types.Tuple((I4W, I4W, INT)), I8S, I4S, I8S)
def topological_order(out_offsets: Any, succ: Any, in_offsets: Any) -> tuple[Any, Any, int]:
    """Topological order, longest-path level per node, and how many nodes the order holds (fewer: a cycle).

    Last in, first out: a chain stays together, which keeps the spans of :func:`redundant_edges` short.
    """
    n = len(in_offsets) - 1
    order = np.empty(n, np.int32)
    level = np.zeros(n, np.int32)
    waiting = (in_offsets[1:] - in_offsets[:-1]).astype(np.int32)
    stack = np.empty(n, np.int32)
    depth = 0
    for v in range(n - 1, -1, -1):
        if waiting[v] == 0:
            stack[depth] = v
            depth += 1
    m = 0
    while depth > 0:
        depth -= 1
        u = stack[depth]
        order[m] = u
        m += 1
        for e in range(out_offsets[u], out_offsets[u + 1]):
            v = succ[e]
            level[v] = max(level[v], level[u] + 1)
            waiting[v] -= 1
            if waiting[v] == 0:
                stack[depth] = v
                depth += 1
    return order, level, m


@compiled(BOOLW, I8S, I4S, BOOLS, I4S, I4S)
def redundant_edges(in_offsets: Any, pred: Any, candidate: Any, sources: Any, last: Any) -> Any:
    """Which candidate edges have another path from end to end (bool per edge).

    Nodes are positions of a topological order; edges are grouped by successor, ascending predecessor. ``sources`` are
    the distinct predecessors of candidates, ascending, ``last`` the largest successor each must be followed to.
    Reachability from 512 sources at a time is one block of bits per node: O(edges in the block's span) per block.
    """
    n = len(in_offsets) - 1
    redundant = np.zeros(len(pred), np.bool_)
    slot = np.full(n, -1, np.int32)
    reached = np.zeros(n, np.bool_)
    bits = np.zeros(n * WORDS, np.uint64)
    one = np.uint64(1)
    for begin in range(0, len(sources), 64 * WORDS):
        stop = min(begin + 64 * WORDS, len(sources))
        low, high = sources[begin], 0
        for i in range(begin, stop):
            slot[sources[i]] = i - begin
            high = max(high, last[i])
        for v in range(low, high + 1):
            row = v * WORDS
            bits[row : row + WORDS] = 0
            reached[v] = False
            direct = False
            for e in range(in_offsets[v], in_offsets[v + 1]):
                p = pred[e]
                if p < low:
                    continue
                direct = direct or slot[p] >= 0
                if reached[p]:
                    reached[v] = True
                    for w in range(WORDS):
                        bits[row + w] |= bits[p * WORDS + w]
            if not direct:
                continue
            for e in range(in_offsets[v], in_offsets[v + 1]):
                s = slot[pred[e]]
                if s >= 0 and candidate[e] and bits[row + (s >> 6)] >> np.uint64(s & 63) & one:
                    redundant[e] = True
            for e in range(in_offsets[v], in_offsets[v + 1]):
                s = slot[pred[e]]
                if s >= 0:
                    bits[row + (s >> 6)] |= one << np.uint64(s & 63)
            reached[v] = True
        for i in range(begin, stop):
            slot[sources[i]] = -1
    return redundant
