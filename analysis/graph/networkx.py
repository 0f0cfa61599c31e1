"""The dependency graph for networkx, and the files that networkx, Gephi, yEd and Graphviz open."""

from __future__ import annotations

import re
from collections.abc import Iterator

import networkx as nx
import numpy as np

from analysis.capture import I4, MISSING, Capture, TaskKind
from analysis.graph.reduction import EdgeSelection, edges
from analysis.graph.text import dot, edge_words, wait_us

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TIMES = ("dispatch", "start", "end", "finish")


def to_networkx(capture: Capture, mode: str = "full") -> nx.DiGraph:
    """Who depends on whom, as a graph with names and times?

    Nodes are the tasks of the dependency graph, by their decimal id as text. Attributes: ``label`` (Ring & Task ID),
    ``name``, ``kind``, ``records`` (blocks that ran), ``func_id`` and, in µs from capture zero, ``dispatch_us``, ``start_us``,
    ``end_us``, ``finish_us``. Edges have ``sources`` and ``tensors`` (words separated by spaces), ``annotations`` (rows of
    deps.json) and ``wait_us`` (start of the later minus end of the earlier). What was not captured is no attribute.

    Args:
        capture: one launch.
        mode: which edges: ``full``, ``reduced``, ``omitted``, ``reduced-df`` or ``omitted-df``.

    Raises:
        NotAvailable: the capture has no dependency graph, or the mode has no answer.
        ParameterError: there is no such mode.
    """
    return graph_of(capture, np.asarray(edges(capture, mode).edge, dtype=np.int32))


def graph_of(capture: Capture, chosen: I4) -> nx.DiGraph:
    """The graph of :func:`to_networkx` with the edges of these indexes."""
    graph = nx.DiGraph(name=capture.meta.label)
    ids = [str(task_id) for task_id in capture.tasks.task_id.tolist()]
    for task in np.flatnonzero(capture.tasks.in_graph).tolist():
        graph.add_node(ids[task], **_task_attributes(capture, task))
    for edge in chosen.tolist():
        pred, succ = int(capture.edges.pred[edge]), int(capture.edges.succ[edge])
        graph.add_edge(ids[pred], ids[succ], **_edge_attributes(capture, edge, pred, succ))
    return graph


def _task_attributes(capture: Capture, task: int) -> dict[str, str | int | float]:
    tasks = capture.tasks
    found: dict[str, str | int | float] = {
        "label": capture.meta.task_label(int(tasks.task_id[task])),
        "name": capture.task_name(task),
        "kind": TaskKind(int(tasks.kind[task])).name.lower(),
        "records": int(tasks.n_records[task]),
    }
    if tasks.func_id[task] >= 0:
        found["func_id"] = int(tasks.func_id[task])
    for stamp in _TIMES:
        ticks = int(getattr(tasks, f"{stamp}_ticks")[task])
        if ticks != MISSING:
            found[f"{stamp}_us"] = capture.meta.us(ticks)
    return found


def _edge_attributes(capture: Capture, edge: int, pred: int, succ: int) -> dict[str, str | int | float]:
    sources, tensors = edge_words(capture, edge)
    found: dict[str, str | int | float] = {
        "sources": " ".join(sources),
        "tensors": " ".join(tensors),
        "annotations": int(capture.edges.ann_offsets[edge + 1] - capture.edges.ann_offsets[edge]),
    }
    wait = wait_us(capture, pred, succ)
    if wait is not None:
        found["wait_us"] = wait
    return found


def graphml(capture: Capture, found: EdgeSelection) -> Iterator[str]:
    """GraphML of the graph with the edges of a mode."""
    return _lines(nx.generate_graphml(_for_xml(graph_of(capture, _chosen(found)))))


def gexf(capture: Capture, found: EdgeSelection) -> Iterator[str]:
    """GEXF of the graph with the edges of a mode; the label of a node is its name with Ring & Task ID."""
    graph = _for_xml(graph_of(capture, _chosen(found)))
    for _, attributes in graph.nodes(data=True):
        attributes["task"] = attributes["label"]
        attributes["label"] = f"{attributes['name']} {attributes['task']}"
    return _lines(nx.generate_gexf(graph))


def graphviz(capture: Capture, found: EdgeSelection) -> Iterator[str]:
    """Graphviz DOT of the graph with the edges of a mode."""
    return dot(capture, _chosen(found))


def _chosen(found: EdgeSelection) -> I4:
    return np.asarray(found.edge, dtype=np.int32)


def _lines(lines: Iterator[str]) -> Iterator[str]:
    return (f"{line}\n" for line in lines)


def _for_xml(graph: nx.DiGraph) -> nx.DiGraph:
    """The same graph with every character that XML cannot hold replaced, since names come from files."""
    graph.graph = {key: _NOT_XML.sub("\ufffd", str(value)) for key, value in graph.graph.items()}
    for _, attributes in graph.nodes(data=True):
        attributes.update({key: _clean(value) for key, value in attributes.items()})
    return graph


def _clean(value: str | int | float) -> str | int | float:
    return _NOT_XML.sub("\ufffd", value) if isinstance(value, str) else value
