"""Does the registry name real functions, parameters and columns?"""

from __future__ import annotations

import inspect

import pytest

from analysis.entry import Analysis, resolve, section_columns
from analysis.errors import NotFoundError
from analysis.registry import ANALYSES, find
from tests.builders import Rec, capture
from tests.shared_data import REPO


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda a: a.name)
def test_targets_parameters_and_columns_exist(analysis: Analysis) -> None:
    signature = inspect.signature(resolve(analysis.target)).parameters
    assert next(iter(signature)) == "capture"
    for parameter in analysis.parameters:
        assert parameter.name in signature
        assert parameter.doc.endswith(".")
        if parameter.kind == "choice":
            assert parameter.default in parameter.choices
    for columns in [analysis.columns, *map(section_columns, analysis.sections)]:
        assert len({column.name for column in columns}) == len(columns) > 0
        assert all(column.doc for column in columns)
    assert analysis.question.endswith("?")


def test_names_are_unique_and_found() -> None:
    names = [analysis.name for analysis in ANALYSES]
    assert len(set(names)) == len(names)
    assert [find(name).name for name in names] == names
    with pytest.raises(NotFoundError, match="no analysis 'nope'"):
        find("nope")


def test_times_are_microseconds_outside_and_ticks_inside() -> None:
    analysis, built = find("range"), capture([Rec(1, 0, 0, 100)])
    assert [p.option for p in analysis.parameters] == ["--t0-us", "--t1-us"]
    assert analysis.arguments(built, {"t0_us": 0.5, "t1_us": None}) == {"t0_ticks": 25}
    assert analysis.run(built, t0_ticks=25).to_json()["length_us"] == 1.5


def test_defaults_of_the_registry_hold() -> None:
    built = capture([Rec(1, 0, 0, 10, receive=-2), Rec(2, 0, 20, 30, receive=19)], [(1, 2)])
    assert find("setup").run(built).to_json()[0]["setup_ticks"] == 2
    assert find("setup").run(built, top=0).to_json() == []
    assert find("critical-path").run(built).to_json()["kind"] == "observed"


def test_tables_leave_out_what_was_not_captured() -> None:
    analysis, built = find("overhead"), capture([Rec(1, 0, 0, 10)], level=2)
    assert [title for title, _ in analysis.tables(analysis.run(built))] == ["Scheduler overhead", "Core switch"]


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda a: a.name)
def test_the_guide_explains_every_column_and_parameter(analysis: Analysis) -> None:
    guide = (REPO / "docs" / "analyses.md").read_text()
    start = guide.index(f"\n## {analysis.title}\n")
    section = guide[start : guide.find("\n## ", start + 1) % len(guide)]
    for columns in [analysis.columns, *map(section_columns, analysis.sections)]:
        for column in columns:
            assert f"| `{column.name}` | {column.unit} | {column.doc} |" in section
    assert all(f"`{parameter.option}`" in section for parameter in analysis.parameters)
