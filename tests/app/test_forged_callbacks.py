"""Whatever is posted to the callback route: an answer below 500 and at most one line in the log, never a traceback."""

from __future__ import annotations

import copy
import json
import logging
import random
from typing import Any

import pytest
from dash import Dash

from app.server import callback_bodies
from app.server.services import Services
from app.shell import ids
from components.swimlane import panel
from tests.app.conftest import key_of

N_BODIES = 1_600
JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 2**70, 1e308, "", "x", "[", "\x00", "../../etc", [], {}, [[]], {"a": None}, [None], "\ud800", [{}],
    {"startRow": "0"}, {"key": 5, "page": "", "launch": 0}, {"id": {}, "property": []}, "9" * 5000,
)  # fmt: skip


def values(key: str) -> dict[str, Any]:
    """What pages send, by component and property."""
    job = {"analysis": "gaps", "parameters": {}}
    rows = {"startRow": 0, "endRow": 20, "sortModel": [{"colId": "name", "sort": "asc"}], "filterModel": {}}
    return {
        f"{ids.URL}.pathname": f"/r/{key}/gaps",
        f"{ids.URL}.search": "?thr=2",
        f"{ids.RUN}.data": {"key": key, "page": "gaps", "launch": 0},
        f"{ids.VIEW}.data": {"thr": "2"},
        f"{ids.RUNS_SIGNATURE}.data": "x",
        f"{ids.OPEN_JOB}.data": job,
        f"{panel.SCOPE}{ids.OPEN_JOB}.data": job,
        f"{panel.REQUEST}.data": {"n": 1, "run": key, "query": {"tab": "functions"}},
        f"{panel.GRID}.getRowsRequest": rows,
        f"{ids.TABLE_GRID}.getRowsRequest": rows,
        "swim-focus.data": {"run": key, "sel": "task:1", "item": "r3", "view": "worker", "launch": 0},
        "graph-picture-key.data": "x",
    }


def bodies(app: Dash, services: Services) -> list[dict[str, Any]]:
    """One body per callback that the server answers, as Dash's renderer makes it."""
    known = values(key_of(services, "attention"))
    made = []
    for output, declared in app.callback_map.items():
        if "callback" not in declared:  # answered in the browser
            continue

        def given(items: list[dict[str, str]]) -> list[dict[str, Any]]:
            return [
                {"id": i["id"], "property": i["property"]} | _value(known, f"{i['id']}.{i['property']}") for i in items
            ]

        names = output[2:-2].split("...") if output.startswith("..") else [output]
        outputs = [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names]
        made.append(
            {
                "output": output,
                "outputs": outputs if output.startswith("..") else outputs[0],
                "inputs": given(declared["inputs"]),
                "state": given(declared["state"]),
                "changedPropIds": [f"{i['id']}.{i['property']}" for i in declared["inputs"][:1]],
            }
        )
    return made


def _value(known: dict[str, Any], name: str) -> dict[str, Any]:
    return {"value": known[name]} if name in known else {}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside ``value``."""
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for at, item in items:
        found += [(value, at), *places(item)]
    return found


def mutated(body: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    made = copy.deepcopy(body)
    for _ in range(rng.choice((1, 1, 2, 4))):
        inside = places(made)
        if not inside:
            return made
        container, at = rng.choice(inside)
        step = rng.randrange(4)
        if step == 0:
            del container[at]
        elif step == 1 and isinstance(container, list):
            container.append(copy.deepcopy(rng.choice(JUNK)))
        elif step == 2 and isinstance(container, dict):
            container[str(rng.choice(JUNK))[:40]] = container.pop(at)
        else:
            container[at] = copy.deepcopy(rng.choice(JUNK))
    return made


def test_what_pages_send_is_accepted(app: Dash, services: Services, client: Any) -> None:
    made = bodies(app, services)
    assert len(made) > 10
    for body in made:
        assert callback_bodies.problem(app, json.loads(json.dumps(body))) == "", body["output"]


def test_forged_bodies_are_refused_in_one_line(
    app: Dash, services: Services, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rng, good = random.Random(9), bodies(app, services)
    refused = 0
    caplog.set_level(logging.INFO)
    for at in range(N_BODIES):
        text = json.dumps(mutated(good[at % len(good)], rng))
        caplog.clear()
        answer = client.post("/_dash-update-component", data=text, content_type="application/json")
        assert answer.status_code in (200, 204, 400), (answer.status_code, text)
        assert [r for r in caplog.records if r.exc_info or "\n" in r.getMessage()] == [], (text, caplog.text[-1500:])
        refused += answer.status_code == 400
        if answer.status_code == 400:
            assert answer.get_json()["error"]
            assert len(caplog.records) == 1
    assert refused > N_BODIES // 2
