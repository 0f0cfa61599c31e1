"""What does a timeline request ask for? Its query, checked, with the capture and index it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis import selection
from analysis.capture import Capture
from analysis.timeline.items import KIND_LETTERS, View
from analysis.timeline.query import LodIndex
from app.shell.url_state import decode, launch_of
from app.swimlane.views import Views
from app.timeline.request import TimelineRequest


@dataclass(frozen=True, kw_only=True)
class Request(TimelineRequest):
    """A request about a view of a capture."""

    views: Views
    run: str
    capture: Capture
    view: View
    with_setup: bool

    def depth(self) -> int:
        """How many dependency steps to draw; one that the page does not offer counts as the default, as in its URL."""
        state, _problems = decode({"depth": self.args["depth"]} if "depth" in self.args else {})
        return state.depth

    def highlighted(self) -> LodIndex:
        """The index of the items that ``hl`` names."""
        spec, text = self.text("hl"), self.text("q")
        return self.views.highlighted(self.capture, self.view, self.with_setup, spec, text)

    def task(self) -> int:
        """Dense index of the task whose id is ``task``."""
        return selection.existing_task(self.capture, self.text("task"))

    def item(self) -> int:
        """Position of the item that ``item`` names (``r12``), -1 when the view does not show it."""
        return self.item_of(KIND_LETTERS)


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
    index = views.index(capture, view, with_setup)
    return Request(views=views, run=run, args=args, capture=capture, view=view, with_setup=with_setup, index=index)
