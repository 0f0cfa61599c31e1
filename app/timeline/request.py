"""What does a timeline request ask for? Its query, checked, with the index it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from analysis.capture import I4, Bool
from analysis.errors import InputError
from analysis.timeline.query import LodIndex

MAX_TICKS = 2**62


@dataclass(frozen=True, kw_only=True)
class TimelineRequest:
    """One request: ``args`` are the raw query; the accessors name the key that cannot be used."""

    args: Mapping[str, str]
    index: LodIndex = field(repr=False)

    def text(self, key: str) -> str:
        """The text of ``key``, "" when absent."""
        return self.args.get(key, "")

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number of moderate size."""
        try:
            value = int(self.args[key]) if key in self.args or default is None else default
        except (KeyError, ValueError) as error:
            raise bad(key, self.text(key), "a whole number") from error
        if abs(value) > MAX_TICKS:
            raise bad(key, self.text(key), "a whole number within 2**62")
        return value

    def number(self, key: str) -> float:
        """A number of pixels."""
        try:
            value = float(self.args[key])
        except (KeyError, ValueError) as error:
            raise bad(key, self.text(key), "a number") from error
        if not 1 <= value < 1e7:
            raise bad(key, self.text(key), "a number between 1 and 10 million")
        return value

    def window(self) -> tuple[int, int]:
        """``t0`` and ``t1``, not empty."""
        t0, t1 = self.integer("t0"), self.integer("t1")
        if t1 <= t0:
            raise bad("t1", self.text("t1"), "later than t0")
        return t0, t1

    def track(self) -> int:
        """The track that ``track`` names."""
        track = self.integer("track")
        if not 0 <= track < self.index.n_tracks:
            raise InputError("request", "track", f"this view has no track {track}")
        return track

    def tracks(self, key: str) -> I4:
        """Track numbers written as ``0-7,12``, ascending and within the view; all tracks when absent."""
        if key not in self.args:
            return np.arange(self.index.n_tracks, dtype=np.int32)
        mask = np.zeros(self.index.n_tracks, dtype=bool)
        for part in filter(None, self.args[key].split(",")):
            low, _, high = part.partition("-")
            if not (is_whole(low) and is_whole(high or low)):
                raise bad(key, part, "a track or a range of tracks")
            mask[int(low) : int(high or low) + 1] = True
        return np.flatnonzero(mask).astype(np.int32)

    def hidden(self) -> Bool:
        """Mask of the tracks that are not shown (key ``hidden``)."""
        mask = np.zeros(self.index.n_tracks, dtype=bool)
        if "hidden" in self.args:
            mask[self.tracks("hidden")] = True
        return mask

    def item_of(self, letters: str) -> int:
        """Position of the item that ``item`` names (``r12``), -1 when the view does not show it.

        Args:
            letters: one letter per kind of item.
        """
        name = self.text("item")
        if len(name) < 2 or name[0] not in letters or not is_whole(name[1:]):
            raise bad("item", name, f"a letter and a number such as {letters[0]}12")
        return self.index.position(letters.index(name[0]), int(name[1:]))


def is_whole(text: str) -> bool:
    """Whether ``text`` is a whole number of at most 64 bits' digits; longer ones would be costly to convert."""
    return text.isdecimal() and len(text) <= 20


def bad(key: str, value: str, wanted: str) -> InputError:
    """The error for a key of the query that cannot be used."""
    return InputError("request", key, f"{value!r} is not {wanted}")
