"""What does Cytoscape draw for a scene of the dependency graph?

``elements`` turns an ``analysis`` scene and its layout into Cytoscape elements with preset positions. The browser adds
what depends on the theme or on the pointer (``assets/js/graph/core.js``): ports with degrees, the stripe in the function's
colour, markers, highlights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from analysis.capture import Capture, EdgeSource, TaskKind
from analysis.graph.layout import Layout
from analysis.graph.prepared import Marks
from analysis.graph.scene import Scene
from analysis.graph.summary import Group
from components.theme import function_color_index

NAME_CHARS = 19
"""Characters of a name that fit into a node's box at 11 px."""
GROUP_CHARS = 16
"""The same for a group's box at 13 px."""

KIND_TEXT: dict[TaskKind, str] = {
    TaskKind.AIC: "AIC: runs on a cube core",
    TaskKind.AIV: "AIV: runs on a vector core",
    TaskKind.MIX: "MIX: runs on both core types",
    TaskKind.ALLOC: "ALLOC: the orchestrator allocated its tensors; not listed in tasks[]",
    TaskKind.DUMMY: "DUMMY: no kernel, dependency only",
    TaskKind.GRAPH: "GRAPH: outer task, expanded by graph_prepare",
    TaskKind.UNKNOWN: "Unknown: no entry in deps.json",
}


def elements(capture: Capture, scene: Scene, layout: Layout, marks: Marks) -> list[dict[str, Any]]:
    """Cytoscape elements: nodes first, then lines, then the steps of a path.

    Node data: ``id`` (``task:<id>`` or ``grp:<key>``), ``label`` (two lines), ``name``, ``kind``, ``fn`` (palette
    index, -1 without function), ``ins``/``outs`` (degrees over all edges of the file), ``count`` (tasks of a group).
    Line data: ``id``, ``source``, ``target``, ``n`` (edges it stands for), ``w``/``d`` (bends, relative to the line).
    """
    ids = node_ids(capture, scene)
    nodes = [_task_node(capture, scene, layout, i, ids[i], marks) for i in range(scene.n_tasks)]
    nodes += [_group_node(scene, layout, scene.n_tasks + i, group, ids) for i, group in enumerate(scene.groups)]
    bends = bends_by_line(scene, layout)
    lines = [_line(capture, scene, layout, j, ids, bends) for j in range(len(scene.line_pred))]
    return nodes + lines + [_step(at, reason, ids) for at, reason in enumerate(scene.steps)]


def node_ids(capture: Capture, scene: Scene) -> list[str]:
    """Element id of every node of the scene."""
    tasks = [f"task:{int(capture.tasks.task_id[task])}" for task in scene.task[: scene.n_tasks].tolist()]
    return tasks + [f"grp:{group.key}" for group in scene.groups]


def short(name: str, limit: int = NAME_CHARS) -> str:
    """A name that fits: the middle is cut, since functions of one program differ at both ends."""
    if len(name) <= limit:
        return name
    head = (limit - 1) // 2
    return f"{name[:head]}…{name[-(limit - 1 - head) :]}"


def task_text(capture: Capture, task: int) -> str:
    """Second line of a task's node: ``t12``, with ``×n`` for an SPMD task."""
    label = capture.meta.task_label(int(capture.tasks.task_id[task]))
    blocks = int(capture.tasks.block_num[task])
    return f"{label} · ×{blocks}" if blocks > 1 else label


def group_text(group: Group, hidden: int) -> str:
    """Second line of a group's node: how many tasks, and at which depths."""
    tasks = f"{hidden:,}" if hidden == group.n_tasks else f"{hidden:,} of {group.n_tasks:,}"
    return f"{tasks} × · d{depth_text(group)}"


def depth_text(group: Group) -> str:
    """``7`` or ``3–15``: the depths of a group's tasks."""
    return f"{group.level_lo}" if group.level_lo == group.level_hi else f"{group.level_lo}–{group.level_hi}"


def bends_by_line(scene: Scene, layout: Layout) -> dict[int, tuple[tuple[float, float], ...]]:
    """The layout's bends (per line of the full mode) for each line of the scene that is drawn."""
    width = scene.n_nodes + 1
    frame = scene.frame_pred.astype(np.int64) * width + scene.frame_succ
    line = scene.line_pred.astype(np.int64) * width + scene.line_succ
    at = np.searchsorted(frame, line)
    return {j: layout.bends[k] for j, k in enumerate(at.tolist()) if k in layout.bends}


