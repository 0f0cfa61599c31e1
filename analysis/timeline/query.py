"""What does the timeline look like between two moments, at this resolution?

:func:`build_index` turns the items of one view into a :class:`LodIndex` (kept on disk by the store), and
:meth:`LodIndex.query` answers a window: every item at least two pixels wide as an exact bar, the rest as a raster per
track and cell (dominant class, busy ticks, number of items). The raster is power-of-two aligned, so coarse windows are
slices of precomputed levels and the cost follows what is on screen, not the size of the capture (DESIGN: "How a page
gets its picture").
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.capture import I4, I8, U1, Bool, Capture
from analysis.timeline.items import GRAPH_GROUP, ItemKind, Items, Lane, View, view_items
from analysis.timeline.kernels import NO_CLASS, busy_profile, count_touching, raster, wide_items

INDEX_VERSION = 4
MAX_BAR_LEVEL = 61
"""Stamps are below 2**62, so no item is longer."""
OVERVIEW_BINS = 2048
BAR_BYTES, CELL_BYTES = 20, 2
"""What a bar and a raster cell cost in a message (``timeline_wire``), about."""
_COARSEST_CELLS = 64
"""Levels of fewer cells than this are never asked for: a window is at least this many pixels wide."""
CELLS_PER_ITEM = 2
"""Levels with more cells than this per item are not stored: scanning the items of a window is as quick there."""


@dataclass(frozen=True, slots=True)
class LodResult:
    """Answer of one query.

    The raster has no columns when every item is a bar. ``cell0``, ``level``: raster column ``c`` is ``[(cell0 + c) << level, (cell0 + c + 1) << level)`` ticks. ``cls`` is
    :data:`NO_CLASS` where nothing is. ``bars`` are item positions in the index, ascending (so by track, then start);
    every item of at least ``bar_ticks`` is one. ``n_shown`` items of ``n_total`` in the window are bars.
    """

    tracks: I4
    level: int
    cell0: int
    cls: NDArray[np.uint16]
    busy_ticks: I8
    count: NDArray[np.uint32]
    bars: I8
    bar_ticks: int
    n_total: int
    wanted_bar_ticks: int

    @property
    def n_shown(self) -> int:
        """Items drawn as exact bars."""
        return len(self.bars)

    @property
    def exact(self) -> bool:
        """True when every item in the window is a bar."""
        return self.n_shown == self.n_total


@dataclass(frozen=True, slots=True)
class _Level:
    level: int
    bar_level: int
    cell0: int
    cells: int
    offset: int


@dataclass(frozen=True)
class LodIndex:
    """Level-of-detail index over items on lanes; arrays may be memory-mapped and are read-only.

    ``view`` names what the items are: a view of a capture, or another source of spans (:mod:`analysis.traces.timeline`).
    """

    view: str
    lanes: tuple[Lane, ...]
    start_ticks: I8
    middle_ticks: I8
    end_ticks: I8
    cls: I4
    kind: U1
    index: I4
    task: I4
    class_kind: U1
    class_value: I4
    offsets: I8
    wide_order: I4
    wide_offsets: I8
    ends_sorted: I8
    task_order: I4
    """Item positions by (task, start, track)."""
    track_classes: I8
    """Which classes occur in which track: ``track << 16 | class``, ascending."""
    overview: NDArray[np.float64]
    pyramid_cls: NDArray[np.uint16]
    pyramid_busy: NDArray[Any]
    pyramid_count: NDArray[np.uint32]
    levels: dict[tuple[int, int], _Level] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.start_ticks)

    @property
    def n_tracks(self) -> int:
        return len(self.offsets) - 1

    @property
    def span_ticks(self) -> tuple[int, int]:
        """First start and last end over all items; (0, 1) without items."""
        if not len(self):
            return 0, 1
        first = int(self.start_ticks[self.offsets[:-1][np.diff(self.offsets) > 0]].min())
        last = int(self.ends_sorted[self.offsets[1:][np.diff(self.offsets) > 0] - 1].max())
        return first, max(last, first + 1)

    def query(
        self, t0: int, t1: int, width_px: float, tracks: NDArray[Any], max_bars: int, max_bytes: int = 1 << 28
    ) -> LodResult:
        """What ``tracks`` show in ``[t0, t1)`` drawn ``width_px`` wide.

        Every item of at least two pixels is a bar. Cells are at most one pixel wide; wider only when bars and cells
        would exceed ``max_bytes`` (:data:`BAR_BYTES` and :data:`CELL_BYTES` each). Only when more than ``max_bars`` items are that wide does the limit rise (``bar_ticks`` >
        ``wanted_bar_ticks`` says so).

        Raises:
            ValueError: the window is empty or the width is not positive.
        """
        if t1 <= t0 or width_px <= 0:
            raise ValueError("a window needs t0 < t1 and a positive width")
        chosen = np.ascontiguousarray(tracks, dtype=np.int32)
        two_pixels = 2 * (t1 - t0) / width_px
        wanted = min(int(two_pixels).bit_length() - 1, MAX_BAR_LEVEL)
        bar_level = wanted
        while True:
            bars = self._bars(t0, t1, chosen, bar_level, max_bars)
            if bars is not None:
                break
            bar_level = max(bar_level, 0) + 1
        level = max(bar_level - 1, 0)
        room = max(max_bytes - BAR_BYTES * len(bars), 0) // CELL_BYTES
        while len(chosen) * (((t1 - t0) >> level) + 2) > room and level < bar_level + 3:
            level += 1
        cell0 = t0 >> level
        cells = (-(-t1 >> level)) - cell0
        total = count_touching(self.offsets, self.start_ticks, self.ends_sorted, chosen, t0, t1)
        if total == len(bars):  # every item is a bar: nothing is left for the raster
            cells = 0
        cls, busy, count = self._raster(chosen, level, bar_level, cell0, cells)
        limit = 1 << bar_level if bar_level >= 0 else 0
        wanted_ticks = 1 << wanted if wanted >= 0 else 0
        return LodResult(chosen, level, cell0, cls, busy, count, bars, limit, int(total), wanted_ticks)

    def _bars(self, t0: int, t1: int, tracks: I4, bar_level: int, max_bars: int) -> I8 | None:
        size_class = bar_level + 1 if bar_level >= 0 else 0
        top = (len(self.wide_offsets) - 1) // max(self.n_tracks, 1)
        guess = min(max_bars, 4096)
        while True:
            out = np.empty(guess, dtype=np.int64)
            found = wide_items(
                self.wide_order, self.wide_offsets, self.start_ticks, self.end_ticks, tracks, self.n_tracks,
                size_class, top, t0, t1, out,
            )  # fmt: skip
            if found <= len(out):
                return np.sort(out[:found])
            if found > max_bars:
                return None
            guess = found

    def _raster(
        self, tracks: I4, level: int, bar_level: int, cell0: int, cells: int
    ) -> tuple[NDArray[np.uint16], I8, NDArray[np.uint32]]:
        cls = np.full((len(tracks), cells), NO_CLASS, dtype=np.uint16)
        busy = np.zeros((len(tracks), cells), dtype=np.int64)
        count = np.zeros((len(tracks), cells), dtype=np.uint32)
        if bar_level < 0 or not cells:
            return cls, busy, count
        stored = self.levels.get((level, bar_level))
        if stored is None:
            raster(
                self.offsets, self.start_ticks, self.end_ticks, self.cls, tracks, cell0, level, 1 << bar_level,
                max(len(self.class_kind), 1), cls, busy, count,
            )  # fmt: skip
            return cls, busy, count
        low, high = max(cell0, stored.cell0), min(cell0 + cells, stored.cell0 + stored.cells)
        if low < high:
            part = slice(stored.offset, stored.offset + self.n_tracks * stored.cells)
            into, out_of = slice(low - cell0, high - cell0), slice(low - stored.cell0, high - stored.cell0)
            shape = (self.n_tracks, stored.cells)
            for target, source in (
                (cls, self.pyramid_cls), (busy, self.pyramid_busy), (count, self.pyramid_count),
            ):  # fmt: skip
                target[:, into] = source[part].reshape(shape)[tracks, out_of]
        return cls, busy, count

    def subset(self, keep: Bool) -> LodIndex:
        """The same lanes with only the items where ``keep`` is true: a highlight or a filter as a timeline."""
        at = np.flatnonzero(keep)
        track = self.track_of(at)
        items = Items(
            self.lanes, track, self.start_ticks[at], self.middle_ticks[at], self.end_ticks[at],
            self.cls[at], self.kind[at], self.index[at], self.task[at], self.class_kind, self.class_value,
        )  # fmt: skip
        return index_from_arrays(self.view, self.lanes, build_arrays(items))

    def items_of(self, task: int) -> I4:
        """Positions of the items of a task (dense index), earliest first, equal starts by track."""
        return self.task_order[self._task_bound(task) : self._task_bound(task + 1)]

    def _task_bound(self, task: int) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) >> 1
            if self.task[self.task_order[middle]] < task:
                low = middle + 1
            else:
                high = middle
        return low

    def track_of(self, positions: NDArray[Any]) -> I4:
        """Track of each item position."""
        return (np.searchsorted(self.offsets, positions, side="right") - 1).astype(np.int32)

    def position(self, kind: int, index: int) -> int:
        """Position of item (kind, index) in this index, -1 when the view does not show it."""
        found = np.flatnonzero((self.index == index) & (self.kind == kind))
        return int(found[0]) if len(found) else -1


def build_index(capture: Capture, view: View, with_setup: bool = True) -> LodIndex:
    """Index of one view of a capture, built in memory; servers go through the store with :func:`build_arrays`."""
    items = view_items(capture, view, with_setup)
    return index_from_arrays(view, items.lanes, build_arrays(items))


def stored_arrays(capture: Capture, view: View, with_setup: bool) -> dict[str, NDArray[Any]]:
    """The arrays of :func:`build_arrays` plus the lanes as JSON bytes: what the store keeps of one view."""
    items = view_items(capture, view, with_setup)
    arrays = build_arrays(items)
    text = json.dumps([asdict(lane) for lane in items.lanes])
    arrays["lanes"] = np.frombuffer(text.encode(), dtype=np.uint8)
    return arrays


def index_from_store(view: View, arrays: dict[str, NDArray[Any]]) -> LodIndex:
    """The index over what :func:`stored_arrays` made."""
    lanes = tuple(Lane(**row) for row in json.loads(arrays["lanes"].tobytes()))
    return index_from_arrays(view, lanes, arrays)


def stored_key(view: View, with_setup: bool) -> str:
    """Key under which the store keeps the arrays of a view."""
    return f"timeline-v{INDEX_VERSION}-{view.value}-{'setup' if with_setup else 'exec'}"


def build_arrays(items: Items) -> dict[str, NDArray[Any]]:
    """Everything a :class:`LodIndex` holds as flat arrays, for the store.

    Keys are the array fields of :class:`LodIndex` plus ``levels`` (n, 5).
    """
    n_tracks = sum(lane.rows for lane in items.lanes)
    n = len(items.start_ticks)
    offsets = np.searchsorted(items.track, np.arange(n_tracks + 1)).astype(np.int64)
    touch_end = np.maximum(items.end_ticks, items.start_ticks + 1)
    descends = (np.diff(touch_end) < 0) & (np.diff(items.track) == 0)
    ends_sorted = touch_end[np.lexsort((touch_end, items.track))] if descends.any() else touch_end
    length = items.end_ticks - items.start_ticks
    size = np.zeros(n, dtype=np.int64)
    some = length > 0
    size[some] = np.frexp(length[some].astype(np.float64))[1]
    size[some] -= (length[some] >> np.maximum(size[some] - 1, 0)) == 0
    key = size * max(n_tracks, 1) + items.track
    wide_order = np.argsort(key, kind="stable").astype(np.int32)
    top = int(size.max(initial=0)) + 1
    wide_offsets = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=top * max(n_tracks, 1)))])
    arrays: dict[str, NDArray[Any]] = {
        "start_ticks": items.start_ticks, "middle_ticks": items.middle_ticks, "end_ticks": items.end_ticks,
        "cls": items.cls, "kind": items.kind, "index": items.index, "task": items.task,
        "class_kind": items.class_kind, "class_value": items.class_value, "offsets": offsets,
        "wide_order": wide_order, "wide_offsets": wide_offsets.astype(np.int64), "ends_sorted": ends_sorted,
    }  # fmt: skip
    arrays["task_order"] = np.lexsort((items.track, items.start_ticks, items.task)).astype(np.int32)
    arrays["track_classes"] = np.unique((items.track.astype(np.int64) << 16) | items.cls)
    arrays["overview"] = _overview(items)
    arrays.update(_pyramid(items, offsets, n_tracks))
    return {name: _frozen(array) for name, array in arrays.items()}


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    out = np.ascontiguousarray(array).view()
    out.setflags(write=False)
    return out


def _span(items: Items) -> tuple[int, int]:
    if not len(items.start_ticks):
        return 0, 1
    first = int(items.start_ticks.min())
    return first, max(int(items.end_ticks.max()), first + 1)


def _overview(items: Items) -> NDArray[np.float64]:
    """Busy share of all tracks but the envelopes' in :data:`OVERVIEW_BINS` equal bins of the span."""
    first, last = _span(items)
    width = (last - first) / OVERVIEW_BINS
    out = np.zeros(OVERVIEW_BINS, dtype=np.float64)
    own = items.kind != ItemKind.GRAPH
    busy_profile(_frozen(items.start_ticks[own]), _frozen(items.end_ticks[own]), first, width, out)
    return out / (width * max(sum(lane.rows for lane in items.lanes if lane.group != GRAPH_GROUP), 1))


