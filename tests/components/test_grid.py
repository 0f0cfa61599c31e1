from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components import grid
from components.plot import GRAPH_CONFIG, graph, typed

_GRID = Path(__file__).parents[2] / "assets/js/grid"
SCRIPT = (_GRID / "cells.js").read_text()
FORMATS = (_GRID / "format.js").read_text()
UNITS = ("us", "ticks", "count", "share", "index", "id", "ids", "text", "texts", "bool", "bytes", "time", "duration_us")


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_has_its_formatter_in_the_browser(unit: str) -> None:
    definition = grid.column_defs([grid.GridColumn("x", "X", unit)])[0]
    if unit == "text":
        assert "valueFormatter" not in definition
        return
    name = re.match(r"\w+", definition["valueFormatter"]["function"])
    assert name is not None
    assert f"export const {name.group(0).removeprefix('swimscope_')} =" in FORMATS


def test_every_function_a_grid_names_exists_in_the_browser() -> None:
    made = grid.grid("g", [grid.GridColumn("x", "X", "link"), grid.GridColumn("b", "B", "badges")], [], row_id="x")
    text = str(made.to_plotly_json()) + str(made.children.to_plotly_json())
    for name in set(re.findall(r"swimscope_\w+", text)):
        assert re.search(rf"(fns|parts)\.{name} =", SCRIPT), name


def test_numbers_are_right_aligned_and_filtered_as_numbers() -> None:
    number, text = grid.column_defs([grid.GridColumn("n", "N", "us"), grid.GridColumn("t", "T", "text")])
    assert (number["type"], number["filter"]) == ("rightAligned", "agNumberColumnFilter")
    assert text["filter"] == "agTextColumnFilter"


def test_sort_and_filters_of_the_url_are_the_first_state() -> None:
    columns = [grid.GridColumn("a", "A", "us"), grid.GridColumn("b", "B", "text")]
    made = grid.grid(
        "g", columns, [], row_id="a", sort="b:desc,a:asc,zz:desc,a:sideways", filters='{"a": {"type": "x"}}'
    )
    first, second = made.children.columnDefs
    assert (first["initialSort"], first["initialSortIndex"]) == ("asc", 1)
    assert (second["initialSort"], second["initialSortIndex"]) == ("desc", 0)
    assert made.children.filterModel == {"a": {"type": "x"}}


@given(st.text(max_size=60))
def test_any_sort_or_filter_text_is_survived(text: str) -> None:
    assert isinstance(grid.filter_model(text), dict)
    assert all(way in ("asc", "desc") for _name, way in grid.sort_keys(text))


def test_long_tables_use_the_infinite_model_and_send_no_rows() -> None:
    made = grid.grid("g", [grid.GridColumn("a", "A", "us")], None, row_id="a", infinite=True).children
    assert made.rowModelType == "infinite"
    assert made.rowData is None


def test_code_from_data_is_never_run() -> None:
    made = grid.grid("g", [grid.GridColumn("a", "A", "text")], [{"a": "<img onerror=x>"}], row_id="a").children
    assert made.dangerously_allow_code is False
    assert not getattr(made, "enableEnterpriseModules", False)


def test_graphs_offer_no_cloud() -> None:
    made = graph("g", displayModeBar=False)
    assert made.config["showSendToCloud"] is False
    assert made.config["displaylogo"] is False
    assert made.config["displayModeBar"] is False
    assert "displayModeBar" not in GRAPH_CONFIG


def test_typed_arrays_keep_their_bytes() -> None:
    import base64

    import numpy as np

    values = np.array([1.5, -2.0], dtype=np.float64)
    sent = typed(values)
    assert sent["dtype"] == "f8"
    assert np.frombuffer(base64.b64decode(sent["bdata"])).tolist() == [1.5, -2.0]
    with pytest.raises(ValueError, match="int64"):
        typed(np.array([1], dtype=np.int64))
