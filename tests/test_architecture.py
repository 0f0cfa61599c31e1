"""Do imports go one way, and does ``analysis`` work without the web packages?"""

from __future__ import annotations

import ast
import importlib.metadata
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

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
