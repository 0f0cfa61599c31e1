"""What does a page or route get from the application? One immutable bundle, made by the factory and passed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analysis.capture.store import Store
from app.runs.library import Library
from app.runs.uploads.store import Uploads
from app.server.settings import Settings
from app.shell.links import Links
from app.shell.url_state import ViewState, href
from app.work.caches import Caches
from app.work.jobs import Jobs
from app.work.outcomes import Analyses


@dataclass(frozen=True, slots=True)
class Services:
    """Settings, the run library, the capture store, background jobs, stored links, caches of this process, uploads."""

    settings: Settings
    library: Library
    store: Store
    jobs: Jobs
    analyses: Analyses
    links: Links
    caches: Caches
    uploads: Uploads
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where the value of each setting comes from: flag, environment, file or default."""

    def href(self, page: str, run_key: str = "", view: ViewState | None = None) -> str:
        """A link inside the product, with the configured prefix."""
        return href(page, run_key, view, self.settings.url_prefix)
