"""The memory page without a browser: overview, one function, why it is full, comparison, source, bad and absent dumps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dash import Dash

from analysis.memory.maps import load_map
from analysis.memory.model import FunctionMap
from analysis.synth.capture import write_capture
from analysis.synth.passes import write_passes
from app.memory import callbacks, kept, page
from app.memory.asked import asked, box_ids
from app.server.factory import create_app
from app.server.services import Services
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState, decode
from components.memory import picture
from tests.memory_dump import HOSTILE, write_dump
from tests.waiting import until


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("memory")
    write_dump(made / "looks")
    write_capture(made / "made" / "dfx_outputs", 60, 1)
    write_passes(made / "made", 3_000)
    names = json.loads(next((made / "made" / "dfx_outputs").glob("name_map*.json")).read_text())
    names["callable_id_to_name"]["0"] = "stage_1_incore_0"
    next((made / "made" / "dfx_outputs").glob("name_map*.json")).write_text(json.dumps(names))
    write_capture(made / "none" / "dfx_outputs", 40, 2)
    broken = made / "broken" / "passes_dump"
    broken.mkdir(parents=True)
    (broken / "01_after_AllocateMemoryAddr.py").write_text("def f(:\n")
    return made


@pytest.fixture(scope="module")
def app(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Dash:
    made = create_app(Settings(roots=(Root("r", root),), data_dir=tmp_path_factory.mktemp("memory-data")))
    made.server.extensions["swimscope"].library.scan_once()
    return made


@pytest.fixture(scope="module")
def services(app: Dash) -> Services:
    found: Services = app.server.extensions["swimscope"]
    return found


def key(services: Services, name: str) -> str:
    return next(row.key for row in services.library.runs() if name in row.path.split("/"))


def shown(services: Services, name: str, query: str = "") -> str:
    """The page as text."""
    return str(page.layout(services, decode(query)[0], key(services, name)))


def test_overview_rows_are_the_maps_spaces_tightest_first_and_open_them(services: Services, root: Path) -> None:
    text = shown(services, "looks")
    assert "2 functions, 3 spaces in use" in text
    assert "assumed" in text
    assert text.index("'function': 'full'") < text.index("'function': 'looks'")
    assert "mf=looks&mspace=Strange" in text
    assert "'share': 1.0" in text
    assert "'capacity_bytes': None" in text
    memory = load_map(root / "looks")
    assert {(f.name, s.space) for f in memory.functions for s in f.spaces} == {
        ("looks", "Vec"), ("looks", "Strange"), ("full", "Left"),
    }  # fmt: skip
    assert "of 245,760 B" in shown(services, "looks", "chip=950&mf=looks")


def test_the_selected_function_opens_its_map_and_the_map_its_records(services: Services) -> None:
    text = shown(services, "made", "sel=func:0")
    assert "Memory map of stage_1_incore_0" in text
    assert "swimlane?hl=func:0&sel=func:0" in text
    assert "passes?" in text
    assert "pass=10_after_AllocateMemoryAddr" in text
    assert "functions, " in shown(services, "made", "sel=func:0&mf=*")
    assert "owns no map" in shown(services, "made", "mf=nothing")


def looks(services: Services) -> FunctionMap:
    found = asked(services, key(services, "looks"), ViewState().with_own(mf="looks")).function
    assert found is not None
    return found


def test_every_box_is_in_the_picture_once_with_its_look(services: Services) -> None:
    function = looks(services)
    drawn = picture.panels(function, (), False, True)
    figure = picture.figure(function, drawn, True)
    kinds: dict[str, int] = {}
    for trace in figure["data"]:
        if trace.get("fill"):
            kinds[trace["name"]] = kinds.get(trace["name"], 0) + trace["x"].count(None)
    by_kind = {"view": {"narrow"}, "overlap": {"first", "second"}, "touch": {"third", "touched"}}
    for kind, names in by_kind.items():
        assert kinds[kind] == len(names), kind
        assert {b.name for b in function.boxes if (b.view if kind == "view" else b.conflict_kind == kind)} == names
    assert kinds["beyond"] == len(function.beyond) > 0
    assert sum(kinds.values()) == len(function.all_boxes())
    model = picture.model(function, drawn, box_ids(function), True)
    assert len(model["boxes"]) == len({box[5] for box in model["boxes"]}) == len(function.all_boxes())
    plain = picture.model(function, picture.panels(function, ("Vec",), False, False), box_ids(function), False)
    assert {box[6] for box in plain["boxes"]} == {"odd"}


def test_panels_share_one_byte_scale_and_say_where_they_do_not(services: Services) -> None:
    function = looks(services)
    vec, strange = picture.panels(function, (), True, True)
    assert (vec["bytes"], strange["bytes"]) == (188_416, 512)
    assert strange["times"] > 1
    assert vec["times"] == 1
    wide = [picture._widths([100, 300])[at][0] for at in (0, 1)]
    assert wide[1] == pytest.approx(3 * wide[0])


def test_side_panel_tells_a_tile_a_line_and_why(services: Services) -> None:
    tile = shown(services, "looks", "mf=looks&mtile=second")
    assert "Conflict: another buffer" in tile
    assert "10,240 to 14,336" in tile
    assert "third" in tile  # had the bytes after it
    assert HOSTILE in shown(services, "looks", "mf=looks&mtile=odd")
    assert "is not in this function" in shown(services, "looks", "mf=looks&mtile=gone")
    line = shown(services, "looks", "mf=looks&mline=7")
    assert "Alive at line 7" in line
    assert "narrow" in line
    why = shown(services, "looks", "mf=full&mside=why&mgoal=1000")
    assert "65,536 B of 65,536 B" in why
    assert "cannot be reached" in why
    freed = shown(services, "looks", "mf=looks&mside=why&mspace=Vec&mgoal=9000")
    assert "would have to end earlier" in freed


def test_snapshots_without_addresses_say_which_to_open(services: Services) -> None:
    text = shown(services, "looks", "snap=01_after_InitMemRef")
    assert "Addresses are not assigned yet" in text
    assert "Open the snapshot after AllocateMemoryAddr" in text
    assert "no passes_dump directory" in shown(services, "none")
    assert "no pass 99" in shown(services, "looks", "snap=99")


def test_a_snapshot_that_is_no_python_is_a_message(services: Services) -> None:
    with pytest.raises(Exception, match=r"01_after_AllocateMemoryAddr.py.*not a readable snapshot"):
        shown(services, "broken")


def test_comparison_names_the_pass_and_the_tile(services: Services) -> None:
    assert "Both sides are the same snapshot" in shown(services, "looks", "mcmp=1")
    text = shown(services, "looks", "mcmp=1&snap=03_after_Simplify")
    assert "'change_bytes': 1024" in text
    assert "'tile': 'up'" in text
    other = shown(services, "looks", f"mcmp=1&other={key(services, 'made')}")
    assert "made" in other
    assert "'before_bytes': None" in other


def test_source_route_gives_coloured_lines_and_refuses_nonsense(app: Dash, services: Services) -> None:
    client = app.server.test_client()
    base = f"/api/r/{key(services, 'looks')}/memory/source"
    answer = client.get(f"{base}?a=4&b=15").get_json()
    assert answer["first"] == 4
    assert len(answer["lines"]) == 12
    text = ["".join(piece[0] for piece in line) for line in answer["lines"]]
    assert HOSTILE in text[-1]
    assert "\u202e" not in text[-1]
    assert any(piece[1] == "d" for piece in answer["lines"][0])
    assert client.get(f"{base}?a=x&b=2").status_code == 422
    assert client.get(f"{base}?a=1&b=2&snap=99").status_code == 404
    assert client.get("/api/r/nothing/memory/source?a=1&b=2").status_code == 404


def test_a_large_map_is_read_by_a_child_with_progress_and_kept(
    services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path
) -> None:
    monkeypatch.setattr(kept, "INLINE_BYTES", 0)
    fresh = kept.MemoryMaps(tmp_path / "maps", services.jobs)
    found = asked(services, key(services, "looks"), ViewState())
    with pytest.raises(kept.NotYet) as wait:
        fresh.map(found.dump, found.file, found.memory.chip)
    services.jobs.start(wait.value.job)
    until(lambda: services.jobs.status(wait.value.job).state, lambda state: state == "done")
    assert fresh.map(found.dump, found.file, found.memory.chip).functions == load_map(root / "looks").functions
    again = kept.MemoryMaps(tmp_path / "maps", services.jobs)
    assert again.map(found.dump, found.file, found.memory.chip).functions == found.memory.functions
    with pytest.raises(kept.NotYet) as wait:
        fresh.rises(found.dump)
    services.jobs.start(wait.value.job)
    until(lambda: services.jobs.status(wait.value.job).state, lambda state: state == "done")
    assert again.rises(found.dump).snapshots == 4


def test_the_waiting_panel_finds_its_job_from_the_view_alone(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = key(services, "looks")
    assert callbacks.waiting_job(services, run, ViewState()) is None
    monkeypatch.setattr(kept, "INLINE_BYTES", 0)
    monkeypatch.setattr(kept, "MAP_VERSION", "test")
    job: Any = callbacks.waiting_job(services, run, ViewState().with_own(chip="950"))
    assert job.program == kept.PROGRAM
    assert job.parameters["chip"] == "950"
