"""The pass page without a browser: its routes on good, bad, hostile and absent dumps, long answers as jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dash import Dash

from analysis.passes.dump import open_dump
from analysis.passes.listing import list_passes
from analysis.passes.opening import open_comparison
from analysis.synth.capture import write_capture
from analysis.synth.passes import write_passes
from app.passes import asked as asking
from app.passes import kept, page, reports
from app.server.factory import create_app
from app.server.services import Services
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState, decode
from tests.waiting import until

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a dump and reports, a dump alone, a broken dump, a hostile dump, a run without one."""
    made = tmp_path_factory.mktemp("passes")
    write_capture(made / "good" / "dfx_outputs", 60, 1)
    write_passes(made / "good", 3_000)
    report = made / "good" / "report"
    report.mkdir()
    hint = "[perf_hint PH-MR-001] MemoryReuse: depth 2 did not fit at model.py:4:5"
    (report / "perf_hints.log").write_text(f"{hint}\nnoise\n")
    write_passes(made / "alone", 1_000)
    write_capture(made / "none" / "dfx_outputs", 40, 2)
    broken = made / "broken" / "passes_dump"
    broken.mkdir(parents=True)
    (broken / "02_after_A.py").write_text("def f(:\n")
    (broken / "04_after_B.py").write_bytes(b"def f():\n    return '\xff'\n")
    (broken / "04_after_C.log").write_text("lonely\n")
    hostile = made / "hostile" / "passes_dump"
    hostile.mkdir(parents=True)
    name = "n" * 1_000_000
    text = f'class P:\n    def {name}(a):\n        return "{HOSTILE}\u202e{{}}"\n'
    (hostile / "00_frontend.py").write_text(text)
    (hostile / "01_after_X.py").write_text(text.replace("return", "x = 1; return"))
    kernel = hostile / "ptoas_passes" / "k"
    kernel.mkdir(parents=True)
    (kernel / "a.txt").write_text(HOSTILE)
    return made


