from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import cli, registry
from analysis.results import Column, Table
from app.analyses import query, rows, views
from app.analyses.blocks import block
from app.server.services import Services
from app.shell.url_state import ViewState
from tests.app.conftest import key_of

TABLE = Table(
    (Column("name", "text", "n"), Column("us", "us", "u"), Column("id", "id", "i"), Column("ids", "ids", "s")),
    {
        "name": ["beta", "Alpha", "gamma", "alpha"],
        "us": np.array([2.0, np.nan, 1.0, 2.0]),
        "id": ["1", None, "3", "4"],
        "ids": [("1", "2"), (), ("3",), ("4", "5")],
    },
)


def names(**asked: Any) -> list[str]:
    rows = query.select(TABLE, asked.get("sort", []), asked.get("filters", {}), asked.get("search", ""))
    return [TABLE.cells("name")[at] for at in rows.tolist()]


def test_sort_is_stable_and_counts_missing_as_smallest() -> None:
    assert names(sort=[("us", "asc")]) == ["Alpha", "gamma", "beta", "alpha"]
    assert names(sort=[("us", "desc")]) == ["beta", "alpha", "gamma", "Alpha"]
    assert names(sort=[("us", "desc"), ("name", "asc")]) == ["alpha", "beta", "gamma", "Alpha"]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"filterType": "text", "type": "contains", "filter": "ALPHA"}, ["Alpha", "alpha"]),
        ({"filterType": "text", "type": "notContains", "filter": "alpha"}, ["beta", "gamma"]),
        ({"filterType": "text", "type": "equals", "filter": "beta"}, ["beta"]),
        ({"filterType": "text", "type": "startsWith", "filter": "g"}, ["gamma"]),
        ({"filterType": "text", "type": "unheard-of", "filter": "g"}, ["beta", "Alpha", "gamma", "alpha"]),
        (
            {
                "operator": "OR",
                "conditions": [
                    {"filterType": "text", "type": "equals", "filter": "beta"},
                    {"filterType": "text", "type": "endsWith", "filter": "mma"},
                ],
            },
            ["beta", "gamma"],
        ),
    ],
)
def test_text_filters(model: dict[str, Any], expected: list[str]) -> None:
    assert names(filters={"name": model}) == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"filterType": "number", "type": "greaterThan", "filter": 1}, ["beta", "alpha"]),
        ({"filterType": "number", "type": "inRange", "filter": 0, "filterTo": 2}, ["gamma"]),
        ({"filterType": "number", "type": "notEqual", "filter": 2}, ["gamma"]),
        ({"filterType": "number", "type": "blank"}, ["Alpha"]),
        ({"filterType": "number", "type": "notBlank"}, ["beta", "gamma", "alpha"]),
        ({"filterType": "number", "type": "greaterThan", "filter": "x"}, ["beta", "Alpha", "gamma", "alpha"]),
    ],
)
def test_number_filters(model: dict[str, Any], expected: list[str]) -> None:
    assert names(filters={"us": model}) == expected


@given(
    st.lists(st.one_of(st.just(float("nan")), st.integers(-3, 3).map(float)), max_size=30),
    st.sampled_from(["asc", "desc"]),
)
def test_arrays_are_sorted_as_lists_are(values: list[float], way: str) -> None:
    column = (Column("x", "us", "x"),)
    listed = [None if value != value else value for value in values]
    fast = query.select(Table(column, {"x": np.array(values, dtype=np.float64)}), [("x", way)], {})
    slow = query.select(Table(column, {"x": listed}), [("x", way)], {})
    assert fast.tolist() == slow.tolist()


