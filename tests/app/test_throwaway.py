"""Is a new analysis one file plus one registry entry, and a new feature one folder plus one line? Added to a copy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.shared_data import REPO

MEASURE = '''
"""How many records does each core have?"""

import numpy as np

from analysis.results import Column, Table

COLUMNS = (Column("core_id", "index", "Core."), Column("records", "count", "Its records."))


class RecordsPerCore:
    def __init__(self, table):
        self.table = table

    def frame(self):
        return self.table.frame()

    def to_json(self):
        return self.table.to_records()


def records_per_core(capture):
    core, records = np.unique(capture.records.core_id, return_counts=True)
    return RecordsPerCore(Table(COLUMNS, {"core_id": core, "records": records}))
'''
ENTRY = '''
    Analysis(
        "records-per-core",
        "Records per core",
        "How many records does each core have?",
        "analysis.measures.records_per_core:records_per_core",
        "analysis.measures.records_per_core:COLUMNS",
        panel=99,
    ),
)
"""Every analysis'''
FEATURE = """
from dash import html

from app.shell.feature import Feature, View
from app.shell.page import Page


def layout(services, view, run_key):
    return html.H1(f"Hello {services.library.run(run_key).row.name}")


FEATURE = Feature("greeting", views=(View(Page("greeting", "/r/<run>/greeting", "Greeting", 95), layout),))
"""
PROGRAM = '''
import json, sys
from pathlib import Path
from app.server.factory import create_app
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState, decode
from app.swimlane.panel.content import content
from app.swimlane.panel.tabs import Panels

tree, data = map(Path, sys.argv[1:])
app = create_app(Settings(roots=(Root("r", tree),), data_dir=data))
services, client = app.server.extensions["swimscope"], app.server.test_client()
services.library.scan_once()
key = next(run.key for run in services.library.runs())


def page(name):
    """What the router sends for a page."""
    body = {
        "output": "..page.children...breadcrumb.children...tabs.children..",
        "outputs": [{"id": i, "property": "children"} for i in ("page", "breadcrumb", "tabs")],
        "inputs": [
            {"id": "url", "property": "pathname", "value": f"/r/{key}/{name}"},
            {"id": "reload", "property": "data"},
        ],
        "state": [{"id": "url", "property": "search", "value": ""}],
        "changedPropIds": ["url.pathname"],
    }
    return client.post("/_dash-update-component", json=body).get_data(as_text=True)


print(json.dumps({
    "page": page("records-per-core"),
    "csv": client.get(f"/api/r/{key}/table/records-per-core.csv").get_data(as_text=True),
    "panel_csv": client.get(f"/api/r/{key}/panel.csv?tab=records-per-core").get_data(as_text=True),
    "swimlane": page("swimlane"),
    "tab": str(content(services, Panels(services), {"n": 1, "run": key, "query": {"tab": "records-per-core"}})),
    "feature": page("greeting"),
}))
'''


def test_a_new_analysis_and_a_new_feature_are_there_everywhere(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for room in ("analysis", "app", "components", "assets"):
        shutil.copytree(REPO / room, copy / room)
    # The analysis: one file, one entry.
    (copy / "analysis/measures/records_per_core.py").write_text(MEASURE)
    change(copy / "analysis/registry.py", ')\n"""Every analysis', ENTRY.lstrip("\n"))
    # The feature: one folder, one line.
    (copy / "app/greeting").mkdir()
    (copy / "app/greeting/feature.py").write_text(FEATURE)
    change(copy / "app/server/factory.py", '        "tables",\n', '        "tables",\n        "greeting",\n')

    tree = tmp_path / "tree"
    run(copy, "-m", "analysis", "synth", str(tree / "demo"), "--records", "200")
    seen = json.loads(run(copy, "-c", PROGRAM, str(tree), str(tmp_path / "data")))
    printed = run(copy, "-m", "analysis", "records-per-core", str(tree / "demo"), "--format", "csv")

    assert printed.startswith("core_id,records\n")
    assert seen["csv"] == seen["panel_csv"] == printed
    assert "How many records does each core have?" in seen["page"]
    assert "panel-tab-records-per-core" in seen["swimlane"]
    assert "Records per core" in seen["tab"]
    assert "Hello demo" in seen["feature"]
    assert "Greeting" in seen["page"]


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def run(copy: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=copy, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(copy)}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
