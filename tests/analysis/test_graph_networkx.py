"""Do networkx and its formats open the dependency graph with everything in it?"""

from __future__ import annotations

import io
import re
from pathlib import Path

import networkx as nx
import pytest

from analysis.capture import Capture
from analysis.cli import main
from analysis.errors import NotAvailable
from analysis.formats import load
from analysis.graph.networkx import gexf, graphml, graphviz, to_networkx
from analysis.graph.reduction import MODES, edges
from analysis.synth.capture import write_capture
from tests.analysis.dag_builder import capture_of
from tests.builders import Rec, capture

RING = 1 << 32


def made(name: str = "add") -> Capture:
    """1 → 2 → ring 1's 3, and 1 → 3, which is redundant; 3 starts before 2 ends."""
    found = capture(
        [Rec(1, 0, 0, 100), Rec(2, 1, 150, 300, func=1), Rec(RING + 3, 0, 250, 400)],
        [(1, 2), (2, RING + 3), (1, RING + 3)],
    )
    found.meta.func_names[0] = name
    return found


def test_nodes_and_edges_have_names_and_times() -> None:
    graph = made().to_networkx()
    assert isinstance(graph, nx.DiGraph)
    assert set(graph.nodes) == {"1", "2", str(RING + 3)}
    first = graph.nodes[str(RING + 3)]
    assert (first["label"], first["name"], first["func_id"], first["records"]) == ("r1t3", "add", 0, 1)
    assert (first["start_us"], first["end_us"]) == (5.0, 8.0)
    assert graph.edges["1", "2"]["wait_us"] == 1.0
    assert graph.edges["2", str(RING + 3)]["wait_us"] == -1.0
    assert nx.is_directed_acyclic_graph(graph)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_has_the_edges_of_the_analysis(mode: str) -> None:
    built = made()
    found = edges(built, mode)
    expected = {(str(int(p)), str(int(s))) for p, s in zip(found.pred_id, found.succ_id, strict=True)}
    assert set(to_networkx(built, mode).edges) == expected
    if mode == "reduced":
        whole = nx.DiGraph(list(to_networkx(built).edges))
        assert expected == set(nx.transitive_reduction(whole).edges)


def test_there_is_no_graph_without_dependencies() -> None:
    with pytest.raises(NotAvailable):
        to_networkx(capture_of([(0, 1, 2, 1)], None))


@pytest.mark.parametrize("name", ["add", 'a<b>&"c"', "Zahl \u00e9 \u4e2d", "bad\x00\x1b\ufffe", "back\\slash\nline"])
def test_files_open_whatever_the_names(name: str) -> None:
    built = made(name)
    graph, found = to_networkx(built), edges(built, "full")
    for opened in (
        nx.read_graphml(io.BytesIO("".join(graphml(built, found)).encode())),
        nx.read_gexf(io.BytesIO("".join(gexf(built, found)).encode())),
    ):
        assert set(opened.nodes) == set(graph.nodes)
        assert set(opened.edges) == set(graph.edges)
        for node, attributes in opened.nodes(data=True):
            assert attributes["start_us"] == graph.nodes[node]["start_us"]
            assert attributes["func_id"] == graph.nodes[node]["func_id"]
        assert opened.edges["1", "2"]["wait_us"] == 1.0
    text = "".join(graphviz(built, found))
    assert set(re.findall(r'^  "(\d+)" -> "(\d+)";$', text, re.MULTILINE)) == set(graph.edges)
    assert set(re.findall(r'^  "(\d+)" \[label="(?:[^"\\]|\\.)*", shape=\w+\];$', text, re.MULTILINE)) == set(
        graph.nodes
    )


@pytest.mark.parametrize("form", ["graphml", "gexf", "dot"])
def test_the_command_line_writes_what_networkx_reads(tmp_path: Path, form: str) -> None:
    write_capture(tmp_path / "run", 60, 1)
    out = tmp_path / f"graph.{form}"
    assert main(["edges", str(tmp_path / "run"), "--mode", "reduced", "--format", form, "--out", str(out)]) == 0
    expected = to_networkx(load(tmp_path / "run"), "reduced")
    if form == "dot":
        assert out.read_text().count(" -> ") == expected.number_of_edges() > 0
    else:
        opened = {"graphml": nx.read_graphml, "gexf": nx.read_gexf}[form](out)
        assert set(opened.edges) == set(expected.edges)
        assert len(opened) == len(expected) > 0
