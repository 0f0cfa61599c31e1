"""The data-flow rule of the edge reduction, byte by byte over the rows of deps.json: the yardstick of the tests."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx

SIZES = {"FLOAT32": 4, "FLOAT16": 2, "INT8": 1}


def bytes_of(view: dict[str, Any], prefix: str, tensor: dict[str, Any] | None) -> set[int] | None:
    """Every byte a view touches, or None when not exactly known."""
    keys = [f"{prefix}shape", f"{prefix}start_offset", f"{prefix}strides"]
    if tensor is None or any(key not in view for key in keys) or tensor["dtype"] not in SIZES:
        return None
    if view.get(f"{prefix}dtype", tensor["dtype"]) != tensor["dtype"]:
        return None
    shape, start, strides = view[keys[0]], int(view[keys[1]]), view[keys[2]]
    if len(shape) != len(strides):
        return None
    size = SIZES[tensor["dtype"]]
    found = set()
    for index in itertools.product(*(range(extent) for extent in shape)):
        element = start + sum(i * stride for i, stride in zip(index, strides, strict=True))
        if not 0 <= element < int(tensor["buffer_numel"]):
            return None
        found |= set(range(element * size, element * size + size))
    return found or None


def slow_omitted_df(deps: dict[str, Any]) -> set[tuple[int, int]]:
    """Edges that mode omitted-df shows."""
    edges = [(int(e["pred"]), int(e["succ"]), e) for e in deps["edges"]]
    graph = nx.DiGraph([(p, s) for p, s, _ in edges])
    if not nx.is_directed_acyclic_graph(graph):
        return set()
    tensors = {int(t["tensor_id"]): t for t in deps["tensors"]}
    types = {(int(t["task_id"]), a["idx"]): a["type"] for t in deps["tasks"] for a in t.get("args", [])}

    def tensor(e: dict[str, Any]) -> dict[str, Any] | None:
        return tensors.get(int(e["tensor_id"])) if "tensor_id" in e else None

    def buffer(e: dict[str, Any]) -> str | None:
        found = tensor(e)
        return found["buffer_addr"] if found else None

    def creator_notes(owner: int, user: int, addr: str | None) -> list[dict[str, Any]]:
        return [e for p, s, e in edges if (p, s, e["source"], buffer(e)) == (owner, user, "creator", addr)]

    def spared(owner: int, user: int, note: dict[str, Any]) -> bool:
        addr, needed = buffer(note), bytes_of(note, "consumer_", tensor(note))
        if types.get((user, note["arg"])) != "INOUT" or needed is None:
            return False
        arriving: set[int] = set()
        leaving: set[int] = set()
        for p, s, e in edges:
            if e["source"] != "tensormap" or buffer(e) != addr:
                continue
            moved = (bytes_of(e, "producer_", tensor(e)) or set()) & (bytes_of(e, "consumer_", tensor(e)) or set())
            if s == user and e["arg"] == note["arg"] and creator_notes(owner, p, addr):
                arriving |= moved
            same_arg = any(other["arg"] == e["arg"] for other in creator_notes(owner, s, addr))
            if p == user and types.get((s, e["arg"])) == "INOUT" and same_arg:
                leaving |= moved
        return needed <= arriving and needed <= leaving

    kept = set(nx.transitive_reduction(graph).edges)
    return {
        (p, s)
        for p, s in graph.edges
        if (p, s) not in kept and all(spared(p, s, e) for a, b, e in edges if (a, b, e["source"]) == (p, s, "creator"))
    }
