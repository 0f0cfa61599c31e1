"""Where does the shared data lie, and which captures are there?

Tests on real data take their paths from here, so they skip, visibly, where the data is absent.
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import pytest

REPO = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("SWIMSCOPE_SHARED", REPO.parent / "shared"))
PRESENT = (SHARED / "captures").is_dir()
WHY_ABSENT = f"no shared data at {SHARED}: set SWIMSCOPE_SHARED to a copy to run this test"

needs_shared = pytest.mark.skipif(not PRESENT, reason=WHY_ABSENT)
"""Mark for a test or module that reads shared data."""


def capture_names() -> list[str]:
    """Names of the real captures, sorted; empty where the data is absent."""
    if not PRESENT:
        return []
    return sorted(p.name for p in (SHARED / "captures").iterdir() if (p / "dfx_outputs").is_dir())


def variant_names() -> list[str]:
    """File names of the device run in other containers, sorted; empty where the data is absent."""
    if not PRESENT:
        return []
    return sorted(p.name for p in (SHARED / "variants").glob("*swimlane*.json"))


def shared_params(names: list[str]) -> list[Any]:
    """Parameters for ``pytest.mark.parametrize``: ``names``, or one skipped entry where the data is absent."""
    if names:
        return list(names)
    return [pytest.param("absent", marks=pytest.mark.skip(reason=WHY_ABSENT))]


def capture_dir(name: str) -> pathlib.Path:
    """``dfx_outputs`` of the real capture ``name``."""
    return SHARED / "captures" / name / "dfx_outputs"


def oracle(name: str) -> dict[str, Any]:
    """The reference result of the real capture ``name``."""
    loaded: dict[str, Any] = json.loads((capture_dir(name) / "oracle" / "oracle.json").read_text())
    return loaded
