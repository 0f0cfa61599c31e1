"""Do both grammars, of selections and of typed labels, hold row by row, and find every task that is meant?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from analysis.errors import NotFoundError
from analysis.selection import existing_task, find_tasks, matching_names, parse, parse_label, task_of
from tests.builders import Rec, capture
from tests.shared_data import REPO

ROWS = json.loads((REPO / "tests" / "data" / "selection.json").read_text())
RING = 1 << 32


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['of']} {row['text']!r}")
def test_the_shared_table(row: dict[str, Any]) -> None:
    found = parse(row["text"]) if row["of"] == "selection" else parse_label(row["text"])
    assert (found is not None) == row["ok"]
    if found is not None:
        assert (found.kind, found.value, found.canonical) == (row["kind"], row["value"], row["canonical"])


def test_the_table_has_every_kind_good_and_bad() -> None:
    assert {row["kind"] for row in ROWS} == {"task", "group", "chain", "gap", "func", "path", "label", "id", None}
    assert {(row["of"], row["ok"]) for row in ROWS} == {
        (of, ok) for of in ("selection", "label") for ok in (True, False)
    }


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("t12", [12, RING + 12]),
        ("r1t12", [RING + 12]),
        ("r1 t12", [RING + 12]),
        ("R0T12", [12]),
        (str(RING + 5), [RING + 5]),
        ("0x100000005", [RING + 5]),
        ("5", [RING + 5]),
        ("g1t12", []),
        ("p12", []),
        ("t99", []),
        (" ", []),
        ("func_3", [RING + 5]),
        ("fnc_3", [RING + 5]),
        ("fumc_3", [RING + 5]),
        ("nothing like it", []),
    ],
)
def test_a_text_finds_every_task_it_can_mean(text: str, ids: list[int]) -> None:
    built = capture([Rec(12, 0, 0, 10), Rec(RING + 12, 0, 20, 30), Rec(RING + 5, 0, 40, 50, func=3)])
    assert built.tasks.task_id[find_tasks(built, text)].tolist() == ids


def test_names_ignore_case_and_find_all() -> None:
    built = capture([Rec(t, 0, t, t + 1, func=t % 2) for t in range(1, 41)], [(1, 2)])
    assert len(find_tasks(built, "FUNC_1")) == 20
    assert [len(find_tasks(built, text)) for text in ("  ", "t99999999999", str(2**70))] == [0, 0, 0]


def test_which_task_a_selection_is_about() -> None:
    built = capture([Rec(12, 0, 0, 10), Rec(RING + 12, 0, 20, 30)])
    assert [task_of(built, f"{kind}:12") for kind in ("task", "group", "gap", "chain", "func")] == [0, 0, 0, 0, -1]
    assert task_of(built, "chain:12", ("task",)) == task_of(built, "task:13") == task_of(built, "") == -1
    assert existing_task(built, str(RING + 12)) == 1
    for text in ("13", "", "x", "9" * 30):
        with pytest.raises(NotFoundError, match="no task"):
            existing_task(built, text)


def test_names_match_as_typed_then_letter_by_letter_then_with_typing_errors() -> None:
    names = ["gate_proj", "up_proj", "paged_attention"]
    assert matching_names("proj", names).tolist() == [True, True, False]
    assert matching_names("pgatt", names).tolist() == [False, False, True]
    assert matching_names("G P", names).tolist() == [True, False, False]
    assert matching_names("paegd_atention", names).tolist() == [False, False, True]
    assert not matching_names("zzz", names).any()
    assert not matching_names("proj", []).any()