def _pyramid(items: Items, offsets: I8, n_tracks: int) -> dict[str, NDArray[Any]]:
    """Raster of the whole span at every level with at most :data:`CELLS_PER_ITEM` cells per item."""
    first, last = _span(items)
    rows: list[tuple[int, int, int, int, int]] = []
    parts: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
    offset = 0
    for level in range((last - first).bit_length()):
        cell0 = first >> level
        cells = (last - 1 >> level) + 1 - cell0
        if n_tracks * cells > CELLS_PER_ITEM * len(items.start_ticks) or cells < _COARSEST_CELLS:
            continue
        for bar_level in (level + 1, level):
            part = (
                np.full((n_tracks, cells), NO_CLASS, dtype=np.uint16),
                np.zeros((n_tracks, cells), dtype=np.int64),
                np.zeros((n_tracks, cells), dtype=np.uint32),
            )
            raster(
                _frozen(offsets), _frozen(items.start_ticks), _frozen(items.end_ticks), _frozen(items.cls),
                np.arange(n_tracks, dtype=np.int32), cell0, level, 1 << bar_level, len(items.class_kind), *part,
            )  # fmt: skip
            rows.append((level, bar_level, cell0, cells, offset))
            parts.append(part)
            offset += n_tracks * cells
    names = ("pyramid_cls", "pyramid_busy", "pyramid_count")
    most = max((int(part[1].max(initial=0)) for part in parts), default=0)
    dtypes = (np.uint16, np.uint32 if most < 1 << 32 else np.int64, np.uint32)
    out: dict[str, NDArray[Any]] = {
        name: np.concatenate([part[i].ravel().astype(dtypes[i]) for part in parts])
        if parts
        else np.empty(0, dtype=dtypes[i])
        for i, name in enumerate(names)
    }
    out["levels"] = np.asarray(rows, dtype=np.int64).reshape(-1, 5)
    return out


def index_from_arrays(view: str, lanes: tuple[Lane, ...], arrays: dict[str, NDArray[Any]]) -> LodIndex:
    """A :class:`LodIndex` over arrays made by :func:`build_arrays` (fresh or mapped)."""
    own = {name: _frozen(array) for name, array in arrays.items() if name not in ("levels", "lanes")}
    levels = {(int(r[0]), int(r[1])): _Level(*(int(value) for value in r)) for r in arrays["levels"]}
    return LodIndex(view=view, lanes=lanes, levels=levels, **own)
