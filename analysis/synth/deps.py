"""deps.json of a synthetic capture: one text template per tile, filled with ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import IO

import numpy as np

from analysis.synth.build import Plan
from analysis.synth.shapes import PREVIOUS, Arg, Edge, Tensor, Tile

_BYTES = {"FLOAT32": 4, "BFLOAT16": 2}


class _Template:
    """A %-format and the positions (in a piece's list of ids) that fill it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.at: list[int] = []

    def add(self, text: str, *at: int) -> None:
        self.parts.append(text)
        self.at.extend(at)

    def compiled(self) -> Callable[[list[int]], str]:
        """Return a function from a piece's ids to its text; a spare id keeps one-id texts in tuple form."""
        text = "".join(self.parts)
        if not self.at:
            return lambda ids: text
        fill = itemgetter(*self.at, 0)
        text += "%.0s"
        return lambda ids: text % fill(ids)


def _dims(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    out = [1]
    for size in reversed(shape[1:]):
        out.insert(0, out[0] * size)
    return tuple(out)


def _view(prefix: str, arg: Arg) -> str:
    return (
        f'"{prefix}shape":[{_dims(arg.shape)}],"{prefix}start_offset":"{arg.offset}",'
        f'"{prefix}strides":[{_dims(_strides(arg.shape))}]'
    )


class DepsText:
    """Templates of one tile. Ids of a piece: its tasks, its tensors, the shared tensors, the exit before."""

    def __init__(self, tile: Tile, shared: int, flags: bool) -> None:
        self.tile = tile
        self.n_tasks = len(tile.tasks)
        self.n_tensors = len(tile.tensors)
        self.previous = self.n_tasks + self.n_tensors + shared
        self.flags = flags
        self.tasks = self._tasks()
        self.edges = self._edges(tile.edges)
        self.first_edges = self._edges(tuple(e for e in tile.edges if e.pred != PREVIOUS))

    def _tensor(self, arg: Arg) -> int:
        return self.n_tasks + arg.tensor + (self.n_tensors if arg.shared else 0)

    def _tasks(self) -> _Template:
        out = _Template()
        for index, task in enumerate(self.tile.tasks):
            if task.alloc:
                continue
            early = "true" if task.early else "false"
            scope = "manual" if task.manual else "auto"
            out.add('%s{"task_id":"%%d"' % ("," if out.parts else ""), index)
            out.add(
                f',"scope":"{scope}","early_dispatch":{early},"kernel_ids":[{_dims(task.kernels)}],'
                f'"block_num":{task.blocks},"args":['
            )
            for i, arg in enumerate(task.args):
                comma = "," if i else ""
                out.add(f'{comma}{{"idx":{i},"type":"{arg.direction}"')
                if arg.direction != "OUTPUT":
                    out.add(f',"tensor_id":"%d","dtype":"{arg.dtype}",{_view("", arg)}', self._tensor(arg))
                out.add("}")
            out.add("]}")
        return out

    def _edges(self, edges: tuple[Edge, ...]) -> _Template:
        out = _Template()
        for edge in edges:
            pred = self.previous if edge.pred == PREVIOUS else edge.pred
            out.add('%s{"pred":"%%d","succ":"%%d"' % ("," if out.parts else ""), pred, edge.succ)
            out.add(f',"arg":{edge.arg},"source":"{edge.source}"')
            if self.flags:
                out.add(',"flags":["wait"]' if edge.source == "tensormap" else ',"flags":["wait","retain"]')
            if edge.arg >= 0:
                arg = self.tile.tasks[edge.succ].args[edge.arg]
                overlap = ',"overlap":"covered"' if edge.source == "tensormap" else ""
                out.add(f'{overlap},"tensor_id":"%d","consumer_dtype":"{arg.dtype}"', self._tensor(arg))
                out.add("," + _view("consumer_", arg))
                if edge.source == "tensormap":
                    out.add("," + _view("producer_", arg))
            out.add("}")
        return out


def _ids(p: Plan, piece: int, shared: list[int]) -> list[int]:
    tasks = p.task_id[p.task_starts[piece] : p.task_starts[piece + 1]].tolist()
    tensors = p.tensor_id[p.tensor_starts[piece] : p.tensor_starts[piece + 1]].tolist()
    before = []
    if piece:
        before_tile = p.tiles[p.pieces[piece - 1]]
        before = [int(p.task_id[p.task_starts[piece - 1] + before_tile.exit])]
    return [*tasks, *tensors, *shared, *before]


def _per_piece(p: Plan, texts: list[DepsText], part: str) -> Iterator[str]:
    shared = p.shared_id.tolist()
    fill: dict[tuple[int, str], Callable[[list[int]], str]] = {}
    for piece, tile in enumerate(p.pieces.tolist()):
        name = "first_edges" if part == "edges" and not piece else part
        if (tile, name) not in fill:
            fill[tile, name] = getattr(texts[tile], name).compiled()
        yield fill[tile, name](_ids(p, piece, shared))


def _tensors(p: Plan) -> Iterator[str]:
    def rows(tensors: tuple[Tensor, ...], ids: list[int], address: int) -> tuple[list[str], int]:
        out = []
        for tensor, tensor_id in zip(tensors, ids, strict=True):
            out.append(
                f'{{"tensor_id":"{tensor_id}","buffer_addr":"{address}","version":0,'
                f'"dtype":"{tensor.dtype}","buffer_numel":"{tensor.numel}"}}'
            )
            address += -(-tensor.numel * _BYTES[tensor.dtype] // 512) * 512
        return out, address

    out, address = rows(p.shape.shared, p.shared_id.tolist(), 0x7F2A00000000)
    yield ",".join(out)
    for piece, tile in enumerate(p.pieces.tolist()):
        ids = p.tensor_id[p.tensor_starts[piece] : p.tensor_starts[piece + 1]].tolist()
        out, address = rows(p.tiles[tile].tensors, ids, address)
        yield ",".join(out)


def _write_list(out: IO[str], name: str, parts: Iterator[str]) -> None:
    out.write(f'"{name}":[')
    first = True
    for part in parts:
        if not part:
            continue
        if not first:
            out.write(",")
        first = False
        out.write(part)
    out.write("]")


def write_deps(out: IO[str], p: Plan, *, flags: bool = True, runtime: str | None = None) -> None:
    """Write deps.json for ``p``; ``flags`` is off in host-orchestrated captures."""
    texts = [DepsText(tile, len(p.shape.shared), flags) for tile in p.tiles]
    out.write("{" if runtime is None else f'{{"runtime":"{runtime}",')
    _write_list(out, "tasks", _per_piece(p, texts, "tasks"))
    out.write(",")
    _write_list(out, "tensors", _tensors(p))
    out.write(",")
    _write_list(out, "edges", _per_piece(p, texts, "edges"))
    out.write("}\n")


def annotation_count(p: Plan) -> int:
    """Number of rows ``edges[]`` gets."""
    per_tile = np.array([len(t.edges) for t in p.tiles])
    first = sum(e.pred == PREVIOUS for e in p.tiles[p.pieces[0]].edges)
    return int(per_tile[p.pieces].sum() - first)
