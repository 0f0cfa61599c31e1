"""Do the overview's cards show what the analyses say, and does no request wait for a child process?"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from analysis import registry
from app.analyses.cards import outcome_card
from app.server.services import Services
from app.work import jobs
from app.work.jobs import Progress
from app.work.outcomes import Outcome
from app.work.waiting import outcome_or_job
from tests.app.conftest import key_of


@pytest.mark.parametrize(("analysis", "card"), registry.cards(), ids=lambda item: getattr(item, "name", "card"))
def test_a_card_says_its_figure_or_why_there_is_none(services: Services, analysis: Any, card: Any) -> None:
    run = {"key": key_of(services, "attention"), "launch": 0}
    outcome = outcome_or_job(services, run["key"], 0, analysis.name, False)
    assert outcome is not None
    shown = str(outcome_card(services, run, analysis, card, outcome))
    assert card.title in shown
    assert f"/{card.page or analysis.name}" in shown
    none = str(outcome_card(services, run, analysis, card, Outcome(analysis.name, reason="no records")))
    assert "not available" in none
    assert "no records" in none


def test_a_large_capture_starts_a_job_and_asks_again(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_of(services, "attention")
    small = dataclasses.replace(services.settings, inline_analysis_records=1)
    large = dataclasses.replace(services, settings=small)
    stands = Progress("idle")
    started: list[str] = []

    def start(_self: Any, job: jobs.Job) -> Progress:
        started.append(job.analysis)
        return Progress("running")

    monkeypatch.setattr(jobs.Jobs, "status", lambda _self, _job: stands)
    monkeypatch.setattr(jobs.Jobs, "start", start)
    monkeypatch.setattr(type(services.analyses), "kept", lambda *_: None)
    assert outcome_or_job(large, key, 0, "chains", False) is None
    stands = Progress("running")
    assert outcome_or_job(large, key, 0, "chains", True) is None
    assert started == ["chains"]
    stands = Progress("failed", message="no memory")
    failed = outcome_or_job(large, key, 0, "chains", True)
    assert failed is not None
    assert failed.reason == "no memory"
    assert outcome_or_job(large, key, 0, "chains", False) is None
    assert started == ["chains", "chains"]
