"""What an analysis needs of a capture, and the words for what is missing."""

from __future__ import annotations

from analysis.capture import MISSING, Capture
from analysis.errors import NotAvailable


def require_records(capture: Capture, subject: str) -> None:
    """``subject`` ends in its verb, as in "Core switches need".

    Raises:
        NotAvailable: the capture has no task record.
    """
    if not len(capture.records):
        raise NotAvailable(f"{subject} task records; this capture has none.")


def require_dispatch(capture: Capture, subject: str) -> None:
    """Records with dispatch and FIN stamps.

    Raises:
        NotAvailable: no records, capture level 1, or a producer that stamps neither.
    """
    require_records(capture, subject)
    level = capture.meta.level
    if level < 2:
        raise NotAvailable(
            f"{subject} dispatch and FIN stamps, captured from level 2 on; this capture has level {level}."
        )
    if not bool((capture.records.dispatch_ticks != MISSING).any()):
        raise NotAvailable(
            f"{subject} dispatch and FIN stamps; this capture has level {level}, but none of its records holds them."
        )


def has_receive(capture: Capture) -> bool:
    """Whether the container holds receive stamps: without them receive equals start in every record."""
    return bool((capture.records.receive_ticks != capture.records.start_ticks).any())


def require_dependencies(capture: Capture, subject: str) -> None:
    """Edges of deps.json, or those rebuilt from ``fanout[]``.

    Raises:
        NotAvailable: neither is there.
    """
    if not capture.meta.has_deps and not capture.meta.edges_from_fanout:
        raise NotAvailable(
            f"{subject} dependencies; deps.json is missing. Put the deps.json of this run beside the swimlane file."
        )
