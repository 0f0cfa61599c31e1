"""Which captures lie in a tree: by structure, siblings joined by directory, nothing read in full."""

from __future__ import annotations

import gzip
import os
import pathlib
import shutil
import time

import pytest

from analysis.discovery import tree as discovery
from analysis.discovery.tree import CaptureSource, Kinds, scan
from analysis.formats.peek import kind_of_file
from tests.shared_data import SHARED, capture_names, needs_shared, variant_names

DATA = pathlib.Path(__file__).parents[1] / "data"


def put(folder: pathlib.Path, **files: str) -> pathlib.Path:
    """Create ``folder`` with fixtures under given names (``__`` stands for a dot)."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, fixture in files.items():
        shutil.copy(DATA / f"{fixture}.json", folder / name.replace("__", "."))
    return folder


def capture(folder: pathlib.Path) -> pathlib.Path:
    return put(folder, chip_swimlane_records__json="chip/healthy", deps__json="deps/healthy")


def found(root: pathlib.Path) -> dict[str, CaptureSource]:
    return {source.relative: source for source in scan(root)}


def test_ranks_and_siblings(tmp_path: pathlib.Path) -> None:
    for rank in ("rank0", "rank1"):
        capture(tmp_path / "case" / "dfx_outputs" / rank / "d0")
    put(tmp_path / "case" / "dfx_outputs", name_map_Case__json="name_map/healthy")
    sources = found(tmp_path)
    assert list(sources) == ["case/dfx_outputs", "case/dfx_outputs/rank0/d0", "case/dfx_outputs/rank1/d0"]
    one = sources["case/dfx_outputs/rank1/d0"]
    assert (one.group, one.rank) == ("case", "rank1/d0")
    assert one.files == {"swimlane": "chip_swimlane_records.json", "deps": "deps.json"}
    assert one.views == ("swimlane", "graph", "functions")
    assert sources["case/dfx_outputs"].views == ("functions",)


def test_structure_decides_not_the_name(tmp_path: pathlib.Path) -> None:
    put(tmp_path / "a", renamed__json="us/healthy", notes__json="name_map/flat")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "package.json").write_text('{"name": "x", "edges": 5}')
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "x.json.gz").write_bytes(gzip.compress((DATA / "unified" / "healthy.json").read_bytes()))
    sources = found(tmp_path)
    assert list(sources) == ["a", "c"]
    assert sources["a"].files["swimlane"] == "renamed.json"
    assert sources["c"].files["swimlane"] == "x.json.gz"


def test_several_swimlanes_are_several_captures(tmp_path: pathlib.Path) -> None:
    put(tmp_path, one__json="chip/healthy", two__json="us/healthy", deps__json="deps/healthy")
    sources = found(tmp_path)
    assert list(sources) == ["./one", "./two"]
    assert sources["./two"].path == tmp_path / "two.json"
    assert all("graph" in source.views for source in sources.values())


def test_a_broken_capture_is_listed_with_its_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "chip_swimlane_records.json").write_text("not json at all")
    (source,) = scan(tmp_path)
    assert "does not look like a swimlane" in source.error
    assert source.files["swimlane"] == "chip_swimlane_records.json"


def test_pass_dumps_beside_inside_and_alone(tmp_path: pathlib.Path) -> None:
    for dump in ("beside/passes_dump", "inside/dfx_outputs/passes_dump_2026", "alone/passes_dump"):
        (tmp_path / dump).mkdir(parents=True)
        (tmp_path / dump / "32_after_AllocateMemoryAddr.py").write_text("")
    capture(tmp_path / "beside" / "dfx_outputs")
    capture(tmp_path / "inside" / "dfx_outputs")
    (tmp_path / "beside" / "report").mkdir()
    (tmp_path / "beside" / "report" / "perf_hints.log").write_text("hint")
    sources = found(tmp_path)
    assert list(sources) == ["alone", "beside/dfx_outputs", "inside/dfx_outputs"]
    assert sources["alone"].views == ("passes", "memory")
    assert sources["beside/dfx_outputs"].passes == (tmp_path / "beside" / "passes_dump",)
    assert sources["beside/dfx_outputs"].files["perf_hints"] == "../report/perf_hints.log"
    assert "memory" in sources["inside/dfx_outputs"].views


def test_a_dump_of_one_case_is_not_given_to_another(tmp_path: pathlib.Path) -> None:
    (tmp_path / "passes_dump").mkdir()
    capture(tmp_path / "other_case")
    sources = found(tmp_path)
    assert sources["other_case"].passes == ()
    assert sources["."].views == ("passes",)


def test_traces_are_offered_but_imported_paths_are_not(tmp_path: pathlib.Path) -> None:
    put(tmp_path, serving__json="cpm/healthy", merged__json="cpm/bare_list")
    put(tmp_path / "run", chip_swimlane_records__json="chip/healthy", CPM_static__json="cpm/healthy")
    sources = found(tmp_path)
    assert set(sources["."].traces) == {"serving.json", "merged.json"}
    assert sources["."].views == ("trace",)
    assert "trace" not in sources["run"].views
    assert sources["run"].files["cpm_static"] == "CPM_static.json"


def test_the_newest_name_map_wins_by_time_then_name(tmp_path: pathlib.Path) -> None:
    put(tmp_path, name_map_a__json="name_map/healthy", name_map_b__json="name_map/healthy")
    os.utime(tmp_path / "name_map_a.json", ns=(5, 5))
    os.utime(tmp_path / "name_map_b.json", ns=(5, 5))
    assert found(tmp_path)["."].files["name_map"] == "name_map_b.json"
    os.utime(tmp_path / "name_map_a.json", ns=(6, 6))
    assert found(tmp_path)["."].files["name_map"] == "name_map_a.json"


def test_loops_and_unreadable_places_do_not_stop_the_walk(tmp_path: pathlib.Path) -> None:
    capture(tmp_path / "good")
    (tmp_path / "good" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "dangling.json").symlink_to(tmp_path / "absent")
    os.mkfifo(tmp_path / "pipe.json")
    errors: list[tuple[str, str]] = []
    assert [source.relative for source in scan(tmp_path, lambda path, reason: errors.append((path, reason)))] == [
        "good"
    ]
    assert errors == []


def test_a_directory_that_vanishes_is_reported(tmp_path: pathlib.Path) -> None:
    capture(tmp_path / "a")
    (tmp_path / "b").mkdir()
    errors: list[str] = []
    walk = scan(tmp_path, lambda path, reason: errors.append(path))
    assert next(walk).relative == "a"
    (tmp_path / "b").rmdir()
    assert list(walk) == []
    assert errors == [str(tmp_path / "b")]


def test_a_missing_root_is_an_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(scan(tmp_path / "absent"))


def test_the_signature_follows_the_files(tmp_path: pathlib.Path) -> None:
    capture(tmp_path)
    first = found(tmp_path)["."].signature
    assert found(tmp_path)["."].signature == first
    (tmp_path / "deps.json").write_text("{}")
    assert found(tmp_path)["."].signature != first


def test_a_large_file_is_not_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "chip_swimlane_records.json"
    shutil.copy(DATA / "chip" / "healthy.json", path)
    with path.open("r+b") as file:
        file.truncate(20 << 30)  # sparse: 20 GB that would take minutes
    begun = time.monotonic()
    (source,) = scan(tmp_path)
    assert time.monotonic() - begun < 60
    assert source.views == ("swimlane", "functions")
    assert source.size_bytes == 20 << 30


@needs_shared
def test_every_real_capture_is_found() -> None:
    sources = found(SHARED)
    for name in capture_names():
        source = sources[f"captures/{name}/dfx_outputs"]
        assert "swimlane" in source.views
        assert source.error == ""
    assert sum(path.startswith("variants/") for path in sources) == len(variant_names())
    assert sources["captures/qwen3_14b_decode_device/dfx_outputs"].views == (
        "swimlane",
        "graph",
        "functions",
        "passes",
        "memory",
    )
    assert not any("oracle" in path for path in sources)


def test_what_a_file_is_is_remembered_until_it_changes(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture(tmp_path)
    (tmp_path / "other.json").write_text("{}")
    read: list[str] = []

    def reading(path: pathlib.Path) -> str | None:
        read.append(path.name)
        return kind_of_file(path)

    monkeypatch.setattr(discovery, "kind_of_file", reading)
    kinds = Kinds()

    def look() -> tuple[CaptureSource, list[str]]:
        read.clear()
        (source,) = scan(tmp_path, kinds=kinds)
        kinds.next_scan()
        return source, sorted(read)

    first, names = look()
    assert names == ["chip_swimlane_records.json", "deps.json", "other.json"]
    assert look() == (first, ["other.json"])  # of no kind: it may have been unreadable
    (tmp_path / "chip_swimlane_records.json").write_text("{}")
    second, names = look()
    assert names == ["chip_swimlane_records.json", "other.json"]
    assert (first.error, second.error) == ("", "chip_swimlane_records.json does not look like a swimlane")
