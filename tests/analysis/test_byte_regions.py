"""Do strided views become exactly the bytes they touch?"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.graph.byte_regions import MAX_INTERVALS, intersect, merge, strided_intervals
from tests.analysis.dag_builder import UNTIMED

RANGES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6)).map(lambda r: (r[0], r[0] + r[1])), max_size=8)


def points(ranges: list[tuple[int, int]] | tuple[tuple[int, int], ...]) -> set[int]:
    return {i for low, high in ranges for i in range(low, high)}


@UNTIMED
@given(st.integers(0, 20), st.lists(st.tuples(st.integers(1, 5), st.integers(0, 12)), max_size=4))
def test_every_element_and_no_other(start: int, dims: list[tuple[int, int]]) -> None:
    found = strided_intervals(start, [extent for extent, _ in dims], [stride for _, stride in dims])
    assert found is not None
    index = itertools.product(*(range(extent) for extent, _ in dims))
    expected = {start + sum(i * stride for i, (_, stride) in zip(at, dims, strict=True)) for at in index}
    assert points(found) == expected
    assert all(high < low for (_, high), (low, _) in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("shape", "strides"),
    [([4], []), ([0, 4], [4, 1]), ([4], [-1]), ([MAX_INTERVALS + 1, 1], [2, 1])],
    ids=["length", "empty", "negative", "pieces"],
)
def test_not_exactly_known(shape: list[int], strides: list[int]) -> None:
    assert strided_intervals(0, shape, strides) is None


def test_contiguous_suffix_is_one_piece() -> None:
    assert strided_intervals(8, [1000, 1000], [1000, 1]) == ((8, 1_000_008),)
    assert strided_intervals(0, [2, 3, 4], [100, 4, 1]) == ((0, 12), (100, 112))


@UNTIMED
@given(RANGES, RANGES)
def test_merge_and_intersect_are_set_operations(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    left, right = [r for r in left if r[0] < r[1]], [r for r in right if r[0] < r[1]]
    assert points(merge(left)) == points(left)
    assert points(intersect(merge(left), merge(right))) == points(left) & points(right)
