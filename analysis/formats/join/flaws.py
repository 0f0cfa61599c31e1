"""Which rows carry stamps that cannot be right? They are left out of tables and figures, listed, and can be included.

Two rules. *Negative*: the row ends before it starts. *Far*: a lost start, a wrapped counter or a damaged digit puts a
stamp far away from everything else. A row spans more than :data:`MAX_SPAN_TICKS`, or one of its stamps lies outside the
main part of the run: stamps of all device streams are sorted and cut wherever the distance to the next is more than
:data:`MIN_GAP_TICKS`; the piece with most stamps grows over neighbours no further away than :data:`FAR_FACTOR` times its
own length. What remains outside is far, if it is at most a tenth of the rows, or a single one of three or more.
Otherwise the run really has a pause, and nothing is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.capture import I8, Bool, Flaw
from analysis.formats.join.raw import OrchRows, PhaseRows
from analysis.formats.join.records import Joined

MAX_SPAN_TICKS = 1 << 43
"""Hours at any clock of a chip (2 days at 50 MHz, 2.4 hours at 1 GHz): no single record or phase is that long."""
MIN_GAP_TICKS = 100_000_000
"""2 s at 50 MHz, 0.1 s at 1 GHz and in nanoseconds: closer stamps are never called far."""
FAR_FACTOR = 100
FAR_SHARE = 0.1
FINE = -1


@dataclass
class Flaws:
    """Per row its :class:`~analysis.capture.Flaw`, -1 when it is fine; ``bounds`` is the main part if any row is far."""

    records: I8
    unmatched: I8
    phases: I8
    orch: I8
    bounds: tuple[int, int] | None

    @property
    def any(self) -> bool:
        """Whether any row is flawed."""
        return any(bool((part != FINE).any()) for part in (self.records, self.unmatched, self.phases, self.orch))


def find_flaws(joined: Joined, phases: PhaseRows, orch: OrchRows) -> Flaws:
    """The flawed rows of the device streams."""
    none = np.zeros(len(joined.unmatched), np.int64)
    parts = [
        _extent(joined.rows.receive, joined.rows.start, joined.rows.end, joined.dispatch, joined.finish),
        _extent(joined.unmatched.receive, joined.unmatched.start, joined.unmatched.end, none, none),
        _extent(phases.start, phases.start, phases.end),
        _extent(orch.start, orch.start, orch.end),
    ]
    backward = [rows.end < rows.start for rows in (joined.rows, joined.unmatched, phases, orch)]
    long = [high - low > MAX_SPAN_TICKS for low, high in parts]
    sound = [~bad & ~wide for bad, wide in zip(backward, long, strict=True)]
    low = np.concatenate([part[0][good] for part, good in zip(parts, sound, strict=True)])
    high = np.concatenate([part[1][good] for part, good in zip(parts, sound, strict=True)])
    bounds = main_part(low, high)
    found = []
    for (first, last), bad, wide in zip(parts, backward, long, strict=True):
        outside: Bool = wide if bounds is None else wide | (first < bounds[0]) | (last > bounds[1])
        found.append(np.where(bad, int(Flaw.NEGATIVE), np.where(outside, int(Flaw.FAR), FINE)))
    records, unmatched, phase, other = found
    return Flaws(records, unmatched, phase, other, bounds)


def _extent(*stamps: I8) -> tuple[I8, I8]:
    """First and last recorded stamp of each row; 0 means not recorded."""
    first, *rest = stamps
    low, high = first.copy(), first.copy()
    for column in rest:
        known = column != 0
        np.minimum(low, column, out=low, where=known)
        np.maximum(high, column, out=high, where=known)
    return low, high


def main_part(low: I8, high: I8) -> tuple[int, int] | None:
    """(first, last) stamp of the main part of the run; None when no row is far (the rule is in the module's text)."""
    if len(low) < 3 or int(high.max()) - int(low.min()) <= MIN_GAP_TICKS:
        return None
    stamps = np.sort(np.concatenate((low, high)))
    cuts = np.flatnonzero(np.diff(stamps) > MIN_GAP_TICKS) + 1
    if not len(cuts):
        return None
    begin = np.concatenate(([0], cuts))
    stop = np.concatenate((cuts, [len(stamps)]))
    first = last = int(np.argmax(stop - begin))
    while True:
        left, right = int(stamps[begin[first]]), int(stamps[stop[last] - 1])
        reach = max(MIN_GAP_TICKS, FAR_FACTOR * (right - left))
        if first > 0 and left - int(stamps[begin[first] - 1]) <= reach:
            first -= 1
        elif last + 1 < len(begin) and int(stamps[stop[last]]) - right <= reach:
            last += 1
        else:
            break
    far = int(((low < left) | (high > right)).sum())
    return (left, right) if 0 < far <= max(1, int(FAR_SHARE * len(low))) else None
