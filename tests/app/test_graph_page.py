"""The graph page without a browser: it opens on good, bad and absent graphs, answers its routes, keeps its caps."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from dash import Dash
from flask.testing import FlaskClient

from analysis.graph.scene import MAX_ELEMENTS
from app.graph import page, picture, side
from app.server.factory import create_app
from app.server.services import Services
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState

FAN = 10_000


def deps(edges: list[tuple[int, int]], tasks: list[int], **more: Any) -> dict[str, Any]:
    """A deps.json with explicit edges."""
    rows = [{"pred": str(p), "succ": str(s), "arg": 0, "source": "tensormap", "flags": ["wait"]} for p, s in edges]
    listed = [{"task_id": str(t), "kernel_ids": [0, -1, -1], "block_num": 1, "args": []} for t in tasks]
    return {"tasks": listed, "tensors": [], "edges": rows} | more


def swimlane(tasks: list[int]) -> dict[str, Any]:
    """A level 1 swimlane with one record per task."""
    rows = [[0, task, at, 10 + 20 * at, 20 + 20 * at, 0] for at, task in enumerate(tasks)]
    metadata = {"clock_freq_hz": 50_000_000, "num_cores": 1, "core_types": ["aic"]}
    return {"chip_swimlane_level": 1, "metadata": metadata, "aicore_tasks": rows, "aicpu_tasks": []}


CYCLE = deps([(1, 2), (2, 3), (3, 1), (3, 4)], [1, 2, 3, 4])
SELF = deps([(1, 1), (1, 2)], [1, 2])
REPEATED = deps([(1, 2), (1, 2), (1, 2), (2, 3)], [1, 2, 3])
DANGLING = deps([(1, 2), (1, 77), (88, 2)], [1, 2])
WIDE = deps([(1, t) for t in range(2, FAN + 2)], list(range(1, FAN + 2)))
TENSORS = deps([(1, 2)], [1])
TENSORS["edges"][0]["tensor_id"] = "4711"
TENSORS["tasks"][0]["args"] = [{"idx": 0, "type": "INPUT", "tensor_id": "4712"}]
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "cycle": (CYCLE, "cycle"),
    "self_edge": (SELF, "to itself"),
    "repeated": (REPEATED, "2 rows of edges[] repeat"),
    "dangling": (DANGLING, "neither listed nor seen"),
    "tensors": (TENSORS, "tensor that deps.json does not list"),
    "wide": (WIDE, "10,001 of 10,001 tasks"),
}


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """The application over one capture per kind of bad graph."""
    root = tmp_path_factory.mktemp("bad")
    for name, (content, _) in BAD.items():
        folder = root / name / "dfx_outputs"
        folder.mkdir(parents=True)
        tasks = [int(task["task_id"]) for task in content["tasks"]]
        (folder / "chip_swimlane_records.json").write_text(json.dumps(swimlane(tasks)))
        (folder / "deps.json").write_text(json.dumps(content))
    settings = Settings(roots=(Root("bad", root),), data_dir=tmp_path_factory.mktemp("bad-data"))
    services: Services = create_app(settings).server.extensions["swimscope"]
    services.library.scan_once()
    return services


def key_of(services: Services, name: str) -> str:
    """Run key of the capture in folder ``name``."""
    return next(row.key for row in services.library.runs() if name in Path(row.path).parts)


def text_of(component: Any) -> str:
    """Everything a component says, as one text."""
    return json.dumps(component.to_plotly_json(), default=lambda part: part.to_plotly_json(), ensure_ascii=False)


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_bad_graph_opens_with_a_notice(bad: Services, name: str) -> None:
    key = key_of(bad, name)
    text = text_of(page.layout(bad, ViewState(), key))
    assert BAD[name][1] in text
    for mode in ("reduced", "omitted", "reduced-df", "omitted-df"):
        drawn = picture.picture(bad, key, ViewState(mode=mode))
        count = drawn.scene.edges
        assert count.visible + count.not_drawn == count.total
        assert drawn.scene.n_elements <= MAX_ELEMENTS


def test_a_cycle_is_named_and_keeps_every_edge(bad: Services) -> None:
    drawn = picture.picture(bad, key_of(bad, "cycle"), ViewState(mode="reduced"))
    assert drawn.scene.edges.drawn == 4
    assert any("t1" in note and "t2" in note and "t3" in note for note in drawn.notes)


def test_a_wide_fan_out_starts_as_groups_and_lists_every_user(bad: Services) -> None:
    key = key_of(bad, "wide")
    drawn = picture.picture(bad, key, ViewState())
    assert drawn.scene.scope == "summary"
    assert drawn.scene.edges.bundled == FAN
    text = text_of(side.content(bad, ViewState(sel="task:1", tab="text"), key))
    assert "5,000 of 10,000 tasks" in text


def test_a_scope_that_is_not_possible_says_why_and_draws_the_automatic_one(bad: Services) -> None:
    drawn, problem = picture.possible(bad, key_of(bad, "cycle"), ViewState(show="around"))
    assert "select a task first" in problem
    assert drawn.scene.scope == "all"


def test_no_deps_says_which_file_is_missing(services: Services) -> None:
    text = text_of(page.layout(services, ViewState(), key_of(services, "no_deps")))
    assert "deps.json is missing" in text


@pytest.mark.parametrize("name", ["attention", "level_1", "no_names", "deps_only"])
@pytest.mark.parametrize("tab", ["", "text", "groups", "omitted"])
def test_every_tab_opens_with_and_without_a_selection(services: Services, name: str, tab: str) -> None:
    key = key_of(services, name)
    capture = services.library.capture(key)
    some = int(capture.tasks.task_id[len(capture.tasks) // 2])
    for sel in ("", f"task:{some}", "task:18446744073709551615", "func:0", "path:observed", f"gap:{some}"):
        shown = side.content(services, ViewState(sel=sel, tab=tab), key)
        assert len(str(shown)) > 40
        assert "graph-side" in str(page.layout(services, ViewState(sel=sel, tab=tab, show="summary"), key))


@pytest.mark.parametrize("node", ["edge:1-2", "edge:x", "edge:1-2-3", "grp:nothing", "nonsense"])
def test_an_open_node_of_an_old_link_never_breaks_the_panel(services: Services, node: str) -> None:
    assert side.content(services, ViewState(node=node), key_of(services, "attention")) is not None


def test_layout_arrays_round_trip(services: Services) -> None:
    drawn = picture.picture(services, key_of(services, "attention"), ViewState(show="all"))
    again = picture.from_arrays(picture.to_arrays(drawn.layout))
    assert again.bends == drawn.layout.bends
    assert (again.x == drawn.layout.x).all()
    assert (again.crossings, again.width, again.finished) == (
        drawn.layout.crossings,
        drawn.layout.width,
        drawn.layout.finished,
    )


@pytest.fixture
def client(bad: Services) -> FlaskClient:
    """A client of the bad graphs' application."""
    return create_app(bad.settings).server.test_client()


