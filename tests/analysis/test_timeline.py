"""Level of detail never lies: every query equals a slow, obvious rasteriser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.timeline.items import Items, Lane, View
from analysis.timeline.kernels import NO_CLASS
from analysis.timeline.query import LodIndex, LodResult, build_arrays, index_from_arrays, index_from_store


def make_index(rows: list[tuple[int, int, int, int]], n_tracks: int) -> LodIndex:
    """Index over (track, start, length, class) rows."""
    rows = sorted(rows)
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 4)
    n = len(table)
    lanes = tuple(Lane(f"core:{t}", f"AIC {t}", "AIC", t, t, 1, 0) for t in range(n_tracks))
    items = Items(
        lanes=lanes,
        track=table[:, 0].astype(np.int32),
        start_ticks=table[:, 1].copy(),
        middle_ticks=table[:, 1].copy(),
        end_ticks=table[:, 1] + table[:, 2],
        cls=table[:, 3].astype(np.int32),
        kind=np.zeros(n, dtype=np.uint8),
        index=np.arange(n, dtype=np.int32),
        task=np.arange(n, dtype=np.int32),
        class_kind=np.zeros(5, dtype=np.uint8),
        class_value=np.arange(5, dtype=np.int32),
    )
    return index_from_arrays(View.WORKER, lanes, build_arrays(items))


def brute(rows: list[tuple[int, int, int, int]], got: LodResult) -> None:
    """Check ``got`` cell by cell and bar by bar against plain loops over ``rows``."""
    rows = sorted(rows)
    cells = got.cls.shape[1]
    assert cells > 0 or got.exact
    cell = 1 << got.level
    for at, track in enumerate(got.tracks):
        busy = [{} for _ in range(cells)]
        count = [0] * cells
        for row_track, start, length, cls in rows:
            if row_track != track or length >= got.bar_ticks:
                continue
            for c in range(cells):
                low = (got.cell0 + c) * cell
                if start < low + cell and max(start + length, start + 1) > low:
                    count[c] += 1
                    overlap = max(0, min(start + length, low + cell) - max(start, low))
                    busy[c][cls] = busy[c].get(cls, 0) + overlap
        assert got.count[at].tolist() == count
        assert got.busy_ticks[at].tolist() == [sum(b.values()) for b in busy]
        dominant = [min(b, key=lambda k: (-b[k], k)) if b else NO_CLASS for b in busy]
        assert got.cls[at].tolist() == dominant


def bars_of(rows: list[tuple[int, int, int, int]], got: LodResult, t0: int, t1: int) -> list[int]:
    rows = sorted(rows)
    return [
        i
        for i, (track, start, length, _) in enumerate(rows)
        if track in set(got.tracks.tolist())
        and length >= got.bar_ticks
        and start < t1
        and max(start + length, start + 1) > t0
    ]


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-50, 900), st.one_of(st.integers(0, 12), st.integers(0, 700)),
              st.integers(0, 4)),
    max_size=60,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(ROWS, st.integers(-80, 900), st.integers(1, 1000), st.floats(1, 300), st.booleans())
def test_window_equals_brute_force(rows, t0, length, width_px, tight) -> None:
    index = make_index(rows, 3)
    t1 = t0 + length
    got = index.query(t0, t1, width_px, np.array([0, 2]), max_bars=10_000, max_bytes=128 if tight else 1 << 28)
    brute(rows, got)
    assert got.bars.tolist() == bars_of(rows, got, t0, t1)
    px_ticks = length / width_px
    assert got.bar_ticks <= max(2 * px_ticks, 0), "each record of two pixels or more must be an exact bar"
    total = sum(t in (0, 2) and s < t1 and max(s + d, s + 1) > t0 for t, s, d, _ in rows)
    assert got.n_total == total
    assert got.exact == (got.n_shown == total)


def test_precomputed_levels_equal_brute_force() -> None:
    random = np.random.default_rng(7)
    rows = []
    for track in range(3):
        at = 0
        for _ in range(1500):
            at += int(random.integers(0, 6))
            length = int(random.choice([0, 1, 3, 8, 40, 400], p=[0.1, 0.3, 0.3, 0.2, 0.09, 0.01]))
            rows.append((track, at, length, int(random.integers(0, 5))))
            at += length
    index = make_index(rows, 3)
    assert index.levels, "a dense capture has precomputed levels"
    first, last = index.span_ticks
    used = 0
    for _ in range(12):
        t0, t1 = sorted(int(v) for v in random.integers(first - 100, last + 100, 2))
        t1 = max(t1, t0 + 1)
        for width in (60.0, 200.0):
            got = index.query(t0, t1, width, np.arange(3), max_bars=100_000)
            used += (got.level, got.bar_ticks.bit_length() - 1) in index.levels
            brute(rows, got)
            assert got.bars.tolist() == bars_of(rows, got, t0, t1)
    assert used > 5


def test_more_bars_than_allowed_raises_the_limit_and_says_so() -> None:
    rows = [(0, 10 * i, 9, 0) for i in range(1000)]
    index = make_index(rows, 1)
    got = index.query(0, 10_000, 10_000.0, np.array([0]), max_bars=100)
    assert (got.n_shown, got.n_total, got.exact) == (0, 1000, False)
    assert got.bar_ticks > got.wanted_bar_ticks
    brute(rows, got)


def test_a_long_item_that_starts_long_before_the_window_is_found() -> None:
    rows = [(0, 0, 100_000, 1)] + [(1, 10 * i, 5, 0) for i in range(9000)]
    index = make_index(rows, 2)
    got = index.query(89_000, 89_100, 100.0, np.array([0, 1]), max_bars=1000)
    assert 0 in got.bars.tolist()


def test_subset_keeps_tracks_and_drops_the_rest() -> None:
    rows = [(t, 20 * i, 10, i % 5) for t in range(2) for i in range(50)]
    index = make_index(rows, 2)
    part = index.subset(index.cls == 3)
    assert (len(part), part.n_tracks) == (20, 2)
    got = part.query(0, 1000, 1000.0, np.arange(2), max_bars=1000)
    assert {int(part.cls[i]) for i in got.bars} == {3}
    assert part.position(0, int(part.index[0])) == 0
    assert part.position(0, 10**6) == -1


@pytest.mark.parametrize(("t0", "t1", "width"), [(5, 5, 10.0), (5, 4, 10.0), (0, 5, 0.0)])
def test_an_empty_window_is_refused(t0: int, t1: int, width: float) -> None:
    index = make_index([(0, 0, 1, 0)], 1)
    with pytest.raises(ValueError, match="window"):
        index.query(t0, t1, width, np.array([0]), max_bars=10)


def test_stored_arrays_come_back_as_the_same_index() -> None:
    import json
    from dataclasses import asdict

    index = make_index([(0, 0, 5, 0), (1, 3, 9, 2)], 2)
    arrays = {name: getattr(index, name) for name in (
        "start_ticks", "middle_ticks", "end_ticks", "cls", "kind", "index", "task", "class_kind", "class_value",
        "offsets", "task_order", "track_classes", "wide_order", "wide_offsets", "ends_sorted", "overview", "pyramid_cls", "pyramid_busy",
        "pyramid_count",
    )}  # fmt: skip
    arrays["levels"] = np.empty((0, 5), dtype=np.int64)
    arrays["lanes"] = np.frombuffer(json.dumps([asdict(lane) for lane in index.lanes]).encode(), dtype=np.uint8)
    again = index_from_store(View.WORKER, arrays)
    assert again.lanes == index.lanes
    assert again.query(0, 20, 100.0, np.arange(2), 10).bars.tolist() == [0, 1]
