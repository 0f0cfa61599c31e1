from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.capture import Capture
from analysis.errors import NotFoundError
from analysis.formats import load
from analysis.measures.function_records import bin_count, function_records, longest_function, longest_of_slices
from analysis.measures.functions import function_statistics
from analysis.synth.capture import write_capture


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    folder: Path = tmp_path_factory.mktemp("c") / "dfx_outputs"
    write_capture(folder, 600, 3)
    return load(folder)


def test_the_histogram_counts_every_record_of_every_function(capture: Capture) -> None:
    for row in function_statistics(capture).to_json():
        found = function_records(capture, row["func_id"], max_points=10)
        assert int(found.counts.sum()) == row["count"] == found.n_total
        assert found.bounds_us[0] == pytest.approx(row["min_us"])
        assert found.bounds_us[-1] == pytest.approx(row["max_us"]) or row["min_us"] == row["max_us"]
        assert float(found.duration_us.max()) == pytest.approx(row["max_us"])


def test_all_points_when_they_fit_in_start_order(capture: Capture) -> None:
    found = function_records(capture, longest_function(capture), max_points=10_000)
    assert found.exact
    assert (np.diff(found.start_us) >= 0).all()
    assert len(found.task_ids) == found.n_total


def test_the_longest_function_is_the_one_with_most_time(capture: Capture) -> None:
    rows = function_statistics(capture).to_json()
    assert longest_function(capture) == max(rows, key=lambda row: row["total_ticks"])["func_id"]


def test_an_unknown_function_is_not_found(capture: Capture) -> None:
    with pytest.raises(NotFoundError, match="99999"):
        function_records(capture, 99_999, max_points=10)


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=300), st.integers(1, 50))
def test_slices_keep_the_longest_and_their_order(values: list[int], limit: int) -> None:
    array = np.array(values, dtype=np.int64)
    kept = longest_of_slices(array, limit)
    assert len(kept) == min(limit, len(values))
    assert (np.diff(kept) > 0).all()
    assert max(values) in array[kept]


@given(st.lists(st.integers(0, 100), min_size=1, max_size=5_000))
def test_bins_are_few(values: list[int]) -> None:
    bins = bin_count(np.array(values, dtype=np.int64))
    assert bins == 1 if len(set(values)) == 1 else 5 <= bins <= 60
