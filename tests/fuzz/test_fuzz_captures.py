"""A short run of the mutation fuzzer; ``make fuzz`` is the long one."""

from __future__ import annotations

from tests.fuzz.captures import failures, inputs

SHORT_RUN = 60


def test_damaged_captures_open_or_say_why() -> None:
    wrong = {one.number: found for one in inputs(seed=1, count=SHORT_RUN) if (found := failures(one))}
    assert wrong == {}
