"""Does a table say the same at every door, and is a missing cell never a 0?"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from analysis.capture import MISSING
from analysis.results import Column, Table, task_ids, task_names, to_us
from tests.builders import Rec, capture

COLUMNS = (
    Column("gap_us", "us", "Gap."),
    Column("ticks", "ticks", "Ticks."),
    Column("task_id", "id", "Task."),
    Column("tasks", "ids", "Tasks."),
    Column("early", "bool", "Early."),
)


def table() -> Table:
    return Table(
        COLUMNS,
        {
            "gap_us": np.array([1.5, np.nan]),
            "ticks": np.array([7, MISSING]),
            "task_id": [str(2**64 - 1), None],
            "tasks": [("1", "2"), ()],
            "early": [True, None],
        },
    )


def test_records_hold_null_for_missing_cells_and_are_json() -> None:
    rows = table().to_records()
    assert rows[0] == {"gap_us": 1.5, "ticks": 7, "task_id": str(2**64 - 1), "tasks": ("1", "2"), "early": True}
    assert rows[1] == {"gap_us": None, "ticks": None, "task_id": None, "tasks": (), "early": None}
    assert json.loads(json.dumps(rows))[0]["tasks"] == ["1", "2"]


def test_csv_leaves_missing_cells_empty() -> None:
    assert table().to_csv().splitlines() == [
        "gap_us,ticks,task_id,tasks,early",
        f"1.5,7,'{2**64 - 1},1;2,true",
        ",,,,",
    ]


def test_text_shows_a_dash_for_missing_cells() -> None:
    lines = table().to_text().splitlines()
    assert lines[0].split() == ["gap_us", "ticks", "task_id", "tasks", "early"]
    assert lines[2].split() == ["–", "–", "–", "–"]


def test_frame_keeps_missing_cells_missing() -> None:
    frame = table().frame()
    assert list(frame.columns) == [column.name for column in COLUMNS]
    assert pd.isna(frame["ticks"][1])
    assert frame["ticks"].dtype == "Int64"
    assert np.isnan(frame["gap_us"][1])


def test_take_reorders_every_column() -> None:
    taken = table().take(np.array([1, 0]))
    assert taken.cells("task_id") == [None, str(2**64 - 1)]
    assert taken.cells("ticks") == [None, 7]
    assert taken.cells("tasks") == [(), ("1", "2")]


@pytest.mark.parametrize("data", [{"gap_us": np.zeros(1)}, {"a": np.zeros(1), "b": np.zeros(1)}])
def test_a_table_refuses_columns_that_do_not_match(data: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="match"):
        Table((Column("a", "us", ""),), data)


def test_a_table_refuses_columns_of_different_length() -> None:
    with pytest.raises(ValueError, match="length"):
        Table((Column("a", "us", ""), Column("b", "us", "")), {"a": np.zeros(1), "b": np.zeros(2)})


def test_ids_names_and_microseconds_of_tasks() -> None:
    built = capture([Rec(2**63, 0, 0, 10, func=4), Rec(7, 1, 0, 10)], names={4: "GEMM"})
    tasks = np.array([1, 0, -1])
    assert task_ids(built, tasks) == [str(2**63), "7", None]
    assert task_names(built, tasks[:2]) == ["GEMM", "func_0"]
    us = to_us(built, np.array([25, MISSING]))
    assert us[0] == 0.5
    assert np.isnan(us[1])