@pytest.fixture(scope="module")
def app(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Dash:
    made = create_app(Settings(roots=(Root("r", root),), data_dir=tmp_path_factory.mktemp("passes-data")))
    made.server.extensions["swimscope"].library.scan_once()
    return made


@pytest.fixture(scope="module")
def services(app: Dash) -> Services:
    found: Services = app.server.extensions["swimscope"]
    return found


@pytest.fixture(scope="module")
def client(app: Dash) -> Any:
    return app.server.test_client()


def key_of(services: Services, name: str) -> str:
    return next(row.key for row in services.library.runs() if name in Path(row.path).parts)


def get(client: Any, services: Services, run: str, path: str, status: int = 200) -> Any:
    answer = client.get(f"/api/r/{key_of(services, run)}/passes/{path}")
    assert answer.status_code == status, answer.text
    return answer.json


def line_text(line: list[Any]) -> str:
    return "".join(piece[0] for piece in line[1])


def test_the_list_is_that_of_the_analysis(client: Any, services: Services, root: Path) -> None:
    answer = get(client, services, "good", "list")
    listing = list_passes(open_dump(root / "good" / "passes_dump"))
    told = [(p["index"], p["changed"], p["added"], p["removed"], p["moved"], p["warnings"]) for p in answer["passes"]]
    assert told == [(p.index, p.changed, p.added, p.removed, p.moved, len(p.warnings)) for p in listing.passes]
    assert answer["dumps"] == ["passes_dump"]
    assert answer["names"]


def test_the_first_changed_pass_is_open_and_its_rows_spell_both_files(
    client: Any, services: Services, root: Path
) -> None:
    diff = get(client, services, "good", "diff?ctx=-1")
    opened = open_comparison(
        open_dump(root / "good" / "passes_dump"), open_dump(root / "good" / "passes_dump").passes[2]
    )
    assert diff["right"]["id"] == "02_after_ConvertToSSA"
    assert (diff["added"], diff["removed"]) == (opened.comparison.added, opened.comparison.removed)
    rows: list[Any] = []
    for start in range(0, diff["length"], 400):
        rows += get(client, services, "good", f"rows?ctx=-1&a={start}&b={start + 400}")["rows"]
    assert [line_text(row[1]) for row in rows if row[1]] == opened.left.lines
    assert [line_text(row[2]) for row in rows if row[2]] == opened.right.lines
    marked = ["".join(p[0] for p in row[2][1] if p[2]) for row in rows if row[2] and row[0] == 1]
    assert any("__ssa_v0" in text for text in marked)


def test_folds_functions_stacking_structure_and_two_panes(client: Any, services: Services) -> None:
    whole, folded = (get(client, services, "good", f"diff?pass=10_after_AllocateMemoryAddr&ctx={c}") for c in (-1, 0))
    assert folded["length"] < whole["length"]
    fold = next(
        row["fold"] for row in get(client, services, "good", "rows?pass=10&ctx=0&a=0&b=50")["rows"] if "fold" in row
    )
    opened = get(client, services, "good", f"diff?pass=10&ctx=0&unf={fold[0]}")
    assert opened["length"] == folded["length"] + fold[1] - 1
    name = next(s["id"] for s in whole["sections"] if s["status"] == "changed" and s["id"])
    only = get(client, services, "good", f"diff?pass=10&ctx=-1&fn={name}")
    assert only["function"] == name
    assert only["length"] < whole["length"]
    second = get(client, services, "good", f"diff?pass=10&ctx=-1&fn2={name}&pane=1")
    assert second["length"] == only["length"]
    missing = get(client, services, "good", "diff?pass=10&fn=nothing")
    assert "nothing is not in this pass" in missing["notes"][0]
    structure = get(client, services, "good", "diff?pass=10_after_AllocateMemoryAddr&struct=1")
    assert structure["added"] == structure["removed"] == 0
    assert "annotations apart" in structure["notes"][0]
    stacked = get(client, services, "good", "rows?pass=10&lay=stacked&ctx=0&a=0&b=60")["rows"]
    assert any(row[1] is None or row[2] is None for row in stacked if "fold" not in row)


def test_a_line_of_the_url_is_found_even_in_a_fold(client: Any, services: Services) -> None:
    diff = get(client, services, "good", "diff?pass=02&ctx=0&line=R1")
    row = get(client, services, "good", f"rows?pass=02&ctx=0&line=R1&a={diff['anchor']}&b={diff['anchor'] + 1}")[
        "rows"
    ][0]
    assert row[2][0] == 1
    assert get(client, services, "good", "diff?pass=02&line=R999999")["anchor"] is not None
    assert get(client, services, "good", "diff?pass=02&line=nonsense")["anchor"] is None


def test_the_selected_function_is_shown_unless_another_was_chosen(client: Any, services: Services, root: Path) -> None:
    names = get(client, services, "good", "list")["names"]
    name, func_id = next(iter(names.items()))
    dump = root / "linked" / "passes_dump"
    dump.mkdir(parents=True)
    write_capture(root / "linked" / "dfx_outputs", 60, 1)
    for file, value in (("00_frontend.py", 1), ("01_after_X.py", 2)):
        (dump / file).write_text(
            f"class P:\n    def {name}(a):\n        return {value}\n\n    def other(a):\n        return 0\n"
        )
    services.library.scan_once()
    assert get(client, services, "linked", f"diff?sel=func:{func_id}")["function"] == f"P.{name}"
    assert get(client, services, "linked", f"diff?sel=func:{func_id}&fn=P.other")["function"] == "P.other"
    assert get(client, services, "linked", f"diff?sel=func:{func_id}&fn=*")["function"] == ""


def test_search_and_history_follow_the_passes(client: Any, services: Services) -> None:
    found = get(client, services, "good", "search?q=MemRef%5C(mem_vec")
    assert found["contains"] == 8
    assert found["passes"][7]["lines"] == 0
    assert "no regular expression" in get(client, services, "good", "search?q=(", 422)["error"]
    assert get(client, services, "good", "search?q=(&re=0")["contains"] is not None
    steps = get(client, services, "good", "history?name=stage_0_incore_0")["steps"]
    assert [s["event"] for s in steps[:5]] == ["absent"] * 4 + ["created"]
    assert "no pass mentions" in get(client, services, "good", "history?name=zzz", 404)["error"]


def test_another_dump_and_another_pass_can_be_the_left_side(client: Any, services: Services) -> None:
    diff = get(client, services, "good", f"diff?pass=MemoryReuse&other={key_of(services, 'alone')}")
    assert diff["left"]["id"] == diff["right"]["id"] == "09_after_MemoryReuse"
    assert diff["left"]["lines"] < diff["right"]["lines"]
    assert get(client, services, "good", "diff?pass=03_after_Simplify&vs=00_frontend")["left"]["id"] == "00_frontend"
    others = get(client, services, "good", "others")
    assert {run["name"].split("/")[1] for run in others["runs"]} >= {"alone", "broken", "hostile"}


def test_broken_rules_are_said_and_the_rest_opens(client: Any, services: Services) -> None:
    answer = get(client, services, "broken", "list")
    codes = {problem["code"] for problem in answer["problems"]}
    assert {"no-frontend", "not-from-01", "gap", "not-utf-8", "unparsable", "log-without-snapshot"} <= codes
    diff = get(client, services, "broken", "diff")
    assert any("as a whole" in note for note in diff["notes"])
    first = get(client, services, "broken", "diff?pass=02_after_A")
    assert "first snapshot" in first["notes"][0]


def test_hostile_text_stays_text_and_short(client: Any, services: Services) -> None:
    raw = client.get(f"/api/r/{key_of(services, 'hostile')}/passes/list").data
    assert len(raw) < 20_000
    diff = get(client, services, "hostile", "diff?ctx=-1")
    assert [s["id"] for s in diff["sections"] if "1,000,002 characters" in s["name"]] == [""]
    rows = get(client, services, "hostile", "rows?ctx=-1&a=0&b=9")["rows"]
    text = "".join(line_text(row[2]) for row in rows)
    assert HOSTILE in text
    assert "\u202e" not in text
    assert "\\u202e" in text
    assert any(row[2][3] > 900_000 for row in rows), "what is left out of a long line is counted"
    tool = client.get(f"/api/r/{key_of(services, 'hostile')}/passes/tool?node=k/a.txt")
    assert (tool.mimetype, tool.text.rstrip("\n")) == ("text/plain", HOSTILE)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("rows?a=0&b=401", 422),
        ("rows?a=-1&b=5", 422),
        ("rows?a=9&b=5", 422),
        ("rows", 422),
        ("diff?pass=99", 404),
        ("diff?vs=zzz", 404),
        ("diff?other=0000", 404),
        ("list?dump=zzz", 404),
        ("tool?node=../../x", 404),
    ],
)
def test_nonsense_is_refused_with_a_reason(client: Any, services: Services, path: str, status: int) -> None:
    answer = get(client, services, "good", path, status)
    assert answer["error"]
    assert str(services.settings.roots[0].path) not in json.dumps(answer)


