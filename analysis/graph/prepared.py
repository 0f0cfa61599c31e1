"""What about a dependency graph is computed once and kept in the store: groups, marks, redundant edges?

Of a large graph these take seconds, so a child process makes them (:func:`prepare`) while the page shows how far it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.capture import Capture
from analysis.capture.store import Store
from analysis.errors import NotAvailable
from analysis.graph import reduction
from analysis.graph.summary import Partition, levels, partition
from analysis.graph.text import repeated_annotations
from analysis.measures import early_dispatch

JOB = "graph"
"""Name of the background job that runs :func:`prepare`; its parameter is the edge mode."""
LARGE_EDGES = 300_000
"""Up to here edges are always reduced, so that every mode shows its count; beyond, only in the mode asked for."""
DF_MODES = ("reduced-df", "omitted-df")
_PARTS, _MARKS, _REPEATED, _MASKS, _MASKS_DF = (
    "graph-parts-1",
    "graph-marks-1",
    "graph-repeated-1",
    "edge-masks-1",
    "edge-masks-df-1",
)


@dataclass(frozen=True, slots=True)
class Marks:
    """Dense indexes of marked tasks: 🔥 early-processable, ⭐ target of early dispatch."""

    fire: frozenset[int] = frozenset()
    star: frozenset[int] = frozenset()


def ready(store: Store, capture: Capture, mode: str) -> bool:
    """Is everything kept that a picture in edge mode ``mode`` needs?"""
    return all(store.holds(capture, key) for key in (_PARTS, _REPEATED, *_masks_of(capture, mode)))


def prepare(store: Store, capture: Capture, mode: str, say: Callable[[float, str], None]) -> None:
    """Compute and keep what a picture in edge mode ``mode`` needs; ``say`` gets the share done and the next step."""
    say(0.0, "grouping tasks by function and depth")
    parts(store, capture)
    say(0.3, "reading the early-dispatch marks")
    marks(store, capture)
    say(0.4, "comparing edges")
    repeated(store, capture)
    say(0.5, "finding redundant edges")
    for key in _masks_of(capture, mode):
        masks(store, capture, key == _MASKS_DF)


def _masks_of(capture: Capture, mode: str) -> tuple[str, ...]:
    if len(capture.edges) <= LARGE_EDGES:
        return (_MASKS_DF,)
    if mode == "full":
        return ()
    return (_MASKS_DF,) if mode in DF_MODES else (_MASKS,)


def parts(store: Store, capture: Capture) -> Partition:
    """Tasks sorted for grouping by function and depth."""

    def build() -> dict[str, Any]:
        found = partition(capture, levels(capture))
        return {"order": found.order, "code": found.code, "level": found.level}

    kept = store.derived(capture, _PARTS, build)
    return Partition(np.asarray(kept["order"]), np.asarray(kept["code"]), np.asarray(kept["level"]))


def marks(store: Store, capture: Capture) -> Marks:
    """🔥 and ⭐ of the capture; none where the capture does not tell."""

    def build() -> dict[str, Any]:
        found = early_dispatch.markers(capture)
        return {"fire": np.asarray(found.fire), "star": np.asarray(found.star)}

    try:
        kept = store.derived(capture, _MARKS, build)
    except NotAvailable:
        return Marks()
    return Marks(frozenset(kept["fire"].tolist()), frozenset(kept["star"].tolist()))


def repeated(store: Store, capture: Capture) -> int:
    """How many rows of ``edges[]`` repeat another row exactly."""
    kept = store.derived(capture, _REPEATED, lambda: {"repeated": np.array([repeated_annotations(capture)])})
    return int(kept["repeated"][0])


def masks(store: Store, capture: Capture, with_df: bool) -> dict[str, Any]:
    """Per edge whether it is redundant: ``omitted``, and ``omitted-df`` when ``with_df``."""
    key = _MASKS_DF if with_df else _MASKS
    return store.derived(capture, key, lambda: reduction.edge_masks(capture, with_df=with_df))
