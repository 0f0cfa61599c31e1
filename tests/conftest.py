"""Fixtures for every room."""

from __future__ import annotations

import os
import pathlib
import tempfile

import pytest
from hypothesis import settings

from tests import shared_data

# How long one example takes says more about the neighbours on the machine than about the code.
settings.register_profile("swimscope", deadline=None)
settings.load_profile("swimscope")

# Commands keep what they read in the data directory: in tests never in the user's. Set at once, for fixtures of any scope.
_DATA = tempfile.TemporaryDirectory(prefix="swimscope-tests-")
os.environ["SWIMSCOPE_DATA_DIR"] = _DATA.name


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The shared data; skips the test, with the reason, where it is absent."""
    if not shared_data.PRESENT:
        pytest.skip(shared_data.WHY_ABSENT)
    return shared_data.SHARED


def pytest_report_header() -> str:
    state = "present" if shared_data.PRESENT else "ABSENT: tests on real captures are skipped"
    return f"shared data: {shared_data.SHARED} ({state})"