def test_a_run_without_a_dump_says_what_is_missing(services: Services) -> None:
    assert "no passes_dump directory" in str(page.layout(services, ViewState(), key_of(services, "none")))
    assert "ir-list" in str(page.layout(services, ViewState(), key_of(services, "alone")))


def test_hints_are_a_table_that_opens_the_pass(services: Services) -> None:
    shown = json.dumps([part.to_plotly_json() for part in reports.content(services, key_of(services, "good"), ViewState())],
                       default=lambda part: part.to_plotly_json())  # fmt: skip
    assert "PH-MR-001" in shown
    assert "pass=MemoryReuse" in shown
    assert "1 lines are not of a known form" in shown
    assert "No report was captured" in str(reports.content(services, key_of(services, "alone"), ViewState()))


def test_long_answers_come_from_a_job(services: Services, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "INLINE_LIST_BYTES", 0)
    monkeypatch.setattr(kept, "INLINE_DIFF_LINES", 0)
    monkeypatch.setattr(kept, "INLINE_SEARCH_LINES", 0)
    run = key_of(services, "alone")
    fresh = services.library.run(run)
    (fresh.source / "passes_dump" / "00_frontend.py").touch()

    def ask(path: str) -> Any:
        return client.get(f"/api/r/{run}/passes/{path}")

    until(lambda: ask("list").status_code, lambda status: status == 200)
    until(lambda: ask("diff?pass=05").status_code, lambda status: status == 200)
    answer = ask("search?q=outlined")
    assert (answer.status_code, answer.json["state"]) == (202, "running")
    client.post(f"/api/r/{run}/passes/cancel/search?q=outlined")
    ended = until(lambda: ask("search?q=outlined"), lambda seen: seen.status_code != 202)
    assert ended.status_code in (200, 409)
    until(lambda: ask("search?q=outlined&retry=1").status_code, lambda status: status == 200)


def test_the_answers_of_one_process_are_there_for_the_next(services: Services, root: Path) -> None:
    view = decode("pass=02")[0]
    again = create_app(services.settings).server.extensions["swimscope"]
    again.library.scan_once()
    found = asking.asked(again, key_of(services, "good"), view)
    assert kept.of(again)._load(f"list-1-{found.dump.signature}") is not None
