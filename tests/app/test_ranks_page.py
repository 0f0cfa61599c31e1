"""Does the ranks page read its captures, choose a dispatch, and say what is missing?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import NotFoundError
from analysis.synth.capture import write_capture
from analysis.synth.ranks import RankPlan, write_ranks
from app.ranks import gather as gathering
from app.ranks.gather import gather, tree_root
from app.ranks.page import chosen, layout
from app.server.factory import create_app
from app.server.services import Services
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState
from tests.app.conftest import services_of

PLANS = [
    [RankPlan(0), RankPlan(500), RankPlan(5_000, extra_ns=3_000)],
    [RankPlan(0), RankPlan(100), RankPlan(missing=True)],
]


@pytest.fixture
def tree(tmp_path: Path) -> Services:
    root = tmp_path / "root"
    write_ranks(root / "case" / "dfx_outputs", PLANS)
    write_capture(root / "alone" / "dfx_outputs", 40, 1)
    services = services_of(
        create_app(Settings(roots=(Root("r", root),), data_dir=tmp_path / "data", facts_max_bytes=0))
    )
    services.library.scan_once()
    return services


def key_of(services: Services, part: str) -> str:
    return next(row.key for row in services.library.runs() if part in row.path)


def text_of(part: Any) -> str:
    return json.dumps(part.to_plotly_json(), default=lambda item: item.to_plotly_json(), ensure_ascii=False)


def test_the_tree_is_read_and_the_worst_dispatch_is_open(tree: Services) -> None:
    found = gather(tree, key_of(tree, "rank0/d0"))
    assert (found.waiting, len(found.facts)) == (0, 5)
    assert chosen(found, "").key == "run17.task0"
    assert chosen(found, "run17.task1").key == "run17.task1"
    shown = text_of(layout(tree, ViewState(), key_of(tree, "rank0/d0")))
    assert "3 ranks, 2 dispatches, 5 captures read" in shown
    assert "1 of 3 captures are missing" in shown
    assert "host clock" in shown
    assert "all_reduce" in shown
    again = gather(tree, key_of(tree, "rank1/d1"))
    assert again.facts == found.facts


def test_few_captures_are_read_at_a_time(tree: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "AT_A_TIME", 2)
    key = key_of(tree, "rank0/d0")
    assert [gather(tree, key).waiting for _ in range(3)] == [3, 1, 0]


def test_a_rank_that_cannot_be_read_is_named_and_the_others_are_compared(tree: Services) -> None:
    run = tree.library.run(key_of(tree, "rank2/d0"))
    (run.source / "chip_swimlane_records.json").write_text('{"chip_swimlane_level": 2')
    tree.library.scan_once()
    found = gather(tree, key_of(tree, "rank0/d0"))
    assert len(found.facts) == 4
    assert any(text.startswith("rank2/d0: ") for text in found.problems)
    shown = text_of(layout(tree, ViewState(), key_of(tree, "rank0/d0")))
    assert str(run.source) not in shown.replace("r/case", "")


def test_align_by_hand_is_marked(tree: Services) -> None:
    view = ViewState().with_own(align="r0t4")
    assert "aligned by hand on the first start of r0t4" in text_of(layout(tree, view, key_of(tree, "rank0/d0")))


def test_a_run_without_ranks_says_so(tree: Services) -> None:
    key = key_of(tree, "alone")
    assert tree_root(tree.library.run(key)) is None
    with pytest.raises(NotFoundError, match="no ranks to compare"):
        layout(tree, ViewState(), key)
