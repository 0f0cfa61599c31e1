"""Answers that do not depend on what the items of a timeline are: window messages, marks, files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import flask
import numpy as np

from analysis.capture import Capture
from analysis.errors import LimitError
from analysis.timeline.message import LABEL_PX, MARK_BINS, window_message
from analysis.timeline.query import LodIndex, LodResult
from app.timeline.request import MAX_TICKS, TimelineRequest

MAX_BARS = 16_000
MAX_BYTES = 380_000
"""A message stays below 400 KB before compression."""
MAX_ASKED_CELLS = 8_000_000


def query_window(request: TimelineRequest, index: LodIndex) -> LodResult:
    """What the window of ``request`` shows of ``index``.

    Raises:
        LimitError: more tracks and pixels than a screen can show.
    """
    (t0, t1), width = request.window(), request.number("px")
    tracks = request.tracks("tracks")
    if len(tracks) * min(2 * width, t1 - t0) > MAX_ASKED_CELLS:
        raise LimitError(f"a window of {len(tracks)} tracks by {width:g} pixels is more than a screen can show")
    return index.query(t0, t1, width, tracks, MAX_BARS, MAX_BYTES)


def window_response(
    request: TimelineRequest, index: LodIndex, result: LodResult, capture: Capture | None
) -> flask.Response:
    """The binary message of a window."""
    (t0, t1), width = request.window(), request.number("px")
    label_ticks = min(int(LABEL_PX * (t1 - t0) / width), MAX_TICKS)
    response = flask.Response(window_message(index, result, capture, label_ticks))
    response.content_type = "application/octet-stream"
    response.headers["Cache-Control"] = "no-cache"  # the files of a run may be replaced under the same key
    return response


def mark_bins(index: LodIndex, at: np.ndarray) -> list[int]:
    """Which of :data:`MARK_BINS` equal bins of the span hold an item of ``at``."""
    first, last = index.span_ticks
    bins = (index.start_ticks[at] - first) * MARK_BINS // max(last - first, 1)
    return np.unique(np.clip(bins, 0, MARK_BINS - 1)).astype(int).tolist()


def ordinal(request: TimelineRequest, index: LodIndex, at: np.ndarray) -> int:
    """Which of the matches ``at`` (in time order) the request goes to: ``at``, wrapping, or the first ``from`` a tick; -1
    for none."""
    if len(at) and "at" in request.args:
        return request.integer("at") % len(at)
    if len(at) and "from" in request.args:
        return int(np.searchsorted(index.start_ticks[at], request.integer("from"))) % len(at)
    return -1


def file_response(body: str | Iterator[bytes], content_type: str, name: str) -> flask.Response:
    """A download."""
    response = flask.Response(body)
    response.content_type = content_type
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def file_stem(label: str) -> str:
    """``label`` as the begin of a file's name."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in label) or "capture"


def place_of(index: LodIndex, position: int) -> dict[str, Any]:
    """Where an item is drawn: track, lane and ticks."""
    track = int(index.track_of(np.array([position]))[0])
    lane = next(lane for lane in index.lanes if lane.track <= track < lane.track + lane.rows)
    return {
        "track": track,
        "lane": lane.label,
        "start": int(index.start_ticks[position]),
        "middle": int(index.middle_ticks[position]),
        "end": int(index.end_ticks[position]),
    }