def test_routes_answer(client: FlaskClient, bad: Services) -> None:
    base = f"/api/graph/{key_of(bad, 'wide')}"
    assert client.get(f"{base}/search?q=t5").json == {
        "total": 1,
        "tasks": [{"id": "5", "label": "t5", "name": "func_0"}],
    }
    found = client.get(f"{base}/search?q=func").json
    assert found["total"] == FAN + 1
    assert len(found["tasks"]) == 500
    users = client.get(f"{base}/neighbours?task=1&side=uses&depth=1").text
    assert len(list(csv.DictReader(io.StringIO(users)))) == FAN
    assert client.get(f"{base}/neighbours?task=2&side=feeds&depth=-1&format=json").json["total"] == 1
    assert client.get(f"{base}/export.dot").text.count("->") == FAN
    svg = client.get(f"{base}/export.svg?theme=dark")
    assert svg.mimetype == "image/svg+xml"
    assert svg.text.rstrip().endswith("</svg>")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("search?q=t1&launch=x", 422),
        ("neighbours?task=999", 404),
        ("neighbours?task=-1", 404),
        ("neighbours?task=1&side=left", 404),
        ("neighbours?task=1&depth=two", 404),
        ("neighbours?task=1&depth=--5", 404),
        ("search?q=t1&launch=²", 422),
        ("export.csv?launch=7", 404),
    ],
)
def test_routes_refuse_nonsense_with_a_reason(client: FlaskClient, bad: Services, path: str, status: int) -> None:
    answer = client.get(f"/api/graph/{key_of(bad, 'cycle')}/{path}")
    assert answer.status_code == status
    assert answer.json["error"]


def test_an_unknown_run_is_404(client: FlaskClient) -> None:
    assert client.get("/api/graph/0000/search?q=t1").status_code == 404


def test_the_key_of_a_picture_differs_exactly_where_the_picture_does(services: Services) -> None:
    """Found without building the picture, so compared with pictures that are built."""
    key = key_of(services, "attention")
    capture = services.library.capture(key)
    some = [int(capture.tasks.task_id[at]) for at in (1, len(capture.tasks) // 2, len(capture.tasks) - 1)]
    selections = ["", "func:0", "path:static", "path:observed", *(f"task:{task}" for task in some)]
    views = [
        ViewState(sel=sel, show=show, mode=mode, dir=way)
        for sel in selections
        for show, mode, way in (
            ("auto", "full", "lr"),
            ("summary", "full", "lr"),
            ("summary", "reduced", "lr"),
            ("all", "full", "tb"),
            ("around", "full", "lr"),
            ("path", "full", "lr"),
        )
    ]
    seen: dict[str, str] = {}
    for view in views:
        drawn, problem = picture.possible(services, key, view)
        scene = drawn.scene
        shown = [scene.task.tolist(), [group.key for group in scene.groups], scene.line_pred.tolist(), problem]
        content = str([*shown, scene.line_succ.tolist(), drawn.mode, drawn.direction, view.show])
        found = picture.picture_key(services, capture, view)
        assert seen.setdefault(found, content) == content
    assert len(seen) >= len(set(seen.values()))
    unchanged = {picture.picture_key(services, capture, ViewState(sel=sel, show="all")) for sel in selections}
    assert len(unchanged) == 1


@pytest.mark.parametrize("form", ["graphml", "gexf"])
def test_the_export_menu_gives_what_networkx_opens(services: Services, app: Dash, form: str) -> None:
    key = key_of(services, "attention")
    answer = app.server.test_client().get(f"/api/graph/{key}/export.{form}?mode=reduced")
    read = {"graphml": nx.read_graphml, "gexf": nx.read_gexf}[form]
    expected = services.library.capture(key).to_networkx("reduced")
    assert set(read(io.BytesIO(answer.get_data())).edges) == set(expected.edges)
    assert f"export:{form}" in str(page.layout(services, ViewState(), key))
