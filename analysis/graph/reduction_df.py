"""May an edge that keeps a tensor's owner alive be dropped? (ALGORITHMS: Redundant edges, Reduced DF)

A creator edge owner → user also says "the owner's buffer is needed here". Where the user only updates bytes that come
from, and go on to, other users of the same owner, that is said by its neighbours already.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from analysis.capture import I8, ArgType, Bool, Capture, EdgeSource
from analysis.graph.byte_regions import Intervals, Regions, intersect, merge


def droppable(capture: Capture, candidates: I8) -> Bool:
    """Which candidate edges (indexes into EdgeTable, redundant in the plain sense) the data flow can spare.

    An edge without creator annotations always; with some, only if each is an INOUT argument whose every byte arrives by
    a direct tensormap edge from, and leaves by one to, another holder of the same owner's buffer. Anything not exactly
    known keeps the edge.
    """
    drop = ~has_creator(capture)[candidates]
    open_cases = np.flatnonzero(~drop)
    if len(open_cases):
        flow = _DataFlow(capture)
        drop[open_cases] = [flow.can_drop(edge) for edge in candidates[open_cases].tolist()]
    return drop


def has_creator(capture: Capture) -> Bool:
    """Which unique edges carry a creator annotation."""
    creator = np.concatenate(([0], np.cumsum(capture.annotations.source == EdgeSource.CREATOR)))
    offsets = capture.edges.ann_offsets
    result: Bool = creator[offsets[1:]] > creator[offsets[:-1]]
    return result


class _DataFlow:
    """Look-ups over the annotations of one capture as plain lists; a *note* is a row of AnnotationTable."""

    def __init__(self, capture: Capture) -> None:
        edges, notes, tensors = capture.edges, capture.annotations, capture.tensors
        self._regions = Regions(capture)
        self._pred, self._succ = edges.pred.tolist(), edges.succ.tolist()
        self._in, self._out = edges.in_offsets.tolist(), edges.out_offsets.tolist()
        self._in_order, self._notes = edges.in_order.tolist(), edges.ann_offsets.tolist()
        self._is_creator = (notes.source == EdgeSource.CREATOR).tolist()
        self._is_tensormap = (notes.source == EdgeSource.TENSORMAP).tolist()
        self._arg, self._tensor = notes.arg.tolist(), notes.tensor.tolist()
        self._consumer, self._producer = notes.consumer_view.tolist(), notes.producer_view.tolist()
        addresses = [*tensors.buffer_addr.tolist(), None]  # the last is what tensor -1 (unknown) finds
        self._buffer = [addresses[tensor] for tensor in self._tensor]
        self._arg_at = capture.tasks.arg_offsets.tolist()
        self._arg_idx, self._arg_type = capture.args.idx.tolist(), capture.args.type.tolist()
        self._holds: dict[tuple[int, int], set[tuple[int, int]]] = {}

    def can_drop(self, edge: int) -> bool:
        owner, user = self._pred[edge], self._succ[edge]
        notes = range(self._notes[edge], self._notes[edge + 1])
        return all(self._is_passed_on(owner, user, note) for note in notes if self._is_creator[note])

    def _is_passed_on(self, owner: int, user: int, note: int) -> bool:
        needed = self._regions.of(self._consumer[note], self._tensor[note])
        if needed is None or not self._is_inout(user, self._arg[note]):
            return False
        arriving = self._arriving(owner, user, self._arg[note], self._buffer[note])
        return self._covers(needed, arriving) and self._covers(needed, self._leaving(owner, user, self._buffer[note]))

    def _arriving(self, owner: int, user: int, arg: int, buffer: int) -> Iterator[int]:
        """Tensormap notes that bring the argument from other holders of the owner's buffer."""
        for edge in self._in_order[self._in[user] : self._in[user + 1]]:
            for note in range(self._notes[edge], self._notes[edge + 1]):
                if self._is_tensormap[note] and self._arg[note] == arg and self._buffer[note] == buffer:
                    holds = self._held(owner, self._pred[edge])
                    if any(held == buffer for _, held in holds):
                        yield note

    def _leaving(self, owner: int, user: int, buffer: int) -> Iterator[int]:
        """Tensormap notes that hand the buffer to an INOUT argument held from the same owner."""
        for edge in range(self._out[user], self._out[user + 1]):
            target = self._succ[edge]
            for note in range(self._notes[edge], self._notes[edge + 1]):
                if self._is_tensormap[note] and self._buffer[note] == buffer:
                    arg = self._arg[note]
                    if (arg, buffer) in self._held(owner, target) and self._is_inout(target, arg):
                        yield note

    def _covers(self, needed: Intervals, flows: Iterator[int]) -> bool:
        """Whether the bytes both sides of the flows touch include all needed ones."""
        moved: list[tuple[int, int]] = []
        for note in flows:
            written = self._regions.of(self._producer[note], self._tensor[note])
            read = self._regions.of(self._consumer[note], self._tensor[note])
            if written == read == needed:
                return True
            if written is not None and read is not None:
                moved += intersect(written, read)
        return tuple(intersect(needed, merge(moved))) == needed

    def _held(self, owner: int, user: int) -> set[tuple[int, int]]:
        """(argument, buffer) of every creator note on owner → user."""
        key = (owner, user)
        if key not in self._holds:
            stop = self._out[owner + 1]
            edge = bisect_left(self._succ, user, self._out[owner], stop)
            is_edge = edge < stop and self._succ[edge] == user
            notes = range(self._notes[edge], self._notes[edge + 1]) if is_edge else range(0)
            self._holds[key] = {(self._arg[note], self._buffer[note]) for note in notes if self._is_creator[note]}
        return self._holds[key]

    def _is_inout(self, task: int, arg: int) -> bool:
        rows = range(self._arg_at[task], self._arg_at[task + 1])
        return [self._arg_type[row] for row in rows if self._arg_idx[row] == arg] == [ArgType.INOUT]
