"""Do commands remember? The same answers with and without the store, whatever happens to files and store."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis import cli, formats, registry
from analysis.capture import remembered
from analysis.registry import ANALYSES
from analysis.synth.capture import write_capture


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SWIMSCOPE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(words)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("form", cli.FORMATS)
def test_every_command_answers_the_same_from_the_files_and_from_memory(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    for place in ("a/x", "b/y"):  # equal content under two names
        write_capture(tmp_path / place, 240, 1)
    for name in ("info", *(analysis.name for analysis in ANALYSES)):
        for place in ("a/x", "b/y", "a/x"):
            words = (name, str(tmp_path / place), "--format", form)
            fresh = said(capsys, *words, "--no-store")
            assert said(capsys, *words) == fresh, name
            assert said(capsys, *words) == fresh, name
    assert any((data / "store" / "captures").iterdir())


def test_the_second_command_reads_no_file_and_loads_no_compiled_loop(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_capture(tmp_path / "c", 120, 2)
    first = said(capsys, "info", str(tmp_path / "c"))

    def never(*_arguments: object) -> None:
        raise AssertionError("read or computed again")

    monkeypatch.setattr(formats, "load", never)
    monkeypatch.setattr("analysis.capture.store.load_inputs", never)
    assert said(capsys, "info", str(tmp_path / "c")) == first
    for name in ("critical-path", "gaps"):
        assert registry.find(name).compiled
        with monkeypatch.context() as patch:
            patch.setattr("analysis.entry.resolve", never)
            code, out, _ = said(capsys, name, str(tmp_path / "c"), "--format", "csv")
        assert code == 0
        assert out.count("\n") > 1


def test_parameters_have_answers_of_their_own(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_capture(tmp_path / "c", 240, 3)
    words = ("gaps", str(tmp_path / "c"), "--format", "csv")
    every = said(capsys, *words)[1]
    few = said(capsys, *words, "--threshold-us", "1000000")[1]
    assert every.count("\n") > few.count("\n")
    assert said(capsys, *words)[1] == every


def test_a_rewritten_file_is_read_again(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_capture(tmp_path / "c", 60, 1)
    before = said(capsys, "cores", str(tmp_path / "c"), "--format", "csv")[1]
    write_capture(tmp_path / "c", 60, 9)
    after = said(capsys, "cores", str(tmp_path / "c"), "--format", "csv")
    assert after[1] != before
    assert after == said(capsys, "cores", str(tmp_path / "c"), "--format", "csv", "--no-store")


def test_a_store_that_cannot_be_used_is_done_without(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data.write_text("no directory")
    write_capture(tmp_path / "c", 60, 1)
    words = ("cores", str(tmp_path / "c"), "--format", "json")
    assert said(capsys, *words) == said(capsys, *words, "--no-store")


def test_no_store_writes_nothing(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_capture(tmp_path / "c", 60, 1)
    assert said(capsys, "gaps", str(tmp_path / "c"), "--no-store")[0] == 0
    assert not data.exists()


def test_the_store_stays_within_its_limit(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(remembered.STORE_MAX_VARIABLE, "1")
    write_capture(tmp_path / "c", 60, 1)
    assert said(capsys, "info", str(tmp_path / "c"))[0] == 0
    assert not list((data / "store" / "captures").glob("*/*"))
