from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.discovery.tree import CaptureSource, scan
from analysis.errors import InputError, NotFoundError
from analysis.synth.capture import write_capture
from app.runs import library, rows
from app.runs.facts import Facts
from app.runs.library import UNEXPECTED, RunRow, run_key
from app.server.factory import make_services
from app.server.services import Services
from app.server.settings import Root, Settings
from app.work import waiting
from tests.app.conftest import key_of
from tests.waiting import until

WAIT_S = 120.0
"""How long the background may take on a busy machine."""


def services_over(root: Path, data: Path, **more: object) -> Services:
    return make_services(Settings(roots=(Root("r", root),), data_dir=data, scan_interval_s=0.1, **more))  # type: ignore[arg-type]


def is_settled(row: RunRow) -> bool:
    """Whether a row has its facts or an error."""
    return bool(row.facts or row.error)


def wait_for(services: Services, path: str, right: Callable[[RunRow], bool] = is_settled) -> RunRow:
    """The row of ``path`` once it is ``right``."""
    rows = until(
        lambda: {row.path: row for row in services.library.runs()},
        lambda seen: path in seen and right(seen[path]),
        WAIT_S,
    )
    return rows[path]


def has_records(count: int) -> Callable[[RunRow], bool]:
    """Whether a row's facts tell of ``count`` records: the scan may come while its files are being written."""
    return lambda row: row.facts is not None and row.facts.records == count


def test_every_capture_of_the_tree_is_listed_with_its_rank(services: Services) -> None:
    rows = {row.path: row for row in services.library.runs()}
    assert "attention/dfx_outputs" in rows
    rank = rows["ranks/rank1/dfx_outputs"]
    assert (rank.group, rank.rank, rank.root) == ("ranks", "rank1", "runs")
    assert rows["names_only/dfx_outputs"].views == ("functions",)


def test_keys_are_opaque_and_stable(services: Services) -> None:
    key = key_of(services, "attention")
    assert key == run_key("runs", "attention/dfx_outputs")
    assert "attention" not in key


@pytest.mark.parametrize("key", ["", "..", "../../etc/passwd", "0" * 16, "attention/dfx_outputs"])
def test_a_key_is_looked_up_and_never_a_path(services: Services, key: str) -> None:
    with pytest.raises(NotFoundError, match="no run"):
        services.library.run(key)


def test_new_changed_and_removed_runs_are_seen_without_restart(tmp_path: Path) -> None:
    root = tmp_path / "root"
    first = root / "one" / "dfx_outputs"
    write_capture(first, 20, 1)
    services = services_over(root, tmp_path / "data")
    wait_for(services, "one/dfx_outputs", has_records(20))

    write_capture(root / "two" / "dfx_outputs", 30, 2)
    wait_for(services, "two/dfx_outputs", has_records(30))

    write_capture(first, 40, 3)
    wait_for(services, "one/dfx_outputs", has_records(40))

    for file in first.iterdir():
        file.unlink()
    paths = until(lambda: [row.path for row in services.library.runs()], lambda seen: len(seen) == 1, WAIT_S)
    assert paths == ["two/dfx_outputs"]


@pytest.mark.parametrize("kept_bytes", [0, 1, 40, 700])
def test_a_broken_capture_is_listed_with_its_error_and_the_others_open(kept_bytes: int, tmp_path: Path) -> None:
    root = tmp_path / "root"
    broken = write_capture(root / "broken" / "dfx_outputs", 20, 1).files[0]
    broken.write_bytes(broken.read_bytes()[:kept_bytes])
    write_capture(root / "good" / "dfx_outputs", 20, 1)
    services = services_over(root, tmp_path / "data")
    assert "chip_swimlane_records.json" in wait_for(services, "broken/dfx_outputs").error
    assert wait_for(services, "good/dfx_outputs").error == ""
    with pytest.raises(InputError):
        services.library.capture(run_key("r", "broken/dfx_outputs"))
    assert len(services.library.capture(run_key("r", "good/dfx_outputs")).records) == 20


