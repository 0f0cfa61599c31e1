from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analysis import formats

HEALTHY = Path(__file__).parents[1] / "data" / "chip" / "healthy.json"


@pytest.mark.parametrize("content", ["[]", "{}", '["QK"]', '{"a": 1}'])
@pytest.mark.parametrize(
    ("name", "said"), [("deps.json", "not a dependency graph"), ("name_map_x.json", "not a name map")]
)
def test_a_sibling_of_another_kind_is_said_and_costs_only_itself(
    tmp_path: Path, name: str, said: str, content: str
) -> None:
    shutil.copy(HEALTHY, tmp_path / "chip_swimlane_records.json")
    (tmp_path / name).write_text(content)
    capture = formats.load(tmp_path)
    found = {notice.code: notice for notice in capture.meta.notices}
    assert name in found["unreadable_file"].message
    assert said in found["unreadable_file"].message
    assert len(capture.records) == len(formats.load(HEALTHY).records)
