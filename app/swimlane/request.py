"""What does a timeline request ask for? Its query, checked, with the capture and index it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from analysis import selection
from analysis.capture import I4, Bool, Capture
from analysis.errors import InputError
from analysis.timeline.items import KIND_LETTERS, View
from analysis.timeline.query import LodIndex
from app.shell.url_state import decode, launch_of
from app.swimlane.views import Views

MAX_TICKS = 2**62


@dataclass(frozen=True)
class Request:
    """One request: ``args`` are the raw query; the accessors name the key that cannot be used."""

    views: Views
    run: str
    args: Mapping[str, str]
    capture: Capture
    view: View
    with_setup: bool
    index: LodIndex = field(repr=False)

    def text(self, key: str) -> str:
        """The text of ``key``, "" when absent."""
        return self.args.get(key, "")

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number of moderate size."""
        try:
            value = int(self.args[key]) if key in self.args or default is None else default
        except (KeyError, ValueError) as error:
            raise _bad(key, self.text(key), "a whole number") from error
        if abs(value) > MAX_TICKS:
            raise _bad(key, self.text(key), "a whole number within 2**62")
        return value

    def depth(self) -> int:
        """How many dependency steps to draw; one that the page does not offer counts as the default, as in its URL."""
        state, _problems = decode({"depth": self.args["depth"]} if "depth" in self.args else {})
        return state.depth

    def number(self, key: str) -> float:
        """A number of pixels."""
        try:
            value = float(self.args[key])
        except (KeyError, ValueError) as error:
            raise _bad(key, self.text(key), "a number") from error
        if not 1 <= value < 1e7:
            raise _bad(key, self.text(key), "a number between 1 and 10 million")
        return value

    def window(self) -> tuple[int, int]:
        """``t0`` and ``t1``, not empty."""
        t0, t1 = self.integer("t0"), self.integer("t1")
        if t1 <= t0:
            raise _bad("t1", self.text("t1"), "later than t0")
        return t0, t1

    def tracks(self, key: str) -> I4:
        """Track numbers written as ``0-7,12``, ascending and within the view; all tracks when absent."""
        if key not in self.args:
            return np.arange(self.index.n_tracks, dtype=np.int32)
        mask = np.zeros(self.index.n_tracks, dtype=bool)
        for part in filter(None, self.args[key].split(",")):
            low, _, high = part.partition("-")
            if not (_is_whole(low) and _is_whole(high or low)):
                raise _bad(key, part, "a track or a range of tracks")
            mask[int(low) : int(high or low) + 1] = True
        return np.flatnonzero(mask).astype(np.int32)

    def hidden(self) -> Bool:
        """Mask of the tracks that are not shown (key ``hidden``)."""
        mask = np.zeros(self.index.n_tracks, dtype=bool)
        if "hidden" in self.args:
            mask[self.tracks("hidden")] = True
        return mask

    def highlighted(self) -> LodIndex:
        """The index of the items that ``hl`` names."""
        spec, text = self.text("hl"), self.text("q")
        return self.views.highlighted(self.capture, self.view, self.with_setup, spec, text)

    def task(self) -> int:
        """Dense index of the task whose id is ``task``."""
        return selection.existing_task(self.capture, self.text("task"))

    def item(self) -> int:
        """Position of the item that ``item`` names (``r12``), -1 when the view does not show it."""
        name = self.text("item")
        if len(name) < 2 or name[0] not in KIND_LETTERS or not _is_whole(name[1:]):
            raise _bad("item", name, "a letter and a number such as r12")
        return self.index.position(KIND_LETTERS.index(name[0]), int(name[1:]))


def read_request(views: Views, run: str, args: Mapping[str, str]) -> Request:
    """Check the keys every request has: ``launch``, ``view``, ``setup``.

    Raises:
        NotFoundError: no such run.
        ParameterError: there is no such launch number.
        InputError: a key cannot be used, or the capture cannot be read.

    A ``view`` or ``setup`` that does not exist counts as the default, as in the URL of the page, which says so.
    """
    state, _problems = decode({key: args[key] for key in ("view", "setup") if key in args})
    capture = views.capture(run, launch_of(args))
    view = View(state.view)
    with_setup = state.setup != "hidden" or view is not View.WORKER
    return Request(views, run, args, capture, view, with_setup, views.index(capture, view, with_setup))


def _is_whole(text: str) -> bool:
    """Whether ``text`` is a whole number of at most 64 bits' digits; longer ones would be costly to convert."""
    return text.isdecimal() and len(text) <= 20


def _bad(key: str, value: str, wanted: str) -> InputError:
    return InputError("request", key, f"{value!r} is not {wanted}")
