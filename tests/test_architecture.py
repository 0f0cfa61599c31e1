"""Do imports go one way, and does ``analysis`` work without the web packages?"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

from analysis import registry
from app.server import factory
from app.shell.feature import Feature

REPO = Path(__file__).resolve().parents[1]
ROOMS = ("analysis", "components", "app")
MAY_IMPORT = {
    "analysis": {"analysis"},
    "components": {"components", "analysis"},
    "app": {"app", "components", "analysis"},
}
WEB = {"dash", "plotly", "flask", "werkzeug", "dash_ag_grid", "dash_cytoscape", "flask_compress", "gunicorn"}


def modules(room: str) -> list[Path]:
    """Source files of a room."""
    return sorted((REPO / room).rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import in a file, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = path.relative_to(REPO).parts[: -node.level] if node.level else ()
            yield node.lineno, ".".join([*package, node.module or ""])


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room: str) -> None:
    files = modules(room)
    assert files
    wrong = [
        f"{path.relative_to(REPO)}:{line}: {room} must not import {name}"
        for path in files
        for line, name in imported(path)
        if name.split(".")[0] in {*ROOMS, "tests"} - MAY_IMPORT[room]
    ]
    assert wrong == []


def test_analysis_names_no_web_package() -> None:
    wrong = [
        f"{path.relative_to(REPO)}:{line}: {name}"
        for path in modules("analysis")
        for line, name in imported(path)
        if name.split(".")[0] in WEB
    ]
    assert wrong == []


SHARED = {"analyses", "compiler", "server", "shell", "timeline", "work"}
"""Rooms of ``app`` that are no feature; ``runs`` is one, and the one that others may use: it holds the run library."""
FEATURES = sorted(path.parent.name for path in (REPO / "app").glob("*/feature.py") if path.parent.name not in SHARED)


def names_in(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, with ``from package import module`` resolved to the module where there is one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield node.lineno, full if full in MODULES else node.module


MODULES = {
    ".".join(path.relative_to(REPO).with_suffix("").parts).removesuffix(".__init__"): path
    for room in ROOMS
    for path in modules(room)
}


def test_every_folder_of_app_is_shared_or_a_feature_that_exports_one() -> None:
    folders = {path.name for path in (REPO / "app").iterdir() if path.is_dir() and list(path.glob("*.py"))}
    assert folders == SHARED | set(FEATURES)
    for name in FEATURES:
        feature = importlib.import_module(f"app.{name}.feature")
        assert isinstance(feature.FEATURE, Feature)
        assert feature.FEATURE.name == name


def test_features_import_shared_rooms_and_never_each_other() -> None:
    allowed = SHARED | {"runs"}
    wrong = [
        f"{path.relative_to(REPO)}:{line}: {name}"
        for feature in FEATURES
        for path in modules(f"app/{feature}")
        for line, name in names_in(path)
        if name.startswith("app.") and name.split(".")[1] not in allowed | {feature}
    ]
    assert wrong == []


def test_shared_rooms_know_no_feature_but_the_run_library() -> None:
    """The factory lists the features; nothing else names one."""
    wrong = [
        f"{path.relative_to(REPO)}:{line}: {name}"
        for room in sorted(SHARED)
        for path in modules(f"app/{room}")
        for line, name in names_in(path)
        if name.startswith("app.")
        and name.split(".")[1] in FEATURES
        and not name.startswith(("app.runs.library", "app.runs.facts", "app.runs.content", "app.runs.uploads"))
    ]
    assert wrong == []


def test_the_factory_lists_every_feature() -> None:
    assert sorted(feature.name for feature in factory.FEATURES) == FEATURES


def test_no_imports_go_in_a_circle() -> None:
    """Imports inside functions count too: they only hide a circle."""
    graph = nx.DiGraph()
    for module, path in MODULES.items():
        typing_only = {
            child.lineno
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for child in node.body
        }
        targets = [name for line, name in names_in(path) if line not in typing_only]
        graph.add_edges_from((module, name) for name in targets if name in MODULES and name != module)
    circles = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    assert circles == []


def test_analyses_are_named_in_their_own_files_and_the_registry_only() -> None:
    """Elsewhere an analysis is found by what its entry declares, or taken from the registry by its constant."""
    columns = {"functions", "setup", "cores", "chains", "markers", "utilisation", "range", "edges"}
    """These words also name columns, views and answers, so only comparing and looking up by them counts."""
    own = {
        "analysis/registry.py",
        "analysis/measures/overhead.py",
        "analysis/paths/critical_path_shown.py",
    }
    wrong = []
    for room in ROOMS:
        for path in modules(room):
            if str(path.relative_to(REPO)) in own:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                words = [node] if isinstance(node, ast.Constant) else []
                ambiguous: list[ast.expr] = []
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
                    (".href", "analyses.get", "registry.find")
                ):
                    ambiguous = list(node.args)
                if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith(
                    ("analysis.name", "tab.name", "analysis")
                ):
                    ambiguous = list(node.comparators)
                names = {item.name for item in registry.ANALYSES}
                found = [w.value for w in words if w.value in names - columns]
                found += [w.value for w in ambiguous if isinstance(w, ast.Constant) and w.value in names]
                wrong += [f"{path.relative_to(REPO)}:{node.lineno}: {word}" for word in found]
    assert wrong == []


def test_components_draw_only() -> None:
    """No callbacks and no I/O in components."""
    wrong = []
    for path in modules("components"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in {"open", "dash.callback", "callback"} or name.endswith(
                (".callback", ".read_text", ".read_bytes")
            ):
                wrong.append(f"{path.relative_to(REPO)}:{node.lineno}: {name}")
    assert wrong == []


def test_no_callback_is_registered_globally() -> None:
    """``@callback`` from dash writes to a module-level list, so two applications in a process would share it."""
    wrong = []
    for path in modules("app"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "dash":
                wrong += [f"{path}:{node.lineno}" for a in node.names if a.name in {"callback", "clientside_callback"}]
    assert wrong == []


def test_analysis_loads_without_web_packages() -> None:
    """Import every module of ``analysis`` in a process where importing dash, plotly or flask fails."""
    names = [m.name for m in pkgutil.walk_packages([str(REPO / "analysis")], "analysis.") if "__main__" not in m.name]
    program = (
        "import importlib, sys\n"
        f"for name in {sorted(WEB)!r}: sys.modules[name] = None\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        "print(len([m for m in sys.modules if m.startswith('analysis.')]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPO, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": "."}
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= len(names)


def test_every_package_that_is_imported_is_declared() -> None:
    """A package that is only there because another one needs it may vanish with the next lock file."""
    declared = {
        re.match(r"[A-Za-z0-9._-]+", text).group().lower()  # type: ignore[union-attr]
        for text in tomllib.loads((REPO / "pyproject.toml").read_text())["project"]["dependencies"]
    }
    # Werkzeug and Flask are Dash's own surface: dash.Dash.server is a Flask application.
    declared |= {"flask", "werkzeug"}
    owners = importlib.metadata.packages_distributions()
    wrong = [
        f"{path.relative_to(REPO)}:{line}: {name}"
        for room in ROOMS
        for path in modules(room)
        for line, name in imported(path)
        if (top := name.split(".")[0]) not in sys.stdlib_module_names
        and top not in ROOMS
        and not {owner.lower().replace("_", "-") for owner in owners.get(top, [])} & declared
    ]
    assert wrong == []


def test_swallowed_errors_are_nowhere() -> None:
    """No bare ``except``, no ``except Exception``: edges catch SwimscopeError, anything else is a bug to be seen."""
    wrong = []
    for room in ROOMS:
        for path in modules(room):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ExceptHandler):
                    names = (
                        {"*"} if node.type is None else {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)}
                    )
                    if names & {"*", "Exception", "BaseException"}:
                        wrong.append(f"{path.relative_to(REPO)}:{node.lineno}")
    assert wrong == []
