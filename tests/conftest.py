"""Fixtures for every room."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import settings

from tests import shared_data

# How long one example takes says more about the neighbours on the machine than about the code.
settings.register_profile("swimscope", deadline=None)
settings.load_profile("swimscope")


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The shared data; skips the test, with the reason, where it is absent."""
    if not shared_data.PRESENT:
        pytest.skip(shared_data.WHY_ABSENT)
    return shared_data.SHARED


def pytest_report_header() -> str:
    state = "present" if shared_data.PRESENT else "ABSENT: tests on real captures are skipped"
    return f"shared data: {shared_data.SHARED} ({state})"