def test_facts_outlive_the_process(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_capture(root / "one" / "dfx_outputs", 20, 1)
    wait_for(services_over(root, tmp_path / "data"), "one/dfx_outputs")
    again = services_over(root, tmp_path / "data")
    again.library.scan_once()
    facts = again.library.run(run_key("r", "one/dfx_outputs")).row.facts
    assert facts is not None
    assert (facts.records, facts.level) == (20, 4)


def test_a_names_only_capture_has_no_counts(services: Services) -> None:
    capture = services.library.capture(key_of(services, "names_only"))
    row = wait_for(services, "names_only/dfx_outputs")
    assert not capture.meta.has_records_file
    assert row.facts is not None
    assert (row.facts.level, row.facts.records, row.facts.makespan_us) == (None, None, None)


def test_an_open_capture_is_kept_and_the_oldest_let_go(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for at in range(3):
        write_capture(root / f"c{at}" / "dfx_outputs", 12, at)
    services = services_over(root, tmp_path / "data", open_captures=2)
    services.library.scan_once()
    keys = [run_key("r", f"c{at}/dfx_outputs") for at in range(3)]
    first = services.library.capture(keys[0])
    assert services.library.capture(keys[0]) is first
    for key in keys[1:]:
        services.library.capture(key)
    assert services.library.capture(keys[0]) is not first


def test_a_root_that_cannot_be_read_is_reported_and_the_other_listed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_capture(root / "one" / "dfx_outputs", 12, 1)
    settings = Settings(roots=(Root("gone", tmp_path / "gone"), Root("r", root)), data_dir=tmp_path / "data")
    services = make_services(settings)
    services.library.scan_once()
    assert [row.root for row in services.library.runs()] == ["r"]
    assert any("gone" in place for place in services.library.state.errors)


def test_more_captures_than_the_limit_is_said(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for at in range(4):
        write_capture(root / f"c{at}" / "dfx_outputs", 10, at)
    services = services_over(root, tmp_path / "data", scan_max_runs=3)
    services.library.scan_once()
    assert len(services.library.runs()) == 3
    assert any("scan_max_runs" in reason for reason in services.library.state.errors.values())


def test_two_thousand_captures_are_all_listed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    sample = write_capture(tmp_path / "sample", 10, 1).files[0].read_bytes()
    for at in range(2_000):
        folder = root / f"g{at // 100}" / f"c{at}" / "dfx_outputs"
        folder.mkdir(parents=True)
        (folder / "chip_swimlane_records.json").write_bytes(sample)
    services = services_over(root, tmp_path / "data", facts_max_bytes=0)
    services.library.scan_once()
    assert len(services.library.runs()) == 2_000
    assert services.library.state.seen == 2_000
    assert services.library.state.errors == {}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_unexpected_error_marks_its_run_and_the_others_get_their_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    write_capture(root / "a_odd" / "dfx_outputs", 12, 1)
    write_capture(root / "good" / "dfx_outputs", 20, 2)
    services = services_over(root, tmp_path / "data")
    read = services.library._reader.facts

    def read_or_fail(source: Path, *more: Any) -> Facts:
        if "a_odd" in str(source):
            raise RuntimeError("a bug")
        return read(source, *more)

    monkeypatch.setattr(services.library._reader, "facts", read_or_fail)
    assert wait_for(services, "a_odd/dfx_outputs").error == UNEXPECTED
    facts = wait_for(services, "good/dfx_outputs").facts
    assert facts is not None
    assert facts.records == 20


def test_a_directory_name_that_is_not_utf8_is_listed_and_opens(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_capture(Path(os.fsdecode(os.fsencode(root) + b"/bad\xff/dfx_outputs")), 12, 1)
    services = services_over(root, tmp_path / "data")
    row = wait_for(services, "bad\N{REPLACEMENT CHARACTER}/dfx_outputs")
    assert row.error == ""
    assert row.name == "bad\N{REPLACEMENT CHARACTER}"
    capture = services.library.capture(row.key)
    assert capture.meta.label == "bad\N{REPLACEMENT CHARACTER}"
    assert len(rows.signature(rows.rows(services))) == 16


def test_a_file_without_read_permission_costs_only_itself_until_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    deps = write_capture(root / "one" / "dfx_outputs", 20, 1).files[1]
    assert deps.name == "deps.json"
    write_capture(root / "same" / "dfx_outputs", 20, 1)
    services = services_over(root, tmp_path / "data")
    services.library.scan_once()
    services.library.capture(run_key("r", "same/dfx_outputs"))
    opened = open

    def denied(file: Any, *more: Any, **options: Any) -> Any:
        # Tests may run as root, whom no permission stops.
        if not isinstance(file, int) and Path(file) == deps and not deps.stat().st_mode & 0o400:
            raise PermissionError(13, "Permission denied", str(file))
        return opened(file, *more, **options)

    monkeypatch.setattr("builtins.open", denied)
    monkeypatch.setattr("io.open", denied)
    deps.chmod(0)
    services.library.scan_once()
    one = run_key("r", "one/dfx_outputs")
    notices = until(
        lambda: services.library.capture(one).meta.notices,
        lambda seen: any("Permission denied" in notice.message for notice in seen),
        WAIT_S,
    )
    assert [notice.code for notice in notices if "Permission denied" in notice.message] == ["unreadable_file"]
    deps.chmod(0o644)
    until(lambda: services.library.capture(one).meta.has_deps, bool, WAIT_S)


def test_a_directory_without_a_capture_says_what_it_holds_and_what_would_make_one(tmp_path: Path) -> None:
    dump = tmp_path / "root" / "dump" / "passes_dump"
    dump.mkdir(parents=True)
    (dump / "00_Start.py").write_text("pass")
    services = make_services(Settings(roots=(Root("r", tmp_path / "root"),), data_dir=tmp_path / "data"))
    services.library.scan_once()
    with pytest.raises(NotFoundError, match=r"r/dump holds no capture, only compiler pass dumps. .* deps\.json"):
        waiting.waiting(services, run_key("r", "dump"), 0)


def test_a_page_does_not_wait_for_the_rest_of_a_slow_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(4):
        write_capture(tmp_path / "root" / f"c{at}", 20, at)
    going_on = threading.Event()

    def slow(*arguments: Any) -> Iterator[CaptureSource]:
        for at, source in enumerate(scan(*arguments)):
            if at == 3:
                going_on.wait(WAIT_S)
            yield source

    monkeypatch.setattr(library, "scan", slow)
    monkeypatch.setattr(library, "FIRST_ROWS", 3)
    monkeypatch.setattr(library, "FIRST_ROWS_WAIT_S", WAIT_S)
    services = services_over(tmp_path / "root", tmp_path / "data", facts_max_bytes=0)
    assert [row.path for row in services.library.runs()] == ["c0", "c1", "c2"]
    assert not services.library.state.complete
    going_on.set()
    assert until(lambda: len(services.library.runs()), lambda many: many == 4) == 4
