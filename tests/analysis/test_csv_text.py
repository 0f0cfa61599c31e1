from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.csv_text import csv_chunks, csv_text

CELLS = st.one_of(
    st.none(),
    st.text(st.characters(exclude_characters="\r\0"), max_size=12),
    st.integers(),
    st.tuples(st.text(max_size=4)),
)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "709223E4", "1.5e3", "007", "18446744073709551615"])
def test_a_text_that_a_spreadsheet_would_misread_is_marked(text: str) -> None:
    assert next(csv.reader(io.StringIO(csv_text([[text]]), newline=""))) == ["'" + text]


@pytest.mark.parametrize("text", ["", "QK", "a=b", "r1t0", "4294967297", "0", "0x12", "12E", "2-1", "1;2"])
def test_other_texts_stay(text: str) -> None:
    assert list(csv.reader(io.StringIO(csv_text([[text, "x"]])))) == [[text, "x"]]


def test_numbers_are_numbers_and_missing_is_empty() -> None:
    assert csv_text([["a"], [-5], [-0.25], [None], [True], [(1, None, "x")]]) == 'a\n-5\n-0.25\n""\ntrue\n1;;x\n'


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=30))
def test_every_cell_comes_back(rows: list[list[object]]) -> None:
    read = list(csv.reader(io.StringIO("".join(csv_chunks(rows)), newline="")))
    assert len(read) == len(rows)
    for row, cells in zip(rows, read, strict=True):
        for want, cell in zip(row, cells, strict=True):
            if isinstance(want, str):
                assert cell.removeprefix("'") == want.removeprefix("'")
            elif isinstance(want, int):
                assert int(cell) == want
