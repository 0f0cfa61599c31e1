from __future__ import annotations

import logging
import re

import pytest

from analysis.errors import InputError
from app.errors import describe


def text(error: Exception) -> str:
    return str(describe(error))


def test_an_expected_error_is_told_in_its_own_words(caplog: pytest.LogCaptureFixture) -> None:
    shown = text(InputError("deps.json", "edges[3]", "no pred", "Capture again."))
    assert "deps.json (edges[3]): no pred. Capture again." in shown
    assert caplog.records == []


def test_a_bug_is_logged_under_an_id_and_its_text_is_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "swimscope"):
        shown = text(RuntimeError("secret path /root/x"))
    assert "secret" not in shown
    found = re.search(r"under ([0-9a-f]{8})", shown)
    assert found is not None
    assert found.group(1) in caplog.text
    assert "secret path" in caplog.text
