from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dash import Dash
from dash.development.base_component import Component

from app.server.factory import FEATURES, create_app, make_services
from app.server.services import Services
from app.server.settings import Root, Settings
from app.shell import frame
from app.shell.router import page_content
from app.shell.url_state import Place, Problem, ViewState
from tests.app.conftest import key_of, services_of

VIEWS = tuple(view for feature in FEATURES for view in feature.views)
RUN_PAGES = tuple(view.page.name for view in VIEWS if view.page.name != "runs")
RUNS = (
    "attention", "level_1", "level_2", "level_3", "no_deps", "no_names", "host", "rank0", "names_only", "deps_only",
    "broken",
)  # fmt: skip


def components_in(part: Any) -> Iterator[Component]:
    """Every component inside ``part``, itself included."""
    if isinstance(part, list | tuple):
        for item in part:
            yield from components_in(item)
    elif isinstance(part, Component):
        yield part
        yield from components_in(getattr(part, "children", None))


def ids_in(part: Any) -> list[str]:
    return [json.dumps(item.id, sort_keys=True) for item in components_in(part) if getattr(item, "id", None)]


def texts_in(part: Any) -> str:
    found = [item.children for item in components_in(part) if isinstance(getattr(item, "children", None), str)]
    for item in components_in(part):
        children = getattr(item, "children", None)
        if isinstance(children, list):
            found += [child for child in children if isinstance(child, str)]
    return "\n".join(found)


def show(services: Services, page: str, name: str, view: ViewState | None = None) -> Any:
    return page_content(services, VIEWS, Place(page, key_of(services, name)), view or ViewState(), [])


def test_two_applications_in_one_process_are_equal_and_apart(app: Dash, settings: Settings) -> None:
    other = create_app(settings)
    assert set(other.callback_map) == set(app.callback_map)
    assert len(other.callback_map) > 10
    rules = [{rule.rule for rule in made.server.url_map.iter_rules()} for made in (app, other)]
    assert rules[0] == rules[1]
    assert services_of(app) is not services_of(other)


@pytest.mark.parametrize("page", RUN_PAGES)
@pytest.mark.parametrize("run", RUNS)
def test_every_page_builds_for_every_run_with_unique_ids(services: Services, page: str, run: str) -> None:
    content = show(services, page, run)
    ids = ids_in([frame.layout(services, VIEWS), content])
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    assert json.dumps(content.to_plotly_json(), default=lambda part: part.to_plotly_json())


def test_the_home_page_builds(services: Services) -> None:
    content = page_content(services, VIEWS, Place("runs", ""), ViewState(), [])
    assert '"runs-grid"' in ids_in(content)


def test_every_id_a_callback_names_exists_on_some_page(app: Dash, services: Services) -> None:
    there = set(
        ids_in([frame.layout(services, VIEWS), page_content(services, VIEWS, Place("runs", ""), ViewState(), [])])
    )
    for page in RUN_PAGES:
        there |= set(ids_in(show(services, page, "attention")))
    there |= set(ids_in(show(services, "functions", "names_only")))
    # Parts that come and go inside a page: the waiting panels, the table of the swimlane's performance panel.
    passing = re.compile(r"(panel-)?open-(tick|progress|cancel|retry|job)|panel-grid|(ir|ranks|memory|mem|trace)-.*")
    named = set()
    for item in app._callback_list:
        for part in (*item["inputs"], *item["state"]):
            named.add(part["id"])
        for output in item["output"].strip(".").split("..."):
            named.add(output.rpartition(".")[0])
    plain = {name for name in named if name and not name.startswith("{") and "." not in name}
    assert sorted(name for name in plain if json.dumps(name) not in there and not passing.fullmatch(name)) == []


@pytest.mark.parametrize("page", ["swimlane", "functions", "gaps"])
def test_a_broken_capture_gives_a_notice_that_names_the_file(services: Services, page: str) -> None:
    text = texts_in(show(services, page, "broken"))
    assert "chip_swimlane_records.json" in text
    assert "The page cannot be shown" in text


def test_an_unknown_run_or_page_is_a_notice(services: Services) -> None:
    unknown = page_content(services, VIEWS, Place("gaps", "0" * 16), ViewState(), [])
    assert "no run" in texts_in(unknown)
    nowhere = page_content(services, VIEWS, None, ViewState(), [])
    assert "no such page" in texts_in(nowhere)


