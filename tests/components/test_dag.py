"""Elements, style, SVG and panels of the task graph say what the capture says."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from analysis.capture import EARLY_YES, Capture, TaskKind
from analysis.graph.layout import layered
from analysis.graph.prepared import Marks
from analysis.graph.scene import path_scene, summary_scene, whole_scene
from analysis.graph.summary import levels, partition
from components.dag import details as dag_details
from components.dag import elements as dag
from components.dag import page as dag_page
from components.dag import svg as dag_svg
from components.dag.elements import elements, short
from components.dag.style import LOOKS, SIZES, stylesheet
from components.theme import SURFACES, function_color_index
from tests.builders import Rec, capture

KINDS = {3: TaskKind.AIV, 4: TaskKind.MIX, 5: TaskKind.ALLOC, 6: TaskKind.DUMMY}
SELF, LATE = (2, 2), (1, 3)


@pytest.fixture
def made() -> Capture:
    """Five kinds, an SPMD task, a self edge, an edge whose end starts too early."""
    records = [
        Rec(1, 0, 0, 100),
        Rec(2, 0, 120, 130),
        Rec(2, 1, 120, 130),
        Rec(3, 2, 50, 90, func=1),
        Rec(4, 0, 200, 210),
    ]
    return capture(records, [(1, 2), (2, 4), (5, 4), (6, 4), SELF, LATE], kinds=KINDS, early={1: EARLY_YES})


def drawn(made: Capture, marks: Marks | None = None, direction: str = "LR") -> tuple[Any, Any, list[dict[str, Any]]]:
    scene = whole_scene(made)
    layout = layered(scene.n_nodes, scene.frame_pred, scene.frame_succ, direction=direction)
    return scene, layout, elements(made, scene, layout, marks or Marks())


def by_id(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {element["data"]["id"]: element for element in found}


def test_nodes_carry_kind_degrees_blocks_and_marks(made: Capture) -> None:
    _, _, found = drawn(made, Marks(frozenset({0}), frozenset({3})))
    nodes = by_id([element for element in found if element["group"] == "nodes"])
    assert {key: node["data"]["kind"] for key, node in nodes.items()} == {
        "task:1": "aic",
        "task:2": "aic",
        "task:3": "aiv",
        "task:4": "mix",
        "task:5": "alloc",
        "task:6": "dummy",
    }
    two = nodes["task:2"]
    assert (two["data"]["ins"], two["data"]["outs"], two["data"]["blocks"]) == (2, 2, 2)
    assert "spmd" in two["classes"].split()
    assert two["data"]["label"].endswith("t2 · ×2")
    assert nodes["task:1"]["data"]["fire"] == 1
    assert nodes["task:4"]["data"]["star"] == 1
    assert nodes["task:1"]["data"]["fn"] == function_color_index(made.task_name(0))
    assert nodes["task:5"]["data"]["fn"] == -1


def test_lines_show_self_edges_and_violations(made: Capture) -> None:
    _, _, found = drawn(made)
    lines = by_id([element for element in found if element["group"] == "edges"])
    assert len(lines) == 6
    assert "loop" in lines["task:2>task:2"]["classes"]
    assert "late" in lines["task:1>task:3"]["classes"]
    assert "late" not in lines["task:1>task:2"]["classes"]
    assert {line["data"]["n"] for line in lines.values()} == {1}


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_relative_bends_lead_back_to_the_layouts_points(direction: str) -> None:
    made = capture(edges=[(1, 2), (2, 3), (3, 4), (1, 4), (1, 3)])
    scene, layout, found = drawn(made, direction=direction)
    bends = dag.bends_by_line(scene, layout)
    assert bends
    for line, points in bends.items():
        data = found[scene.n_nodes + line]["data"]
        start, end = (
            np.array([layout.x[node], layout.y[node]]) for node in (scene.line_pred[line], scene.line_succ[line])
        )
        way = end - start
        normal = np.array([-way[1], way[0]]) / math.hypot(*way)
        shares, distances = ([float(part) for part in data[key].split()] for key in ("w", "d"))
        for share, distance, point in zip(shares, distances, points, strict=True):
            assert start + way * share + normal * distance == pytest.approx(point, abs=0.5)


def test_a_reduced_scene_keeps_the_bends_of_its_lines() -> None:
    made = capture(edges=[(1, 2), (2, 3), (3, 4), (1, 4), (1, 3)])
    full = whole_scene(made)
    layout = layered(full.n_nodes, full.frame_pred, full.frame_succ)
    keep = np.array([True, False, True, True, True])
    part = whole_scene(made, keep)
    points = {(int(full.line_pred[k]), int(full.line_succ[k])): v for k, v in dag.bends_by_line(full, layout).items()}
    for line, found in dag.bends_by_line(part, layout).items():
        assert points[int(part.line_pred[line]), int(part.line_succ[line])] == found


def test_groups_say_how_many_and_how_deep() -> None:
    made = capture([Rec(t, 0, t, t + 1) for t in range(1, 300)], [(t, t + 1) for t in range(1, 299)])
    scene = summary_scene(made, partition(made, levels(made)), max_groups=4)
    layout = layered(scene.n_nodes, scene.frame_pred, scene.frame_succ)
    groups = [element for element in elements(made, scene, layout, Marks()) if element["group"] == "nodes"]
    assert sum(group["data"]["count"] for group in groups) == 299
    assert "d0–" in groups[0]["data"]["label"]
    lines = [element["data"]["n"] for element in elements(made, scene, layout, Marks()) if element["group"] == "edges"]
    assert sum(lines) == scene.edges.visible


def test_long_names_keep_both_ends() -> None:
    assert short("decode_layer_incore_12", 15) == "decode_…core_12"
    assert short("UP") == "UP"
    assert len(short("x" * 200)) == dag.NAME_CHARS


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("direction", ["lr", "tb"])
def test_every_kind_has_a_rule_of_its_own_shape_and_color(theme: Any, direction: str) -> None:
    rules = {rule["selector"]: rule["style"] for rule in stylesheet(theme, direction)}
    looks = {
        (rules[f"node.{kind.name.lower()}"]["shape"], rules[f"node.{kind.name.lower()}"]["border-color"])
        for kind in LOOKS
    }
    assert len(looks) == len(TaskKind)
    assert rules["node"]["color"] == SURFACES[theme]["text"]
    assert rules["edge"]["source-endpoint"] == {"lr": "90deg", "tb": "180deg"}[direction]


def test_svg_is_well_formed_and_holds_every_node_and_line() -> None:
    made = capture([Rec(1, 0, 0, 5), Rec(2, 0, 6, 9)], [(1, 2)], names={0: "<script>&\"'"})
    scene, layout, _ = drawn(made)
    text = "".join(dag_svg.svg(made, scene, layout, Marks(), "dark", "lr", "a <title>"))
    root = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f".//{space}polyline")) == 1
    assert [title.text for title in root.iter(f"{space}title")] == ["<script>&\"'"] * 2
    assert float(root.get("width", "0")) >= layout.width + SIZES.node_gap


def test_svg_draws_the_steps_of_a_path(made: Capture) -> None:
    scene = path_scene(made, np.array([0, 1, 3], np.int32), (None, "data-wait", None))
    layout = layered(scene.n_nodes, scene.frame_pred, scene.frame_succ)
    text = "".join(dag_svg.svg(made, scene, layout, Marks(), "light", "lr", "path"))
    assert text.count("<line ") == 2
    steps = [element["data"]["step"] for element in elements(made, scene, layout, Marks()) if "step" in element["data"]]
    assert steps == ["data-wait", "next on the path"]


def text_of(component: Any) -> str:
    return json.dumps(component, default=lambda part: part.to_plotly_json(), ensure_ascii=False)


def test_the_panel_shows_missing_as_missing(made: Capture) -> None:
    alloc = made.task_index(5)
    text = text_of(dag_details.task_panel(made, alloc, Marks(frozenset({alloc})), ([], 0), ([], 0), "/x"))
    assert "Not captured" in text
    assert "deps.json does not list this task" in text
    assert "🔥" in text
    assert "Show in swimlane" not in text


def test_the_hud_accounts_for_every_edge(made: Capture) -> None:
    keep = np.array([False, True, True, True, True, True])
    text = text_of(dag_page.hud(whole_scene(made, keep), "reduced"))
    assert "5 of 6 edges" in text
    assert "1 not in mode Reduced" in text
    assert "6 of 6 tasks" in text


def test_the_legend_is_honest_about_early_dispatch() -> None:
    assert "not what happened in the run" in text_of(dag_page.legend(True))
    assert "predates" not in text_of(dag_page.legend(True))
    assert "only alloc tasks are marked" in text_of(dag_page.legend(False))
