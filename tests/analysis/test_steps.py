"""Is a step curve the count it claims to be, at every moment and over every window?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.steps import StepCurve, count_steps, merged_times, union_length

intervals = st.lists(st.tuples(st.integers(-5, 30), st.integers(-2, 15)), max_size=12)


def arrays(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.array([a for a, _ in pairs], dtype=np.int64)
    return starts, starts + np.array([n for _, n in pairs], dtype=np.int64)


def held(pairs: list[tuple[int, int]], t: int) -> int:
    return sum(a <= t < a + n for a, n in pairs)


@given(intervals)
def test_count_steps_counts_at_every_moment(pairs: list[tuple[int, int]]) -> None:
    curve = count_steps(*arrays(pairs))
    moments = np.arange(-10, 60)
    assert curve.at(moments).tolist() == [held(pairs, int(t)) for t in moments]
    assert np.all(np.diff(curve.times) > 0)
    assert np.all(np.diff(curve.values) != 0)


@given(intervals, st.integers(-8, 40), st.integers(0, 30))
def test_integral_is_the_sum_over_moments(pairs: list[tuple[int, int]], t0: int, length: int) -> None:
    curve = count_steps(*arrays(pairs))
    assert curve.integral(t0, t0 + length) == sum(held(pairs, t) for t in range(t0, t0 + length))


@given(intervals, st.integers(-8, 40), st.integers(1, 40), st.integers(1, 9))
def test_means_spread_the_integral_over_the_buckets(
    pairs: list[tuple[int, int]], t0: int, length: int, buckets: int
) -> None:
    curve = count_steps(*arrays(pairs))
    means = curve.means(t0, t0 + length, buckets)
    assert len(means) == buckets
    assert means.sum() * length / buckets == pytest.approx(curve.integral(t0, t0 + length))
    assert means.max() <= len(pairs) * (1 + 1e-12)


@given(intervals)
def test_union_length_counts_covered_moments_once(pairs: list[tuple[int, int]]) -> None:
    pairs = sorted((a, max(n, 0)) for a, n in pairs)
    assert union_length(*arrays(pairs)) == sum(held(pairs, t) > 0 for t in range(-10, 60))


def test_an_empty_curve_is_zero_everywhere() -> None:
    empty = StepCurve(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert empty.integral(0, 10) == 0
    assert empty.at(np.array([3])).tolist() == [0]
    assert empty.means(5, 5, 3).tolist() == [0, 0, 0]
    assert len(merged_times([])) == 0