def test_problems_of_a_url_are_shown(services: Services) -> None:
    content = page_content(services, VIEWS, Place("runs", ""), ViewState(), [Problem("depth", "lots", "not a number")])
    assert "Part of this link was not used: depth=lots" in texts_in(content)


def test_names_only_says_which_file_is_missing_and_lists_the_names(services: Services) -> None:
    content = show(services, "functions", "names_only")
    assert "chip_swimlane_records.json" in texts_in(content)
    rows = next(item.rowData for item in components_in(content) if getattr(item, "id", None) == "functions-grid")
    assert rows == [{"func_id": "0", "name": "QK"}, {"func_id": "1", "name": "<b>PV</b>"}]


def test_the_overview_of_a_names_only_run_shows_no_count_as_zero(services: Services) -> None:
    content = show(services, "", "names_only")
    values = [i.children for i in components_in(content) if getattr(i, "className", "") == "card-value"]
    assert values[:3] == ["–", "–", "–"]


def test_every_launch_of_a_file_can_be_chosen(tmp_path: Path) -> None:
    folder = tmp_path / "root" / "case" / "dfx_outputs"
    folder.mkdir(parents=True)
    source = Path(__file__).parents[1] / "data" / "launches" / "dropped_launches.json"
    (folder / "chip_swimlane_records.json").write_bytes(source.read_bytes())
    services = make_services(Settings(roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data"))
    services.library.scan_once()
    one, two = (show(services, "", "case", ViewState(launch=launch)) for launch in (0, 1))
    links = [i for i in components_in(two) if getattr(i, "className", "") == "launch"]
    assert [link.children for link in links] == ["1", "2"]
    assert [getattr(link, "aria-current", None) for link in links] == [None, "true"]
    assert texts_in(one) != texts_in(two)
    assert "launch 7 does not exist" in texts_in(show(services, "", "case", ViewState(launch=7)))


def test_an_analysis_that_has_no_answer_says_why(services: Services) -> None:
    content = show(services, "early-dispatch", "level_1")
    assert "is not available" in texts_in(content)
    assert not [item for item in components_in(content) if getattr(item, "id", None) == "table-grid"]


def test_tabs_carry_the_view(services: Services) -> None:
    key = key_of(services, "attention")
    links = frame.tabs(services, VIEWS, Place("gaps", key), ViewState(sel="task:5"))
    assert links[0].children == "Overview"
    assert [link.children for link in links if getattr(link, "aria-current", None)] == ["Analyses"]
    assert all("sel=task:5" in link.href for link in links)


def test_features_and_pages_have_names_of_their_own() -> None:
    assert len({feature.name for feature in FEATURES}) == len(FEATURES)
    assert len({view.page.name for view in VIEWS}) == len(VIEWS)


def test_the_router_answers_a_post(app: Dash, services: Services) -> None:
    key = key_of(services, "attention")
    body = {
        "output": "..page.children...breadcrumb.children...tabs.children..",
        "outputs": [
            {"id": "page", "property": "children"},
            {"id": "breadcrumb", "property": "children"},
            {"id": "tabs", "property": "children"},
        ],
        "inputs": [
            {"id": "url", "property": "pathname", "value": f"/r/{key}"},
            {"id": "reload", "property": "data", "value": None},
        ],
        "state": [{"id": "url", "property": "search", "value": "?sel=task:1"}],
        "changedPropIds": ["url.pathname"],
    }
    answer = app.server.test_client().post("/_dash-update-component", json=body)
    assert answer.status_code == 200
    text = answer.get_data(as_text=True)
    assert '"sel":"task:1"' in text.replace(" ", "")
    assert "Makespan" in text


def test_health_names_the_number_of_runs(client: Any, services: Services) -> None:
    answer = client.get("/health").get_json()
    assert answer["status"] == "ok"
    assert answer["runs"] == len(services.library.runs())


def test_the_page_loads_no_script_of_the_assets_folder_but_the_bundle(client: Any) -> None:
    found = re.findall(r'src="/assets/([^"?]+)', client.get("/").get_data(as_text=True))
    assert found == ["scripts.js"]
