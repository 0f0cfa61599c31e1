"""What does a request about a trace ask for? Its query, with the open trace it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.timeline.query import LodIndex
from analysis.traces.find import selected
from analysis.traces.model import Trace
from analysis.traces.timeline import moments
from app.server.services import Services
from app.timeline.request import TimelineRequest
from app.traces.opened import Opened, opened

KEPT_HIGHLIGHTS = 8


@dataclass(frozen=True, kw_only=True)
class TraceRequest(TimelineRequest):
    """A request about an open trace."""

    services: Services
    opened: Opened

    @property
    def trace(self) -> Trace:
        """The trace."""
        return self.opened.trace

    def highlighted(self) -> tuple[LodIndex, NDArray[np.int64]]:
        """The index of the items that ``hl`` names, and its instants."""
        spec, text = self.text("hl"), self.text("q")

        def make() -> tuple[LodIndex, NDArray[np.int64]]:
            index = self.index.subset(selected(self.trace, self.index, spec, text))
            return index, moments(index)

        key = (self.opened.content, spec, text if spec == "search" else "")
        return self.services.caches.get("trace highlights", key, make, KEPT_HIGHLIGHTS)


def read_request(services: Services, run: str, args: Mapping[str, str]) -> TraceRequest:
    """The request with the trace that ``trace`` names.

    Raises:
        NotFoundError: no such run or trace.
        InputError: it cannot be read.
    """
    found = opened(services, services.library.run(run), args.get("trace", ""))
    return TraceRequest(args=args, index=found.index, services=services, opened=found)
