"""Which timeline indexes are open in this process? Kept in the shared caches, over the store."""

from __future__ import annotations

import functools

from analysis.capture import Bool, Capture
from analysis.timeline.highlight import highlight_items
from analysis.timeline.items import View
from analysis.timeline.query import LodIndex, index_from_store, stored_arrays, stored_key
from app.analyses.highlighted import highlighted_tasks
from app.server.services import Services

KEPT_VIEWS = 8
KEPT_HIGHLIGHTS = 8


class Views:
    """Indexes by capture content, view and setup mode; highlights as indexes of their own."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def capture(self, run: str, launch: int) -> Capture:
        """The capture of a run key."""
        return self.services.library.capture(run, launch)

    def index(self, capture: Capture, view: View, with_setup: bool) -> LodIndex:
        """The index of a view, through the store's disk copy."""

        def make() -> LodIndex:
            key = stored_key(view, with_setup)
            arrays = self.services.store.derived(capture, key, lambda: stored_arrays(capture, view, with_setup))
            return index_from_store(view, arrays)

        key = (capture.meta.capture_id, view, with_setup)
        return self.services.caches.get("timeline views", key, make, KEPT_VIEWS)

    def highlighted(self, capture: Capture, view: View, with_setup: bool, spec: str, text: str) -> LodIndex:
        """The index of only the items that highlight ``spec`` names."""

        def make() -> LodIndex:
            index = self.index(capture, view, with_setup)
            return index.subset(self.highlight_mask(capture, index, spec, text))

        key = (capture.meta.capture_id, view, with_setup, spec, text if spec == "search" else "")
        return self.services.caches.get("timeline highlights", key, make, KEPT_HIGHLIGHTS)

    def highlight_mask(self, capture: Capture, index: LodIndex, spec: str, text: str = "") -> Bool:
        """Which items of ``index`` the highlight (or selection) names; its tasks are computed once per content.

        Raises:
            NotAvailable: the analysis behind the highlight has no answer for this capture.
            NotFoundError: there is no such task or chain, or the spec is none of the known ones.
        """
        return highlight_items(capture, index, spec, text, functools.partial(highlighted_tasks, self.services))