def _task_node(capture: Capture, scene: Scene, layout: Layout, i: int, node_id: str, marks: Marks) -> dict[str, Any]:
    task = int(scene.task[i])
    tasks, edges = capture.tasks, capture.edges
    kind = TaskKind(int(tasks.kind[task]))
    func_id = int(tasks.func_id[task])
    name = capture.task_name(task)
    data: dict[str, Any] = {
        "id": node_id,
        "label": f"{short(name)}\n{task_text(capture, task)}",
        "name": name,
        "tid": capture.meta.task_label(int(tasks.task_id[task])),
        "kind": kind.name.lower(),
        "fn": function_color_index(name) if func_id >= 0 else -1,
        "func": func_id,
        "ins": int(edges.in_offsets[task + 1] - edges.in_offsets[task]),
        "outs": int(edges.out_offsets[task + 1] - edges.out_offsets[task]),
        "blocks": int(tasks.block_num[task]),
    }
    classes = [kind.name.lower()]
    if data["blocks"] > 1:
        classes.append("spmd")
    if task in marks.fire:
        data["fire"] = 1
    if task in marks.star:
        data["star"] = 1
    return _placed(data, layout, i, classes)


def _group_node(scene: Scene, layout: Layout, i: int, group: Group, ids: list[str]) -> dict[str, Any]:
    hidden = int(scene.group_hidden[i - scene.n_tasks])
    data = {
        "id": ids[i],
        "label": f"{short(group.name, GROUP_CHARS)}\n{group_text(group, hidden)}",
        "name": group.name,
        "kind": group.kind.name.lower(),
        "fn": function_color_index(group.name) if group.func_id >= 0 else -1,
        "func": group.func_id,
        "count": hidden,
        "depth": depth_text(group),
    }
    return _placed(data, layout, i, ["group", group.kind.name.lower()])


def _placed(data: dict[str, Any], layout: Layout, i: int, classes: list[str]) -> dict[str, Any]:
    position = {"x": round(float(layout.x[i]), 1), "y": round(float(layout.y[i]), 1)}
    return {"group": "nodes", "data": data, "position": position, "classes": " ".join(classes)}


def _line(
    capture: Capture,
    scene: Scene,
    layout: Layout,
    j: int,
    ids: list[str],
    bends: dict[int, tuple[tuple[float, float], ...]],
) -> dict[str, Any]:
    start, end = int(scene.line_pred[j]), int(scene.line_succ[j])
    edge = int(scene.line_edge[j])
    count = int(scene.line_count[j])
    data: dict[str, Any] = {"id": f"{ids[start]}>{ids[end]}", "source": ids[start], "target": ids[end], "n": count}
    classes = ["one"] if edge >= 0 else ["many"]
    if count > 1:
        data["text"] = f"{count:,}"
    if edge >= 0:
        classes += edge_classes(capture, edge)
    if start == end:
        classes.append("loop")
    elif j in bends:
        ends = (layout.x[start], layout.y[start]), (layout.x[end], layout.y[end])
        data["w"], data["d"] = _relative(ends, bends[j])
        classes.append("bent")
    return {"group": "edges", "data": data, "classes": " ".join(classes)}


def _step(at: int, reason: str, ids: list[str]) -> dict[str, Any]:
    data = {"id": f"step:{at}", "source": ids[at], "target": ids[at + 1], "n": 0, "step": reason or "next on the path"}
    return {"group": "edges", "data": data, "classes": f"step {reason}".strip()}


def edge_classes(capture: Capture, edge: int) -> list[str]:
    """``explicit`` when nothing but an explicit dependency made the edge, ``late`` when end(pred) > start(succ)."""
    classes = []
    rows = slice(int(capture.edges.ann_offsets[edge]), int(capture.edges.ann_offsets[edge + 1]))
    sources = capture.annotations.source[rows]
    if len(sources) and (sources == EdgeSource.EXPLICIT).all():
        classes.append("explicit")
    pred, succ = int(capture.edges.pred[edge]), int(capture.edges.succ[edge])
    timed = capture.tasks.n_records[pred] > 0 and capture.tasks.n_records[succ] > 0
    if timed and int(capture.tasks.end_ticks[pred]) > int(capture.tasks.start_ticks[succ]):
        classes.append("late")
    return classes


def _relative(ends: tuple[Any, Any], points: tuple[tuple[float, float], ...]) -> tuple[str, str]:
    """Cytoscape's bends: share of the way from source to target, and signed distance from that line in px."""
    (x0, y0), (x1, y1) = ends
    dx, dy = float(x1 - x0), float(y1 - y0)
    length = math.hypot(dx, dy) or 1.0
    share, distance = [], []
    for x, y in points:
        share.append(f"{((x - x0) * dx + (y - y0) * dy) / length**2:.4f}")
        distance.append(f"{((y - y0) * dx - (x - x0) * dy) / length:.1f}")
    return " ".join(share), " ".join(distance)
