"""Which Swimscope is it?"""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path


def version() -> str:
    """The version of the installed package, of the checkout's pyproject.toml where it is not installed."""
    try:
        return importlib.metadata.version("swimscope")
    except importlib.metadata.PackageNotFoundError:
        project = Path(__file__).resolve().parents[1] / "pyproject.toml"
        return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"])
