"""May an edge that keeps a tensor's owner alive be dropped? (ALGORITHMS: Redundant edges, Reduced DF)

A creator edge owner → user also says "the owner's buffer is needed here". Where the user only updates bytes that come
from, and go on to, other users of the same owner, that is said by its neighbours already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.byte_regions import Intervals, Regions, intersect, merge
from analysis.model import I8, ArgType, Bool, Capture, EdgeSource


def droppable(capture: Capture, candidates: I8) -> Bool:
    """Which candidate edges (indexes into EdgeTable, redundant in the plain sense) the data flow can spare.

    An edge without creator annotations always; with some, only if each is an INOUT argument whose every byte arrives by
    a direct tensormap edge from, and leaves by one to, another holder of the same owner's buffer. Anything not exactly
    known keeps the edge.
    """
    flow = _DataFlow(capture)
    return np.array([flow.can_drop(edge) for edge in candidates.tolist()], np.bool_)


@dataclass(frozen=True, slots=True)
class _Note:
    """One annotation of an edge, resolved."""

    arg: int
    buffer: int
    tensor: int
    consumer_view: int
    producer_view: int


class _DataFlow:
    """Look-ups over the annotations of one capture, made as they are needed."""

    def __init__(self, capture: Capture) -> None:
        self._edges, self._regions = capture.edges, Regions(capture)
        self._pred, self._succ = capture.edges.pred, capture.edges.succ
        self._in, self._out = capture.edges.in_offsets.tolist(), capture.edges.out_offsets.tolist()
        self._in_order = capture.edges.in_order.tolist()
        self._ann = capture.edges.ann_offsets.tolist()
        notes = capture.annotations
        self._source, self._arg, self._tensor = notes.source.tolist(), notes.arg.tolist(), notes.tensor.tolist()
        self._consumer, self._producer = notes.consumer_view.tolist(), notes.producer_view.tolist()
        self._buffer = capture.tensors.buffer_addr.tolist()
        self._arg_at = capture.tasks.arg_offsets.tolist()
        self._arg_idx, self._arg_type = capture.args.idx.tolist(), capture.args.type.tolist()
        self._holds: dict[tuple[int, int], set[tuple[int, int]]] = {}

    def can_drop(self, edge: int) -> bool:
        owner, user = int(self._pred[edge]), int(self._succ[edge])
        rows = range(self._ann[edge], self._ann[edge + 1])
        creators = [row for row in rows if self._source[row] == EdgeSource.CREATOR]
        return all(self._is_passed_on(owner, user, self._note(row)) for row in creators)

    def _is_passed_on(self, owner: int, user: int, note: _Note) -> bool:
        needed = self._regions.of(note.consumer_view, note.tensor)
        if needed is None or not self._is_inout(user, note.arg):
            return False
        return self._covers(needed, self._arriving(owner, user, note)) and self._covers(
            needed, self._leaving(owner, user, note.buffer)
        )

    def _arriving(self, owner: int, user: int, note: _Note) -> Iterator[_Note]:
        """Tensormap annotations that bring the argument from other holders of the owner's buffer."""
        for edge in self._in_order[self._in[user] : self._in[user + 1]]:
            for found in self._tensormap(edge):
                if found.arg == note.arg and found.buffer == note.buffer:
                    holders = self._held(owner, int(self._pred[edge]))
                    if any(buffer == note.buffer for _, buffer in holders):
                        yield found

    def _leaving(self, owner: int, user: int, buffer: int) -> Iterator[_Note]:
        """Tensormap annotations that hand the buffer to an INOUT argument held from the same owner."""
        for edge in range(self._out[user], self._out[user + 1]):
            target = int(self._succ[edge])
            for found in self._tensormap(edge):
                if (
                    found.buffer == buffer
                    and self._is_inout(target, found.arg)
                    and (found.arg, buffer) in self._held(owner, target)
                ):
                    yield found

    def _covers(self, needed: Intervals, flows: Iterator[_Note]) -> bool:
        """Whether the bytes both sides of the flows touch include all needed ones."""
        moved: list[tuple[int, int]] = []
        for flow in flows:
            written = self._regions.of(flow.producer_view, flow.tensor)
            read = self._regions.of(flow.consumer_view, flow.tensor)
            if written is not None and read is not None:
                moved += intersect(written, read)
        return tuple(intersect(needed, merge(moved))) == needed

    def _held(self, owner: int, user: int) -> set[tuple[int, int]]:
        """(argument, buffer) of every creator annotation on owner → user."""
        key = (owner, user)
        if key not in self._holds:
            low, high = self._out[owner], self._out[owner + 1]
            edge = low + int(np.searchsorted(self._succ[low:high], user))
            rows = range(self._ann[edge], self._ann[edge + 1]) if edge < high and self._succ[edge] == user else range(0)
            creators = [self._note(row) for row in rows if self._source[row] == EdgeSource.CREATOR]
            self._holds[key] = {(note.arg, note.buffer) for note in creators if note.buffer >= 0}
        return self._holds[key]

    def _tensormap(self, edge: int) -> Iterator[_Note]:
        for row in range(self._ann[edge], self._ann[edge + 1]):
            if self._source[row] == EdgeSource.TENSORMAP:
                yield self._note(row)

    def _note(self, row: int) -> _Note:
        tensor = self._tensor[row]
        buffer = self._buffer[tensor] if tensor >= 0 else -1
        return _Note(self._arg[row], buffer, tensor, self._consumer[row], self._producer[row])

    def _is_inout(self, task: int, arg: int) -> bool:
        rows = range(self._arg_at[task], self._arg_at[task + 1])
        types = [self._arg_type[row] for row in rows if self._arg_idx[row] == arg]
        return types == [ArgType.INOUT]
