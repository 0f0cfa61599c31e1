"""What does each tab of the panel show, and what do its rows draw? Without a browser."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import cli, registry
from analysis.errors import NotAvailable, NotFoundError
from app.analyses import views
from app.server.services import Services
from app.shell.url_state import ViewState
from app.swimlane.panel import drawings
from app.swimlane.panel.content import content
from app.swimlane.panel.rows import row_of
from app.swimlane.panel.tabs import KEEP_WINDOWS, Panels, read_tab
from components.swimlane import panel as parts
from tests.app.conftest import key_of

NAMES = [item.name for item in registry.in_panel()]


def text_of(component: Any) -> str:
    """Every text inside a component."""
    if component is None or isinstance(component, str | int | float):
        return "" if component is None else str(component)
    if isinstance(component, list | tuple):
        return " ".join(text_of(part) for part in component)
    return text_of(getattr(component, "children", None))


def body(services: Services, run: str, **query: str) -> Any:
    request = {"n": 7, "run": key_of(services, run), "query": query}
    return content(services, Panels(services), request)


@pytest.mark.parametrize("name", NAMES)
def test_every_tab_shows_the_table_of_its_page(services: Services, name: str) -> None:
    key = key_of(services, "attention")
    shown = Panels(services).table_view(key, read_tab(ViewState(tab=name)))
    page = views.table_view(services, key, name, ViewState())
    assert shown.outcome.available
    assert shown.title == page.title
    assert shown.table.to_csv() == page.table.to_csv()


@pytest.mark.parametrize("name", NAMES)
def test_every_tab_has_a_body_that_names_its_question_and_its_page(services: Services, name: str) -> None:
    made = body(services, "attention", tab=name)
    assert made.to_plotly_json()["props"]["data-n"] == "7"
    assert "Open as page" in text_of(made)


def test_the_number_after_the_dot_chooses_the_table(services: Services) -> None:
    shown = Panels(services).table_view(key_of(services, "attention"), read_tab(ViewState(tab="cores.1")))
    assert shown.title == "Core types"


def test_an_unknown_tab_is_not_found(services: Services) -> None:
    with pytest.raises(NotFoundError, match="no tab 'nonsense'"):
        body(services, "attention", tab="nonsense")


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (ViewState(tab="range"), (None, None, "whole")),
        (ViewState(tab="range", t0=0, t1=90), (0, 90, "visible")),
        (ViewState(tab="range", t0=0, t1=90, mz="5:60"), (5, 60, "measured")),
        (ViewState(tab="range", t0=0, t1=90, mz="5:5"), (0, 90, "visible")),
        (ViewState(tab="cores", t0=0, t1=90), (None, None, "")),
    ],
)
def test_the_window_is_the_measured_range_before_the_visible_one(view: ViewState, expected: Any) -> None:
    tab = read_tab(view)
    assert (tab.view.t0, tab.view.t1, tab.window) == expected


def test_a_window_from_zero_begins_at_zero(services: Services) -> None:
    shown = Panels(services).table_view(key_of(services, "attention"), read_tab(ViewState(tab="range", t0=0, t1=90)))
    assert shown.parameters == {"t0_ticks": 0, "t1_ticks": 90}


def test_the_search_of_the_swimlane_filters_no_table() -> None:
    assert read_tab(ViewState(tab="gaps", q="fa_fused")).view.q == ""


def test_only_the_last_windows_are_kept(services: Services) -> None:
    panels, key = Panels(services), key_of(services, "attention")
    for end in range(100, 100 + 10 * (KEEP_WINDOWS + 3), 10):
        panels.table_view(key, read_tab(ViewState(tab="utilisation", t0=0, t1=end)))
    assert len(services.caches._named["windows"]) == KEEP_WINDOWS


@pytest.mark.parametrize(
    ("run", "tab", "words"),
    [
        ("level_1", "early-dispatch", "level 2"),
        ("level_1", "overhead", "level 2"),
        ("no_deps", "gaps", "deps.json"),
        ("no_deps", "critical-path", "deps.json"),
        ("no_deps", "chains", "deps.json"),
        *(
            ("deps_only", tab, "record")
            for tab in ("functions", "cores", "critical-path", "gaps", "utilisation", "range")
        ),
    ],
)
def test_a_tab_without_an_answer_says_why(services: Services, run: str, tab: str, words: str) -> None:
    text = text_of(body(services, run, tab=tab))
    assert "is not available" in text
    assert words in text


def test_the_path_says_where_it_comes_from(services: Services) -> None:
    text = text_of(body(services, "attention", tab="critical-path", untimed="1"))
    assert "Computed here: observed path" in text
    assert "through tasks without records" in text
    assert "no imported path to compare" in text
    assert "Functions on the path" in text


def test_gaps_count_those_above_the_threshold(services: Services) -> None:
    shown = views.table_view(services, key_of(services, "attention"), "gaps", ViewState(thr=1.0))
    gaps = shown.table.cells("gap_us")
    above = sum(gap > 1.0 for gap in gaps)
    assert 0 < above < len(gaps), "the threshold marks rows, it leaves none out"
    assert f"{above} of {len(gaps)} gaps" in text_of(body(services, "attention", tab="gaps", thr="1"))


def test_overhead_tells_the_pop_hit_rate(services: Services) -> None:
    threads = dict(
        Panels(services).table_view(key_of(services, "attention"), read_tab(ViewState(tab="overhead"))).outcome.tables
    )
    rows = threads["Scheduler threads"].to_records()
    hit, miss = (sum(row[name] or 0 for row in rows) for name in ("pop_hit", "pop_miss"))
    assert f"pop hit rate  {100 * hit / (hit + miss):.1f} %" in text_of(body(services, "attention", tab="overhead"))


@pytest.mark.parametrize(
    ("words", "query"),
    [
        (["gaps"], ""),
        (["gaps", "--kind", "static"], "kind=static&q=nothing-like-this"),
        (["critical-path", "--kind", "static"], "kind=static&q=nothing-like-this"),
        (["chains"], ""),
        (["cores"], ""),
        (["overhead"], ""),
        (["early-dispatch"], ""),
    ],
)
def test_csv_is_that_of_the_command_line(
    client: Any, services: Services, tree: Path, words: list[str], query: str
) -> None:
    answer = client.get(f"/api/r/{key_of(services, 'attention')}/panel.csv?tab={words[0]}&{query}")
    out = io.StringIO()
    with redirect_stdout(out):
        assert cli.main([words[0], str(tree / "attention" / "dfx_outputs"), *words[1:], "--format", "csv"]) == 0
    assert answer.data == out.getvalue().encode()
    assert answer.headers["Content-Disposition"].endswith(f"-{words[0]}.csv")


def test_csv_of_what_is_not_there_is_an_error(client: Any, services: Services) -> None:
    base = f"/api/r/{key_of(services, 'no_deps')}/panel.csv"
    assert client.get(f"{base}?tab=gaps").status_code == 422
    assert client.get(f"{base}?tab=nonsense").status_code == 404


def test_a_gap_is_drawn_from_the_end_before_to_its_start(services: Services) -> None:
    key = key_of(services, "attention")
    capture = services.library.capture(key, 0)
    table = views.table_view(services, key, "gaps", ViewState()).table
    for row in table.to_records():
        drawn = drawings.drawing(services, key, "gap", {"task": row["task_id"]})
        (start, end) = (mark["tick"] for mark in drawn["markers"])
        task = capture.task_index(int(row["task_id"]))
        assert end == int(capture.tasks.start_ticks[task])
        assert end - start == round(row["gap_us"] * capture.meta.ticks_per_us)
        assert drawn["t0"] < start <= end < drawn["t1"]
        if row["blocker_name"]:
            assert row["blocker_name"] in drawn["markers"][0]["label"]


def test_a_lead_is_drawn_from_dispatch_to_last_fin(services: Services) -> None:
    key = key_of(services, "attention")
    rows = views.table_view(services, key, "early-dispatch", ViewState()).table.to_records()
    row = next(row for row in rows if row["lead_ticks"] is not None)
    drawn = drawings.drawing(services, key, "lead", {"task": row["task_id"]})
    assert [mark["tick"] for mark in drawn["markers"]] == [row["dispatch_ticks"], row["last_fin_ticks"]]


def test_what_cannot_be_drawn_says_why(client: Any, services: Services) -> None:
    key = key_of(services, "attention")
    table = views.table_view(services, key, "gaps", ViewState()).table
    capture = services.library.capture(key, 0)
    on_path = set(table.cells("task_id"))
    other = next(str(task) for task in capture.tasks.task_id.tolist() if str(task) not in on_path)
    with pytest.raises(NotFoundError, match="not on that path"):
        drawings.drawing(services, key, "gap", {"task": other})
    with pytest.raises(NotFoundError, match="no task"):
        drawings.drawing(services, key, "gap", {"task": "x"})
    with pytest.raises(NotFoundError, match="gap and lead"):
        drawings.drawing(services, key, "circle", {"task": other})
    with pytest.raises(NotAvailable):
        drawings.drawing(services, key_of(services, "no_deps"), "gap", {"task": other})
    assert client.get(f"/api/r/{key}/draw/gap?task={other}").status_code == 404


def test_the_row_of_a_selection_in_the_shown_order(client: Any, services: Services) -> None:
    key = key_of(services, "attention")
    table = views.table_view(services, key, "gaps", ViewState()).table
    ids = table.cells("task_id")
    backwards = np.arange(len(table))[::-1]
    assert row_of(table, np.arange(len(table)), f"task:{ids[2]}") == 2
    assert row_of(table, backwards, f"gap:{ids[2]}") == len(ids) - 3
    assert row_of(table, backwards[:1], f"gap:{ids[2]}") == -1
    assert row_of(table, backwards, "func:1") == -1
    asked = f"/api/r/{key}/row/swimlane?tab=gaps&sel=gap:{ids[4]}"
    assert client.get(asked).json == {"row": 4}
    assert client.get(f"/api/r/{key}/row/gaps?sel=task:{ids[4]}").json == {"row": 4}
    assert client.get(f"/api/r/{key}/row/chains?sel=func:0").json == {"row": -1}


@pytest.mark.parametrize(("tab", "state"), [("", "auto"), ("none", "closed"), ("gaps", "open")])
def test_the_panel_is_open_from_the_first_paint(tab: str, state: str) -> None:
    root = parts.panel([("gaps", "Gaps", "?")], tab)[1]
    assert root.to_plotly_json()["props"]["data-state"] == state


def test_share_bars_leave_nothing_out() -> None:
    made = parts.bars([("a", "red", 0.75, "75 %"), ("b", "blue", 0.25, "25 %"), ("c", "green", 0.0, "0 %")], "Parts")
    bar, legend = made.children
    assert [piece.style["width"] for piece in bar.children] == ["75.000%", "25.000%"]
    assert len(legend.children) == 3
    assert bar.to_plotly_json()["props"]["aria-label"] == "Parts: a 75 %, b 25 %, c 0 %"
