"""Do functions, chains, markers and overhead equal the reference on every real capture?"""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

from analysis.capture import Capture
from analysis.errors import NotAvailable
from analysis.formats import load
from analysis.measures.chains import single_dependency_chains
from analysis.measures.cores import core_statistics
from analysis.measures.early_dispatch import early_dispatch, markers
from analysis.measures.functions import STAMP_COLUMNS, function_statistics
from analysis.measures.overhead import scheduler_overhead
from analysis.measures.ranges import range_statistics
from analysis.measures.utilisation import utilisation
from analysis.registry import ANALYSES
from tests import shared_data


@pytest.fixture(scope="module", params=shared_data.shared_params(shared_data.capture_names()))
def name(request: pytest.FixtureRequest) -> str:
    """Each real capture in turn: all tests of one run together, so that it is opened once."""
    return str(request.param)


@functools.lru_cache(maxsize=1)
def opened(name: str) -> Capture:
    return load(shared_data.capture_dir(name))


def reference(name: str, key: str) -> Any:
    """The oracle's value, or a skip where the reference has none."""
    found = shared_data.oracle(name)
    if key not in found:
        pytest.skip(f"the reference has no {key} for {name}")
    return found[key]


def test_functions(name: str) -> None:
    want = reference(name, "functions")
    if not want:
        with pytest.raises(NotAvailable, match="none"):
            function_statistics(opened(name))
        return
    rows = function_statistics(opened(name)).to_json()
    keys = ("func_id", "count", "total_ticks", "min_ticks", "max_ticks")
    assert [{k: row[k] for k in keys} for row in rows] == [{k: f[k] for k in keys} for f in want]
    assert [row["name"] for row, f in zip(rows, want, strict=True) if f["name"]] == [
        f["name"] for f in want if f["name"]
    ]
    level_1 = opened(name).meta.level == 1
    assert all((row[column] is None) == level_1 for row in rows for column in STAMP_COLUMNS if column != "setup_us")


def test_chains(name: str) -> None:
    want = reference(name, "chains")
    rows = single_dependency_chains(opened(name)).to_json()
    assert {row["tasks"] for row in rows} == {tuple(chain) for chain in want}
    assert len(rows) == len(want)


def test_markers(name: str) -> None:
    found = markers(opened(name)) if "fire" in shared_data.oracle(name) else None
    assert set(reference(name, "fire")) == set(found.fire_ids if found else ())
    assert set(reference(name, "star")) == set(found.star_ids if found else ())


def test_overhead_ticks(name: str) -> None:
    want = reference(name, "overhead_ticks")
    found = scheduler_overhead(opened(name)).to_json()
    by_type = {core_type: part["overhead_ticks"] for core_type, part in found["by_type"].items()}
    assert {"window": found["window_ticks"], "all": found["all_ticks"], "has": found["has_ticks"], **by_type} == want


def test_utilisation_cores_and_range_agree(name: str) -> None:
    capture = opened(name)
    if not len(capture.records):
        with pytest.raises(NotAvailable, match="none"):
            utilisation(capture)
        return
    cores = {row["core_type"]: row["utilisation"] for row in core_statistics(capture).by_type.to_records()}
    ranges = {row["core_type"]: row["share"] for row in range_statistics(capture).by_type.to_records()}
    curves = {core_type: part["share"] for core_type, part in utilisation(capture).to_json()["by_type"].items()}
    assert cores == pytest.approx(ranges)
    assert cores == pytest.approx(curves)
    assert all(0 <= share <= 1 for share in cores.values())


def test_every_analysis_answers_or_says_why_not(name: str) -> None:
    capture, reasons = opened(name), []
    for analysis in ANALYSES:
        try:
            result = analysis.run(capture)
        except NotAvailable as error:
            reasons.append(error.reason)
            continue
        json.dumps(result.to_json())
        tables = list(analysis.tables(result))
        assert tables[0][1].columns == analysis.columns
        assert all(table.to_csv().count("\n") >= len(table) + 1 for _, table in tables)
    assert all(len(reason) > 20 for reason in reasons)
    assert len(reasons) < len(ANALYSES)


@pytest.mark.parametrize("variant", shared_data.shared_params(shared_data.variant_names()))
def test_every_generation_of_the_container_gives_the_same_answers(variant: str) -> None:
    device, other = opened("qwen3_14b_decode_device"), load(shared_data.SHARED / "variants" / variant)

    def functions(capture: Capture) -> list[tuple[Any, ...]]:
        rows = function_statistics(capture).to_json()
        return [(r["func_id"], r["name"], r["count"], round(r["total_us"], 3), round(r["p95_us"], 3)) for r in rows]

    def overhead(capture: Capture) -> list[tuple[str, float]]:
        rows = scheduler_overhead(capture).table.to_records()
        return [(row["scope"], round(row["overhead_us"], 3)) for row in rows]

    assert functions(other) == functions(device)
    assert single_dependency_chains(other).table.cells("tasks") == single_dependency_chains(device).table.cells("tasks")
    assert markers(other).to_json() == markers(device).to_json()
    if other.meta.level >= 2:
        assert overhead(other) == overhead(device)


def test_the_early_dispatch_run_is_early() -> None:
    if not shared_data.PRESENT:
        pytest.skip(shared_data.WHY_ABSENT)
    (row,) = early_dispatch(opened("early_dispatch_on_a5_l4")).to_json()
    assert row["early"] is True
    assert row["lead_us"] > 0
    assert 0 < row["early_blocks"] <= row["blocks"]
