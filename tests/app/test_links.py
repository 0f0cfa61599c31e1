from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LimitError, NotFoundError
from app.server.services import Services
from app.shell.links import Links
from app.shell.router import read_view
from app.shell.url_state import ViewState, pairs


def test_a_stored_view_comes_back_under_its_content_hash(tmp_path: Path) -> None:
    links = Links(tmp_path / "links", 10_000)
    query = {"sel": "task:1", "mk": ",".join(str(i) for i in range(500))}
    name = links.put(query)
    assert links.get(name) == query
    assert links.put(dict(reversed(query.items()))) == name
    assert Links(tmp_path / "links", 10_000).get(name) == query


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "0" * 20, "x" * 20, "0" * 19])
def test_unknown_names_are_not_found(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFoundError):
        Links(tmp_path, 10_000).get(name)


def test_a_view_over_the_limit_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match="link_max_bytes"):
        Links(tmp_path, 100).put({"q": "x" * 200})


def test_a_link_restores_the_view_and_explicit_keys_win(services: Services, client: Any) -> None:
    view = replace(ViewState(), sel="task:7", pin=tuple(f"core{i}" for i in range(400)), t0=5, t1=900)
    answer = client.post("/api/links", json={"query": pairs(view)})
    name = answer.get_json()["s"]
    assert read_view(services, f"?s={name}") == (view, [])
    assert read_view(services, f"?s={name}&sel=task:8") == (replace(view, sel="task:8"), [])
    assert client.get(f"/api/links/{name}").get_json() == {"query": pairs(view)}


def test_a_lost_link_is_a_notice(services: Services) -> None:
    view, problems = read_view(services, f"?s={'0' * 20}&sel=task:8")
    assert view == ViewState(sel="task:8")
    assert problems[0].key == "s"


@pytest.mark.parametrize("body", [None, [], {"query": []}, {"query": {"a": 1}}, {"other": {}}])
def test_a_body_of_another_shape_is_refused(client: Any, body: object) -> None:
    assert client.post("/api/links", json=body).status_code == 400


def test_a_body_over_the_limit_is_refused(client: Any) -> None:
    assert client.post("/api/links", json={"query": {"q": "x" * 300_000}}).status_code == 413