def test_an_order_is_computed_once_for_a_run_of_blocks(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = views.table_view(services, key_of(services, "attention"), "edges", ViewState())
    request = {"startRow": 0, "endRow": 5, "sortModel": [{"colId": "pred_name", "sort": "asc"}], "filterModel": {}}
    first = block(services, shown, request, "")
    monkeypatch.setattr(query, "select", lambda *_: pytest.fail("sorted again"))
    later = block(services, shown, request | {"startRow": 5, "endRow": 10}, "")
    assert first["rowCount"] == later["rowCount"]
    assert first["rowData"][-1]["pred_name"] <= later["rowData"][0]["pred_name"]


def test_search_needs_every_word_somewhere() -> None:
    assert names(search="alpha") == ["Alpha", "alpha"]
    assert names(search="ALPHA 5") == ["alpha"]
    assert names(search="1,2") == ["beta"]


@given(st.dictionaries(st.sampled_from(["name", "us", "no"]), st.dictionaries(st.text(), st.text()), max_size=3))
def test_any_filter_model_is_survived(filters: dict[str, Any]) -> None:
    rows = query.select(TABLE, [("no", "asc")], filters, "")
    assert set(rows.tolist()) <= {0, 1, 2, 3}


def run_cli(*arguments: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        assert cli.main(list(arguments)) == 0
    return out.getvalue()


@pytest.mark.parametrize("analysis", [item.name for item in registry.ANALYSES])
def test_csv_of_a_page_equals_the_command_line(services: Services, client: Any, tree: Path, analysis: str) -> None:
    key = key_of(services, "attention")
    answer = client.get(f"/api/r/{key}/table/{analysis}.csv")
    if answer.status_code == 422:
        assert answer.get_json()["error"]
        return
    assert answer.status_code == 200
    assert answer.get_data(as_text=True) == run_cli(
        analysis, str(tree / "attention" / "dfx_outputs"), "--format", "csv"
    )
    assert f"{analysis}.csv" in answer.headers["Content-Disposition"]


def test_csv_keeps_filter_order_and_parameters(services: Services, client: Any) -> None:
    key = key_of(services, "attention")
    query = "?sort=start_us:desc&kind=static&q=a"
    lines = client.get(f"/api/r/{key}/table/critical-path.csv{query}").get_data(as_text=True).splitlines()
    starts = [int(line.split(",")[2]) for line in lines[1:]]
    assert starts == sorted(starts, reverse=True)
    assert len(starts) > 2


def test_csv_of_an_unknown_run_or_analysis_is_404(client: Any, services: Services) -> None:
    assert client.get("/api/r/nothing/table/gaps.csv").status_code == 404
    assert client.get(f"/api/r/{key_of(services, 'attention')}/table/nothing.csv").status_code == 404


def test_blocks_of_rows_add_up_to_the_whole_table(services: Services) -> None:
    shown = views.table_view(services, key_of(services, "attention"), "edges", ViewState())
    total = len(shown.table)
    got: list[dict[str, Any]] = []
    for first in range(0, total, 50):
        answer = block(
            services, shown, {"startRow": first, "endRow": first + 50, "sortModel": [], "filterModel": {}}, ""
        )
        assert answer["rowCount"] == total
        got += answer["rowData"]
    assert [row["_row"] for row in got] == [str(at) for at in range(total)]
    assert [row["pred"] for row in got] == shown.table.cells("pred")


def test_a_block_is_sorted_and_filtered(services: Services) -> None:
    shown = views.table_view(services, key_of(services, "attention"), "cores", ViewState())
    request = {
        "startRow": 0,
        "endRow": 10,
        "sortModel": [{"colId": "records", "sort": "desc"}],
        "filterModel": {"core_type": {"filterType": "text", "type": "equals", "filter": "aiv"}},
    }
    rows = block(services, shown, request, "")["rowData"]
    assert {row["core_type"] for row in rows} == {"aiv"}
    assert [row["records"] for row in rows] == sorted((row["records"] for row in rows), reverse=True)


@pytest.mark.parametrize(
    ("analysis", "row", "expected"),
    [
        ("functions", {"func_id": 3}, {"sel": "func:3", "hl": "func:3"}),
        ("chains", {"tasks": ("7", "8")}, {"sel": "chain:7", "hl": "chain:7"}),
        ("gaps", {"task_id": "9"}, {"sel": "gap:9", "hl": "path:observed"}),
        ("critical-path", {"task_id": "9"}, {"sel": "task:9", "hl": "path:observed"}),
        ("early-dispatch", {"task_id": "9"}, {"sel": "task:9", "hl": "early"}),
        ("setup", {"task_id": "9", "func_id": 1}, {"sel": "task:9", "hl": "task:9"}),
        ("edges", {"pred": "1", "succ": "2"}, {"sel": "task:2"}),
        ("cores", {"core_id": 1}, {}),
    ],
)
def test_what_a_click_on_a_row_selects(analysis: str, row: dict[str, Any], expected: dict[str, str]) -> None:
    assert rows.selection_of(registry.find(analysis), {})(row) == expected


@pytest.mark.parametrize("tab", ["²", "-1", "x", "", "99999999999999999999"])
def test_any_tab_shows_a_table(services: Services, tab: str) -> None:
    shown = views.table_view(services, key_of(services, "attention"), "gaps", ViewState(tab=tab))
    assert shown.at == 0


def test_a_bad_parameter_is_a_problem_and_the_default(services: Services) -> None:
    view = ViewState(kind="nonsense", tab="9", untimed=1)
    shown = views.table_view(services, key_of(services, "attention"), "gaps", view)
    assert [problem.key for problem in shown.problems] == ["kind", "tab"]
    assert shown.parameters == {"through_untimed": True}
    assert shown.at == 0


@pytest.mark.parametrize("window", [{"t0": 2**60}, {"t1": -5}])
def test_a_window_outside_the_run_is_a_problem(services: Services, window: dict[str, int]) -> None:
    shown = views.table_view(services, key_of(services, "attention"), "range", ViewState(**window))  # type: ignore[arg-type]
    assert [problem.key for problem in shown.problems] == ["t0"]
    assert shown.parameters == {}
    assert shown.outcome.available


def test_outcomes_are_computed_once_and_shared_on_disk(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.work import outcomes

    capture = services.library.capture(key_of(services, "attention"))
    first = services.analyses.get(capture, "cores", {})
    monkeypatch.setattr(outcomes, "compute", lambda *_: pytest.fail("computed again"))
    again = outcomes.Analyses(services.settings.data_dir / "outcomes").get(capture, "cores", {})
    assert again.tables[0][1].to_records() == first.tables[0][1].to_records()
