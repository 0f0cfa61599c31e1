from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import Notice
from analysis.measures.function_records import FunctionRecords
from components import figures, quality
from components.theme import function_color


@dataclass(frozen=True)
class Curve:
    name: str
    t0_us: float
    t1_us: float
    values: NDArray[np.float64]
    top: float


def numbers(array: dict[str, str]) -> list[float]:
    kinds = {"f8": np.float64, "f4": np.float32, "i4": np.int32}
    return np.frombuffer(base64.b64decode(array["bdata"]), dtype=kinds[array["dtype"]]).tolist()


def records() -> FunctionRecords:
    return FunctionRecords(
        3, "<b>QK</b>", 3, np.array([1, 2]), np.array([1.0, 2.0, 3.0]), np.array([0.0, 5.0, 9.0]),
        np.array([1.0, 2.5, 2.5]), ("1", "2", "18446744073709551615"),
    )  # fmt: skip


def test_curves_start_each_part_at_its_begin() -> None:
    figure = figures.curves_figure([Curve("aic", 10.0, 20.0, np.array([1.0, 3.0]), 4.0)], "busy cores")
    trace = figure["data"][0]
    assert numbers(trace["x"]) == [10.0, 15.0]
    assert numbers(trace["y"]) == [1.0, 3.0]
    assert trace["line"]["shape"] == "hv"


def test_names_from_files_are_no_markup() -> None:
    figure = figures.curves_figure([Curve("<b>x</b> type", 0.0, 1.0, np.array([1.0]), 1.0)], "y")
    assert "<b>" not in figure["data"][0]["hovertemplate"].replace("<extra>", "")
    assert "<b>" not in figure["data"][0]["name"]


def test_function_figures_hold_every_bar_and_point_in_the_functions_colour() -> None:
    histogram, over_time = figures.function_figures(records())
    assert numbers(histogram["data"][0]["y"]) == [1, 2]
    assert numbers(histogram["data"][0]["x"]) == [1.5, 2.5]
    assert over_time["data"][0]["customdata"][2] == "18446744073709551615"
    assert histogram["data"][0]["marker"]["color"] == function_color("<b>QK</b>")


def text(part: Any) -> str:
    return str(part.to_plotly_json())


def test_every_finding_is_listed_with_count_and_place() -> None:
    found = [Notice("unmatched", 12, "AICore rows without partner", {"core 3": 12}), Notice("x", 1, "odd", {})]
    shown = text(quality.quality_list(found))
    assert "core 3: 12" in shown
    assert "AICore rows without partner" in shown
    assert "2 notices" in text(quality.quality_badge(found))
    assert "clean" in text(quality.quality_badge([]))


def test_many_places_fold_away_but_are_all_there() -> None:
    detail = {f"core {at}": at + 1 for at in range(20)}
    shown = text(quality.quality_list([Notice("c", 210, "m", detail)]))
    assert "20 places" in shown
    assert "core 19: 20" in shown


def test_a_view_that_is_missing_is_no_link() -> None:
    lines = [quality.ViewLine("Graph", "/g?view=orch", "there"), quality.ViewLine("Names", "", "bring name_map")]
    shown = text(quality.views_list(lines))
    assert "/g?view=orch" in shown
    assert "data-keys='view'" in shown
    assert shown.count("href") == 1
