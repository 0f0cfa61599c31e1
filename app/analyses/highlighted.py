"""Which tasks does a highlight mean? Computed once per content, whoever asks: timeline, graph, table or card."""

from __future__ import annotations

import numpy as np

from analysis import selection
from analysis.capture import I4, Capture
from analysis.errors import NotAvailable
from analysis.measures.chains import single_dependency_chains
from analysis.measures.early_dispatch import markers
from analysis.registry import CRITICAL_PATH
from analysis.timeline.highlight import chain_starting_with, single_task
from app.server.services import Services
from app.work.outcomes import Outcome

CHAINS, EARLY = "chains", "early"


def highlighted_tasks(services: Services, capture: Capture, spec: str) -> I4:
    """Dense indexes of the tasks that ``spec`` (``hl`` or ``sel`` of the URL) names.

    Raises:
        NotAvailable: the analysis behind the highlight has no answer for this capture.
        NotFoundError: there is no such task or chain, or the highlight is none of the known ones.
    """
    if spec == EARLY:
        kept = services.store.derived(capture, "early-1", lambda: {"star": np.asarray(markers(capture).star)})
        return np.asarray(kept["star"], dtype=np.int32)
    found = selection.parse(spec)
    if spec == CHAINS or (found is not None and found.kind == "chain"):
        members, offsets = _chains(services, capture)
        return members if found is None else chain_starting_with(capture, members, offsets, found.value)
    if found is not None and found.kind == "path":
        ids = np.array(path_outcome(services, capture, found.value).tables[0][1].cells("task_id"), dtype=np.uint64)
        return np.searchsorted(capture.tasks.task_id, ids).astype(np.int32)
    return single_task(capture, spec)


def path_outcome(services: Services, capture: Capture, kind: str) -> Outcome:
    """The critical path of ``kind``.

    Raises:
        NotAvailable: the capture has no such path.
    """
    default = CRITICAL_PATH.parameters[0].default
    outcome = services.analyses.get(capture, CRITICAL_PATH.name, {} if kind == default else {"kind": kind})
    if not outcome.available:
        raise NotAvailable(outcome.reason)
    return outcome


def _chains(services: Services, capture: Capture) -> tuple[I4, I4]:
    def build() -> dict[str, np.ndarray]:
        found = single_dependency_chains(capture)
        return {"members": np.asarray(found.members), "offsets": np.asarray(found.offsets)}

    kept = services.store.derived(capture, "chains-1", build)
    return np.asarray(kept["members"], dtype=np.int32), np.asarray(kept["offsets"], dtype=np.int32)
