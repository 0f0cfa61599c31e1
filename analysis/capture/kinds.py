"""What do the small numbers in the columns mean: kinds, sources, directions, lanes, flags?"""

from __future__ import annotations

import enum

import numpy as np

MISSING: int = int(np.iinfo(np.int64).min)
"""The value of a ``*_ticks`` entry that was not captured."""


class TaskKind(enum.IntEnum):
    """What a task is (FORMATS section 3)."""

    AIC = 0
    AIV = 1
    MIX = 2
    ALLOC = 3
    """Named by an edge but absent from ``tasks[]``: the orchestrator allocated its tensors."""
    DUMMY = 4
    """Listed with no kernel: dependency only."""
    GRAPH = 5
    """An outer graph task expanded by ``graph_prepare``."""
    UNKNOWN = 6
    """Named only by a stream or marker, with neither records nor a deps.json entry."""


class EdgeSource(enum.IntEnum):
    """Why an edge annotation exists."""

    CREATOR = 0
    TENSORMAP = 1
    EXPLICIT = 2
    OTHER = 3
    UNRECORDED = 4
    """The file does not say."""

    @property
    def word(self) -> str:
        """``creator``, ``tensormap``, ``explicit``, ``other`` or ``not recorded``."""
        return "not recorded" if self is EdgeSource.UNRECORDED else self.name.lower()


class ArgType(enum.IntEnum):
    """Direction of a task argument."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    OTHER = 4


class PhaseLane(enum.IntEnum):
    """Where a scheduler phase is drawn."""

    OUTER = 0
    """Mutually exclusive phases of a scheduler thread."""
    INNER = 1
    """``resolve``, ``drain_prepare``, ``drain_publish``: the thread's sub-lane."""
    MARKER = 2
    """``dummy_task``, ``predicated_skip``: drawn on the worker view's AICPU lane."""
    IDLE = 3
    """``idle`` as an AICore scheduler measures it: on the thread's line, but no work."""
    LIFECYCLE = 4
    """``aicpu_lifecycle_records``: one lane per AICPU thread; ``stream`` is the thread, not a scheduler."""


class Flaw(enum.IntEnum):
    """Why a row was left out of the tables."""

    NEGATIVE = 0
    """It ends before it starts."""
    FAR = 1
    """A stamp of it is far away from the rest of the run (:mod:`analysis.formats.join.flaws` has the rule)."""


class FlagStream(enum.IntEnum):
    """Which stream a row that was left out comes from."""

    RECORD = 0
    PHASE = 1
    ORCH = 2


FLAG_WAIT = 1
FLAG_RETAIN = 2
OVERLAP_NONE, OVERLAP_COVERED, OVERLAP_OTHER = 0, 1, 2
EARLY_NO, EARLY_YES, EARLY_UNKNOWN = 0, 1, 2
