"""Is every page, command, analysis and setting documented, and does every link in the guide lead somewhere?"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from analysis import cli
from app.server.factory import FEATURES
from app.server.settings import table

REPO = Path(__file__).resolve().parents[1]
DOCS = sorted((REPO / "docs").glob("*.md"))
GUIDE = {path.name: path.read_text() for path in DOCS}


def test_the_guide_has_an_index_that_links_every_page_of_it() -> None:
    missing = [name for name in GUIDE if name != "index.md" and f"]({name})" not in GUIDE["index.md"]]
    assert missing == []


@pytest.mark.parametrize("path", [*DOCS, REPO / "README.md", REPO / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text())
    local = [t for t in targets if not re.match(r"[a-z]+:", t)]
    assert [t for t in local if not (path.parent / t).exists()] == []


@pytest.mark.parametrize("path", DOCS, ids=lambda p: p.name)
def test_each_page_of_the_guide_begins_with_the_question_it_answers(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    assert lines[0].startswith("# ")
    assert any("?" in line for line in lines[:3]), f"{path.name} does not begin with a question"


def test_every_page_of_the_product_is_documented() -> None:
    text = "\n".join(GUIDE.values())
    for path in (view.page.path_template for feature in FEATURES for view in feature.views):
        assert f"`{path}`" in text or f"`{path.rstrip('/')}`" in text, f"no document names the page {path}"


def test_every_command_is_documented() -> None:
    commands = [a.choices for a in cli.build_parser()._actions if isinstance(a, argparse._SubParsersAction)]
    assert len(commands) == 1
    assert len(commands[0]) >= 10
    for command in commands[0]:
        assert re.search(rf"^#+ .*`{re.escape(command)}\b", GUIDE["cli.md"], re.M), (
            f"cli.md has no section on {command}"
        )


def test_every_setting_is_documented() -> None:
    for name, _default, _unit, _text in table():
        assert f"`{name}`" in GUIDE["settings.md"], f"settings.md does not name {name}"
